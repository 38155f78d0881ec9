//! A row of another memory system, and its status: new, known, changed there, changed here, or changed on both sides.
//!
//! Also finds rows that became secret in the other system, and counts the secrets that an import would store.

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

/// The kind of a text that is secret as a whole.
const WHOLE: &str = "text";

/// A row of another system that is to be stored.
#[derive(Debug, Clone)]
pub struct OlderRow {
    /// Its keys. The memory is stored under the first key. An earlier import may have recorded one of the other keys.
    pub ids: Vec<MemoryUuid>,
    /// The key by which a queued deletion refers to this row.
    pub gone_as: Option<MemoryUuid>,
    /// The memory. Its UUID is the first key.
    pub draft: Draft,
    /// The other system's data about the use and deletion of the row.
    pub stamps: Stamps,
    /// See [`OlderRow::said`].
    said: OnceCell<u64>,
}

/// The status of a row, or the effect of its import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowStatus {
    /// New.
    New,
    /// The row is new, but was deleted in the other system, so it is stored as a deleted memory.
    NewDeleted,
    /// Known and unchanged.
    There,
    /// The row is known, and its memory becomes the user's own.
    Vouched,
    /// Changed there, and not here.
    Changed,
    /// The row and its memory have changed, so both texts are kept.
    Both,
    /// The row was deleted in the other system, and its memory has not changed.
    Deleted,
    /// The row was deleted in the other system, but its memory has changed, so the memory is kept.
    Kept,
    /// The memory was restored, because its undone import was repeated, or because the row was restored in the other
    /// system.
    Back,
    /// The user deleted the memory, and the import does not restore it.
    Forgotten,
}

/// The result of importing a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Over {
    /// Its status before or after.
    pub status: RowStatus,
    /// Credentials removed from it.
    pub aside: u64,
    /// False if the row exists here, but not under all its keys. Importing it adds them.
    pub is_known: bool,
}

impl Over {
    /// True if the memory of an existing row now has another text.
    pub(crate) fn is_other(&self) -> bool {
        matches!(self.status, RowStatus::Changed | RowStatus::Both | RowStatus::Deleted)
    }
}

/// The record of an imported row.
pub(crate) struct Came {
    key: MemoryUuid,
    pub(crate) memory: MemoryUuid,
    said: u64,
    held: u64,
}

/// The status of a row, with its present memory.
pub(crate) struct Look {
    pub(crate) status: RowStatus,
    pub(crate) known: Option<Known>,
    pub(crate) is_known: bool,
}

impl OlderRow {
    /// A row with these keys, of which there must be at least one.
    pub fn new(ids: Vec<MemoryUuid>, draft: Draft, stamps: Stamps) -> Self {
        Self { ids, gone_as: None, draft, stamps, said: OnceCell::new() }
    }

    pub(crate) fn id(&self) -> MemoryUuid {
        self.ids.first().copied().unwrap_or_else(|| MemoryUuid::from_key(&self.draft.content))
    }

    /// True if the import makes a memory the user's own.
    pub(crate) fn is_vouched(&self, memory: &Memory, whose: ImportAs) -> bool {
        let is_shared = matches!(self.draft.origin, Origin::Shared(_));
        whose == ImportAs::Own && memory.trust == Trust::Foreign && !is_shared
    }

    /// True if the row comes from another person's data, and the memory is the user's own.
    pub(crate) fn is_strange_to(&self, memory: &Memory, whose: ImportAs) -> bool {
        let is_shared = matches!(self.draft.origin, Origin::Shared(_));
        (whose == ImportAs::Foreign || is_shared) && memory.trust != Trust::Foreign
    }

    /// A digest of its content. The digest does not contain credentials. If there are any, it contains the time of the
    /// row's last change instead.
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

/// A digest of a memory's content.
pub(crate) fn held(memory: &Memory) -> u64 {
    let Memory { content, category, kind, importance, tags, keywords, entities, expires, .. } = memory;
    let Memory { scope, owner_trust, metadata, deleted, .. } = memory;
    let deleted = deleted.is_some();
    let value = json!([
        content,
        category,
        kind,
        importance,
        tags,
        keywords,
        entities,
        expires,
        scope,
        owner_trust,
        metadata,
        deleted
    ]);
    xxh3_64(value.to_string().as_bytes())
}

pub(crate) fn came(connection: &Connection, ids: &[MemoryUuid]) -> rusqlite::Result<Option<Came>> {
    let mut statement = connection.prepare_cached("SELECT memory, said, held FROM imported_rows WHERE key = ?1")?;
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

/// Finds the status of a row. Nothing is changed.
pub(crate) fn look(connection: &Connection, of: &OlderRow, whose: ImportAs) -> rusqlite::Result<Look> {
    let came_as = came(connection, &of.ids)?;
    let is_known = came_as.as_ref().is_some_and(|came| Some(&came.key) == of.ids.first());
    let of_row = |known: Option<Known>, status| Look { status, known, is_known };
    let id = match &came_as {
        Some(came) => Some(came.memory),
        // It may be from another machine, or from before rows were recorded.
        None => of.ids.iter().try_fold(None, |found: Option<MemoryUuid>, id| match found {
            Some(found) => Ok(Some(found)),
            None => row::is_there(connection, *id).map(|is| is.then_some(*id)),
        })?,
    };
    let Some(id) = id else {
        return Ok(of_row(None, if of.stamps.deleted.is_some() { RowStatus::NewDeleted } else { RowStatus::New }));
    };
    let Some(known) = row::find_known(connection, MemoryRef::Id(id))? else {
        // A permanently deleted memory does not come back by an import.
        return Ok(of_row(None, RowStatus::Forgotten));
    };
    let memory = &known.memory;
    if memory.share.is_some() {
        return Ok(of_row(Some(known), RowStatus::There));
    }
    let is_said = came_as.as_ref().map_or_else(|| !is_newer(of, memory), |came| came.said == of.said());
    let is_held = came_as.as_ref().is_some_and(|came| came.held == held(memory));
    let is_strange = of.is_strange_to(memory, whose);
    let status = match (memory.deleted.is_some(), of.stamps.deleted.is_some()) {
        (true, false) if was_undone(connection, id)? || (is_held && !is_said) => RowStatus::Back,
        (true, true) if was_undone(connection, id)? => RowStatus::There,
        (true, false) => RowStatus::Forgotten,
        (true, true) => RowStatus::There,
        (false, _) if is_said => vouched_or_there(memory, of, whose),
        (false, true) if is_held && !is_strange => RowStatus::Deleted,
        (false, true) => RowStatus::Kept,
        (false, false) if is_bared(of, memory) && (is_held || is_same_text(of, memory)) => RowStatus::Changed,
        (false, false) if is_strange => strange(connection, of, memory)?,
        (false, false) if is_held => RowStatus::Changed,
        (false, false) if is_same_text(of, memory) => vouched_or_there(memory, of, whose),
        (false, false) => RowStatus::Both,
    };
    Ok(of_row(Some(known), status))
}

/// True if a memory has the row's content, apart from secrets.
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

/// True if a row differs from a memory of another machine, and is newer.
fn is_newer(of: &OlderRow, memory: &Memory) -> bool {
    !is_same_text(of, memory) && of.stamps.updated.is_some_and(|updated| updated > memory.updated)
}

/// True for a memory that is secret as a whole.
pub(crate) fn is_sealed(memory: &Memory) -> bool {
    places(&memory.content).iter().any(|(_, place)| place.kind == WHOLE)
}

/// True if a row became secret, and its memory still contains the text in clear.
pub(crate) fn is_bared(of: &OlderRow, memory: &Memory) -> bool {
    of.draft.sensitive.is_some() && !is_sealed(memory)
}

/// The UUID of the separate memory for a row's text, if the row's own memory has another text.
pub(crate) fn beside_of(of: &OlderRow) -> MemoryUuid {
    MemoryUuid::from_key(&format!("{}@{:016x}", of.id(), of.said()))
}

/// Another author wrote the row, but its memory belongs to the user. Its text is stored once as a separate memory.
fn strange(connection: &Connection, of: &OlderRow, memory: &Memory) -> rusqlite::Result<RowStatus> {
    let id = beside_of(of);
    let is_new = !row::is_there(connection, id)? || was_undone(connection, id)?;
    Ok(if !is_same_text(of, memory) && is_new { RowStatus::Both } else { RowStatus::There })
}

pub(crate) fn deletion(
    connection: &Connection,
    key: MemoryUuid,
    whose: ImportAs,
) -> rusqlite::Result<Option<(RowStatus, Known)>> {
    let Some(came) = came(connection, &[key])? else { return Ok(None) };
    let Some(known) = row::find_known(connection, MemoryRef::Id(came.memory))? else { return Ok(None) };
    let status = match &known.memory {
        memory if memory.deleted.is_some() || memory.share.is_some() => RowStatus::There,
        memory if came.held != held(memory) => RowStatus::Kept,
        memory if whose == ImportAs::Foreign && memory.trust != Trust::Foreign => RowStatus::Kept,
        _ => RowStatus::Deleted,
    };
    Ok(Some((status, known)))
}

/// If the user imports their own data, a foreign memory becomes their own, unless another user shared its row.
fn vouched_or_there(memory: &Memory, of: &OlderRow, whose: ImportAs) -> RowStatus {
    if of.is_vouched(memory, whose) { RowStatus::Vouched } else { RowStatus::There }
}

/// The patch that encrypts a memory and changes nothing else.
pub(crate) fn sealing(of: &OlderRow, memory: &Memory) -> Patch {
    let sensitive = of.draft.sensitive.clone();
    Patch { content: Some(memory.content.clone()), sensitive, ..Patch::default() }
}

/// Encrypts the separate memories that earlier imports stored for the row.
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
    /// The number of additional secrets that importing a row would store. Nothing is encrypted, and no key is created.
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
            Memory { owner_trust: Some(Trust::Model), ..memory.clone() },
            Memory { metadata: "{\"a\":1}".parse().ok(), ..memory.clone() },
            Memory { expires: Some(memory.created), ..memory.clone() },
            Memory { content: "two".into(), ..memory.clone() },
        ];
        assert!(others.iter().all(|other| held(other) != held(&memory)));
        assert_eq!(held(&Memory { access_count: 7, ..memory.clone() }), held(&memory));
    }
}
