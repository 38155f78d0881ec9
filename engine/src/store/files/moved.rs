//! Renamed and deleted files.

use rusqlite::{OptionalExtension, params};
use tessera_markdown::permalink;
use xxhash_rust::xxh3::xxh3_64;

use super::folders::{doubt_directory, drop_folder};
use super::told::{folder_is_told, tell_or_keep};
use super::written::{free_path, remove_part};
use super::{names, paths};
use crate::compose::{self, Known};
use crate::domain::{FilePath, InFile, Memory, MemoryRef, MemoryUuid, file_of_content};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::erase::delete;
use crate::store::change::write::{Written, tell, write_row};
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;
use crate::text::O200k;

impl Store {
    /// Records that files were renamed. Their memories and parts keep their UUIDs. Files that are not indexed are
    /// ignored.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. Then nothing is recorded.
    pub fn move_files(&mut self, moves: &[(FilePath, FilePath)], actor: &Actor) -> Result<(), StoreError> {
        self.write(|change| moves.iter().try_for_each(|(from, to)| move_file(change, from, to, actor)))?;
        self.maintain();
        Ok(())
    }

    /// Records that files were deleted: they and their parts are deleted and can be restored. Returns
    /// the files that were indexed.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. Then nothing is recorded.
    pub fn files_gone(&mut self, paths: &[FilePath], actor: &Actor) -> Result<Vec<MemoryUuid>, StoreError> {
        let gone = self.write(|change| remove_all(change, paths, actor))?;
        self.maintain();
        Ok(gone)
    }

    /// Records that these files can no longer be indexed. Recall on this machine no longer returns the files and their
    /// sections, but the server keeps them.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn files_mute(&mut self, paths: &[FilePath], actor: &Actor) -> Result<Vec<MemoryUuid>, StoreError> {
        let gone = self.write(|change| {
            let wholes = paths.iter().filter_map(|path| whole_of(change, path).transpose());
            wholes.into_iter().try_for_each(|whole| tell_or_keep(change, whole?.memory.id, false))?;
            remove_all(change, paths, actor)
        })?;
        self.maintain();
        Ok(gone)
    }

    /// Removes a folder's files from the index. Synced files stay on the server and other machines. If the folder is
    /// added again, its files are indexed again.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn forget_folder(&mut self, name: &str, actor: &Actor) -> Result<usize, StoreError> {
        let paths: Vec<FilePath> = self.files_in(name)?.into_iter().map(|file| file.path).collect();
        // In one transaction, because a half-removed folder would stay that way.
        self.with_room(|store| {
            store.write(|change| {
                // From now on, its files are local, so removing them is not a deletion for other machines.
                folder_is_told(change, name, false)?;
                remove_all(change, &paths, actor)?;
                drop_folder(change, name)
            })
        })?;
        self.maintain();
        Ok(paths.len())
    }
}

/// The memory of an existing file.
pub(super) fn whole_of(change: &Change<'_>, path: &FilePath) -> Result<Option<Known>, StoreError> {
    let mut statement = change.tx.prepare_cached("SELECT memory FROM files WHERE path = ?1")?;
    let found: Option<MemoryUuid> = statement.query_map([path.as_str()], |row| row.get(0))?.next().transpose()?;
    Ok(found.map(|id| row::find_known(change.tx, MemoryRef::Id(id))).transpose()?.flatten())
}

fn parts_of(change: &Change<'_>, file: MemoryUuid) -> Result<Vec<Known>, StoreError> {
    let ids: Vec<MemoryUuid> =
        change.tx.all("SELECT memory FROM parts WHERE file = ?1 AND n >= 0 ORDER BY n", [file], |row| row.get(0))?;
    let found = ids.into_iter().map(|id| row::find_known(change.tx, MemoryRef::Id(id)));
    Ok(found.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn move_file(change: &Change<'_>, from: &FilePath, to: &FilePath, actor: &Actor) -> Result<(), StoreError> {
    let Some(whole) = whole_of(change, from)? else { return Ok(()) };
    doubt_directory(change, from)?;
    doubt_directory(change, to)?;
    for known in std::iter::once(whole.clone()).chain(parts_of(change, whole.memory.id)?) {
        let Some(file) = known.memory.file.clone() else { continue };
        let moved = Memory { file: Some(InFile { path: to.clone(), ..file }), ..known.memory.clone() };
        let composed = compose::moved(&known, moved, change.now, &O200k);
        let placed = composed.placed(known.memory.short_id, change.next_rev()?);
        write_row(change, &placed, Written::Again)?;
        history::record(change, placed.memory(), Operation::Update, actor, Some(&known.memory))?;
        if placed.memory().is_whole_file() {
            // A change that is not yet in the file continues to wait.
            let sql = "UPDATE files SET path = ?2, seen = CASE seen WHEN ?4 THEN ?3 ELSE -1 END WHERE memory = ?1";
            let (now, before) = (placed.memory().rev, known.memory.rev);
            free_path(change, to, whole.memory.id)?;
            change.tx.run(sql, params![whole.memory.id, to.as_str(), now, before])?;
        }
    }
    rename(change, &whole.memory, from, to)?;
    if from.is_markdown() != to.is_markdown() {
        // The new name changes how it is parsed, so the next scan reads it again.
        let sql = "UPDATE files SET hash = 0, modified = 0 WHERE memory = ?1";
        change.tx.run(sql, [whole.memory.id])?;
    }
    tell(change, whole.memory.id)?;
    paths::settle(change, to, actor)
}

/// Updates names of a file that depend on its path.
fn rename(change: &Change<'_>, whole: &Memory, from: &FilePath, to: &FilePath) -> Result<(), StoreError> {
    let sql = "SELECT title, permalink FROM files WHERE memory = ?1";
    let (title, link): (String, String) = change.tx.one(sql, [whole.id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let title = if title == from.stem() { to.stem().to_owned() } else { title };
    let link = if link == permalink::of_path(from.inside()) { permalink::of_path(to.inside()) } else { link };
    let sql = "UPDATE files SET title = ?2, permalink = ?3 WHERE memory = ?1";
    change.tx.run(sql, params![whole.id, title, link])?;
    let mut keys = names::keys_of(to, &link, std::iter::once(&title));
    let said = names::keys_of(from, &link, std::iter::empty());
    let known = names::keys(change, whole.id)?;
    // Aliases come from the file itself, and stay.
    keys.extend(known.into_iter().filter(|key| !said.contains(key)));
    names::rename(change, whole.id, &keys)
}

fn remove_all(change: &Change<'_>, paths: &[FilePath], actor: &Actor) -> Result<Vec<MemoryUuid>, StoreError> {
    let gone = paths.iter().filter_map(|path| remove(change, path, actor).transpose());
    gone.collect()
}

/// Removes a file and its parts from recall.
pub(super) fn remove(change: &Change<'_>, path: &FilePath, actor: &Actor) -> Result<Option<MemoryUuid>, StoreError> {
    let Some(whole) = whole_of(change, path)? else { return forget_path(change, path) };
    let id = whole.memory.id;
    doubt_directory(change, path)?;
    if is_changed_elsewhere(change, &whole)? {
        // A change wins over a deletion, so the changed file is written again.
        change.tx.run("DELETE FROM files WHERE memory = ?1", [id])?;
        return Ok(None);
    }
    for part in parts_of(change, id)? {
        remove_part(change, &part, actor)?;
    }
    names::forget(change, id)?;
    change.tx.run("DELETE FROM files WHERE memory = ?1", [id])?;
    if whole.memory.deleted.is_none() {
        delete(change, &whole, actor)?;
        tell(change, id)?;
    }
    // It is deleted on both sides.
    change.tx.run("DELETE FROM changed_files WHERE memory = ?1", [id])?;
    Ok(Some(id))
}

/// True if the memory was changed outside of the file.
fn is_changed_elsewhere(change: &Change<'_>, whole: &Known) -> Result<bool, StoreError> {
    let sql = "SELECT hash FROM files WHERE memory = ?1 AND kept = 1 AND seen <> ?2";
    let mut statement = change.tx.prepare_cached(sql)?;
    let hash: Option<i64> =
        statement.query_row(params![whole.memory.id, whole.memory.rev], |row| row.get(0)).optional()?;
    let text = file_of_content(&whole.memory.content);
    Ok(whole.memory.deleted.is_none() && hash.is_some_and(|hash| hash.cast_unsigned() != xxh3_64(text.as_bytes())))
}

/// Removes the record of a deleted file whose memory was already deleted permanently.
fn forget_path(change: &Change<'_>, path: &FilePath) -> Result<Option<MemoryUuid>, StoreError> {
    let sql = "DELETE FROM files WHERE path = ?1 RETURNING memory";
    let mut statement = change.tx.prepare_cached(sql)?;
    Ok(statement.query_map([path.as_str()], |row| row.get(0))?.next().transpose()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Patch;
    use crate::store::open::in_memory::InMemory;

    fn path(path: &str) -> FilePath {
        path.parse().unwrap()
    }

    #[test]
    fn a_file_that_another_takes_the_path_of_waits_to_be_written_and_so_does_the_other() {
        let mut store = InMemory::new();
        let first = store.file("/memories/b.md", "- made first\n");
        store.pass_days(1);
        let second = store.file("/memories/a.md", "- made second\n");
        assert!(store.pending().is_empty());
        let moves = [(path("/memories/a.md"), path("/memories/b.md"))];
        store.move_files(&moves, &Actor::default()).unwrap();
        let pending = store.pending_files().unwrap();
        let found = |id| pending.iter().find(|pending| pending.memory.id == id).unwrap();
        assert_eq!(found(first).on_disk, None, "no file is known to say it");
        assert_eq!(found(first).memory.file.as_ref().unwrap().path, path("/memories/b.md"));
        let on_disk = found(second).on_disk.as_ref().unwrap();
        assert_eq!(on_disk.path, path("/memories/b.md"));
        assert_ne!(
            found(second).memory.file.as_ref().unwrap().path,
            on_disk.path,
            "the second file gets another path, as if both files were in conflict"
        );
    }

    #[test]
    fn a_newer_text_waits_on_when_the_file_goes_and_a_file_that_is_gone_does_not() {
        let mut store = InMemory::new();
        let changed = store.file("/memories/a.md", "- before\n");
        store.file("/memories/b.md", "- stays\n");
        let text = Patch { content: Some("- after".into()), ..Patch::default() };
        store.update(MemoryRef::Id(changed), &text, &Actor::default()).unwrap();
        assert_eq!(store.pending(), ["/memories/a.md"]);
        let paths = [path("/memories/a.md"), path("/memories/b.md")];
        assert_eq!(store.files_gone(&paths, &Actor::default()).unwrap().len(), 1);
        assert_eq!(store.pending(), ["/memories/a.md"]);
        assert_eq!(
            store.one::<u32>("SELECT count(*) FROM changed_files"),
            1,
            "a file that was deleted on disk and in the store leaves no entry"
        );
    }

    #[test]
    fn a_folder_is_let_go_of_as_a_whole_or_not_at_all() {
        let mut store = InMemory::joined();
        let id = store.file("/memories/a.md", "- lives\n");
        let waiting = "SELECT count(*) FROM outbox";
        assert_eq!(store.one::<u32>(waiting), 1);
        store.run(
            "CREATE TEMP TRIGGER stop BEFORE DELETE ON folders BEGIN SELECT RAISE(ABORT, 'the power is cut'); END",
        );
        store.forget_folder("memories", &Actor::default()).unwrap_err();
        assert_eq!((store.one::<u32>(waiting), store.one::<u32>("SELECT count(*) FROM private")), (1, 0));
        assert!(store.get(MemoryRef::Id(id)).unwrap().unwrap().deleted.is_none());
        store.run("DROP TRIGGER stop");
        assert_eq!(store.forget_folder("memories", &Actor::default()).unwrap(), 1);
        assert_eq!((store.one::<u32>(waiting), store.folders().unwrap().len()), (0, 0));
    }

    #[test]
    fn a_file_of_which_no_row_is_left_waits_to_be_written() {
        let mut store = InMemory::new();
        store.file("/memories/a.md", "- lives\n");
        store.run("DELETE FROM files");
        assert_eq!(store.pending(), ["/memories/a.md"]);
    }
}
