//! Which folders there are.

use std::path::PathBuf;

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

/// The longest name of a folder, in characters.
const MOST_CHARS: usize = 64;

/// Has the texts of a directory known from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddFolder {
    /// The directory.
    pub dir: PathBuf,
    /// Its name in paths; the directory's own, if absent.
    pub name: Option<String>,
    /// Where what its files say belongs.
    pub scope: Scope,
    /// How far what is written there by hand is believed.
    pub trust: Trust,
    /// True where its files may be changed by whoever is asked to.
    pub is_writable: bool,
    /// True where a team server is told of its files.
    pub is_told: bool,
}

impl UseCase for AddFolder {
    type Outcome = (FolderState, Refreshed);
    const EFFECT: Effect = Effect::Adds;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Self::Outcome, StoreError> {
        note_memories(store)?;
        let wrong = |problem: String, fix: &'static str| StoreError::Domain(DomainError::invalid("dir", problem, fix));
        let dir = self
            .dir
            .canonicalize()
            .map_err(|error| wrong(format!("cannot be reached: {error}"), "name a directory that is there"))?;
        let name = self.name.unwrap_or_else(|| dir.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let name = checked_name(&name)?;
        Tree::open(&dir, &name).map_err(|error| wrong(error.to_string(), "name a directory that can be read"))?;
        let home = store.home().dir().canonicalize().unwrap_or_else(|_| store.home().dir().to_owned());
        if home.starts_with(&dir) || dir.starts_with(&home) {
            return Err(wrong("holds the store, or lies in it".to_owned(), "name a directory of notes"));
        }
        let mut was_told = false;
        for known in store.folders()? {
            was_told |= known.name == name && known.is_told;
            let is_other = known.name == name && known.dir != dir;
            if is_other {
                return Err(wrong(
                    format!("is another directory than the folder {name}"),
                    "give it another name with --name",
                ));
            }
            if known.name != name && (known.dir.starts_with(&dir) || dir.starts_with(&known.dir)) {
                return Err(wrong(format!("and the folder {} share files", known.name), "remove that one first"));
            }
        }
        let Self { scope, trust, is_writable, is_told, .. } = self;
        let folder = Folder { name, dir, scope, trust, is_writable, is_told, identity: None, away: None };
        let _held = held_to_write(store)?;
        store.put_folder(&folder)?;
        let mut refreshed = refresh_held(store)?;
        // What went from here while nobody was told is not gone: the server has it.
        if is_told && !was_told && store.bring_back_untold(&folder.name)? > 0 {
            refreshed.laid_out += lay_out(store)?;
        }
        Ok((FolderState::of(store, folder)?, refreshed))
    }
}

/// A name that can begin a path.
fn checked_name(name: &str) -> Result<String, StoreError> {
    let name = name.trim();
    let is_plain = |character: char| !character.is_control() && !matches!(character, '/' | '\\' | ':');
    if name.is_empty() || name.starts_with('.') || name.chars().count() > MOST_CHARS || !name.chars().all(is_plain) {
        let fix = "give a short name without slashes and without a point at its beginning";
        return Err(DomainError::invalid("name", format!("{name:?} cannot name a folder"), fix).into());
    }
    Ok(name.to_owned())
}

/// Lets go of a folder: what its files say goes out of recall, the files stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoveFolder {
    /// Its name.
    pub name: String,
}

impl UseCase for RemoveFolder {
    type Outcome = usize;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<usize, StoreError> {
        let unknown =
            |fix| StoreError::Domain(DomainError::invalid("name", format!("{:?} is no folder", self.name), fix));
        if self.name == MEMORIES {
            return Err(unknown("that can be let go of: it is the store's own"));
        }
        if !store.folders()?.iter().any(|folder| folder.name == self.name) {
            return Err(unknown("`tessera files list` names them"));
        }
        let _held = held_to_write(store)?;
        store.forget_folder(&self.name, &caller.actor(Some("its folder was let go of".to_owned())))
    }
}

/// How a folder stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FolderState {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub dir: PathBuf,
    /// Where what it says belongs.
    pub scope: Scope,
    /// How far what is written there by hand is believed.
    pub trust: Trust,
    /// True where its files may be changed.
    pub is_writable: bool,
    /// True where a team server is told of its files.
    pub is_told: bool,
    /// Its files that are known.
    pub files: usize,
    /// Those of them of which no whole copy is kept: a credential stands in them, or they are too large.
    pub not_kept: usize,
    /// Files that stand in it and are not known, by why.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FilesCounted {
    /// Folders.
    pub folders: usize,
    /// Those of them that cannot be read now.
    pub away: usize,
    /// Files that are known.
    pub files: u64,
    /// What is found of them: observations and groups of paragraphs.
    pub parts: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that stand in folders and are not known.
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
