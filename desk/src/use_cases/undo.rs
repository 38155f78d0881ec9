//! Undoes the last change of a memory.

use tessera_engine::Store;
use tessera_engine::domain::{Memory, MemoryRef};
use tessera_engine::store::{Erase, HistoryEntry, Operation, StoreError};
use tessera_tables::names;

use super::change::{Forget, Restore};
use super::link::SetLink;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Finds the last change of a memory, or of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastChange {
    /// The memory; `None` for the memory that was changed last.
    pub id: Option<MemoryRef>,
}

/// The last change of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The memory as it is now.
    pub memory: Memory,
    /// The change.
    pub entry: HistoryEntry,
    /// What undoes it.
    pub undo: Undoing,
}

names! {
/// What undoes a change.
pub enum Undoing {
    /// The memory was stored: it is deleted, and can be restored.
    Delete = "delete",
    /// The memory was deleted: it is restored.
    Restore = "restore",
    /// Fields were changed: the earlier version is restored.
    Earlier = "earlier",
    /// A link was added or removed: the links from before are restored.
    Links = "links",
}
}

impl UseCase for LastChange {
    /// `None` if nothing was ever changed in the store.
    type Outcome = Option<Changed>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Option<Changed>, StoreError> {
        if let Some(id) = self.id {
            let memory = store.get(id)?.ok_or(StoreError::NotFound(id))?;
            return change_of(store, memory).map(Some);
        }
        // Reading a folder of files also changes memories. The user did not make these changes with a command, and only
        // the file itself can undo them.
        for id in store.changed_lately()? {
            let memory = store.get(MemoryRef::Id(id))?;
            let own = memory.filter(|memory| memory.file.is_none() && memory.share.is_none());
            if let Some(Ok(changed)) = own.map(|memory| change_of(store, memory)) {
                return Ok(Some(changed));
            }
        }
        Ok(None)
    }
}

/// The last change of a memory, and what undoes it.
fn change_of(store: &Store, memory: Memory) -> Result<Changed, StoreError> {
    let id = MemoryRef::ShortId(memory.short_id);
    if let Some(file) = &memory.file {
        let path = file.path.clone();
        let problem = format!(
            "is a file, and `undo` changes no files; `tessera history {path}` lists its earlier texts, and `tessera \
            restore {path} --before REV` restores one"
        );
        return Err(StoreError::InFile { path, problem });
    }
    let refused = |problem| Err(StoreError::Conflict { memory: id, problem });
    // Plugins record their own changes, which contain no earlier version.
    let mut entries = store.history(id)?.into_iter();
    let Some(entry) = entries.find(|entry| entry.before.is_some() || !is_part(entry)) else {
        return refused("has no change that can be undone");
    };
    let undo = match Operation::named(&entry.operation) {
        Some(Operation::Create) => Undoing::Delete,
        Some(Operation::Delete) => Undoing::Restore,
        Some(Operation::Purge) => return refused("was deleted permanently, so the deletion cannot be undone"),
        Some(Operation::Link | Operation::Unlink) if entry.before.is_some() => Undoing::Links,
        _ if entry.before.is_none() => return refused("has no stored version from before its last change"),
        _ if entry.before.as_ref().is_some_and(|before| before.deleted.is_some()) => Undoing::Delete,
        _ => Undoing::Earlier,
    };
    Ok(Changed { memory, entry, undo })
}

/// True for a row that a plugin added to a change.
fn is_part(entry: &HistoryEntry) -> bool {
    entry.client.as_deref().is_some_and(|client| client.starts_with("plugin "))
}

/// Undoes a change that [`LastChange`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo {
    /// The memory.
    pub id: MemoryRef,
    /// The number of the change in the history.
    pub rev: u64,
    /// What undoes it.
    pub undo: Undoing,
}

impl UseCase for Undo {
    type Outcome = Memory;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Memory, StoreError> {
        let Self { id, rev, undo } = self;
        let last = LastChange { id: Some(id) }.run(store, caller)?;
        let Some(last) = last.filter(|last| last.entry.rev == rev) else {
            let problem = "was changed again in the meantime; look at `tessera history` before you undo the change";
            return Err(StoreError::Conflict { memory: id, problem });
        };
        match undo {
            Undoing::Delete => {
                let reason = Some("undo".to_owned());
                Forget { ids: vec![id], erase: Erase::Soft, reason }.run(store, caller)?;
            }
            Undoing::Restore => drop(Restore { id, before: None }.run(store, caller)?),
            Undoing::Earlier => drop(Restore { id, before: Some(rev) }.run(store, caller)?),
            Undoing::Links => put_links_back(store, caller, last)?,
        }
        store.get(id)?.ok_or(StoreError::NotFound(id))
    }
}

/// Removes the links that a change added, and adds those that it removed.
fn put_links_back(store: &mut Store, caller: &Caller, last: Changed) -> Result<(), StoreError> {
    let before = last.entry.before.map(|before| before.links).unwrap_or_default();
    let now = last.memory.links;
    let id = MemoryRef::Id(last.memory.id);
    let added = now.iter().filter(|link| !before.contains(link)).map(|link| (link, false));
    let removed = before.iter().filter(|link| !now.contains(link)).map(|link| (link, true));
    for (link, holds) in added.chain(removed) {
        SetLink { id, kind: link.kind.clone(), to: MemoryRef::Id(link.to), holds }.run(store, caller)?;
    }
    Ok(())
}
