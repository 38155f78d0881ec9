//! What the store makes of news of a memory, as the sync decided it.

use rusqlite::{OptionalExtension, params};

use crate::compose::{self, Arrived, Known};
use crate::domain::{MemoryId, Origin};
use crate::store::base::config::Actor;
use crate::store::base::transaction::Change;
use crate::store::change::erase::purge;
use crate::store::change::links;
use crate::store::change::outbox::tell;
use crate::store::change::write::{Written, write_row};
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::memory as row;
use crate::sync::{Answer, Arrival, Document, Local, Refusal, Settled, State, Trail};
use crate::text::O200k;

/// The client program that history names for what came from the server.
const SYNC: &str = "sync";

/// A memory that is here, as the sync sees it.
pub(crate) struct Held {
    pub(crate) known: Known,
    pub(crate) mark: u8,
    pub(crate) local: Local,
}

impl Held {
    /// `None` for one that is not here, or may not be seen any more.
    pub(crate) fn of(change: &Change<'_>, id: MemoryId) -> Result<Option<Self>, StoreError> {
        let Some((known, mark)) = row::remains(change.tx, id)?.filter(|(_, mark)| *mark != row::GONE) else {
            return Ok(None);
        };
        let sql = "SELECT trail FROM trails WHERE memory = ?1";
        let trail: Option<String> = change.tx.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
        // A trail of another version: the memory is compared with the server anew.
        let trail = trail.and_then(|text| serde_json::from_str::<Trail>(&text).ok()).unwrap_or_default();
        let state = match (mark, known.memory.deleted) {
            (row::PURGED, _) => State::Purged,
            (_, None) => State::Live(Document::of(&known.memory)?),
            (_, Some(_)) => State::Deleted(Document::of(&known.memory)?),
        };
        Ok(Some(Self { local: Local::of(id, state, trail), known, mark }))
    }
}

pub(crate) fn save(change: &Change<'_>, id: MemoryId, local: &Local) -> Result<(), StoreError> {
    let trail = serde_json::to_string(&local.trail()).unwrap_or_default();
    change.tx.prepare_cached("INSERT OR REPLACE INTO trails VALUES (?1, ?2)")?.execute(params![id, trail])?;
    Ok(())
}

/// True when something was removed for good.
pub(crate) fn answer_one(change: &Change<'_>, answer: &Answer) -> Result<bool, StoreError> {
    let mut purged = false;
    if let Some(mut held) = Held::of(change, answer.memory)? {
        let mut fresh = || MemoryId::generate(change.now);
        let settled = held.local.answer(answer.op_id, answer.refused, answer.row.clone(), &mut fresh);
        purged = carry_out(change, answer.memory, Some(&held.known), held.mark, &held.local, settled)?;
        if answer.refused == Some(Refusal::Invalid) {
            let why = "a field holds what the server cannot store; change the memory";
            change.tx.execute("UPDATE outbox SET refused = ?2 WHERE memory = ?1", params![answer.memory, why])?;
        }
    }
    if let Some(copy) = &answer.copy {
        purged |= take(change, copy.row.memory, Arrival::Row(Box::new(copy.clone())))?;
    }
    Ok(purged)
}

/// Takes news of one memory. True when something was removed for good.
pub(crate) fn take(change: &Change<'_>, id: MemoryId, arrival: Arrival) -> Result<bool, StoreError> {
    if let Some(mut held) = Held::of(change, id)? {
        let mut fresh = || MemoryId::generate(change.now);
        let settled = held.local.arrive(arrival, &mut fresh);
        return carry_out(change, id, Some(&held.known), held.mark, &held.local, settled);
    }
    // What was deleted before it was ever here need not come.
    if let Arrival::Row(shadow) = arrival
        && shadow.row.state.live().is_some()
    {
        let remains = row::remains(change.tx, id)?;
        let (known, mark) = remains.map_or((None, row::HERE), |(known, mark)| (Some(known), mark));
        let local = Local::received(*shadow);
        return carry_out(change, id, known.as_ref(), mark, &local, Settled { stays: true, kept: Vec::new() });
    }
    Ok(false)
}

/// Makes the store show what a memory has become. True when something was removed for good.
pub(crate) fn carry_out(
    change: &Change<'_>,
    id: MemoryId,
    held: Option<&Known>,
    mark: u8,
    local: &Local,
    settled: Settled,
) -> Result<bool, StoreError> {
    let purged = if settled.stays {
        stay(change, id, held, mark, local)?
    } else {
        change.tx.execute("DELETE FROM outbox WHERE memory = ?1", [id])?;
        held.map_or(Ok(()), |known| purge(change, &known.memory, row::GONE, &by_sync()))?;
        held.is_some()
    };
    for (id, document) in settled.kept {
        if row::remains(change.tx, id)?.is_none() {
            let news = Arrived { id, document: &document, share: None, edited_by: None, is_deleted: false };
            show(change, news, None, row::HERE)?;
            tell(change, id)?;
        }
    }
    Ok(purged)
}

/// A memory stays here, as the sync has it now. True when it was removed for good.
fn stay(change: &Change<'_>, id: MemoryId, held: Option<&Known>, mark: u8, local: &Local) -> Result<bool, StoreError> {
    let mut purged = false;
    match (&local.state, held) {
        (State::Purged, Some(known)) if mark == row::HERE => {
            purge(change, &known.memory, row::PURGED, &by_sync())?;
            purged = true;
        }
        (State::Purged, _) => {}
        (State::Live(now) | State::Deleted(now), _) => {
            let share = local.shadow().and_then(|shadow| shadow.share.clone());
            let is_deleted = matches!(local.state, State::Deleted(_));
            let edited_by = local.edited_by().map(str::to_owned);
            show(change, Arrived { id, document: now, share, edited_by, is_deleted }, held, mark)?;
        }
    }
    save(change, id, local)?;
    let sql = if local.is_clean() {
        "DELETE FROM outbox WHERE memory = ?1"
    } else {
        "INSERT OR IGNORE INTO outbox (memory) VALUES (?1)"
    };
    change.tx.prepare_cached(sql)?.execute([id])?;
    Ok(purged)
}

fn by_sync() -> Actor {
    Actor { client: Some(SYNC.into()), ..Actor::default() }
}

/// Writes a memory as a document says. One that shows it already is left.
fn show(change: &Change<'_>, news: Arrived<'_>, held: Option<&Known>, mark: u8) -> Result<(), StoreError> {
    let (now, is_deleted) = (news.document, news.is_deleted);
    let here = held.filter(|_| mark == row::HERE);
    let known = here.map(|known| &known.memory);
    if let Some(memory) = known
        && memory.share == news.share
        && memory.edited_by == news.edited_by
        && memory.deleted.is_some() == is_deleted
        && Document::of(memory)? == *now
    {
        return Ok(());
    }
    let handle = match held {
        Some(known) => known.memory.handle,
        None => change.next_handle()?,
    };
    let composed = compose::arrived(news, here, change.now, &O200k).placed(handle, change.next_rev()?);
    let memory = composed.memory();
    let written = if held.is_some() { Written::Again } else { Written::New };
    write_row(change, &composed, written)?;
    if mark != row::HERE {
        change.tx.execute("UPDATE memories SET purged = 0 WHERE handle = ?1", [memory.handle])?;
    }
    links::replace(change, memory, &now.links)?;
    if known.is_some_and(|known| known.deleted != memory.deleted || known.trust != memory.trust) {
        links::elect_around(change, memory)?;
    }
    let operation = match (known, is_deleted) {
        (None, _) => Operation::Create,
        (Some(_), true) => Operation::Delete,
        (Some(before), false) if before.deleted.is_some() => Operation::Restore,
        (Some(_), false) => Operation::Update,
    };
    let origin = match &memory.share {
        Some(share) => Origin::Shared(share.by.clone()),
        None => memory.origin.clone(),
    };
    let actor = Actor { origin, client: Some(SYNC.into()), ..Actor::default() };
    history::record(change, memory, operation, &actor, known)
}
