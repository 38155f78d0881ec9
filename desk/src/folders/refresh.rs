//! What changed in the folders is found and taken.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tessera_engine::Store;
use tessera_engine::domain::{FilePath, Origin};
use tessera_engine::store::{Actor, FileRow, Folder, MEMORIES, SeenFile, StoreError};
use tessera_files::{FileError, RelativePath, Stamp, Tree};

use super::layout::lay_out;
use super::look::{Directory, Look};
use super::read::{MOST_BYTES, held, note_memories, seen, stamp_of};

/// Files that are read before they are taken.
const AT_ONCE: usize = 400;
/// How long somebody waits who only reads.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// A file that was changed less long ago than this may change again under the same stamp.
const SETTLED_MICROS: i64 = 100_000;

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
    refresh_held(store)
}

fn unmade(store: &Store, error: &FileError) -> StoreError {
    StoreError::File { path: store.home().memories(), source: std::io::Error::other(error.to_string()) }
}

/// The same for who holds what is known of files.
pub(super) fn refresh_held(store: &mut Store) -> Result<Refreshed, StoreError> {
    let mut refreshed = Refreshed::default();
    for folder in store.folders()? {
        look_at(store, &folder, &mut refreshed)?;
    }
    refreshed.laid_out = lay_out(store)?;
    Ok(refreshed)
}

/// Compares a folder with what is known of it.
fn look_at(store: &mut Store, folder: &Folder, refreshed: &mut Refreshed) -> Result<(), StoreError> {
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
    let changes = Changes::between(store, folder, &look)?;
    changes.take(store, folder, &tree, refreshed)
}

fn note_away(store: &mut Store, folder: &Folder, problem: &str) -> Result<(), StoreError> {
    if folder.away.as_deref() == Some(problem) {
        return Ok(());
    }
    store.put_folder(&Folder { away: Some(problem.to_owned()), ..folder.clone() })
}

/// What differs between a folder and what is known of it.
#[derive(Default)]
struct Changes {
    /// Files to be read, with what is known of them.
    differing: Vec<(FilePath, Stamp, Option<FileRow>)>,
    /// Files that were not found.
    missing: Vec<FileRow>,
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
        for path in known.keys().filter(is_gone) {
            changes.missing.extend(direct(store, folder, path)?);
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
            if !is_same && let Ok(path) = FilePath::new(&folder.name, found) {
                self.differing.push((path, *stamp, row));
            }
        }
        let is_gone = |row: &FileRow| !directory.unreadable.iter().any(|path| path == row.path.inside());
        self.missing.extend(known.into_values().filter(is_gone));
        let now = store.now().as_micros();
        let is_settled = |modified: i64| now - modified / 1_000 > SETTLED_MICROS;
        if directory.files.iter().all(|(_, stamp)| is_settled(stamp.modified)) && directory.unreadable.is_empty() {
            self.digests.push((directory.path.clone(), Some(directory.digest)));
        }
        Ok(())
    }

    fn take(mut self, store: &mut Store, folder: &Folder, tree: &Tree, done: &mut Refreshed) -> Result<(), StoreError> {
        let by_hand = Actor { origin: Origin::File, ..Actor::default() };
        let (mut read, mut unread) = (Vec::new(), BTreeSet::new());
        for (path, stamp, row) in std::mem::take(&mut self.differing) {
            match read_file(tree, folder, &path, stamp) {
                Ok(Some(file)) => {
                    self.note_move(&file, row.is_none(), store, &by_hand, done)?;
                    read.push(file);
                }
                // What was a text and is none any more says nothing.
                Ok(None) => self.missing.extend(row),
                // What cannot be read says what it said, and is tried again.
                Err(_) => drop(unread.insert(path.inside().rsplit_once('/').map_or("", |(dir, _)| dir).to_owned())),
            }
            if read.len() >= AT_ONCE {
                done.taken += store.take_files(&std::mem::take(&mut read))?.len();
            }
        }
        done.taken += store.take_files(&read)?.len();
        let gone: Vec<FilePath> = self.missing.into_iter().map(|row| row.path).collect();
        if !gone.is_empty() {
            done.gone += store.files_gone(&gone, &by_hand)?.len();
        }
        self.digests.retain(|(path, _)| !unread.contains(path));
        store.note_digests(&folder.name, &self.digests)
    }

    /// A file under a name that is new, which says what one said that is missing, or is the very same to the system: it was
    /// renamed.
    fn note_move(
        &mut self,
        file: &SeenFile,
        is_new: bool,
        store: &mut Store,
        actor: &Actor,
        done: &mut Refreshed,
    ) -> Result<(), StoreError> {
        if !is_new {
            return Ok(());
        }
        let is_it = |row: &&FileRow| {
            row.stamp.hash == file.stamp.hash || (row.stamp.inode != 0 && row.stamp.inode == file.stamp.inode)
        };
        let Some(at) = self.missing.iter().position(|row| is_it(&row)) else { return Ok(()) };
        let row = self.missing.remove(at);
        store.move_files(&[(row.path, file.path.clone())], actor)?;
        done.moved += 1;
        Ok(())
    }
}

/// The files of a directory that are known, without those of directories in it.
fn direct(store: &Store, folder: &Folder, directory: &str) -> Result<Vec<FileRow>, StoreError> {
    let inside = if directory.is_empty() { String::new() } else { format!("{directory}/") };
    let mut rows = store.files_below(&folder.name, &inside)?;
    rows.retain(|row| row.path.inside().strip_prefix(&inside).is_some_and(|name| !name.contains('/')));
    Ok(rows)
}

/// A file as the store takes it; `None` for one that is no text, or too large to be read for what it says.
fn read_file(tree: &Tree, folder: &Folder, path: &FilePath, stamp: Stamp) -> Result<Option<SeenFile>, FileError> {
    if stamp.size > MOST_BYTES {
        return Ok(None);
    }
    let inside = RelativePath::found(path.inside(), &folder.name)?;
    Ok(seen(path.clone(), tree.read(&inside, MOST_BYTES)?))
}
