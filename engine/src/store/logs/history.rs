//! The history: what was done to a memory, when, by whom, and its previous version.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;
use tessera_tables::names;

use crate::domain::{Alteration, Memory, MemoryRef, MemoryUuid, Origin, ShortId, Timestamp};
use crate::screen::{KnownValues, Version, dropped, screened};
use crate::store::base::config::Actor;
use crate::store::base::kept;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, FromColumns, Reader, Run as _, read_columns, sql};
use crate::store::rows::memory as row;

names! {
/// The operation.
#[derive(Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// It was stored.
    Create = "create",
    /// Fields were changed.
    Update = "update",
    /// It was deleted.
    Delete = "delete",
    /// The memory, or an earlier text of it, was restored.
    Restore = "restore",
    /// It was permanently deleted.
    Purge = "purge",
    /// A link was added.
    Link = "link",
    /// A link was removed.
    Unlink = "unlink",
}
}

/// One change of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct HistoryEntry {
    /// The number of the change in this store. With this number, `restore` can undo the change.
    pub rev: u64,
    /// The memory's ID.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// The operation.
    pub operation: String,
    /// The time.
    pub at: Timestamp,
    /// The author.
    pub origin: Origin,
    /// The session.
    pub session: Option<String>,
    /// The client.
    pub client: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The previous version; absent for the first change and after a permanent deletion.
    pub before: Option<Memory>,
}

impl HistoryEntry {
    /// The previous version, if the change may have changed the text. A change of links keeps the text.
    pub fn before_text(&self) -> Option<&Memory> {
        let is_link = [Operation::Link, Operation::Unlink].iter().any(|one| one.as_str() == self.operation);
        self.before.as_ref().filter(|_| !is_link)
    }
}

read_columns! {
    /// One change, without the ID of its memory.
    HistoryColumns of HistoryEntry {
        "rev" => rev,
        "op" => operation,
        "at" => at,
        "origin" => origin,
        "session" => session,
        "client" => client,
        "reason" => reason,
        "before" => before,
    } beside {
        short_id: ShortId::FIRST,
    }
}

impl FromColumns for Option<Memory> {
    /// An unreadable version counts as absent.
    fn from_columns(from: &mut Reader<'_, '_>) -> rusqlite::Result<Self> {
        let text: Option<String> = from.take()?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

/// The rev of a change. Each row that a change adds to the history has its own rev. The memory gets the last one.
pub(crate) fn next_rev(change: &Change<'_>, actor: &Actor) -> Result<u64, StoreError> {
    Ok(actor.altered.iter().try_fold(change.next_rev()?, |_, _| change.next_rev())?)
}

/// Writes the history of a change. Its last row has the rev of `memory`. Changes by plugins have their own rows. These
/// rows contain no previous version, because the request was never stored as it was before the plugins changed it.
pub(crate) fn record(
    change: &Change<'_>,
    memory: &Memory,
    operation: Operation,
    actor: &Actor,
    before: Option<&Memory>,
) -> Result<(), StoreError> {
    let mut rev = memory.rev.saturating_sub(actor.altered.len() as u64);
    write(change, (memory.id, rev), operation, actor, before)?;
    for Alteration { by, fields } in &actor.altered {
        rev += 1;
        let client = Some(format!("plugin {by}"));
        let reason = Some(format!("changed {}", fields.join(", ")));
        let plugin = Actor { client, reason, altered: Vec::new(), ..actor.clone() };
        write(change, (memory.id, rev), Operation::Update, &plugin, None)?;
    }
    Ok(())
}

fn write(
    change: &Change<'_>,
    (memory, rev): (MemoryUuid, u64),
    operation: Operation,
    actor: &Actor,
    before: Option<&Memory>,
) -> Result<(), StoreError> {
    let before = before.map(|before| looked_through(change, before)).transpose()?;
    let before = before.and_then(|before| serde_json::to_string(&before).ok());
    // The reason is not stored with a value that could be requested, so credentials in it are discarded.
    let reason = actor.reason.as_ref().map(|reason| without_its_values(change, memory, reason)).transpose()?;
    let said = |text: &Option<String>| text.as_ref().map(|text| dropped(text).into_owned());
    let sql = "INSERT INTO history (rev, op_id, memory, op, at, origin, session, client, reason, before)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    change.tx.run(
        sql,
        params![
            rev,
            MemoryUuid::generate(change.now),
            memory,
            operation.as_str(),
            change.now,
            actor.origin.to_string(),
            said(&actor.session),
            said(&actor.client),
            reason,
            before,
        ],
    )?;
    Ok(())
}

/// The number of earlier versions of a file or part that are always kept.
const VERSIONS: u32 = 20;
/// For this number of days, the first version of each day is also kept.
const DAYS_OF_VERSIONS: i64 = 30;

/// Deletes the texts of old versions of a file or a section, because an editor may save every minute. The time, the
/// author and the reason of each entry are kept.
pub(crate) fn thin_out(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    let sql = "WITH kept AS (SELECT rev, at FROM history WHERE memory = ?1 AND before IS NOT NULL)
               UPDATE history SET before = NULL WHERE memory = ?1 AND before IS NOT NULL
               AND rev NOT IN (SELECT rev FROM kept ORDER BY rev DESC LIMIT ?2)
               AND rev NOT IN (SELECT min(rev) FROM kept WHERE at >= ?3 GROUP BY at / 86400000000)";
    let since = change.now.plus_days(-DAYS_OF_VERSIONS);
    change.tx.run(sql, params![id, VERSIONS, since])?;
    Ok(())
}

/// Redacts the memory's secret values in the reason of a change, because the detector may not recognise them without
/// context.
fn without_its_values(change: &Change<'_>, id: MemoryUuid, text: &str) -> Result<String, StoreError> {
    let mut known = KnownValues::default();
    let mut statement =
        change.tx.prepare_cached("SELECT name, kind, sealed FROM secrets WHERE memory = ?1 AND sealed IS NOT NULL")?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let (name, kind, sealed): (String, String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        match change.secrets.opened(change.tx, id, &name, &sealed) {
            Ok(value) => known.note(&kind, &value),
            Err(error @ StoreError::KeysWanted { .. }) => return Err(error),
            // Without the key, it is unknown whether the reason contains a value.
            Err(_) => return Ok(String::new()),
        }
    }
    Ok(known.taken_out_of(text).unwrap_or_else(|| text.to_owned()))
}

/// The previous version, without credentials that an earlier detector did not find.
fn looked_through(change: &Change<'_>, before: &Memory) -> Result<Memory, StoreError> {
    let mut keeper = change.secrets.keeper_of_old(change.tx, before.share.is_none());
    let (before, found) = screened(before.clone(), before.id, &mut keeper)?.into_parts();
    kept::write_all(change, before.id, &found)?;
    Ok(before)
}

/// The previous versions of a memory, as far as known.
pub(crate) fn all_before(connection: &Connection, id: MemoryUuid) -> rusqlite::Result<Vec<Memory>> {
    let sql = "SELECT before FROM history WHERE memory = ?1 AND before IS NOT NULL";
    let mut statement = connection.prepare_cached(sql)?;
    let texts = statement.query_map([id], |row| row.get::<_, String>(0))?;
    let known = texts.map(|text| Ok(serde_json::from_str(&text?).ok()));
    Ok(known.collect::<rusqlite::Result<Vec<Option<Memory>>>>()?.into_iter().flatten().collect())
}

/// A memory before the change `rev`.
pub(crate) fn before(connection: &Connection, id: MemoryUuid, rev: u64) -> rusqlite::Result<Option<Memory>> {
    let sql = "SELECT before FROM history WHERE memory = ?1 AND rev = ?2";
    let text: Option<Option<String>> = connection.query_row(sql, params![id, rev], |row| row.get(0)).optional()?;
    Ok(text.flatten().and_then(|text| serde_json::from_str(&text).ok()))
}

/// The earlier versions of a memory that can be read, with the revs of their entries.
pub(crate) fn earlier(change: &Change<'_>, id: MemoryUuid) -> Result<Vec<(u64, Version)>, StoreError> {
    let sql = "SELECT rev, before FROM history WHERE memory = ?1 AND before IS NOT NULL";
    let rows: Vec<(u64, String)> = change.tx.all(sql, [id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.into_iter().filter_map(|(rev, text)| Some((rev, serde_json::from_str(&text).ok()?))).collect())
}

impl Store {
    /// The present and earlier texts of memories.
    pub(crate) fn said_by(&self, references: &[MemoryRef]) -> Result<Vec<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut said = Vec::new();
            for reference in references {
                let Some(memory) = row::find(&self.connection, *reference)? else { continue };
                said.extend(all_before(&self.connection, memory.id)?.into_iter().map(|before| before.content));
                said.push(memory.content);
            }
            Ok(said)
        };
        read().map_err(|error| self.failed(error))
    }

    /// The changes of a memory, latest first, even if the memory was permanently deleted.
    ///
    /// # Errors
    /// Returns an error if there never was such a memory.
    pub fn history(&self, reference: MemoryRef) -> Result<Vec<HistoryEntry>, StoreError> {
        let (column, key): (&str, &dyn rusqlite::ToSql) = match &reference {
            MemoryRef::ShortId(short_id) => ("short_id", short_id),
            MemoryRef::Id(id) => ("id", id),
        };
        let identity = self
            .connection
            .query_row(&format!("SELECT id, short_id FROM memories WHERE {column} = ?1"), [key], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()
            .map_err(|error| self.failed(error))?;
        let (id, short_id): (MemoryUuid, ShortId) = identity.ok_or(StoreError::NotFound(reference))?;
        self.changes(id, short_id).map_err(|error| self.failed(error))
    }

    /// The memories of the latest changes in the store, latest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn changed_lately(&self) -> Result<Vec<MemoryUuid>, StoreError> {
        let sql = "SELECT memory FROM history ORDER BY rev DESC LIMIT 500";
        let mut found: Vec<MemoryUuid> =
            self.connection.all(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))?;
        let mut seen = BTreeSet::new();
        found.retain(|id| seen.insert(*id));
        Ok(found)
    }

    /// The memories that automatic learning stored or deleted, latest first, in one session or in all of them.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn learned_lately(&self, session: Option<&str>, most: usize) -> Result<Vec<HistoryEntry>, StoreError> {
        let sql = sql!(
            "SELECT ",
            HistoryColumns::LIST,
            ", (SELECT short_id FROM memories WHERE id = memory) FROM history
             WHERE origin = 'auto_learn' AND op IN ('create', 'delete') AND (?1 IS NULL OR session = ?1)
             ORDER BY rev DESC LIMIT ?2"
        );
        let read = |row: &rusqlite::Row<'_>| {
            let mut reader = Reader::new(row);
            let entry = HistoryColumns::read(&mut reader)?;
            Ok(HistoryEntry { short_id: reader.take()?, ..entry })
        };
        self.connection.all(sql, params![session, most as u64], read).map_err(|error| self.failed(error))
    }

    fn changes(&self, id: MemoryUuid, short_id: ShortId) -> rusqlite::Result<Vec<HistoryEntry>> {
        let sql = sql!("SELECT ", HistoryColumns::LIST, " FROM history WHERE memory = ?1 ORDER BY rev DESC");
        self.connection
            .all(sql, [id], |row| Ok(HistoryEntry { short_id, ..HistoryColumns::read(&mut Reader::new(row))? }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Draft, Patch};
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    #[test]
    fn each_change_says_what_when_by_whom_why_and_how_it_was() {
        let mut store = InMemory::new();
        let memory = store.said("one");
        store.pass_days(1);
        let actor = Actor {
            origin: Origin::Agent,
            session: Some("s".into()),
            client: Some("cli".into()),
            reason: Some("outdated".into()),
            altered: Vec::new(),
        };
        let text = Patch { content: Some("two".into()), ..Patch::default() };
        store.update(named(&memory), &text, &actor).unwrap();
        let entries = store.history(named(&memory)).unwrap();
        assert_eq!(entries, store.history(MemoryRef::Id(memory.id)).unwrap());
        let told: Vec<&str> = entries.iter().map(|entry| entry.operation.as_str()).collect();
        assert_eq!(told, ["update", "create"]);
        let update = &entries[0];
        assert_eq!((update.at, update.short_id, &update.origin), (store.now(), memory.short_id, &Origin::Agent));
        assert_eq!((&update.session, &update.client, &update.reason), (&actor.session, &actor.client, &actor.reason));
        assert_eq!(update.before.as_ref(), Some(&memory));
        assert_eq!(before(&store.connection, memory.id, update.rev).unwrap(), Some(memory.clone()));
        assert_eq!(before(&store.connection, memory.id, entries[1].rev).unwrap(), None);
    }

    #[test]
    fn what_a_plugin_changed_has_a_row_of_its_own_and_the_rest_is_undone_as_ever() {
        let mut store = InMemory::new();
        let altered = |by: &str| Alteration { by: by.into(), fields: vec!["content", "tags"] };
        let draft = Draft { altered: vec![altered("a"), altered("b")], ..Draft::new("one") };
        let memory = store.remember(draft).unwrap().memory;
        let told = |store: &InMemory| -> Vec<(u64, String, Option<String>, Option<String>)> {
            let entries = store.history(named(&memory)).unwrap();
            entries.into_iter().map(|entry| (entry.rev, entry.operation, entry.client, entry.reason)).collect()
        };
        let row = |rev, what: &str, who: Option<&str>, why: Option<&str>| {
            (rev, what.to_owned(), who.map(str::to_owned), why.map(str::to_owned))
        };
        let (a, b, why) = (Some("plugin a"), Some("plugin b"), Some("changed content, tags"));
        let first = memory.rev - 2;
        let made =
            [row(first + 2, "update", b, why), row(first + 1, "update", a, why), row(first, "create", None, None)];
        assert_eq!(told(&store), made);
        let actor = Actor { altered: vec![altered("b")], ..Actor::default() };
        let text = Patch { content: Some("two".into()), ..Patch::default() };
        let edited = store.update(named(&memory), &text, &actor).unwrap().memory;
        assert_eq!(told(&store)[..2], [row(edited.rev, "update", b, why), row(edited.rev - 1, "update", None, None)]);
        let back = store.restore(named(&memory), Some(edited.rev - 1), &Actor::default()).unwrap().memory;
        assert_eq!(back.content, "one");
    }

    #[test]
    fn a_purge_leaves_what_was_done_and_no_text_and_a_text_that_cannot_be_read_is_none() {
        let mut store = InMemory::new();
        let memory = store.said("one");
        let text = Patch { content: Some("two".into()), ..Patch::default() };
        store.update(named(&memory), &text, &Actor::default()).unwrap();
        store.run("UPDATE history SET before = '{' WHERE op = 'update'");
        assert_eq!(store.history(named(&memory)).unwrap()[0].before, None);
        store.forget(&[named(&memory)], Erase::Hard, &Actor::default()).unwrap();
        let entries = store.history(named(&memory)).unwrap();
        assert!(entries.len() == 3 && entries.iter().all(|entry| entry.before.is_none()));
        let nobody = MemoryRef::Id(MemoryUuid::from_key("nobody"));
        assert!(matches!(store.history(nobody), Err(StoreError::NotFound(_))));
    }
}
