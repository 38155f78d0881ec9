//! What changed in the folders is found and taken.

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

/// Files that are read before they are taken, and bytes; fewer where somebody waits.
const AT_ONCE: usize = 2_000;
const BYTES_AT_ONCE: usize = 16 * 1024 * 1024;
const AT_ONCE_BRIEFLY: usize = 200;
/// How long somebody waits who only reads.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// What stands for a directory that is to be compared again, however it looks then. It stays known: what was in it is gone
/// when it is.
const TO_BE_COMPARED: u64 = 0;
/// One word in so many is the same in a file that was renamed and edited.
const LIKE: usize = 3;
/// How long somebody waits in all who wants an answer now: what is left is found by who watches, or by the next look.
const AT_MOST: Duration = Duration::from_millis(700);

/// What a look at the folders found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Files that are new, or changed.
    pub taken: usize,
    /// Files that are under another name.
    pub moved: usize,
    /// Files that are not there any more.
    pub gone: usize,
    /// Files that were written, or removed, because their memories were changed elsewhere.
    pub laid_out: usize,
    /// True where somebody else is at it.
    pub is_busy: bool,
    /// True where the time was over before all was taken.
    pub is_partial: bool,
}

impl Refreshed {
    /// True when something of what is known changed.
    pub fn is_change(&self) -> bool {
        self.taken + self.moved + self.gone + self.laid_out > 0
    }
}

/// Brings what is known of files up to date: for somebody who reads, and does not wait for long.
///
/// # Errors
/// When the store cannot be read or written. A folder that cannot be read is noted, and what is known of it stays.
pub fn refresh(store: &mut Store) -> Result<Refreshed, StoreError> {
    refresh_patiently(store, PATIENCE)
}

/// The same for somebody who waits as long as they say for another who is at it.
///
/// # Errors
/// As [`refresh`].
pub fn refresh_patiently(store: &mut Store, patience: Duration) -> Result<Refreshed, StoreError> {
    refresh_until(store, patience, None)
}

/// The same for somebody who wants an answer now: after some time the rest is left to others.
///
/// # Errors
/// As [`refresh`].
pub(super) fn refresh_briefly(store: &mut Store) -> Result<Refreshed, StoreError> {
    refresh_until(store, AT_MOST, Some(Instant::now() + AT_MOST))
}

/// The same for somebody who waits for nothing: one step is done.
#[cfg(test)]
pub(super) fn refresh_at_once(store: &mut Store) -> Result<Refreshed, StoreError> {
    let _held = held(store, PATIENCE)?;
    held_until(store, Some(Instant::now() + Duration::from_millis(1)))
}

/// The same for somebody who asked for it: where something is not known though nothing keeps it out, it is read now.
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
        // What another machine told belongs there.
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

/// The same for who holds what is known of files.
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

/// Compares a folder with what is known of it.
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
        return note_away(store, folder, "is empty, and another directory than before: is something not mounted?");
    }
    if folder.away.is_some() || folder.identity != identity {
        store.put_folder(&Folder { identity, away: None, ..folder.clone() })?;
    }
    let mut changes = Changes::between(store, folder, &look)?;
    let is_over = changes.take(store, folder, &tree, end, refreshed)?;
    // What is missing may be what a file that was not read yet was renamed from.
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

/// A file that differs, how it looks, and what is known of it.
type ChangedFile = (FilePath, Stamp, Option<FileRow>);

/// The same as it was read; no file where it is no text.
struct ReadNow {
    path: FilePath,
    row: Option<FileRow>,
    file: Result<Option<SeenFile>, FileError>,
}

/// What differs between a folder and what is known of it.
#[derive(Default)]
struct Changes {
    /// Files to be read, with what is known of them.
    differing: Vec<ChangedFile>,
    /// Files that were not found.
    missing: Vec<FileRow>,
    /// Files that were texts and are none any more: they say nothing, and are not gone.
    mute: Vec<FileRow>,
    /// What directories look like now.
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
        let standing = if gone.is_empty() { BTreeSet::new() } else { look.standing() };
        for path in gone {
            // Of what is below a link, or anything else that stands where a directory was, nobody said that it is gone; nor
            // of what is left out for its name.
            let is_hidden = holds_token(path) || upwards(path).any(|path| standing.contains(path));
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
            // A path is shown wherever its file is: one that holds a credential is not known at all.
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

    /// Reads what differs, and takes it. False where the time was over before.
    fn take(
        &mut self,
        store: &mut Store,
        folder: &Folder,
        tree: &Tree,
        end: Option<Instant>,
        done: &mut Refreshed,
    ) -> Result<bool, StoreError> {
        // What is taken now is known, and what a directory looked like before is no word for it any more.
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
            // The next are read while these are taken.
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

    /// Takes files that were read, and notes in which directories some could not be.
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
                // What cannot be read says what it said, and is tried again.
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

    /// Takes what is gone out of recall, and notes what directories look like now.
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

    /// Where a file was before that is under a new name: it is the very same to the system and says something of what it
    /// said, or it says just what one said that is missing.
    fn source_of(&mut self, store: &Store, file: &SeenFile) -> Result<Option<FilePath>, StoreError> {
        let is_same = |row: &FileRow| row.stamp.inode != 0 && row.stamp.inode == file.stamp.inode;
        let says_same = |row: &FileRow| row.stamp.hash == file.stamp.hash && !file.text.trim().is_empty();
        let mut at = self.missing.iter().position(is_same);
        // Systems give the number of a file that is gone to the next one.
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
        // One that went elsewhere and left something at its place. A copy of it is another file.
        let at = self.mute.iter().position(|row| is_same(row) && says_same(row));
        Ok(at.map(|at| self.mute.swap_remove(at).path))
    }
}

/// True when a text has some of the words that a file had.
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

/// The files of a directory that are known, without those of directories in it.
fn direct(store: &Store, folder: &Folder, directory: &str) -> Result<Vec<FileRow>, StoreError> {
    let inside = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let mut rows = store.files_below(&folder.name, &inside)?;
    rows.retain(|row| row.path.inside().strip_prefix(&inside).is_some_and(|name| !name.contains('/')));
    Ok(rows)
}

/// Reads as many of what is left as are taken at once.
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

/// A file as the store takes it; `None` for one that is no text, or too large to be read for what it says.
fn read_file(tree: &Tree, folder: &Folder, path: &FilePath, stamp: Stamp) -> Result<Option<SeenFile>, FileError> {
    if stamp.size > MOST_BYTES {
        return Ok(None);
    }
    let inside = RelativePath::found(path.inside(), &folder.name)?;
    Ok(seen(path.clone(), tree.read(&inside, MOST_BYTES)?))
}
