//! A look at the folders beside other work: whether anything there is other than it was, without the store.

use std::collections::BTreeMap;
use std::thread;

use tessera_engine::Store;
use tessera_engine::store::{Folder, MEMORIES, StoreError, Usage};
use tessera_files::Tree;

use super::look::is_as_known;
use super::refresh::{Refreshed, refresh, refresh_briefly};

/// How long somebody who asks waits for what changed in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// Until all of it is taken: nobody else will.
    Long,
    /// For a moment: somebody takes the rest soon.
    Briefly,
}

/// What the folders looked like when they were last compared. It can be looked at on another thread while a question is
/// answered: so that a question costs no more because there are files.
#[derive(Debug, Clone)]
pub struct Glance {
    folders: Vec<(Folder, BTreeMap<String, u64>)>,
    is_known_to_differ: bool,
    looks: Looks,
}

impl Glance {
    /// What is known of the folders.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(store: &Store, looks: Looks) -> Result<Self, StoreError> {
        let known = store.folders()?;
        let is_new = !known.iter().any(|folder| folder.name == MEMORIES)
            && (store.home().memories().is_dir() || store.has_files_for(MEMORIES)?);
        let with_digests = |folder: Folder| {
            let digests = store.digests(&folder.name)?;
            Ok((folder, digests))
        };
        let folders = known.into_iter().map(with_digests).collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Self { folders, is_known_to_differ: is_new || store.has_pending_files()?, looks })
    }

    /// True where there is nothing to look at.
    pub fn is_idle(&self) -> bool {
        self.folders.is_empty() && !self.is_known_to_differ
    }

    /// Where the folders lie.
    #[cfg(feature = "team")]
    pub(super) fn folders(&self) -> impl Iterator<Item = &Folder> {
        self.folders.iter().map(|(folder, _)| folder)
    }

    /// True when something is other than it was: then [`super::refresh`] is due.
    pub fn differs(&self) -> bool {
        self.is_known_to_differ || self.folders.iter().any(|(folder, known)| has_changed(folder, known))
    }

    /// Looks, and takes what changed. True where something of what is known may have.
    pub fn catch_up(&self, store: &Store) -> bool {
        self.differs() && self.take(store)
    }

    /// Asks while it is looked, and once more where something changed. What cannot be looked at is as it was.
    ///
    /// # Errors
    /// As what is asked.
    pub(crate) fn beside<T>(
        &self,
        store: &mut Store,
        mut ask: impl FnMut(&mut Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let (answer, differs) = thread::scope(|scope| {
            let looking = thread::Builder::new().name("glance".into()).spawn_scoped(scope, || self.differs());
            let answer = ask(store);
            // Where there can be no thread, it is looked here.
            let differs = looking.map_or_else(|_| self.differs(), |looking| looking.join().unwrap_or(true));
            (answer, differs)
        });
        if differs && self.take(store) { ask(store) } else { answer }
    }

    /// The store at hand may only be read: it is written through a connection of its own.
    fn take(&self, store: &Store) -> bool {
        let refreshed = store.opener(Usage::Write)().and_then(|mut store| match self.looks {
            Looks::Long => refresh(&mut store),
            Looks::Briefly => refresh_briefly(&mut store),
        });
        // A store that cannot be written answers from what it holds.
        refreshed.as_ref().is_ok_and(Refreshed::is_change)
    }
}

fn has_changed(folder: &Folder, known: &BTreeMap<String, u64>) -> bool {
    let looked = Tree::open(&folder.dir, &folder.name).and_then(|tree| {
        let identity = tree.identity().ok().map(|identity| (identity.device, identity.inode));
        Ok(folder.away.is_none() && folder.identity == identity && is_as_known(&tree, known)?)
    });
    match looked {
        Ok(is_same) => !is_same,
        // That it is away is known, or to be noted.
        Err(_) => folder.away.is_none(),
    }
}
