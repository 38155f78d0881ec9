//! A row of an older system, and what it is here: new, known again, changed there, here, or on both sides.
//!
//! Rows of an older system that became a secret there, or hold one: what is sealed for that, and how much would be.

use std::cell::OnceCell;

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64;

use super::import_line::ImportAs;
use super::imports::was_undone;
use super::update::rewrite;
use super::write::set_aside;
use crate::compose::{self, Known, Stamps};
use crate::domain::{Draft, LinkKind, Memory, MemoryRef, MemoryUuid, Origin, Patch, Timestamp, Trust};
use crate::screen::{Place, dropped, is_clean, places, screened};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::Ask as _;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// What the place of a text is called that was set aside as a whole.
const WHOLE: &str = "text";

/// A row of an older system as it is to be stored.
#[derive(Debug, Clone)]
pub struct OlderRow {
    /// What it is known by: under the first it is stored, under the others it may be known already.
    pub ids: Vec<MemoryUuid>,
    /// What a deletion may name it by.
    pub gone_as: Option<MemoryUuid>,
    /// The memory. Its id is the first of those.
    pub draft: Draft,
    /// What the system knew of its use and of its end.
    pub stamps: Stamps,
    /// See [`OlderRow::said`].
    said: OnceCell<u64>,
}

/// What a row is here, or became.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is new.
    New,
    /// It is new, and deleted there: it is kept where deleted memories are.
    NewDeleted,
    /// It is there as it is.
    There,
    /// It is there, and becomes the person's own.
    Vouched,
    /// It says something else there by now, and nobody changed it here.
    Changed,
    /// It was changed on both sides: both texts stay.
    Both,
    /// It was deleted there, and nobody changed it here.
    Deleted,
    /// It was deleted there, and changed here: it stays.
    Kept,
    /// It comes back: its import had been undone, or its deletion there was.
    Back,
    /// It was forgotten here, and stays so.
    Forgotten,
}

/// What became of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Over {
    /// What it was here, or is now.
    pub standing: Standing,
    /// Credentials that were taken out of it.
    pub aside: u64,
    /// False where it is here and was not known by all that names it there: taken over, it is.
    pub is_known: bool,
}

impl Over {
    /// True where the memory of a row that was there says something else now.
    pub(crate) fn is_other(&self) -> bool {
        matches!(self.standing, Standing::Changed | Standing::Both | Standing::Deleted)
    }
}

/// What is known of a row.
pub(crate) struct Came {
    key: MemoryUuid,
    pub(crate) memory: MemoryUuid,
    said: u64,
    held: u64,
}

/// What a row is here: the memory as it is, and what is to be done.
pub(crate) struct Look {
    pub(crate) standing: Standing,
    pub(crate) known: Option<Known>,
    pub(crate) is_known: bool,
}

impl OlderRow {
    /// A row that is known by these ids, of which there is one at least.
    pub fn new(ids: Vec<MemoryUuid>, draft: Draft, stamps: Stamps) -> Self {
        Self { ids, gone_as: None, draft, stamps, said: OnceCell::new() }
    }

    pub(crate) fn id(&self) -> MemoryUuid {
        self.ids.first().copied().unwrap_or_else(|| MemoryUuid::from_key(&self.draft.content))
    }

    /// True where the person's word makes a memory their own.
    pub(crate) fn is_vouched(&self, memory: &Memory, whose: ImportAs) -> bool {
        let is_shared = matches!(self.draft.origin, Origin::Shared(_));
        whose == ImportAs::Own && memory.trust == Trust::Foreign && !is_shared
    }

    /// True where it is somebody else's word on what is the person's own.
    pub(crate) fn is_strange_to(&self, memory: &Memory, whose: ImportAs) -> bool {
        let is_shared = matches!(self.draft.origin, Origin::Shared(_));
        (whose == ImportAs::Foreign || is_shared) && memory.trust != Trust::Foreign
    }

    /// A digest of what it says. Of a credential nothing goes into it: when it was changed there stands for that.
    pub fn said(&self) -> u64 {
        *self.said.get_or_init(|| self.digest())
    }

    fn digest(&self) -> u64 {
        let draft = &self.draft;
        let is_secret = draft.sensitive.is_some();
        let content = if is_secret { "".into() } else { dropped(&draft.content) };
        let changed = (is_secret || !is_clean(&draft.content)).then_some(self.stamps.updated).flatten();
        let value = json!([
            content,
            draft.category,
            draft.kind,
            draft.importance,
            draft.tags,
            draft.keywords,
            draft.entities,
            draft.expires,
            draft.metadata,
            self.stamps.deleted.is_some(),
            is_secret,
            changed,
        ]);
        xxh3_64(value.to_string().as_bytes())
    }
}

/// A digest of what a memory says.
pub(crate) fn held(memory: &Memory) -> u64 {
    let Memory { content, category, kind, importance, tags, keywords, entities, expires, .. } = memory;
    let Memory { scope, vouched, metadata, deleted, .. } = memory;
    let deleted = deleted.is_some();
    let value = json!([
        content, category, kind, importance, tags, keywords, entities, expires, scope, vouched, metadata, deleted
    ]);
    xxh3_64(value.to_string().as_bytes())
}

pub(crate) fn came(connection: &Connection, ids: &[MemoryUuid]) -> rusqlite::Result<Option<Came>> {
    let mut statement = connection.prepare_cached("SELECT memory, said, held FROM came_over WHERE key = ?1")?;
    for id in ids {
        let read = |row: &rusqlite::Row<'_>| {
            let (said, held): (i64, i64) = (row.get(1)?, row.get(2)?);
            Ok(Came { key: *id, memory: row.get(0)?, said: said.cast_unsigned(), held: held.cast_unsigned() })
        };
        if let Some(came) = statement.query_row([id], read).optional()? {
            return Ok(Some(came));
        }
    }
    Ok(None)
}

/// Looks what a row is here. Nothing is changed.
pub(crate) fn look(connection: &Connection, of: &OlderRow, whose: ImportAs) -> rusqlite::Result<Look> {
    let came_as = came(connection, &of.ids)?;
    let is_known = came_as.as_ref().is_some_and(|came| Some(&came.key) == of.ids.first());
    let of_row = |known: Option<Known>, standing| Look { standing, known, is_known };
    let id = match &came_as {
        Some(came) => Some(came.memory),
        // It may have come from another machine, or before rows were noted.
        None => of.ids.iter().try_fold(None, |found: Option<MemoryUuid>, id| match found {
            Some(found) => Ok(Some(found)),
            None => row::is_there(connection, *id).map(|is| is.then_some(*id)),
        })?,
    };
    let Some(id) = id else {
        return Ok(of_row(None, if of.stamps.deleted.is_some() { Standing::NewDeleted } else { Standing::New }));
    };
    let Some(known) = row::find_known(connection, MemoryRef::Id(id))? else {
        // What was removed for good does not come back by itself.
        return Ok(of_row(None, Standing::Forgotten));
    };
    let memory = &known.memory;
    if memory.share.is_some() {
        return Ok(of_row(Some(known), Standing::There));
    }
    let is_said = came_as.as_ref().map_or_else(|| !is_newer(of, memory), |came| came.said == of.said());
    let is_held = came_as.as_ref().is_some_and(|came| came.held == held(memory));
    let is_strange = of.is_strange_to(memory, whose);
    let standing = match (memory.deleted.is_some(), of.stamps.deleted.is_some()) {
        (true, false) if was_undone(connection, id)? || (is_held && !is_said) => Standing::Back,
        (true, true) if was_undone(connection, id)? => Standing::There,
        (true, false) => Standing::Forgotten,
        (true, true) => Standing::There,
        (false, _) if is_said => vouched_or_there(memory, of, whose),
        (false, true) if is_held && !is_strange => Standing::Deleted,
        (false, true) => Standing::Kept,
        (false, false) if is_bared(of, memory) && (is_held || is_same_text(of, memory)) => Standing::Changed,
        (false, false) if is_strange => strange(connection, of, memory)?,
        (false, false) if is_held => Standing::Changed,
        (false, false) if is_same_text(of, memory) => vouched_or_there(memory, of, whose),
        (false, false) => Standing::Both,
    };
    Ok(of_row(Some(known), standing))
}

/// True where a memory says what its row says, but for what was set aside of it.
fn is_same_text(of: &OlderRow, memory: &Memory) -> bool {
    if of.draft.sensitive.is_some() && is_sealed(memory) {
        return true;
    }
    let (mut unnamed, mut at) = (String::new(), 0);
    for (span, place) in places(&memory.content) {
        unnamed.push_str(memory.content.get(at..span.start).unwrap_or_default());
        unnamed.push_str(&Place { name: None, ..place }.to_string());
        at = span.end;
    }
    unnamed.push_str(memory.content.get(at..).unwrap_or_default());
    unnamed == dropped(&of.draft.content)
}

/// True where a row says something else than a memory that came from another machine, and said it later.
fn is_newer(of: &OlderRow, memory: &Memory) -> bool {
    !is_same_text(of, memory) && of.stamps.updated.is_some_and(|updated| updated > memory.updated)
}

/// True for a memory whose whole text was set aside.
pub(crate) fn is_sealed(memory: &Memory) -> bool {
    places(&memory.content).iter().any(|(_, place)| place.kind == WHOLE)
}

/// True where a row is a secret by now whose memory says in clear what it said before.
pub(crate) fn is_bared(of: &OlderRow, memory: &Memory) -> bool {
    of.draft.sensitive.is_some() && !is_sealed(memory)
}

/// Under which what a row says is stored beside a memory that says something else.
pub(crate) fn beside_of(of: &OlderRow) -> MemoryUuid {
    MemoryUuid::from_key(&format!("{}@{:016x}", of.id(), of.said()))
}

/// What somebody else's word on the person's own is: a text of its own, once.
fn strange(connection: &Connection, of: &OlderRow, memory: &Memory) -> rusqlite::Result<Standing> {
    let id = beside_of(of);
    let is_new = !row::is_there(connection, id)? || was_undone(connection, id)?;
    Ok(if !is_same_text(of, memory) && is_new { Standing::Both } else { Standing::There })
}

pub(crate) fn deletion(
    connection: &Connection,
    key: MemoryUuid,
    whose: ImportAs,
) -> rusqlite::Result<Option<(Standing, Known)>> {
    let Some(came) = came(connection, &[key])? else { return Ok(None) };
    let Some(known) = row::find_known(connection, MemoryRef::Id(came.memory))? else { return Ok(None) };
    let standing = match &known.memory {
        memory if memory.deleted.is_some() || memory.share.is_some() => Standing::There,
        memory if came.held != held(memory) => Standing::Kept,
        memory if whose == ImportAs::Foreign && memory.trust != Trust::Foreign => Standing::Kept,
        _ => Standing::Deleted,
    };
    Ok(Some((standing, known)))
}

/// What came from elsewhere becomes the person's own by their word, but for what another user had shared there.
fn vouched_or_there(memory: &Memory, of: &OlderRow, whose: ImportAs) -> Standing {
    if of.is_vouched(memory, whose) { Standing::Vouched } else { Standing::There }
}

/// What seals a memory as it is, and changes nothing else of it.
pub(crate) fn sealing(of: &OlderRow, memory: &Memory) -> Patch {
    let sensitive = of.draft.sensitive.clone();
    Patch { content: Some(memory.content.clone()), sensitive, ..Patch::default() }
}

/// Seals what else an earlier import stored of the row: texts beside its memory.
pub(crate) fn seal_besides(
    change: &Change<'_>,
    of: &OlderRow,
    memory: MemoryUuid,
    actor: &Actor,
) -> Result<(), StoreError> {
    let beside: Vec<MemoryUuid> = {
        let sql = "SELECT source FROM links WHERE target = ?1 AND type = ?2";
        change.tx.all(sql, (memory, LinkKind::SeeAlso.as_str()), |row| row.get(0))?
    };
    for id in beside {
        let Some(known) = row::find_known(change.tx, MemoryRef::Id(id))? else { continue };
        let is_of_row = known.memory.origin == Origin::Import && known.memory.client == of.draft.client;
        if is_of_row && known.memory.deleted.is_none() && !is_sealed(&known.memory) {
            rewrite(change, &known, &sealing(of, &known.memory), actor)?;
        }
    }
    Ok(())
}

impl Store {
    /// How many credentials would be taken out of a row beside those that its memory has taken out already. Nothing is
    /// sealed for that, and no key is made.
    pub(crate) fn would_set_aside(
        &self,
        of: &OlderRow,
        before: Option<&Memory>,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut keeper = self.secrets.counter(&self.connection);
        let draft = screened(Draft { id: Some(of.id()), ..of.draft.clone() }, of.id(), &mut keeper)?;
        if !keeper.was_asked() {
            return Ok(0);
        }
        let composed = compose::imported(&draft, of.stamps, now, &O200k)?;
        Ok(set_aside(&composed, before).len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::held;
    use crate::domain::{Memory, Scope, Trust};
    use crate::store::open::in_memory::InMemory;

    #[test]
    fn whatever_a_person_may_change_of_a_memory_shows() {
        let memory = InMemory::new().said("one");
        let others = [
            Memory { scope: "harbour".parse().unwrap_or(Scope::Global), ..memory.clone() },
            Memory { vouched: Some(Trust::Model), ..memory.clone() },
            Memory { metadata: "{\"a\":1}".parse().ok(), ..memory.clone() },
            Memory { expires: Some(memory.created), ..memory.clone() },
            Memory { content: "two".into(), ..memory.clone() },
        ];
        assert!(others.iter().all(|other| held(other) != held(&memory)));
        assert_eq!(held(&Memory { access_count: 7, ..memory.clone() }), held(&memory));
    }
}
