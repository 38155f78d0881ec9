//! Finds and records changes in watched folders.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, MemoryRef, Origin, file_of_content};
use tessera_engine::store::{Actor, FileRow, Folder, MEMORIES, SeenFile, StoreError, is_settled};
use tessera_files::{FileError, RelativePath, Stamp, Tree};

use super::aside;
use super::layout::lay_out;
use super::left::{Directory, Look, doubt_what_is_not_known, holds_token, upwards};
use super::read::{MOST_BYTES, held, note_memories, seen, stamp_of};

/// The maximum number of files and bytes per batch. A batch is smaller if a caller waits.
const AT_ONCE: usize = 2_000;
const BYTES_AT_ONCE: usize = 16 * 1024 * 1024;
const AT_ONCE_BRIEFLY: usize = 200;
/// How long a reader waits.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// The digest of a directory that must be compared again. The directory stays in the index. So its memories are removed
/// later, when the directory itself is removed.
const TO_BE_COMPARED: u64 = 0;
/// A changed file counts as renamed if it shares a sufficient part of its words with the old text. The minimum part is
/// one divided by this number.
const LIKE: usize = 3;
/// The time limit for a caller who wants an answer now; later scans find the remaining changes.
const AT_MOST: Duration = Duration::from_millis(700);

/// The result of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// New or changed files.
    pub taken: usize,
    /// Renamed files.
    pub moved: usize,
    /// Deleted files.
    pub gone: usize,
    /// Files that were written or deleted because their memories changed elsewhere.
    pub laid_out: usize,
    /// True if another process is scanning.
    pub is_busy: bool,
    /// True if the time limit was reached.
    pub is_partial: bool,
}

impl Refreshed {
    /// True if the index changed.
    pub fn is_change(&self) -> bool {
        self.taken + self.moved + self.gone + self.laid_out > 0
    }
}

/// Updates the file index for a reader who does not wait long.
///
/// # Errors
/// Returns an error if the store cannot be read or written. An unreadable folder is recorded, and its known files stay.
pub fn refresh(store: &mut Store) -> Result<Refreshed, StoreError> {
    refresh_patiently(store, PATIENCE)
}

/// Updates the index. If another process scans, waits at most the given time.
///
/// # Errors
/// As [`refresh`].
pub fn refresh_patiently(store: &mut Store, patience: Duration) -> Result<Refreshed, StoreError> {
    refresh_until(store, patience, None)
}

/// Updates the index for a limited time; later scans read the rest.
///
/// # Errors
/// As [`refresh`].
pub(super) fn refresh_briefly(store: &mut Store) -> Result<Refreshed, StoreError> {
    refresh_until(store, AT_MOST, Some(Instant::now() + AT_MOST))
}

/// Updates the index with almost no time, so that it makes a single step.
#[cfg(test)]
pub(super) fn refresh_at_once(store: &mut Store) -> Result<Refreshed, StoreError> {
    let _held = held(store, PATIENCE)?;
    held_until(store, Some(Instant::now() + Duration::from_millis(1)))
}

/// Updates the index on request. Also reads files that are not indexed although no rule skips them.
///
/// # Errors
/// As [`refresh`].
pub fn refresh_thoroughly(store: &mut Store, patience: Duration) -> Result<Refreshed, StoreError> {
    let mut refreshed = refresh_patiently(store, patience)?;
    if !refreshed.is_busy && doubt_what_is_not_known(store)? {
        let again = refresh_patiently(store, patience)?;
        refreshed.taken += again.taken;
        refreshed.moved += again.moved;
        refreshed.gone += again.gone;
        refreshed.laid_out += again.laid_out;
        refreshed.is_busy = again.is_busy;
    }
    Ok(refreshed)
}

fn refresh_until(store: &mut Store, patience: Duration, end: Option<Instant>) -> Result<Refreshed, StoreError> {
    if store.has_files_for(MEMORIES)? && !store.home().memories().is_dir() {
        // Files from other machines belong there.
        Tree::create(&store.home().memories(), MEMORIES).map_err(|error| unmade(store, &error))?;
    }
    note_memories(store)?;
    let folders = store.folders()?;
    if folders.is_empty() && !store.has_pending_files()? {
        return Ok(Refreshed::default());
    }
    let Some(_held) = held(store, patience)? else {
        return Ok(Refreshed { is_busy: true, ..Refreshed::default() });
    };
    held_until(store, end)
}

fn unmade(store: &Store, error: &FileError) -> StoreError {
    StoreError::File { path: store.home().memories(), source: std::io::Error::other(error.to_string()) }
}

/// Updates the index for a caller that holds the lock.
pub(super) fn refresh_held(store: &mut Store) -> Result<Refreshed, StoreError> {
    held_until(store, None)
}

fn held_until(store: &mut Store, end: Option<Instant>) -> Result<Refreshed, StoreError> {
    let mut refreshed = Refreshed::default();
    for folder in store.folders()? {
        look_at(store, &folder, end, &mut refreshed)?;
    }
    refreshed.laid_out = lay_out(store)?;
    Ok(refreshed)
}

/// Compares a folder with the index.
fn look_at(
    store: &mut Store,
    folder: &Folder,
    end: Option<Instant>,
    refreshed: &mut Refreshed,
) -> Result<(), StoreError> {
    let tree = match Tree::open(&folder.dir, &folder.name) {
        Ok(tree) => tree,
        Err(error) => return note_away(store, folder, &error.to_string()),
    };
    let look = match Look::at(&tree) {
        Ok(look) => look,
        Err(error) => return note_away(store, folder, &error.to_string()),
    };
    let identity = tree.identity().ok().map(|identity| (identity.device, identity.inode));
    let is_another = folder.identity.is_some() && identity != folder.identity;
    if look.is_empty() && is_another && !store.files_in(&folder.name)?.is_empty() {
        return note_away(
            store,
            folder,
            "is empty and is a different directory than at the last scan; check whether its file system is mounted",
        );
    }
    if folder.away.is_some() || folder.identity != identity {
        store.put_folder(&Folder { identity, away: None, ..folder.clone() })?;
    }
    let mut changes = Changes::between(store, folder, &look)?;
    let is_over = changes.take(store, folder, &tree, end, refreshed)?;
    // A missing file may be the old name of an unread one.
    if is_over {
        changes.settle(store, folder, refreshed)?;
    }
    Ok(())
}

fn note_away(store: &mut Store, folder: &Folder, problem: &str) -> Result<(), StoreError> {
    if folder.away.as_deref() == Some(problem) {
        return Ok(());
    }
    store.put_folder(&Folder { away: Some(problem.to_owned()), ..folder.clone() })
}

/// A changed file, its stamp, and its stored row.
type ChangedFile = (FilePath, Stamp, Option<FileRow>);

/// A changed file after reading; `Ok(None)` if it is not text.
struct ReadNow {
    path: FilePath,
    row: Option<FileRow>,
    file: Result<Option<SeenFile>, FileError>,
}

/// The differences between a folder and the index.
#[derive(Default)]
struct Changes {
    /// Files to read, with their stored rows.
    differing: Vec<ChangedFile>,
    /// Files that were not found.
    missing: Vec<FileRow>,
    /// Files that can no longer be indexed. Recall does not return them, but they are not deleted.
    mute: Vec<FileRow>,
    /// The current digests of directories.
    digests: Vec<(String, Option<u64>)>,
}

impl Changes {
    fn between(store: &Store, folder: &Folder, look: &Look) -> Result<Self, StoreError> {
        let known = store.digests(&folder.name)?;
        let mut changes = Self::default();
        let mut there = BTreeSet::new();
        for directory in &look.directories {
            there.insert(directory.path.as_str());
            if known.get(&directory.path) != Some(&directory.digest) {
                changes.compare(store, folder, directory)?;
            }
        }
        let is_gone = |path: &&String| !there.contains(path.as_str()) && !look.hides(path);
        let gone: Vec<&String> = known.keys().filter(is_gone).collect();
        let present = if gone.is_empty() { BTreeSet::new() } else { look.present() };
        for path in gone {
            // Files below a link, or below anything that replaced a directory, are not deleted; nor are files skipped
            // for their name.
            let is_hidden = holds_token(path) || upwards(path).any(|path| present.contains(path));
            let rows = direct(store, folder, path)?;
            let found = if is_hidden { &mut changes.mute } else { &mut changes.missing };
            found.extend(rows);
            changes.digests.push((path.clone(), None));
        }
        Ok(changes)
    }

    fn compare(&mut self, store: &Store, folder: &Folder, directory: &Directory) -> Result<(), StoreError> {
        let rows = direct(store, folder, &directory.path)?;
        let mut known: BTreeMap<String, FileRow> =
            rows.into_iter().map(|row| (row.path.inside().to_owned(), row)).collect();
        for (found, stamp) in &directory.files {
            let row = known.remove(found);
            let is_same = row.as_ref().is_some_and(|row| stamp_of(stamp, row.stamp.hash) == row.stamp);
            if is_same {
                continue;
            }
            // Paths are visible, so a path with a credential is not indexed at all.
            if holds_token(found) {
                self.mute.extend(row);
            } else if let Ok(path) = FilePath::new(&folder.name, found) {
                self.differing.push((path, *stamp, row));
            }
        }
        let is_in = |paths: &[String], row: &FileRow| paths.iter().any(|path| path == row.path.inside());
        for row in known.into_values().filter(|row| !is_in(&directory.unreadable, row)) {
            if is_in(&directory.unfit, &row) { self.mute.push(row) } else { self.missing.push(row) }
        }
        let is_settled = directory.files.iter().all(|(_, stamp)| is_settled(stamp.modified, store.now()));
        let digest = if is_settled { directory.digest } else { TO_BE_COMPARED };
        self.digests.push((directory.path.clone(), Some(digest)));
        Ok(())
    }

    /// Reads and records the differences. False if the time limit was reached.
    fn take(
        &mut self,
        store: &mut Store,
        folder: &Folder,
        tree: &Tree,
        end: Option<Instant>,
        done: &mut Refreshed,
    ) -> Result<bool, StoreError> {
        // After this, the old digest of the directory is no longer valid.
        let begun: Vec<_> = self.digests.iter().map(|(path, _)| (path.clone(), Some(TO_BE_COMPARED))).collect();
        store.note_digests(&folder.name, &begun)?;
        let mut unread = BTreeSet::new();
        let mut left = std::mem::take(&mut self.differing).into_iter();
        if left.len() == 0 {
            return Ok(true);
        }
        let most = if end.is_some() { AT_ONCE_BRIEFLY } else { AT_ONCE };
        let is_over = || end.is_some_and(|end| Instant::now() > end);
        let mut read = read_some(tree, folder, &mut left, most);
        while !read.is_empty() {
            let now = std::mem::take(&mut read);
            // Reads the next batch while this one is recorded.
            thread::scope(|scope| {
                let reading = (left.len() > 0).then(|| scope.spawn(|| read_some(tree, folder, &mut left, most)));
                let taken = self.take_some(store, now, &mut unread, done);
                read = reading.map_or_else(Vec::new, |reading| reading.join().expect("reading does not panic"));
                taken
            })?;
            if is_over() {
                break;
            }
        }
        store.maintain();
        if !read.is_empty() {
            done.is_partial = true;
            return Ok(false);
        }
        for (_, digest) in self.digests.iter_mut().filter(|(path, _)| unread.contains(path)) {
            *digest = Some(TO_BE_COMPARED);
        }
        Ok(true)
    }

    /// Records files, and marks directories that contain unreadable files.
    fn take_some(
        &mut self,
        store: &mut Store,
        files: Vec<ReadNow>,
        unread: &mut BTreeSet<String>,
        done: &mut Refreshed,
    ) -> Result<(), StoreError> {
        let (mut read, mut moved, mut changed) = (Vec::new(), Vec::new(), BTreeSet::new());
        for ReadNow { path, row, file } in files {
            match file {
                Ok(Some(file)) => {
                    let from = if row.is_none() { self.source_of(store, &file)? } else { None };
                    moved.extend(from.map(|from| (from, file.path.clone())));
                    let is_known = row.is_some_and(|row| row.stamp.hash == file.stamp.hash);
                    changed.extend((!is_known).then(|| file.path.clone()));
                    read.push(file);
                }
                Ok(None) => self.mute.extend(row),
                // An unreadable file keeps its known state and is tried again.
                Err(_) => drop(unread.insert(path.inside().rsplit_once('/').map_or("", |(dir, _)| dir).to_owned())),
            }
        }
        if !moved.is_empty() {
            store.move_files(&moved, &by_hand())?;
        }
        done.moved += moved.len();
        for (_, to) in &moved {
            changed.remove(to);
        }
        let taken = store.take_some_files(&read)?;
        aside::outdo(store, &taken)?;
        done.taken += taken.iter().filter(|file| changed.contains(&file.path)).count();
        Ok(())
    }

    /// Removes deleted files from recall, and stores the present digests.
    fn settle(self, store: &mut Store, folder: &Folder, done: &mut Refreshed) -> Result<(), StoreError> {
        let gone: Vec<FilePath> = self.missing.into_iter().map(|row| row.path).collect();
        if !gone.is_empty() {
            done.gone += store.files_gone(&gone, &by_hand())?.len();
        }
        let mute: Vec<FilePath> = self.mute.into_iter().map(|row| row.path).collect();
        if !mute.is_empty() {
            done.gone += store.files_mute(&mute, &by_hand())?.len();
        }
        store.note_digests(&folder.name, &self.digests)
    }

    /// The old path of a renamed file: the same inode with some of the same text, or exactly the text of a missing
    /// file.
    fn source_of(&mut self, store: &Store, file: &SeenFile) -> Result<Option<FilePath>, StoreError> {
        let is_same = |row: &FileRow| row.stamp.inode != 0 && row.stamp.inode == file.stamp.inode;
        let says_same = |row: &FileRow| row.stamp.hash == file.stamp.hash && !file.text.trim().is_empty();
        let mut at = self.missing.iter().position(is_same);
        // File systems reuse inodes of deleted files.
        if let Some(row) = at.and_then(|at| self.missing.get(at))
            && !says_same(row)
            && !is_like(store, row, &file.text)?
        {
            at = None;
        }
        let at = at.or_else(|| self.missing.iter().position(says_same));
        if let Some(at) = at {
            return Ok(Some(self.missing.swap_remove(at).path));
        }
        // It moved and left something at its old path. A copy is another file.
        let at = self.mute.iter().position(|row| is_same(row) && says_same(row));
        Ok(at.map(|at| self.mute.swap_remove(at).path))
    }
}

/// True if a text shares some words with a known file.
fn is_like(store: &Store, row: &FileRow, text: &str) -> Result<bool, StoreError> {
    let Some(before) = store.get(MemoryRef::Id(row.id))? else { return Ok(false) };
    let before = file_of_content(&before.content);
    let words = |text: &'_ str| -> BTreeSet<String> {
        let words = text.split(|character: char| !character.is_alphanumeric()).filter(|word| word.len() > 2);
        words.map(str::to_lowercase).collect()
    };
    let (before, now) = (words(before), words(text));
    Ok(before.intersection(&now).count() * LIKE >= before.len().max(now.len()))
}

fn by_hand() -> Actor {
    Actor { origin: Origin::File, ..Actor::default() }
}

/// The known files of a directory, without those of subdirectories.
fn direct(store: &Store, folder: &Folder, directory: &str) -> Result<Vec<FileRow>, StoreError> {
    let inside = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let mut rows = store.files_below(&folder.name, &inside)?;
    rows.retain(|row| row.path.inside().strip_prefix(&inside).is_some_and(|name| !name.contains('/')));
    Ok(rows)
}

/// Reads the next batch.
fn read_some(tree: &Tree, folder: &Folder, left: &mut impl Iterator<Item = ChangedFile>, most: usize) -> Vec<ReadNow> {
    let mut bytes = 0;
    let mut read = Vec::new();
    while bytes <= BYTES_AT_ONCE
        && read.len() < most
        && let Some((path, stamp, row)) = left.next()
    {
        let file = read_file(tree, folder, &path, stamp);
        bytes += file.as_ref().ok().and_then(Option::as_ref).map_or(0, |file| file.text.len());
        read.push(ReadNow { path, row, file });
    }
    read
}

/// A file for the store; `None` if it is not text, or too large to index.
fn read_file(tree: &Tree, folder: &Folder, path: &FilePath, stamp: Stamp) -> Result<Option<SeenFile>, FileError> {
    if stamp.size > MOST_BYTES {
        return Ok(None);
    }
    let inside = RelativePath::found(path.inside(), &folder.name)?;
    Ok(seen(path.clone(), tree.read(&inside, MOST_BYTES)?))
}
