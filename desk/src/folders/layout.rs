//! What was changed in memories of files elsewhere is written to the files: what a team server sent, what was brought back,
//! what settled a conflict. A file that somebody changed meanwhile is never written over: both changes are put together
//! where they do not touch, and both texts are kept where they do.

use tessera_engine::Store;
use tessera_engine::domain::{Content, FilePath, Memory, MemoryRef, Origin, content_of_file, file_of_content};
use tessera_engine::store::{Actor, FileRow, Intent, Pending, StoreError};
use tessera_engine::sync::merged_file;
use tessera_files::{Expected, FileError, ReadFile, RelativePath, Tree};
use xxhash_rust::xxh3::xxh3_64;

use super::read::{MOST_BYTES, failed, seen};

/// How often it is looked whether more waits.
const MOST_TURNS: usize = 8;

/// Writes what is pending. Gives the number of files that were written or removed. A file that cannot be written now waits,
/// and keeps no other from being written.
pub(super) fn lay_out(store: &mut Store) -> Result<usize, StoreError> {
    if !store.has_pending_files()? {
        return Ok(0);
    }
    let mut done = 0;
    for row in store.purged_files()? {
        done += usize::from(waiting(remove_purged(store, &row))?);
    }
    // What comes of one may be another that waits: the other text of a conflict, a file whose place is free now.
    let mut makes_room = true;
    for _ in 0..MOST_TURNS {
        let written = one_turn(store, makes_room)?;
        done += written;
        if !store.has_pending_files()? || written == 0 && !makes_room {
            break;
        }
        // Where each waits for another, none does.
        makes_room = written > 0;
    }
    Ok(done)
}

fn one_turn(store: &mut Store, makes_room: bool) -> Result<usize, StoreError> {
    let mut done = 0;
    for pending in store.pending_files()? {
        let Some(path) = pending.memory.file.as_ref().map(|file| file.path.clone()) else { continue };
        // Another may have taken its place on disk in this turn.
        let is_still =
            |row: &FileRow| Ok::<_, StoreError>(store.file_at(&row.path)?.is_some_and(|now| now.id == row.id));
        let is_still = pending.on_disk.as_ref().map(is_still).transpose()?.unwrap_or_default();
        let pending = Pending { on_disk: pending.on_disk.filter(|_| is_still), ..pending };
        let laid_out = Place::of(store, &path).and_then(|place| match place {
            Some(place) => Place { makes_room, ..place }.lay_out(store, &pending),
            None => Ok(false),
        });
        done += usize::from(waiting(laid_out)?);
    }
    Ok(done)
}

/// What is wrong with one file is told, and stops nothing.
fn waiting(laid_out: Result<bool, StoreError>) -> Result<bool, StoreError> {
    match laid_out {
        Err(StoreError::InFile { path, problem }) => {
            tracing::debug!(%path, problem, "a file cannot be written now");
            Ok(false)
        }
        other => other,
    }
}

/// A path of a folder that may be written.
struct Place {
    tree: Tree,
    path: FilePath,
    inside: RelativePath,
    /// True while what is under another name now is to leave its place first: what somebody wrote into it goes along.
    makes_room: bool,
}

impl Place {
    /// `None` where its folder is not there.
    fn of(store: &Store, path: &FilePath) -> Result<Option<Self>, StoreError> {
        let folders = store.folders()?;
        let folder = folders.iter().find(|folder| folder.name == path.folder() && folder.is_writable);
        let Some(folder) = folder else { return Ok(None) };
        let Ok(tree) = Tree::open(&folder.dir, &folder.name) else { return Ok(None) };
        let inside = RelativePath::found(path.inside(), &folder.name).map_err(|error| failed(path, &error))?;
        Ok(Some(Self { tree, path: path.clone(), inside, makes_room: false }))
    }

    fn lay_out(&self, store: &mut Store, pending: &Pending) -> Result<bool, StoreError> {
        let there = self.read()?;
        let memory = &pending.memory;
        if memory.deleted.is_some() {
            return self.remove(store, pending.on_disk.as_ref(), there);
        }
        let text = file_of_content(&memory.content).to_owned();
        let Some(known) = pending.on_disk.as_ref().filter(|row| row.path != self.path) else {
            return self.write_or_merge(store, pending, there, text);
        };
        self.move_here(store, pending, known, there, &text)
    }

    /// Writes where the file lies, or goes together with what somebody wrote there meanwhile.
    fn write_or_merge(
        &self,
        store: &mut Store,
        pending: &Pending,
        there: Option<ReadFile>,
        text: String,
    ) -> Result<bool, StoreError> {
        let Some(read) = there else { return self.write(store, &pending.memory, &text, Expected::Absent) };
        let hash = xxh3_64(&read.bytes);
        if hash == xxh3_64(text.as_bytes()) {
            return self.take(store, &pending.memory, read);
        }
        let owner = store.file_at(&self.path)?;
        match &owner {
            // What is there is known, and kept: by this memory, or by another that goes elsewhere.
            Some(row) if row.is_kept && row.stamp.hash == hash => {
                self.write(store, &pending.memory, &text, Expected::Seen(read.seen()))
            }
            Some(row) if row.is_kept && row.id == pending.memory.id => self.go_together(store, pending, row, read),
            Some(row) if self.makes_room && self.is_left_by(store, row, pending)? => Ok(false),
            // An older text of it, from when its folder was known before: the history has it.
            None if store.text_of_file_at(&pending.memory, hash)?.is_some() => {
                self.write(store, &pending.memory, &text, Expected::Seen(read.seen()))
            }
            _ => self.keep_both(store, pending, read),
        }
    }

    /// True when what stands here is another's, which is under another name now.
    fn is_left_by(&self, store: &Store, row: &FileRow, pending: &Pending) -> Result<bool, StoreError> {
        let owner = store.get(MemoryRef::Id(row.id))?.filter(|owner| owner.deleted.is_none());
        let is_elsewhere = owner.and_then(|owner| owner.file).is_some_and(|file| file.path != self.path);
        Ok(is_elsewhere && row.id != pending.memory.id)
    }

    /// A file that is under another name now: written there, then removed where it was.
    fn move_here(
        &self,
        store: &mut Store,
        pending: &Pending,
        known: &FileRow,
        there: Option<ReadFile>,
        text: &str,
    ) -> Result<bool, StoreError> {
        let before = Self::of(store, &known.path)?;
        let old = before.as_ref().map(Self::read).transpose()?.flatten();
        let is_as_known = |read: &ReadFile| known.is_kept && xxh3_64(&read.bytes) == known.stamp.hash;
        // What somebody changed under the old name is put together with what came, and goes along.
        let merged = match &old {
            Some(read) if !is_as_known(read) => self.merged(store, pending, known, read)?,
            _ => None,
        };
        let (is_kept, is_merged) = (old.as_ref().is_some_and(is_as_known), merged.is_some());
        let text = merged.unwrap_or_else(|| text.to_owned());
        if !self.write_or_merge(store, pending, there, text.clone())? {
            return Ok(false);
        }
        // Where another text stayed in the new place, what was changed under the old name is there alone.
        let goes_along = is_kept || is_merged && self.read()?.is_some_and(|read| read.bytes == text.as_bytes());
        if let (Some(before), Some(old), true) = (before, old, goes_along) {
            match before.tree.remove(&before.inside, Expected::Seen(old.seen())) {
                // What was changed at the last moment stays, as a file of its own.
                Ok(())
                | Err(
                    FileError::NotFound { .. }
                    | FileError::Nothing { .. }
                    | FileError::Gone { .. }
                    | FileError::Changed { .. },
                ) => {}
                Err(error) => return Err(failed(&before.path, &error)),
            }
        }
        Ok(true)
    }

    fn read(&self) -> Result<Option<ReadFile>, StoreError> {
        match self.tree.read(&self.inside, MOST_BYTES) {
            Ok(read) => Ok(Some(read)),
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(&self.path, &error)),
        }
    }

    fn intend(&self, store: &mut Store, memory: &Memory, text: &[u8]) -> Result<(), StoreError> {
        let intent = Intent { path: self.path.clone(), hash: xxh3_64(text), memory: memory.id, secrets: Vec::new() };
        store.intend(&[intent], &last_author(memory))
    }

    fn write(&self, store: &mut Store, memory: &Memory, text: &str, expected: Expected) -> Result<bool, StoreError> {
        self.intend(store, memory, text.as_bytes())?;
        match self.tree.write(&self.inside, text.as_bytes(), expected) {
            Ok(_) => {}
            // Somebody was quicker: it is looked at again the next time.
            Err(FileError::Changed { .. } | FileError::Exists { .. } | FileError::Gone { .. }) => return Ok(false),
            Err(error) => return Err(failed(&self.path, &error)),
        }
        let read = self.tree.read(&self.inside, MOST_BYTES).map_err(|error| failed(&self.path, &error))?;
        if read.bytes != text.as_bytes() {
            return Ok(false);
        }
        self.take(store, memory, read)
    }

    fn take(&self, store: &mut Store, memory: &Memory, read: ReadFile) -> Result<bool, StoreError> {
        self.intend(store, memory, &read.bytes)?;
        let Some(file) = seen(self.path.clone(), read) else { return Ok(false) };
        Ok(store.take_file_over(file, memory.rev)?.is_some())
    }

    fn remove(&self, store: &mut Store, row: Option<&FileRow>, there: Option<ReadFile>) -> Result<bool, StoreError> {
        let Some(row) = row else { return Ok(false) };
        match there {
            Some(read) if row.is_kept && xxh3_64(&read.bytes) == row.stamp.hash => {
                match self.tree.remove(&self.inside, Expected::Seen(read.seen())) {
                    Ok(()) | Err(FileError::NotFound { .. } | FileError::Nothing { .. } | FileError::Gone { .. }) => {}
                    Err(FileError::Changed { .. }) => return Ok(false),
                    Err(error) => return Err(failed(&self.path, &error)),
                }
            }
            Some(read) => {
                // Somebody changed it, or nobody else has what stands there: that has precedence, and is taken as such.
                let Some(file) = seen(self.path.clone(), read) else { return Ok(false) };
                return Ok(!store.take_files(&[file])?.is_empty());
            }
            None => {}
        }
        Ok(!store.files_gone(std::slice::from_ref(&row.path), &Actor::default())?.is_empty())
    }

    /// A file that was changed here while its memory was changed elsewhere.
    fn go_together(
        &self,
        store: &mut Store,
        pending: &Pending,
        known: &FileRow,
        read: ReadFile,
    ) -> Result<bool, StoreError> {
        match self.merged(store, pending, known, &read)? {
            Some(text) => self.write(store, &pending.memory, &text, Expected::Seen(read.seen())),
            None => self.keep_both(store, pending, read),
        }
    }

    /// What came and what somebody wrote by hand, from what the file said when it was last read.
    fn merged(
        &self,
        store: &Store,
        pending: &Pending,
        known: &FileRow,
        read: &ReadFile,
    ) -> Result<Option<String>, StoreError> {
        let content = |text: &str| Content::try_from(content_of_file(text)).ok();
        let base = store.text_of_file_at(&pending.memory, known.stamp.hash)?;
        let base = base.and_then(|base| Content::try_from(base).ok());
        let by_hand = std::str::from_utf8(&read.bytes).ok().and_then(content);
        let came = Content::try_from(pending.memory.content.clone()).ok();
        let (Some(base), Some(by_hand), Some(came)) = (base, by_hand, came) else { return Ok(None) };
        let merged = merged_file(&self.path, &base, &by_hand, &came);
        Ok(merged.map(|merged| file_of_content(merged.as_str()).to_owned()))
    }

    /// What came is written beside the file, and what stands there is taken as it is: the other text of a conflict is that
    /// which came.
    fn keep_both(&self, store: &mut Store, pending: &Pending, read: ReadFile) -> Result<bool, StoreError> {
        let Some(file) = seen(self.path.clone(), read) else { return Ok(false) };
        let memory = &pending.memory;
        Ok(store.keep_both_texts(memory.id, file, &last_author(memory))?.is_some())
    }
}

/// A file whose memory was removed for good goes, if it says what that said; one that says something else is another.
fn remove_purged(store: &mut Store, row: &FileRow) -> Result<bool, StoreError> {
    let Some(place) = Place::of(store, &row.path)? else { return Ok(false) };
    let there = place.read()?;
    let is_as_known = |read: &ReadFile| row.is_kept && xxh3_64(&read.bytes) == row.stamp.hash;
    if let Some(read) = there.as_ref().filter(|read| is_as_known(read)) {
        match place.tree.remove(&place.inside, Expected::Seen(read.seen())) {
            Ok(()) | Err(FileError::NotFound { .. } | FileError::Nothing { .. } | FileError::Gone { .. }) => {}
            Err(FileError::Changed { .. }) => return Ok(false),
            Err(error) => return Err(failed(&row.path, &error)),
        }
        store.forget_purged_file(&row.path)?;
        return Ok(true);
    }
    store.forget_purged_file(&row.path)?;
    let Some(file) = there.and_then(|read| seen(row.path.clone(), read)) else { return Ok(true) };
    store.take_files(&[file])?;
    Ok(true)
}

/// Who wrote what a memory says, as far as it says so.
fn last_author(memory: &Memory) -> Actor {
    let origin = memory.edited_by.as_ref().map_or_else(|| memory.origin.clone(), |by| Origin::Shared(by.clone()));
    Actor { origin, session: memory.session.clone(), client: memory.client.clone(), reason: None }
}
