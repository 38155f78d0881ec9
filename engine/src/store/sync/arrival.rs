//! Applies decisions of sync to the store.

use rusqlite::params;

use super::equal::{Among, adopt};
use super::hidden::{self, Learned};
use crate::compose::{self, Arrived, Known};
use crate::domain::{Memory, MemoryUuid, Origin, Share};
use crate::screen::screened;
use crate::store::base::config::Actor;
use crate::store::base::secrets::Aside;
use crate::store::base::transaction::Change;
use crate::store::change::erase::purge;
use crate::store::change::relate::note_related;
use crate::store::change::write::{Written, tell, write_row};
use crate::store::change::{links, secrets};
use crate::store::file::error::StoreError;
use crate::store::files::paths::{self, adopt_file};
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;
use crate::sync::{Answer, Arrival, BaseVersion, Document, Local, Refusal, Settled, State, SyncState};
use crate::text::O200k;

/// A memory in the store, for sync.
pub(crate) struct Held {
    pub(crate) known: Known,
    pub(crate) mark: u8,
    pub(crate) local: Local,
}

impl Held {
    /// Returns `None` if the memory does not exist, or its owner withdrew it.
    pub(crate) fn of(change: &Change<'_>, id: MemoryUuid) -> Result<Option<Self>, StoreError> {
        let Some((known, mark)) = row::remains(change.tx, id)?.filter(|(_, mark)| *mark != row::GONE) else {
            return Ok(None);
        };
        let sql = "SELECT sync_state FROM sync_states WHERE memory = ?1";
        let sync_state: Option<String> = change.tx.maybe(sql, [id], |row| row.get(0))?;
        // A sync state of another version; the memory is compared with the server again.
        let sync_state = sync_state.and_then(|text| serde_json::from_str::<SyncState>(&text).ok()).unwrap_or_default();
        let state = match (mark, known.memory.deleted) {
            (row::PURGED, _) => State::Purged,
            (_, None) => State::Live(Document::of(&known.memory)?),
            (_, Some(_)) => State::Deleted(Document::of(&known.memory)?),
        };
        Ok(Some(Self { local: Local::of(id, state, sync_state), known, mark }))
    }
}

pub(crate) fn save(change: &Change<'_>, id: MemoryUuid, local: &Local) -> Result<(), StoreError> {
    let sync_state = serde_json::to_string(&local.sync_state()).unwrap_or_default();
    change.tx.run("INSERT OR REPLACE INTO sync_states VALUES (?1, ?2)", params![id, sync_state])?;
    Ok(())
}

/// True if something was permanently deleted.
pub(crate) fn answer_one(change: &Change<'_>, answer: &Answer) -> Result<bool, StoreError> {
    let mut purged = false;
    let row = answer.row.clone().map(|row| Looked::through(change, row)).transpose()?;
    let looked = row.as_ref().map(|row| (row.learned, row.is_cleaned));
    if let Some(mut held) = Held::of(change, answer.memory)? {
        let mut fresh = || MemoryUuid::generate(change.now);
        let settled = held.local.answer(answer.op_id, answer.refused, row.map(|row| row.row), &mut fresh);
        purged = carry_out(change, answer.memory, Some(&held.known), held.mark, &held.local, settled)?;
        if let Some((learned, is_cleaned)) = looked {
            purged |= applied(change, answer.memory, learned, is_cleaned)?;
        }
        if answer.refused == Some(Refusal::Invalid) {
            let why = "a field contains characters that the server cannot store; change the memory";
            change.tx.execute("UPDATE outbox SET refused = ?2 WHERE memory = ?1", params![answer.memory, why])?;
        }
    }
    if let Some(copy) = &answer.copy {
        purged |= take(change, copy.row.memory, Arrival::Row(Box::new(copy.clone())))?;
    }
    settle_paths(change, answer.copy.iter().map(|copy| copy.row.memory).chain([answer.memory]))?;
    Ok(purged)
}

/// Applies a change to one memory. True if something was permanently deleted.
pub(crate) fn take(change: &Change<'_>, id: MemoryUuid, arrival: Arrival) -> Result<bool, StoreError> {
    let (arrival, learned, is_cleaned) = match arrival {
        Arrival::Row(base_version) => {
            let Looked { row, learned, is_cleaned } = Looked::through(change, *base_version)?;
            (Arrival::Row(Box::new(row)), learned, is_cleaned)
        }
        gone @ Arrival::Gone { .. } => (gone, Learned::Nothing, false),
    };
    let purged = settle(change, id, arrival)?;
    Ok(applied(change, id, learned, is_cleaned)? || purged)
}

/// After a row was applied: finishes what it says about hidden texts. True if a text was hidden.
pub(super) fn applied(
    change: &Change<'_>,
    id: MemoryUuid,
    learned: Learned,
    is_cleaned: bool,
) -> Result<bool, StoreError> {
    if learned == Learned::NotWhich {
        hidden::erase_earlier(change, id)?;
    }
    if is_cleaned {
        hidden::tell_again(change, id)?;
    }
    Ok(learned != Learned::Nothing)
}

/// Applies a screened change to one memory. True if something was permanently deleted.
fn settle(change: &Change<'_>, id: MemoryUuid, arrival: Arrival) -> Result<bool, StoreError> {
    let_go_of_file(change, id)?;
    let mut is_equal = false;
    if let Arrival::Row(base_version) = &arrival
        && let (Some(document), true) = (base_version.row.state.live(), base_version.is_own())
    {
        adopt_file(change, id, document)?;
        is_equal = adopt(change, base_version, Among::Undecided)?;
    }
    if let Some(mut held) = Held::of(change, id)? {
        if let (true, Arrival::Row(base_version)) = (is_equal, &arrival) {
            held.local.agree_with(base_version);
        }
        let mut fresh = || MemoryUuid::generate(change.now);
        let settled = held.local.arrive(arrival, &mut fresh);
        return carry_out(change, id, Some(&held.known), held.mark, &held.local, settled);
    }
    // A memory that was deleted before it ever arrived is ignored.
    if let Arrival::Row(base_version) = arrival
        && base_version.row.state.live().is_some()
    {
        let remains = row::remains(change.tx, id)?;
        let (known, mark) = remains.map_or((None, row::HERE), |(known, mark)| (Some(known), mark));
        let local = Local::received(*base_version);
        return carry_out(change, id, known.as_ref(), mark, &local, Settled { stays: true, kept: Vec::new() });
    }
    Ok(false)
}

/// A note may have been indexed before the memory from which it was exported arrives. In this case the memory of the
/// note is removed. If the exported memory had arrived first, the note would not have been indexed.
fn let_go_of_file(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    let Some((known, row::HERE)) = row::remains(change.tx, id)? else { return Ok(()) };
    if !known.memory.is_part_of_file() {
        return Ok(());
    }
    let memory = Memory { file: None, ..known.memory.clone() };
    let composed = compose::moved(&known, memory, change.now, &O200k).placed(known.memory.short_id, change.next_rev()?);
    write_row(change, &composed, Written::Again)?;
    change.tx.execute("DELETE FROM parts WHERE memory = ?1", [id])?;
    Ok(())
}

/// A server's row without credentials.
struct Looked {
    row: BaseVersion,
    /// What this machine has learned about hidden texts.
    learned: Learned,
    /// True if the row contained texts that this machine has hidden, so the server must get the clean text.
    is_cleaned: bool,
}

impl Looked {
    /// Removes credentials from a server's row, because an older server stores texts unchanged. Credentials of the
    /// user's own memories become secrets. The recorded server state is the cleaned text, so that nothing is sent back
    /// as a change.
    fn through(change: &Change<'_>, mut row: BaseVersion) -> Result<Self, StoreError> {
        let id = row.row.memory;
        let learned = hidden::learn(change, &row)?;
        let is_cleaned = hidden::apply(change, &mut row)?;
        if let State::Live(document) | State::Deleted(document) = &mut row.row.state {
            let mut keeper = keeper(change, row.share.as_ref());
            let (clean, found) = screened(document.clone(), id, &mut keeper)?.into_parts();
            secrets::write_all(change, id, &found)?;
            *document = clean;
        }
        Ok(Self { row, learned, is_cleaned })
    }
}

/// The keeper of found secrets. Secrets found in another user's text are discarded, because they do not belong to this
/// user.
fn keeper<'a>(change: &'a Change<'_>, share: Option<&Share>) -> Aside<'a> {
    share.map_or_else(|| change.secrets.arriving(change.tx), |_| change.secrets.dropper(change.tx))
}

/// Updates the store to the new state of a memory. True if something was permanently deleted.
pub(crate) fn carry_out(
    change: &Change<'_>,
    id: MemoryUuid,
    held: Option<&Known>,
    mark: u8,
    local: &Local,
    settled: Settled,
) -> Result<bool, StoreError> {
    let purged = if settled.stays {
        stay(change, id, held, mark, local)?
    } else {
        change.tx.execute("DELETE FROM outbox WHERE memory = ?1", [id])?;
        held.map_or(Ok(()), |known| purge(change, &known.memory, row::GONE, &Actor::by_sync()))?;
        held.is_some()
    };
    for (id, document) in settled.kept {
        if row::remains(change.tx, id)?.is_none() {
            let document = screened(document, id, &mut keeper(change, None))?;
            let news = Arrived { id, document: &document, share: None, edited_by: None, is_deleted: false };
            show(change, news, None, row::HERE)?;
            tell(change, id)?;
            let path = document.details.file.as_ref();
            path.map_or(Ok(()), |path| paths::settle(change, path, &Actor::by_sync()))?;
        }
    }
    Ok(purged)
}

/// Writes the present state of a memory. Returns true if the memory was permanently deleted.
fn stay(
    change: &Change<'_>,
    id: MemoryUuid,
    held: Option<&Known>,
    mark: u8,
    local: &Local,
) -> Result<bool, StoreError> {
    let mut purged = false;
    match (&local.state, held) {
        (State::Purged, Some(known)) if mark == row::HERE => {
            purge(change, &known.memory, row::PURGED, &Actor::by_sync())?;
            purged = true;
        }
        (State::Purged, _) => {}
        (State::Live(now) | State::Deleted(now), _) => {
            let share = local.base_version().and_then(|base_version| base_version.share.clone());
            let is_deleted = matches!(local.state, State::Deleted(_));
            let edited_by = local.edited_by().map(str::to_owned);
            let now = screened(now.clone(), id, &mut keeper(change, share.as_ref()))?;
            show(change, Arrived { id, document: &now, share, edited_by, is_deleted }, held, mark)?;
        }
    }
    save(change, id, local)?;
    let sql = if local.is_clean() {
        "DELETE FROM outbox WHERE memory = ?1"
    } else {
        // Local memories are not sent, even if they differ. A folder may be removed while an answer is awaited.
        "INSERT OR IGNORE INTO outbox (memory)
             SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM private WHERE memory = ?1 AND why = 'file')"
    };
    change.tx.run(sql, [id])?;
    Ok(purged)
}

/// After a file has arrived, decides which memory keeps its path if several memories have this path. This happens after
/// all changes of a page. Two files that exchange their paths have the same path until both changes have arrived.
pub(crate) fn settle_paths(change: &Change<'_>, ids: impl IntoIterator<Item = MemoryUuid>) -> Result<(), StoreError> {
    for id in ids {
        let Some((known, row::HERE)) = row::remains(change.tx, id)? else { continue };
        let memory = known.memory;
        let is_own_file = memory.is_whole_file() && memory.deleted.is_none() && memory.share.is_none();
        if let Some(file) = memory.file.filter(|_| is_own_file) {
            paths::settle(change, &file.path, &Actor::by_sync())?;
        }
    }
    Ok(())
}

/// Writes a memory from a document; does nothing if they are equal.
fn show(change: &Change<'_>, news: Arrived<'_>, held: Option<&Known>, mark: u8) -> Result<(), StoreError> {
    let (now, is_deleted) = (news.document, news.is_deleted);
    let here = held.filter(|_| mark == row::HERE);
    let known = here.map(|known| &known.memory);
    if let Some(memory) = known
        && memory.share == news.share
        && memory.edited_by == news.edited_by
        && memory.deleted.is_some() == is_deleted
        && Document::of(memory)? == **now
    {
        return Ok(());
    }
    let short_id = match held {
        Some(known) => known.memory.short_id,
        None => change.next_short_id()?,
    };
    let composed = compose::arrived(news, here, change.now, &O200k).placed(short_id, change.next_rev()?);
    let memory = composed.memory();
    let written = if held.is_some() { Written::Again } else { Written::New };
    write_row(change, &composed, written)?;
    // The machine that stored the memory compares it, and its links arrive with it.
    note_related(change, memory.short_id)?;
    if mark != row::HERE {
        change.tx.execute("UPDATE memories SET purged = 0 WHERE short_id = ?1", [memory.short_id])?;
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
    let actor = Actor { origin, ..Actor::by_sync() };
    history::record(change, memory, operation, &actor, known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Memory, MemoryRef, Patch, Permission, Trust};
    use crate::store::open::in_memory::{InMemory, base_version, by_bob, named};
    use crate::sync::BaseVersion;

    fn arrive(store: &mut InMemory, base_version: &BaseVersion) -> bool {
        let arrival = Arrival::Row(Box::new(base_version.clone()));
        store.write(|change| take(change, base_version.row.memory, arrival.clone())).unwrap()
    }

    fn held(store: &InMemory, base_version: &BaseVersion) -> Option<Memory> {
        store.get(MemoryRef::Id(base_version.row.memory)).unwrap()
    }

    #[test]
    fn what_arrives_is_shown_and_not_told_again() {
        let mut store = InMemory::new();
        let theirs = base_version("The cache lives on birch", 1, Some(by_bob(Permission::Read)));
        assert!(!arrive(&mut store, &theirs));
        let memory = held(&store, &theirs).unwrap();
        assert_eq!((memory.share.as_ref(), memory.trust), (theirs.share.as_ref(), Trust::Foreign));
        assert_eq!(store.recalled("where does the cache live?"), ["The cache lives on birch"]);
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 0);
        let rev = memory.rev;
        assert!(!arrive(&mut store, &theirs), "the same again");
        assert_eq!(held(&store, &theirs).unwrap().rev, rev, "writes nothing");
        assert_eq!(store.history(named(&memory)).unwrap()[0].client.as_deref(), Some("sync"));
    }

    #[test]
    fn a_text_that_waits_to_be_written_waits_on_when_the_server_says_the_same_under_its_own_id() {
        let mut store = InMemory::new();
        let id = store.file("/memories/a.md", "- before\n");
        let text = Patch { content: Some("- after".into()), ..Patch::default() };
        let memory = store.update(MemoryRef::Id(id), &text, &Actor::default()).unwrap().memory;
        let mut sent = base_version("another's id", 1, None);
        sent.row.state = State::Live(Document::of(&memory).unwrap());
        arrive(&mut store, &sent);
        assert_eq!(store.one::<u32>("SELECT count(*) FROM memories WHERE is_file = 1"), 1, "it is that one");
        assert_eq!(store.pending_files().unwrap()[0].memory.id, sent.row.memory);
    }

    #[test]
    fn an_own_edit_stands_beside_news_of_the_rest() {
        let mut store = InMemory::new();
        let mine = base_version("Deploy on Monday", 1, None);
        arrive(&mut store, &mine);
        let memory = held(&store, &mine).unwrap();
        let text = Patch { content: Some("Deploy on Tuesday".into()), ..Patch::default() };
        store.update(named(&memory), &text, &Actor::default()).unwrap();
        let mut news = BaseVersion { seq: 2, ..mine.clone() };
        news.row.rev = 2;
        let State::Live(document) = &mut news.row.state else { panic!("it is live") };
        document.tags.insert("release".to_owned().try_into().unwrap());
        arrive(&mut store, &news);
        let memory = held(&store, &mine).unwrap();
        assert_eq!((memory.content.as_str(), memory.tags.len()), ("Deploy on Tuesday", 1));
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 1, "the edit is still to be told");
    }

    #[test]
    fn what_may_not_be_seen_any_more_leaves_no_word_and_can_come_back() {
        let mut store = InMemory::new();
        let theirs = base_version("The cache lives on birch", 1, Some(by_bob(Permission::Read)));
        arrive(&mut store, &theirs);
        let short_id = held(&store, &theirs).unwrap().short_id;
        let gone = store.write(|change| take(change, theirs.row.memory, Arrival::Gone { seq: 2 })).unwrap();
        assert!(gone && held(&store, &theirs).is_none());
        assert_eq!(store.one::<u8>("SELECT purged FROM memories"), row::GONE);
        assert_eq!(store.one::<String>("SELECT content FROM memories"), "");
        arrive(&mut store, &BaseVersion { seq: 3, ..theirs.clone() });
        assert_eq!(held(&store, &theirs).unwrap().short_id, short_id, "under the ID it had");
        let mut purged = BaseVersion { seq: 4, ..theirs.clone() };
        purged.row.state = State::Purged;
        assert!(arrive(&mut store, &purged) && held(&store, &theirs).is_none());
        assert_eq!(store.one::<u8>("SELECT purged FROM memories"), row::PURGED);
    }

    #[test]
    fn a_trail_that_cannot_be_read_is_begun_anew() {
        let mut store = InMemory::new();
        let mine = base_version("Deploy on Monday", 1, None);
        arrive(&mut store, &mine);
        store.run("UPDATE sync_states SET sync_state = '{'");
        let held = store.write(|change| Held::of(change, mine.row.memory)).unwrap().unwrap();
        assert!(held.local.base_version().is_none() && held.known.memory.content == "Deploy on Monday");
        assert!(store.write(|change| Held::of(change, MemoryUuid::from_key("nobody"))).unwrap().is_none());
    }
}
