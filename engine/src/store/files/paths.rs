//! Ensures one memory per path. If two machines created a file at the same path, two memories with equal texts are
//! merged. Otherwise, one becomes a conflict copy with its own path. All machines that have both memories choose the
//! same one.

use rusqlite::params;

use super::folders::{SeenFile, TakenFile};
use crate::compose::{self, Known};
use crate::domain::{Content, FilePath, InFile, Memory, MemoryRef, MemoryUuid, Tag};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::erase::delete;
use crate::store::change::write::{self, Written, tell, write_row};
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;
use crate::sync::{Document, copy_id};
use crate::text::O200k;

/// The tag of a conflict copy.
const CONFLICT: &str = "conflict";

/// Gives a local file's memory the UUID of a server memory with the same path and text. A memory with secrets keeps its
/// UUID, because the secrets are encrypted for it.
pub(in crate::store) fn adopt_file(change: &Change<'_>, id: MemoryUuid, document: &Document) -> Result<(), StoreError> {
    let Some(path) = &document.details.file else { return Ok(()) };
    if row::remains(change.tx, id)?.is_some() {
        return Ok(());
    }
    let sql = "SELECT id FROM memories WHERE file = ?1 AND content = ?2 AND is_file = 1 AND deleted IS NULL
                   AND purged = 0 AND shared_by IS NULL AND conflict_of IS NULL
                   AND id NOT IN (SELECT memory FROM sync_states)
                   AND id NOT IN (SELECT memory FROM private WHERE why IS NOT 'undecided')
                   AND id NOT IN (SELECT memory FROM secrets)
               ORDER BY short_id LIMIT 1";
    let wanted = params![path.as_str(), document.content.as_str()];
    let known: Option<MemoryUuid> = change.tx.maybe(sql, wanted, |row| row.get(0))?;
    let Some(known) = known else { return Ok(()) };
    change.tx.run("DELETE FROM private WHERE memory = ?1", [known])?;
    write::rename(change, known, id)?;
    stand_for(change, known, id)
}

/// Moves the record of a file to another memory.
fn stand_for(change: &Change<'_>, before: MemoryUuid, now: MemoryUuid) -> Result<(), StoreError> {
    for sql in [
        "UPDATE OR REPLACE files SET memory = ?2 WHERE memory = ?1",
        "UPDATE parts SET file = ?2 WHERE file = ?1",
        "UPDATE OR REPLACE names SET memory = ?2 WHERE memory = ?1",
        "UPDATE OR REPLACE relations SET source = ?2 WHERE source = ?1",
        "UPDATE relations SET target = ?2 WHERE target = ?1",
        "UPDATE intents SET memory = ?2 WHERE memory = ?1",
        "UPDATE OR REPLACE changed_files SET memory = ?2 WHERE memory = ?1",
    ] {
        change.tx.run(sql, params![before, now])?;
    }
    Ok(())
}

/// Ensures that at most one memory belongs to a path.
pub(in crate::store) fn settle(change: &Change<'_>, path: &FilePath, actor: &Actor) -> Result<(), StoreError> {
    // The synced memory stays; if both are synced, the older one.
    let sql = "SELECT id FROM memories WHERE file = ?1 AND is_file = 1 AND deleted IS NULL AND purged = 0
                   AND shared_by IS NULL
               ORDER BY id NOT IN (SELECT memory FROM sync_states), id";
    let ids: Vec<MemoryUuid> = change.tx.all(sql, [path.as_str()], |row| row.get(0))?;
    let Some((stays, others)) = ids.split_first().filter(|(_, others)| !others.is_empty()) else { return Ok(()) };
    let Some(stays) = row::find_known(change.tx, MemoryRef::Id(*stays))? else { return Ok(()) };
    for id in others {
        let Some(other) = row::find_known(change.tx, MemoryRef::Id(*id))? else { continue };
        if other.memory.content == stays.memory.content {
            fold(change, &stays.memory, &other, actor)?;
        } else {
            set_apart(change, &stays.memory, &other, path, actor)?;
        }
    }
    Ok(())
}

/// Merges two memories with equal text at one path.
fn fold(change: &Change<'_>, stays: &Memory, other: &Known, actor: &Actor) -> Result<(), StoreError> {
    let (now, before) = (stays.id, other.memory.id);
    let sql = "SELECT EXISTS (SELECT 1 FROM files WHERE memory = ?1)";
    let is_known: bool = change.tx.one(sql, [now], |row| row.get(0))?;
    if !is_known {
        // The file on disk has that text, or had it when it was last read.
        let sql = "UPDATE files SET seen = CASE seen WHEN ?2 THEN ?3 ELSE -1 END WHERE memory = ?1";
        change.tx.run(sql, params![before, other.memory.rev, stays.rev])?;
        stand_for(change, before, now)?;
    }
    delete(change, other, actor)?;
    tell(change, before)
}

/// Turns the other text into a conflict copy with its own file.
fn set_apart(
    change: &Change<'_>,
    stays: &Memory,
    other: &Known,
    path: &FilePath,
    actor: &Actor,
) -> Result<(), StoreError> {
    let before = &other.memory;
    let memory = as_other_text(before.clone(), stays.id, path.conflicting(&before.id.to_string()))?;
    let composed = compose::moved(other, memory, change.now, &O200k).placed(before.short_id, change.next_rev()?);
    write_row(change, &composed, Written::Again)?;
    history::record(change, composed.memory(), Operation::Update, actor, Some(before))?;
    tell(change, before.id)
}

fn as_other_text(memory: Memory, of: MemoryUuid, path: FilePath) -> Result<Memory, StoreError> {
    let mut memory = Memory { file: Some(InFile::whole(path)), conflict_of: Some(of), ..memory };
    let tag = Tag::try_from(CONFLICT.to_owned())?;
    if !memory.tags.contains(&tag) {
        memory.tags.push(tag);
    }
    Ok(memory)
}

impl Store {
    /// If a file and its memory changed differently and cannot be merged, the memory gets the text of the file. Its
    /// previous text becomes a conflict copy with its own file.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn keep_both_texts(
        &mut self,
        id: MemoryUuid,
        file: SeenFile,
        actor: &Actor,
    ) -> Result<Option<TakenFile>, StoreError> {
        let rev = self.write(|change| {
            let known = change.known(MemoryRef::Id(id))?;
            let (before, text) = (&known.memory, Content::try_from(known.memory.content.clone())?);
            let copy = copy_id(id, &text);
            if row::remains(change.tx, copy)?.is_none() {
                let path = file.path.conflicting(&copy.to_string());
                let memory = Memory { id: copy, links: Vec::new(), ..as_other_text(before.clone(), id, path)? };
                let composed = compose::moved(&known, memory, change.now, &O200k);
                let placed = composed.placed(change.next_short_id()?, change.next_rev()?);
                write_row(change, &placed, Written::New)?;
                history::record(change, placed.memory(), Operation::Create, actor, None)?;
                tell(change, copy)?;
            }
            Ok(before.rev)
        })?;
        self.take_file_over(file, rev)
    }
}
