//! What was kept on this machine when its store joined a server, and is sent after all.

use rusqlite::params;

use super::arrival::by_sync;
use crate::compose::Known;
use crate::domain::{Memory, MemoryId, MemoryRef, Patch, Tag};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::erase::delete;
use crate::store::change::outbox::tell;
use crate::store::change::update::rewrite;
use crate::store::file::error::StoreError;
use crate::store::files::told::tell_file;
use crate::store::rows::ask::{Ask as _, Run as _};
use crate::store::rows::codec::sql;
use crate::store::rows::memory as row;

/// Memories of a step of [`Store::send_kept`].
const STEP: usize = 100;

impl Store {
    /// Lets the server be told of what was kept on this machine when it was joined. What it has already, word for word, is
    /// put together with that. Gives how many memories are told.
    ///
    /// # Errors
    /// When the store cannot be written; what was let go until then is told.
    pub fn send_kept(&mut self) -> Result<u64, StoreError> {
        let read = || -> rusqlite::Result<Vec<MemoryId>> {
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

    /// Keeps on this machine, by the person's word, what was kept because nobody had been asked.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn keep_here(&mut self) -> Result<(), StoreError> {
        self.write(|change| {
            change.tx.execute("UPDATE private SET why = NULL WHERE why = 'undecided'", [])?;
            Ok(())
        })
    }
}

/// True where the server is told of it.
fn send_one(change: &Change<'_>, id: MemoryId) -> Result<bool, StoreError> {
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

/// The memory of the user's own that the server has and that says the same.
fn equal_there(change: &Change<'_>, memory: &Memory) -> Result<Option<Known>, StoreError> {
    if memory.deleted.is_some() || memory.file.is_some() || memory.conflict_of.is_some() {
        return Ok(None);
    }
    const KNOWN: &str = "id IN (SELECT memory FROM trails)";
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
        " ORDER BY handle LIMIT 1"
    );
    let wanted = params![signature, change.now, memory.content, memory.scope.as_str(), memory.id];
    let found: Option<MemoryId> = change.tx.maybe(sql, wanted, |row| row.get(0))?;
    found.map(|id| change.known(MemoryRef::Id(id))).transpose()
}

/// The one that the server has takes the tags and links of the other, which goes: it can be restored.
fn fold(change: &Change<'_>, there: &Known, here: &Known) -> Result<(), StoreError> {
    let (now, before) = (there.memory.id, here.memory.id);
    let mut tags: Vec<Tag> = there.memory.tags.clone();
    tags.extend(here.memory.tags.iter().filter(|tag| !there.memory.tags.contains(tag)).cloned());
    if tags.len() > there.memory.tags.len() {
        rewrite(change, there, &Patch { tags: Some(tags), ..Patch::default() }, &by_sync())?;
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
    delete(change, here, &by_sync())?;
    tell(change, now)
}
