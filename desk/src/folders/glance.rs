//! A look at the folders beside other work: whether anything there is other than it was, without the store.

use std::collections::BTreeMap;

use tessera_engine::Store;
use tessera_engine::store::{Folder, MEMORIES, StoreError};
use tessera_files::Tree;

use super::look::is_as_known;

/// What the folders looked like when they were last compared. It can be looked at on another thread while a question is
/// answered: so that a question costs no more because there are files.
#[derive(Debug)]
pub struct Glance {
    folders: Vec<(Folder, BTreeMap<String, u64>)>,
    is_known_to_differ: bool,
}

impl Glance {
    /// What is known of the folders.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn of(store: &Store) -> Result<Self, StoreError> {
        let known = store.folders()?;
        let is_new = !known.iter().any(|folder| folder.name == MEMORIES)
            && (store.home().memories().is_dir() || store.has_files_for(MEMORIES)?);
        let with_digests = |folder: Folder| {
            let digests = store.digests(&folder.name)?;
            Ok((folder, digests))
        };
        let folders = known.into_iter().map(with_digests).collect::<Result<Vec<_>, StoreError>>()?;
        Ok(Self { folders, is_known_to_differ: is_new || store.has_pending_files()? })
    }

    /// True where there is nothing to look at.
    pub fn is_idle(&self) -> bool {
        self.folders.is_empty() && !self.is_known_to_differ
    }

    /// True when something is other than it was: then [`super::refresh`] is due.
    pub fn differs(&self) -> bool {
        self.is_known_to_differ || self.folders.iter().any(|(folder, known)| has_changed(folder, known))
    }
}

fn has_changed(folder: &Folder, known: &BTreeMap<String, u64>) -> bool {
    let looked = Tree::open(&folder.dir, &folder.name).and_then(|tree| is_as_known(&tree, known));
    match looked {
        Ok(is_same) => !is_same,
        // That it is away is known, or to be noted.
        Err(_) => folder.away.is_none(),
    }
}
