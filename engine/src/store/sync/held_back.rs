//! Sends memories that were kept local when the store joined a server.
//!
//! If a folder is synced again, also restores the files that were removed here and that the server still has.

use rusqlite::params;

use super::arrival::{Held, carry_out, settle_paths};
use crate::compose::Known;
use crate::domain::{Memory, MemoryRef, MemoryUuid, Patch, Tag};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::erase::delete;
use crate::store::change::update::rewrite;
use crate::store::change::write::tell;
use crate::store::file::error::StoreError;
use crate::store::files::told::tell_file;
use crate::store::rows::codec::{Ask as _, Run as _, sql};
use crate::store::rows::memory as row;
use crate::sync::Settled;

/// Memories per step of [`Store::send_kept`].
const STEP: usize = 100;

impl Store {
    /// Sends memories that were kept local. Memories that equal a memory on the server are merged with it. Returns the
    /// number of sent memories.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. If an error occurs, the memories of the finished batches stay
    /// queued and are sent.
    pub fn send_kept(&mut self) -> Result<u64, StoreError> {
        let read = || -> rusqlite::Result<Vec<MemoryUuid>> {
            let mut statement = self.connection.prepare("SELECT memory FROM private WHERE why IS NOT 'file'")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        let kept = read().map_err(|error| self.failed(error))?;
        let mut told = 0;
        for ids in kept.chunks(STEP) {
            told += self.write(|change| {
                let told: Vec<bool> = ids.iter().map(|id| send_one(change, *id)).collect::<Result<_, _>>()?;
                Ok(told.into_iter().filter(|is_told| *is_told).count() as u64)
            })?;
        }
        Ok(told)
    }

    /// Keeps the undecided memories local permanently.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn keep_here(&mut self) -> Result<(), StoreError> {
        self.write(|change| {
            change.tx.execute("UPDATE private SET why = NULL WHERE why = 'undecided'", [])?;
            Ok(())
        })
    }
}

/// True if it will be sent.
fn send_one(change: &Change<'_>, id: MemoryUuid) -> Result<bool, StoreError> {
    change.tx.run("DELETE FROM private WHERE memory = ?1", [id])?;
    let Some((known, row::HERE)) = row::remains(change.tx, id)? else { return Ok(false) };
    if known.memory.is_whole_file() {
        return tell_file(change, id);
    }
    if let Some(there) = equal_there(change, &known.memory)? {
        fold(change, &there, &known)?;
        return Ok(false);
    }
    tell(change, id)?;
    Ok(known.memory.deleted.is_none())
}

/// The user's own memory on the server with equal content.
fn equal_there(change: &Change<'_>, memory: &Memory) -> Result<Option<Known>, StoreError> {
    if memory.deleted.is_some() || memory.file.is_some() || memory.conflict_of.is_some() {
        return Ok(None);
    }
    const KNOWN: &str = "id IN (SELECT memory FROM sync_states)";
    let sql = sql!(
        "SELECT signature FROM memories WHERE id = ?1 AND id NOT IN (SELECT memory FROM secrets) AND NOT ",
        KNOWN,
        " AND ",
        row::HOLDS
    );
    let here: Option<i64> = change.tx.maybe(sql, params![memory.id, change.now], |row| row.get(0))?;
    let Some(signature) = here else { return Ok(None) };
    let sql = sql!(
        "SELECT id FROM memories WHERE signature = ?1 AND content = ?3 AND scope = ?4 AND id <> ?5
             AND deleted IS NULL AND shared_by IS NULL AND file IS NULL AND conflict_of IS NULL AND ",
        KNOWN,
        " AND ",
        row::HOLDS,
        " ORDER BY short_id LIMIT 1"
    );
    let wanted = params![signature, change.now, memory.content, memory.scope.as_str(), memory.id];
    let found: Option<MemoryUuid> = change.tx.maybe(sql, wanted, |row| row.get(0))?;
    found.map(|id| change.known(MemoryRef::Id(id))).transpose()
}

/// Merges a local memory into an equal memory of the server, which gets the tags and links of the local one. The local
/// memory is deleted, and can be restored.
fn fold(change: &Change<'_>, there: &Known, here: &Known) -> Result<(), StoreError> {
    let (now, before) = (there.memory.id, here.memory.id);
    let mut tags: Vec<Tag> = there.memory.tags.clone();
    tags.extend(here.memory.tags.iter().filter(|tag| !there.memory.tags.contains(tag)).cloned());
    if tags.len() > there.memory.tags.len() {
        rewrite(change, there, &Patch { tags: Some(tags), ..Patch::default() }, &Actor::by_sync())?;
    }
    for sql in [
        "INSERT OR IGNORE INTO links (source, type, target, created)
             SELECT ?2, type, target, created FROM links WHERE source = ?1 AND target <> ?2",
        "INSERT OR IGNORE INTO links (source, type, target, created)
             SELECT source, type, ?2, created FROM links WHERE target = ?1 AND source <> ?2
                 AND source IN (SELECT id FROM memories WHERE shared_by IS NULL)",
        "INSERT OR REPLACE INTO outbox (memory)
             SELECT DISTINCT source FROM links WHERE target = ?1 AND source <> ?2
                 AND source IN (SELECT id FROM memories WHERE shared_by IS NULL)
                 AND source NOT IN (SELECT memory FROM private)",
    ] {
        change.tx.run(sql, params![before, now])?;
    }
    delete(change, here, &Actor::by_sync())?;
    tell(change, now)
}

impl Store {
    /// Restores files of a folder that were removed here without syncing the deletion. They get the server's text. The
    /// caller must index the folder first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn bring_back_untold(&mut self, folder: &str) -> Result<usize, StoreError> {
        self.write(|change| {
            let sql = "SELECT id FROM memories JOIN private ON private.memory = id AND why = 'file'
                       JOIN sync_states ON sync_states.memory = id
                       WHERE file >= ?1 AND file < ?2 AND is_file = 1 AND purged = 0 AND deleted IS NOT NULL
                           AND shared_by IS NULL AND id NOT IN (SELECT memory FROM files)";
            let within = params![format!("/{folder}/"), format!("/{folder}0")];
            let ids: Vec<MemoryUuid> = change.tx.all(sql, within, |row| row.get(0))?;
            let mut back = Vec::new();
            for id in ids {
                let Some(mut held) = Held::of(change, id)? else { continue };
                if held.local.bring_back() {
                    let settled = Settled { stays: true, kept: Vec::new() };
                    carry_out(change, id, Some(&held.known), held.mark, &held.local, settled)?;
                    back.push(id);
                }
            }
            settle_paths(change, back.iter().copied())?;
            Ok(back.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::arrival::answer_one;
    use super::*;
    use crate::domain::MemoryRef;
    use crate::store::base::config::Actor;
    use crate::store::open::in_memory::{InMemory, base_version};
    use crate::sync::{Answer, BaseVersion, Row, State};

    /// A file is sent, its folder is removed, and then the answer arrives.
    fn let_go_while_told() -> (InMemory, MemoryUuid) {
        let mut store = InMemory::joined();
        let id = store.file("/memories/a.md", "- told\n");
        let op = store.ops(9).unwrap().pop().unwrap();
        let document =
            store.write(|change| Ok(Held::of(change, id)?.unwrap().local.state.document().cloned())).unwrap();
        store.forget_folder("memories", &Actor::default()).unwrap();
        let sent = base_version("x", 1, None);
        let row = Row { memory: id, state: State::Live(document.unwrap()), ..sent.row };
        let row = Some(BaseVersion { row, ..sent });
        let answer = Answer { op_id: op.op_id, memory: id, refused: None, row, copy: None };
        store.write(|change| answer_one(change, &answer)).unwrap();
        (store, id)
    }

    #[test]
    fn an_answer_that_comes_after_a_folder_was_let_go_of_has_no_file_deleted() {
        let (mut store, id) = let_go_while_told();
        assert!(store.get(MemoryRef::Id(id)).unwrap().unwrap().deleted.is_some());
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 0);
        assert!(store.ops(9).unwrap().is_empty());
    }

    #[test]
    fn what_the_server_has_comes_back_and_is_no_news_to_it() {
        let (mut store, id) = let_go_while_told();
        assert_eq!(store.bring_back_untold("other").unwrap(), 0);
        assert_eq!(store.bring_back_untold("memories").unwrap(), 1);
        assert_eq!(store.bring_back_untold("memories").unwrap(), 0, "it is there");
        assert!(store.get(MemoryRef::Id(id)).unwrap().unwrap().deleted.is_none());
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 0);
    }
}
