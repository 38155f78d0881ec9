//! All memories as notes in a directory, one each, to be read, edited, compared and added elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tessera_engine::Store;
use tessera_engine::compose::{LinkedNote, noted, place_of, title_of};
use tessera_engine::domain::{DomainError, Memory, MemoryUuid};
use tessera_engine::screen::dropped;
use tessera_engine::store::StoreError;
use tessera_files::{Expected, FileError, Lock, RelativePath, Tree};
use xxhash_rust::xxh3::xxh3_64;

use super::read::MOST_BYTES;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Where an export notes what it wrote. Hidden, so that nobody takes it for a note.
const LIST: &str = ".tessera.export";
/// The longest such list that is read.
const MOST_LIST: u64 = 256 * 1024 * 1024;
/// What the directory is called in messages.
const FOLDER: &str = "export";
/// Letters of an id by which two notes of one name are told apart.
const SHORT_ID: usize = 8;

/// Writes every memory as a note. Files of a person are never written over unless they `force` it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportNotes {
    /// The directory: one that is not there, is empty, or holds an earlier export.
    pub dir: PathBuf,
    /// True where each part of a file becomes a note as well.
    pub with_parts: bool,
    /// True where a directory may hold other files too, and notes that were edited since are written over.
    pub force: bool,
}

/// What became of notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct NotesExported {
    /// Memories, each with its note.
    pub notes: usize,
    /// Notes that are new or say something else now.
    pub written: usize,
    /// Notes of an earlier export whose memories are not there any more.
    pub removed: usize,
    /// Files that somebody edited since: they are left as they are.
    pub kept: Vec<String>,
    /// Files that recall knows: they are there to be copied.
    pub files_left_out: usize,
}

impl UseCase for ExportNotes {
    type Outcome = NotesExported;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<NotesExported, StoreError> {
        refuse_known(store, &self.dir)?;
        let notes = Notes::of(store, self.with_parts)?;
        let is_ours = fs::symlink_metadata(self.dir.join(LIST)).is_ok();
        let is_empty = fs::read_dir(&self.dir).map_or(true, |mut entries| entries.next().is_none());
        if !is_ours && !is_empty && !self.force {
            return Err(wrong(
                "is not empty, and holds no earlier export",
                "name another directory, or give --force to write beside what is there",
            ));
        }
        let tree = Tree::create(&self.dir, FOLDER).map_err(failed)?;
        let lock = tree.lock().map_err(failed)?;
        let place = Place { tree: &tree, lock: &lock, known: read_list(&tree)?, force: self.force };
        let mut done = place.write(&notes)?;
        if !self.with_parts {
            done.files_left_out = store.notes(None)?.len();
        }
        Ok(done)
    }
}

fn wrong(problem: impl Into<String>, fix: &'static str) -> StoreError {
    DomainError::invalid("dir", problem.into(), fix).into()
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err gives")]
fn failed(error: FileError) -> StoreError {
    wrong(error.to_string(), "name a directory that can be written")
}

/// Notes in a folder that is known would be there twice, and the home is the store's own.
fn refuse_known(store: &Store, dir: &Path) -> Result<(), StoreError> {
    let real = |dir: &Path| {
        let whole = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
        let there = whole.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
        there.map_or_else(
            || whole.clone(),
            |(above, real)| match whole.strip_prefix(above) {
                Ok(rest) if rest.as_os_str().is_empty() => real,
                Ok(rest) => real.join(rest),
                Err(_) => whole.clone(),
            },
        )
    };
    let (dir, home) = (real(dir), real(store.home().dir()));
    if dir.starts_with(&home) || home.starts_with(&dir) {
        return Err(wrong("holds the store, or lies in it", "name a directory elsewhere"));
    }
    for folder in store.folders()? {
        let known = real(&folder.dir);
        if dir.starts_with(&known) || known.starts_with(&dir) {
            let problem = format!("shares files with the folder {}, where they would be known twice", folder.name);
            return Err(wrong(problem, "name a directory elsewhere"));
        }
    }
    Ok(())
}

/// What is to be written: notes by their paths.
struct Notes(BTreeMap<String, String>);

impl Notes {
    fn of(store: &Store, with_parts: bool) -> Result<Self, StoreError> {
        let mut memories = Vec::new();
        store.each_live(with_parts, &mut |memory| {
            // A row of before may hold a credential; all else that a note says went through the screen alone.
            let content = dropped(&memory.content).into_owned();
            memories.push(Memory { content, ..memory });
            Ok(())
        })?;
        let names = names(&memories);
        let mut notes = BTreeMap::new();
        for memory in &memories {
            let Some(name) = names.get(&memory.id) else { continue };
            let other = |to: MemoryUuid| names.get(&to).map(|other| (other.name.clone(), other.title.clone()));
            let link = |link: &tessera_engine::domain::Link| LinkedNote {
                kind: link.kind.clone(),
                to: link.to,
                note: other(link.to),
            };
            let links: Vec<LinkedNote> = memory.links.iter().map(link).collect();
            notes.insert(format!("{}/{}.md", name.dir, name.name), noted(memory, &name.title, &links));
        }
        Ok(Self(notes))
    }
}

/// How a memory's note is called.
struct Named {
    dir: String,
    name: String,
    title: String,
}

/// Names by what memories say and the end of their ids: the same whenever they are asked for, and each of one note alone.
fn names(memories: &[Memory]) -> BTreeMap<MemoryUuid, Named> {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut named = BTreeMap::new();
    for memory in memories {
        let title = title_of(memory);
        let (dir, slug) = place_of(memory, &title);
        let id = memory.id.to_string();
        let name = format!("{slug}-{}", id.get(id.len().saturating_sub(SHORT_ID)..).unwrap_or(&id));
        *taken.entry(name.clone()).or_default() += 1;
        named.insert(memory.id, (Named { dir, name, title }, format!("{slug}-{id}")));
    }
    let told_apart = |(id, (named, long)): (MemoryUuid, (Named, String))| {
        let is_alone = taken.get(&named.name) == Some(&1);
        (id, Named { name: if is_alone { named.name } else { long }, ..named })
    };
    named.into_iter().map(told_apart).collect()
}

/// What an export wrote: of each file the hashes of what it wrote there, of which there are two only while it is at it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct List {
    files: BTreeMap<String, BTreeSet<String>>,
}

fn read_list(tree: &Tree) -> Result<List, StoreError> {
    let path = RelativePath::found(LIST, FOLDER).map_err(failed)?;
    match tree.read(&path, MOST_LIST) {
        // One that cannot be read says that nothing here is ours.
        Ok(read) => Ok(serde_json::from_slice(&read.bytes).unwrap_or_default()),
        Err(FileError::NotFound { .. }) => Ok(List::default()),
        Err(error) => Err(failed(error)),
    }
}

fn hash(text: &[u8]) -> String {
    format!("{:016x}", xxh3_64(text))
}

/// A directory that is written into.
struct Place<'a> {
    tree: &'a Tree,
    lock: &'a Lock,
    known: List,
    force: bool,
}

impl Place<'_> {
    fn write(&self, notes: &Notes) -> Result<NotesExported, StoreError> {
        let mut done = NotesExported { notes: notes.0.len(), ..NotesExported::default() };
        let mut list = List::default();
        for (path, text) in &notes.0 {
            list.files.entry(path.clone()).or_default().insert(hash(text.as_bytes()));
        }
        // What is about to be written is noted first: an export that is cut off is taken up by the next.
        let mut both = self.known.clone();
        for (path, hashes) in &list.files {
            both.files.entry(path.clone()).or_default().extend(hashes.iter().cloned());
        }
        self.write_list(&both)?;
        for (path, text) in &notes.0 {
            match self.put(path, text)? {
                Put::Written => done.written += 1,
                Put::Same => {}
                Put::Kept => {
                    list.files.remove(path);
                    done.kept.push(path.clone());
                }
            }
        }
        for path in self.known.files.keys().filter(|path| !notes.0.contains_key(*path)) {
            match self.take(path)? {
                Put::Written => done.removed += 1,
                Put::Same => {}
                Put::Kept => done.kept.push(path.clone()),
            }
        }
        self.write_list(&list)?;
        Ok(done)
    }

    fn write_list(&self, list: &List) -> Result<(), StoreError> {
        let path = RelativePath::found(LIST, FOLDER).map_err(failed)?;
        let text = format!("{}\n", serde_json::to_string_pretty(list).unwrap_or_default());
        self.tree.write_under(&path, text.as_bytes(), Expected::Any, self.lock).map_err(failed)?;
        Ok(())
    }

    /// True for what an export wrote, and nobody changed since.
    fn is_ours(&self, path: &str, bytes: &[u8]) -> bool {
        self.known.files.get(path).is_some_and(|hashes| hashes.contains(&hash(bytes)))
    }

    fn put(&self, path: &str, text: &str) -> Result<Put, StoreError> {
        let at = RelativePath::found(path, FOLDER).map_err(failed)?;
        let expected = match self.tree.read(&at, MOST_BYTES) {
            Ok(read) if read.bytes == text.as_bytes() => return Ok(Put::Same),
            Ok(read) if self.force || self.is_ours(path, &read.bytes) => Expected::Seen(read.seen()),
            Ok(_) | Err(FileError::TooLarge { .. } | FileError::Unsupported { .. }) => return Ok(Put::Kept),
            Err(FileError::NotFound { .. }) => Expected::Absent,
            Err(error) => return Err(failed(error)),
        };
        self.tree.write_under(&at, text.as_bytes(), expected, self.lock).map_err(failed)?;
        Ok(Put::Written)
    }

    fn take(&self, path: &str) -> Result<Put, StoreError> {
        let at = RelativePath::found(path, FOLDER).map_err(failed)?;
        match self.tree.read(&at, MOST_BYTES) {
            Ok(read) if self.is_ours(path, &read.bytes) => {
                self.tree.remove_under(&at, Expected::Seen(read.seen()), self.lock).map_err(failed)?;
                Ok(Put::Written)
            }
            Err(FileError::NotFound { .. }) => Ok(Put::Same),
            _ => Ok(Put::Kept),
        }
    }
}

/// What became of a file.
enum Put {
    Written,
    Same,
    Kept,
}
