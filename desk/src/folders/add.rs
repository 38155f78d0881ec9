//! Which folders there are.

use std::path::{Path, PathBuf};

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, Scope, Trust};
use tessera_engine::store::{Folder, MEMORIES, StoreError};
use tessera_files::Tree;

use super::layout::lay_out;
use super::left::{LeftOut, left_out};
use super::read::{held_to_write, note_memories};
use super::refresh::{Refreshed, refresh_held};
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// The maximum length of a folder name, in characters.
const MOST_CHARS: usize = 64;

/// Adds a watched folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddFolder {
    /// The directory.
    pub dir: PathBuf,
    /// The folder's name in paths [default: the directory's name].
    pub name: Option<String>,
    /// The scope of its files' memories.
    pub scope: Scope,
    /// The trust of hand-written texts in the folder.
    pub trust: Trust,
    /// True if agents may change its files.
    pub is_writable: bool,
    /// True if its files are synced.
    pub is_told: bool,
}

impl UseCase for AddFolder {
    type Outcome = (FolderState, Refreshed);
    const EFFECT: Effect = Effect::Adds;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Self::Outcome, StoreError> {
        note_memories(store)?;
        let wrong = |problem: String, fix: &'static str| StoreError::Domain(DomainError::invalid("dir", problem, fix));
        let unknown = |dir: &Path, fix: &str| StoreError::Unknown {
            what: "directory",
            name: dir.display().to_string(),
            fix: fix.to_owned(),
        };
        let dir = self.dir.canonicalize().map_err(|_| unknown(&self.dir, "check the path and its permissions"))?;
        if !dir.is_dir() {
            return Err(unknown(&dir, "this is a file; name the directory that contains it"));
        }
        if dir.parent().is_none() {
            return Err(wrong("is the whole disk".to_owned(), "name one directory of notes"));
        }
        let name = self.name.unwrap_or_else(|| dir.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let name = checked_name(&name)?;
        Tree::open(&dir, &name).map_err(|error| wrong(error.to_string(), "use a directory that you can read"))?;
        let home = store.home().dir().canonicalize().unwrap_or_else(|_| store.home().dir().to_owned());
        if home.starts_with(&dir) || dir.starts_with(&home) {
            return Err(wrong(
                format!("{} contains the store of Tessera, or is inside it", shown(&dir)),
                "use another directory",
            ));
        }
        let mut was_told = false;
        for known in store.folders()? {
            was_told |= known.name == name && known.is_told;
            let is_other = known.name == name && known.dir != dir;
            if is_other {
                return Err(wrong(
                    format!("cannot be added as {name}, because this name is in use for another directory"),
                    "use another name with --name",
                ));
            }
            if known.name != name && (known.dir.starts_with(&dir) || dir.starts_with(&known.dir)) {
                let problem = format!("{} shares files with the indexed folder {}", shown(&dir), known.name);
                return Err(wrong(problem, "remove that folder first with `tessera files remove NAME`"));
            }
        }
        let Self { scope, trust, is_writable, is_told, .. } = self;
        let folder = Folder { name, dir, scope, trust, is_writable, is_told, identity: None, away: None };
        let _held = held_to_write(store)?;
        store.put_folder(&folder)?;
        let mut refreshed = refresh_held(store)?;
        // Files that disappeared while the folder was not synced are not deleted; the server has them.
        if is_told && !was_told && store.bring_back_untold(&folder.name)? > 0 {
            refreshed.laid_out += lay_out(store)?;
        }
        Ok((FolderState::of(store, folder)?, refreshed))
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// A name that can begin a path.
fn checked_name(name: &str) -> Result<String, StoreError> {
    let name = name.trim();
    let is_plain = |character: char| !character.is_control() && !matches!(character, '/' | '\\' | ':');
    if name.is_empty() || name.starts_with('.') || name.chars().count() > MOST_CHARS || !name.chars().all(is_plain) {
        let fix = "use a short name without slashes that does not start with a dot";
        return Err(DomainError::invalid("name", format!("{name:?} is not a valid folder name"), fix).into());
    }
    Ok(name.to_owned())
}

/// Stops watching a folder: its texts are no longer recalled, but its files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoveFolder {
    /// Its name.
    pub name: String,
}

impl UseCase for RemoveFolder {
    type Outcome = usize;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<usize, StoreError> {
        let refused = |problem: String, fix| Err(StoreError::Domain(DomainError::invalid("name", problem, fix)));
        if self.name == MEMORIES {
            return refused("memories belongs to the store and cannot be removed".to_owned(), "name another folder");
        }
        if !store.folders()?.iter().any(|folder| folder.name == self.name) {
            let fix = "`tessera files list` lists the folders".to_owned();
            return Err(StoreError::Unknown { what: "indexed folder", name: self.name, fix });
        }
        let _held = held_to_write(store)?;
        store.forget_folder(&self.name, &caller.actor(Some("the folder is no longer watched".to_owned())))
    }
}

/// How a folder stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FolderState {
    /// Its name.
    pub name: String,
    /// Its path.
    pub dir: PathBuf,
    /// The scope of its texts.
    pub scope: Scope,
    /// The trust of hand-written texts in the folder.
    pub trust: Trust,
    /// True if its files may be changed.
    pub is_writable: bool,
    /// True if its files are synced.
    pub is_told: bool,
    /// Its files that are known.
    pub files: usize,
    /// Files that are not stored completely, because they contain a credential or are too large.
    pub not_kept: usize,
    /// Skipped files, by reason.
    pub left_out: Vec<LeftOut>,
    /// Why it cannot be read.
    pub away: Option<String>,
}

impl FolderState {
    fn of(store: &Store, folder: Folder) -> Result<Self, StoreError> {
        let files = store.files_in(&folder.name)?;
        let left_out = left_out(store, &folder)?;
        let Folder { name, dir, scope, trust, is_writable, is_told, away, .. } = folder;
        let not_kept = files.iter().filter(|file| !file.is_kept).count();
        let files = files.len();
        Ok(Self { name, dir, scope, trust, is_writable, is_told, files, not_kept, left_out, away })
    }
}

/// Lists the folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folders;

impl UseCase for Folders {
    type Outcome = Vec<FolderState>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<FolderState>, StoreError> {
        store.folders()?.into_iter().map(|folder| FolderState::of(store, folder)).collect()
    }
}

/// Counts folders and their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountFiles;

/// How many files there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct FilesCounted {
    /// Folders.
    pub folders: usize,
    /// Folders that cannot be read now.
    pub away: usize,
    /// Files that are known.
    pub files: u64,
    /// The number of sections (observations and groups of paragraphs) that recall can find.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Skipped files.
    pub left_out: usize,
}

impl UseCase for CountFiles {
    type Outcome = FilesCounted;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<FilesCounted, StoreError> {
        let folders = store.folders()?;
        let (files, parts, bytes) = store.file_sums()?;
        let mut counted = FilesCounted { folders: folders.len(), files, parts, bytes, ..FilesCounted::default() };
        for folder in &folders {
            counted.away += usize::from(folder.away.is_some());
            counted.left_out += left_out(store, folder)?.iter().map(|left| left.files).sum::<usize>();
        }
        Ok(counted)
    }
}
