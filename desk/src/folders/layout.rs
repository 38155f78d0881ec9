//! Writes changes of file memories to the files. The changes come from sync, from restores and from resolved conflicts.
//! A file that somebody else has changed is never overwritten. If an unchanged line is between the two changes, they
//! are merged; otherwise both texts are kept.

use tessera_engine::Store;
use tessera_engine::domain::{Content, Memory, MemoryRef, Origin, content_of_file, file_of_content};
use tessera_engine::store::{Actor, FileRow, Pending, SeenFile, StoreError};
use tessera_engine::sync::merged_file;
use tessera_files::{Expected, FileError, ReadFile};
use xxhash_rust::xxh3::xxh3_64;

use super::place::{Place, is_as_known};
use super::read::seen;

/// The maximum number of rounds. Writing a file may free a path that another file needs, so several rounds are
/// necessary.
const MOST_TURNS: usize = 8;

/// Writes pending changes; returns the number of written or deleted files. A file that cannot be written now waits and
/// does not stop others.
pub(super) fn lay_out(store: &mut Store) -> Result<usize, StoreError> {
    if !store.has_pending_files()? {
        return Ok(0);
    }
    let mut done = 0;
    for row in store.purged_files()? {
        done += usize::from(waiting(remove_purged(store, &row))?);
    }
    // One write may make another possible: a conflict copy, or a path that becomes free.
    let mut makes_room = true;
    for _ in 0..MOST_TURNS {
        let written = one_turn(store, makes_room)?;
        done += written;
        if !store.has_pending_files()? || written == 0 && !makes_room {
            break;
        }
        // If files wait for each other, none is written.
        makes_room = written > 0;
    }
    Ok(done)
}

fn one_turn(store: &mut Store, makes_room: bool) -> Result<usize, StoreError> {
    let mut done = 0;
    for pending in store.pending_files()? {
        let Some(path) = pending.memory.file.as_ref().map(|file| file.path.clone()) else { continue };
        // A server may send a name that other programs run; such a file is never written.
        if path.is_obeyed() && pending.memory.deleted.is_none() {
            continue;
        }
        // Another file may have taken its path in this round.
        let is_still =
            |row: &FileRow| Ok::<_, StoreError>(store.file_at(&row.path)?.is_some_and(|now| now.id == row.id));
        let is_still = pending.on_disk.as_ref().map(is_still).transpose()?.unwrap_or_default();
        let pending = Pending { on_disk: pending.on_disk.filter(|_| is_still), ..pending };
        let laid_out = Place::of(store, &path).and_then(|place| match place {
            Some(place) => place.lay_out(store, &pending, makes_room),
            None => Ok(false),
        });
        done += usize::from(waiting(laid_out)?);
    }
    Ok(done)
}

/// A problem with one file is logged, and stops nothing.
fn waiting(laid_out: Result<bool, StoreError>) -> Result<bool, StoreError> {
    match laid_out {
        Err(StoreError::InFile { path, problem }) => {
            tracing::debug!(%path, problem, "a file cannot be written now");
            Ok(false)
        }
        other => other,
    }
}

impl Place {
    /// With `makes_room`, a file that must be renamed moves first, together with its edits.
    fn lay_out(&self, store: &mut Store, pending: &Pending, makes_room: bool) -> Result<bool, StoreError> {
        let there = self.read()?;
        let memory = &pending.memory;
        if memory.deleted.is_some() {
            return self.take_away(store, pending.on_disk.as_ref(), there);
        }
        let text = file_of_content(&memory.content).to_owned();
        let Some(known) = pending.on_disk.as_ref().filter(|row| row.path != self.path) else {
            return self.write_or_merge(store, pending, there, text, makes_room);
        };
        self.move_here(store, pending, known, (there, text), makes_room)
    }

    /// Writes the file, or merges the text with a change that somebody else made in between.
    fn write_or_merge(
        &self,
        store: &mut Store,
        pending: &Pending,
        there: Option<ReadFile>,
        text: String,
        makes_room: bool,
    ) -> Result<bool, StoreError> {
        let Some(read) = there else { return self.lay_down(store, &pending.memory, text, Expected::Absent) };
        let hash = xxh3_64(&read.bytes);
        if hash == xxh3_64(text.as_bytes()) {
            self.intend(store, &read.bytes, (pending.memory.id, Vec::new()), &last_author(&pending.memory))?;
            return take_over(store, &pending.memory, seen(self.path.clone(), read));
        }
        let owner = store.file_at(&self.path)?;
        match &owner {
            // The present file is known and stored, by this memory or by one that moves away.
            Some(row) if row.is_kept && row.stamp.hash == hash => {
                self.lay_down(store, &pending.memory, text, Expected::Seen(read.seen()))
            }
            Some(row) if row.is_kept && row.id == pending.memory.id => {
                self.go_together(store, pending, row.stamp.hash, read)
            }
            Some(row) if makes_room && self.is_left_by(store, row, pending)? => Ok(false),
            None => self.write_over_older(store, pending, read, text),
            _ => self.keep_both(store, pending, read),
        }
    }

    /// If the file still has an old text from an earlier watch that the server has stored, this text is overwritten,
    /// because the history contains it. A text that the server never received is an edit of the user.
    fn write_over_older(
        &self,
        store: &mut Store,
        pending: &Pending,
        read: ReadFile,
        text: String,
    ) -> Result<bool, StoreError> {
        let hash = xxh3_64(&read.bytes);
        match store.untold_text(pending.memory.id, hash)? {
            Some(untold) => match untold.base {
                Some(base) => self.go_together(store, pending, base, read),
                None => self.keep_both(store, pending, read),
            },
            None if store.text_of_file_at(&pending.memory, hash)?.is_some() => {
                self.lay_down(store, &pending.memory, text, Expected::Seen(read.seen()))
            }
            None => self.keep_both(store, pending, read),
        }
    }

    /// True if the present file belongs to a memory that has another path now.
    fn is_left_by(&self, store: &Store, row: &FileRow, pending: &Pending) -> Result<bool, StoreError> {
        let owner = store.get(MemoryRef::Id(row.id))?.filter(|owner| owner.deleted.is_none());
        let is_elsewhere = owner.and_then(|owner| owner.file).is_some_and(|file| file.path != self.path);
        Ok(is_elsewhere && row.id != pending.memory.id)
    }

    /// A renamed file: written to the new path, then deleted at the old one.
    fn move_here(
        &self,
        store: &mut Store,
        pending: &Pending,
        known: &FileRow,
        (there, text): (Option<ReadFile>, String),
        makes_room: bool,
    ) -> Result<bool, StoreError> {
        let before = Self::of(store, &known.path)?;
        if let Some(before) = before.as_ref().filter(|before| before.path.folder() == self.path.folder())
            && self.tree.respell(&before.inside, &self.inside).map_err(|error| self.failed(&error))?
        {
            // On some systems both paths are one file; it has its new name now, and the content follows in the next
            // round.
            store.move_files(&[(known.path.clone(), self.path.clone())], &last_author(&pending.memory))?;
            return Ok(true);
        }
        let old = before.as_ref().map(Self::read).transpose()?.flatten();
        // Edits under the old name are merged and move along.
        let merged = match &old {
            Some(read) if !is_as_known(known, read) => self.merged(store, pending, known.stamp.hash, read)?,
            _ => None,
        };
        let is_kept = old.as_ref().is_some_and(|read| is_as_known(known, read));
        let (is_merged, text) = (merged.is_some(), merged.unwrap_or(text));
        if !self.write_or_merge(store, pending, there, text.clone(), makes_room)? {
            return Ok(false);
        }
        // If another text stays at the new path, the edits stay under the old name.
        let goes_along = is_kept || is_merged && self.read()?.is_some_and(|read| read.bytes == text.as_bytes());
        if let (Some(before), Some(old), true) = (before, old, goes_along) {
            // A last-moment edit stays as a separate file.
            before.remove(&old)?;
        }
        Ok(true)
    }

    /// Writes the memory's text, and records the file.
    fn lay_down(
        &self,
        store: &mut Store,
        memory: &Memory,
        text: String,
        expected: Expected,
    ) -> Result<bool, StoreError> {
        self.intend(store, text.as_bytes(), (memory.id, Vec::new()), &last_author(memory))?;
        match self.write(text.into_bytes(), expected) {
            Ok(file) => take_over(store, memory, file),
            // Somebody was faster; the next round looks again.
            Err(FileError::Changed { .. } | FileError::Exists { .. } | FileError::Gone { .. }) => Ok(false),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// Deletes a file whose memory was deleted elsewhere.
    fn take_away(&self, store: &mut Store, row: Option<&FileRow>, there: Option<ReadFile>) -> Result<bool, StoreError> {
        let Some(row) = row else { return Ok(false) };
        if let Some(read) = there {
            if !is_as_known(row, &read) {
                // It was edited, or nobody else has its text: the edit wins and is recorded.
                let Some(file) = seen(self.path.clone(), read) else { return Ok(false) };
                return Ok(!store.take_files(&[file])?.is_empty());
            }
            if !self.remove(&read)? {
                return Ok(false);
            }
        }
        Ok(!store.files_gone(std::slice::from_ref(&row.path), &Actor::default())?.is_empty())
    }

    /// A file that was edited here while its memory changed elsewhere.
    fn go_together(&self, store: &mut Store, pending: &Pending, base: u64, read: ReadFile) -> Result<bool, StoreError> {
        match self.merged(store, pending, base, &read)? {
            Some(text) => self.lay_down(store, &pending.memory, text, Expected::Seen(read.seen())),
            None => self.keep_both(store, pending, read),
        }
    }

    /// The merge of the received text and a manual edit, based on the text with the hash `base`.
    fn merged(
        &self,
        store: &Store,
        pending: &Pending,
        base: u64,
        read: &ReadFile,
    ) -> Result<Option<String>, StoreError> {
        let content = |text: &str| Content::try_from(content_of_file(text)).ok();
        let base = store.text_of_file_at(&pending.memory, base)?;
        let base = base.and_then(|base| Content::try_from(base).ok());
        let by_hand = std::str::from_utf8(&read.bytes).ok().and_then(content);
        let came = Content::try_from(pending.memory.content.clone()).ok();
        let (Some(base), Some(by_hand), Some(came)) = (base, by_hand, came) else { return Ok(None) };
        let merged = merged_file(&self.path, &base, &by_hand, &came);
        Ok(merged.map(|merged| file_of_content(merged.as_str()).to_owned()))
    }

    /// Writes the received text beside the file as a conflict copy, and records the file as it is.
    fn keep_both(&self, store: &mut Store, pending: &Pending, read: ReadFile) -> Result<bool, StoreError> {
        let Some(file) = seen(self.path.clone(), read) else { return Ok(false) };
        let memory = &pending.memory;
        Ok(store.keep_both_texts(memory.id, file, &last_author(memory))?.is_some())
    }
}

/// Records a file that now equals its memory.
fn take_over(store: &mut Store, memory: &Memory, file: Option<SeenFile>) -> Result<bool, StoreError> {
    let Some(file) = file else { return Ok(false) };
    Ok(store.take_file_over(file, memory.rev)?.is_some())
}

/// Deletes the file of a permanently deleted memory if the text is unchanged. A changed file stays and becomes a new
/// memory.
fn remove_purged(store: &mut Store, row: &FileRow) -> Result<bool, StoreError> {
    let Some(place) = Place::of(store, &row.path)? else { return Ok(false) };
    let there = place.read()?;
    // The bytes decide, not the time: a newly arrived file has the same text.
    if let Some(read) = there.as_ref().filter(|read| xxh3_64(&read.bytes) == row.stamp.hash) {
        if !place.remove(read)? {
            return Ok(false);
        }
        store.forget_purged_file(&row.path)?;
        return Ok(true);
    }
    store.forget_purged_file(&row.path)?;
    let Some(file) = there.and_then(|read| seen(row.path.clone(), read)) else { return Ok(true) };
    store.take_files(&[file])?;
    Ok(true)
}

/// The author of a memory's present text, as far as known.
fn last_author(memory: &Memory) -> Actor {
    let origin = memory.edited_by.as_ref().map_or_else(|| memory.origin.clone(), |by| Origin::Shared(by.clone()));
    Actor { origin, session: memory.session.clone(), client: memory.client.clone(), ..Actor::default() }
}
