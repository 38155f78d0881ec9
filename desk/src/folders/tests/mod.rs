//! Folders on disks as they are: what editors and people do to files, and what becomes of what is known of them.

mod cleared;
mod disks;
mod editors;
mod names;
mod parts;
mod renames;
#[cfg(feature = "team")]
mod watching;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use tempfile::TempDir;
use tessera_engine::Store;
use tessera_engine::domain::{Clock, FilePath, MemoryRef, MemoryUuid, Origin, Scope, Timestamp, Trust};
use tessera_engine::score::Weights;
use tessera_engine::store::{SecretRules, StoreConfig, Usage};

use super::{AddFolder, ChangeWait, FolderSnapshot, Refreshed, refresh};
use crate::{Caller, Desk};

/// The machine's clock, and how far it was set.
#[derive(Debug, Default)]
pub(super) struct SetClock(AtomicI64);

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        let now = tessera_engine::domain::SystemClock.now();
        Timestamp::from_micros(now.as_micros() + self.0.load(Ordering::Relaxed))
    }
}

/// A store, and a folder `notes` that it knows.
pub(super) struct World {
    pub(super) store: Store,
    clock: Arc<SetClock>,
    dir: TempDir,
}

impl World {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::<SetClock>::default();
        let config = StoreConfig {
            home: dir.path().join("home").into(),
            clock: clock.clone(),
            weights: Weights::default(),
            usage: Usage::Serve,
            embedding: false,
            secrets: SecretRules::default(),
        };
        fs::create_dir(dir.path().join("notes")).unwrap();
        let mut world = Self { store: Store::open(config).unwrap(), clock, dir };
        world.add();
        world
    }

    fn add(&mut self) {
        let asks = AddFolder {
            dir: self.path(""),
            name: None,
            scope: Scope::Global,
            trust: Trust::User,
            is_writable: true,
            is_told: false,
        };
        Desk::new(&mut self.store, &Caller::new(Origin::User)).perform(asks).unwrap();
    }

    /// A path in the folder.
    pub(super) fn path(&self, inside: &str) -> PathBuf {
        let notes = self.dir.path().join("notes");
        if inside.is_empty() { notes } else { notes.join(inside) }
    }

    pub(super) fn write(&self, inside: &str, text: impl AsRef<[u8]>) {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn rename(&self, from: &str, to: &str) {
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub(super) fn set_clock(&self, seconds: i64) {
        self.clock.0.store(seconds * 1_000_000, Ordering::Relaxed);
    }

    /// Looks as a command does: first whether anything differs, then at it.
    pub(super) fn look(&mut self) -> Refreshed {
        let differs = FolderSnapshot::of(&self.store, ChangeWait::Long).unwrap().differs();
        if differs { refresh(&mut self.store).unwrap() } else { Refreshed::default() }
    }

    /// The parts of a file, by what they say.
    pub(super) fn ids(&self, inside: &str) -> BTreeMap<String, MemoryUuid> {
        let path = FilePath::new("notes", inside).unwrap();
        let Some(file) = self.store.file_at(&path).unwrap() else { return BTreeMap::new() };
        let memory = |id| self.store.get(MemoryRef::Id(id)).unwrap().unwrap();
        let parts = self.store.parts_of(file.id).unwrap();
        parts.iter().map(|part| (memory(part.id).content, part.id)).collect()
    }

    pub(super) fn says(&self, inside: &str) -> Vec<String> {
        self.ids(inside).into_keys().collect()
    }

    /// Every file that is known.
    pub(super) fn files(&self) -> Vec<String> {
        let files = self.store.files_in("notes").unwrap();
        files.iter().map(|file| file.path.inside().to_owned()).collect()
    }

    /// Why the folder cannot be read.
    pub(super) fn away(&self) -> Option<String> {
        self.store.folders().unwrap().into_iter().find(|folder| folder.name == "notes").unwrap().away
    }
}

/// Observations, one a line.
pub(super) fn list(items: &[&str]) -> String {
    items.iter().map(|item| format!("- [fact] {item}\n")).collect()
}
