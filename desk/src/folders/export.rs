//! Writes all memories as notes into a directory.

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

/// The list of exported notes. The list is a hidden file, so that no program reads it as a note.
const LIST: &str = ".tessera.export";
/// The maximum size of this list.
const MOST_LIST: u64 = 256 * 1024 * 1024;
/// The name of the directory in messages.
const FOLDER: &str = "export";
/// The number of UUID characters that distinguish notes with the same name.
const SHORT_ID: usize = 8;

/// Writes every memory as a note. Overwrites a user's files only with `force`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportNotes {
    /// A directory that does not exist, is empty, or contains an earlier export.
    pub dir: PathBuf,
    /// True to write sections of files as notes too.
    pub with_parts: bool,
    /// True to accept other files in the directory, and to overwrite edited notes.
    pub force: bool,
}

/// The result for notes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct NotesExported {
    /// Memories, each with its note.
    pub notes: usize,
    /// New or changed notes.
    pub written: usize,
    /// Notes of an earlier export whose memories no longer exist.
    pub removed: usize,
    /// Notes that the user edited since the last export. The export did not change them.
    pub kept: Vec<String>,
    /// The number of skipped notes that are files in watched folders; the user should copy these files.
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
                "is not empty, and contains no earlier export",
                "use another directory, or pass --force to write into it",
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

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
fn failed(error: FileError) -> StoreError {
    wrong(error.to_string(), "use a directory that you can write to")
}

/// Rejects watched folders, where notes would exist twice, and the home directory, which belongs to the store.
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
        return Err(wrong("contains the store, or is inside it", "use another directory"));
    }
    for folder in store.folders()? {
        let known = real(&folder.dir);
        if dir.starts_with(&known) || known.starts_with(&dir) {
            let problem = format!("shares files with the folder {}, so recall would find them twice", folder.name);
            return Err(wrong(problem, "use another directory"));
        }
    }
    Ok(())
}

/// The notes to write, by path.
struct Notes(BTreeMap<String, String>);

impl Notes {
    fn of(store: &Store, with_parts: bool) -> Result<Self, StoreError> {
        let mut memories = Vec::new();
        store.each_live(with_parts, &mut |memory| {
            // A row of an earlier version may contain a credential; everything else was screened.
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

/// The name of a memory's note.
struct Named {
    dir: String,
    name: String,
    title: String,
}

/// Names each note by its text and the end of its UUID, so names are unique, and do not change while the text stays the
/// same.
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

/// The exported files with hashes of their content. A file has two hashes only during an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
struct List {
    files: BTreeMap<String, BTreeSet<String>>,
}

fn read_list(tree: &Tree) -> Result<List, StoreError> {
    let path = RelativePath::found(LIST, FOLDER).map_err(failed)?;
    match tree.read(&path, MOST_LIST) {
        // An unreadable list means that nothing here is ours.
        Ok(read) => Ok(serde_json::from_slice(&read.bytes).unwrap_or_default()),
        Err(FileError::NotFound { .. }) => Ok(List::default()),
        Err(error) => Err(failed(error)),
    }
}

fn hash(text: &[u8]) -> String {
    format!("{:016x}", xxh3_64(text))
}

/// A directory to write to.
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
        // Recorded first, so that the next export continues an interrupted one.
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

    /// True for an unchanged exported note.
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

/// The result for a file.
enum Put {
    Written,
    Same,
    Kept,
}
