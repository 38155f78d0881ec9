//! Changes, deletes and restores memories.

use std::collections::BTreeMap;

use tessera_engine::Store;
use tessera_engine::domain::{DomainError, FilePath, Memory, MemoryRef, MemoryUuid, Patch};
use tessera_engine::store::{Erase, Forgotten, StoreError, Stored, Traces, says_all_of_file};

use crate::caller::Caller;
use crate::chain::Asked;
use crate::desk::{Effect, UseCase};
use crate::folders::{forget_files, forget_parts, restore_file, update_file, update_part};

/// Memories changed in one transaction: all of them, or none.
const AT_ONCE: usize = 500;

/// The memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// Named ones.
    Named(Vec<MemoryRef>),
    /// All memories from other sources that the user has not confirmed.
    Imported,
}

/// Changes fields of memories.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    /// The memories.
    pub which: Which,
    /// The fields.
    pub patch: Patch,
    /// The reason.
    pub reason: Option<String>,
}

/// The result of an update.
#[derive(Debug, Clone)]
pub struct Updated {
    /// The number of memories.
    pub count: usize,
    /// The changed memory, if exactly one was changed.
    pub only: Option<Stored>,
}

impl UseCase for Update {
    type Outcome = Updated;
    const EFFECT: Effect = Effect::Changes;

    fn asked(&mut self) -> Option<Asked<'_>> {
        // Imports and changes of all imported memories do not call plugins.
        matches!(self.which, Which::Named(_)).then_some(Asked::Update(self))
    }

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Updated, StoreError> {
        if self.patch.is_empty() {
            let fix = "pass content, tags, importance, category or another field to change";
            return Err(DomainError::invalid("content", "is missing, and so are all other fields", fix).into());
        }
        let ids = match self.which {
            Which::Named(ids) => ids,
            Which::Imported => store.imported()?,
        };
        if let [id] = ids.as_slice()
            && let Some(updated) = in_file(store, caller, *id, &self.patch, self.reason.as_ref())?
        {
            return Ok(updated);
        }
        let actor = caller.actor(self.reason);
        if let [id] = ids.as_slice() {
            return Ok(Updated { count: 1, only: Some(store.update(*id, &self.patch, &actor)?) });
        }
        let mut count = 0;
        for batch in ids.chunks(AT_ONCE) {
            count += store.update_all(batch, &self.patch, &actor)?.len();
        }
        Ok(Updated { count, only: None })
    }
}

/// Changes the text and trust of a file; `None` for a memory without a file.
fn in_file(
    store: &mut Store,
    caller: &Caller,
    id: MemoryRef,
    patch: &Patch,
    reason: Option<&String>,
) -> Result<Option<Updated>, StoreError> {
    let memory = store.get(id)?.ok_or(StoreError::NotFound(id))?;
    // Another user's file is an ordinary memory here.
    let Some(file) = memory.file.as_ref().filter(|_| memory.share.is_none()) else { return Ok(None) };
    if memory.deleted.is_some() {
        return Err(StoreError::Conflict { memory: id, problem: "is deleted; restore it first" });
    }
    let is_plain = (Patch { content: None, owner_trust: None, ..patch.clone() }).is_empty();
    if !is_plain {
        // The store returns an error with the alternative.
        return Ok(None);
    }
    if file.is_whole && patch.content.is_some() && patch.owner_trust.is_none() {
        let stored = update_file(store, caller, &memory, patch)?;
        return Ok(Some(Updated { count: 1, only: Some(stored) }));
    }
    if file.is_whole && patch.content.is_none() {
        let parts: Vec<MemoryRef> = store.parts_of(memory.id)?.iter().map(|part| MemoryRef::Id(part.id)).collect();
        let count = store.update_all(&parts, patch, &caller.actor(reason.cloned()))?.len();
        return Ok(Some(Updated { count, only: None }));
    }
    let Some(content) = patch.content.as_deref().filter(|_| !file.is_whole) else { return Ok(None) };
    patch.check()?;
    update_part(store, caller, id, content)?;
    if patch.owner_trust.is_some() {
        let trust = Patch { owner_trust: patch.owner_trust, ..Patch::default() };
        store.update(id, &trust, &caller.actor(reason.cloned()))?;
    }
    Ok(Some(Updated { count: 1, only: Some(store.stored(id)?) }))
}

/// Deletes memories: all of them, or none if one does not exist. A part is removed from its file, and a whole file is
/// deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forget {
    /// The memories.
    pub ids: Vec<MemoryRef>,
    /// The kind of deletion.
    pub erase: Erase,
    /// The reason.
    pub reason: Option<String>,
}

/// The result of a deletion.
#[derive(Debug, Clone, Default)]
pub struct Gone {
    /// The memories.
    pub forgotten: Vec<Forgotten>,
    /// The copies and files that may still contain words of permanently deleted memories. The list is empty if no
    /// memory was deleted permanently.
    pub left: Traces,
    /// Parts that were removed from files, and how to restore them.
    pub taken_out: BTreeMap<MemoryUuid, RemovedSection>,
}

/// A part that was removed from its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedSection {
    /// The file.
    pub path: FilePath,
    /// The change of the file that removed the section. `None` if the store does not have the file's complete text, so
    /// that the change cannot be undone.
    pub rev: Option<u64>,
}

impl UseCase for Forget {
    type Outcome = Gone;
    const EFFECT: Effect = Effect::Destroys;

    fn asked(&mut self) -> Option<Asked<'_>> {
        Some(Asked::Forget(self))
    }

    fn touched(gone: &Gone) -> Vec<MemoryRef> {
        gone.forgotten.iter().map(|one| MemoryRef::Id(one.id)).collect()
    }

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Gone, StoreError> {
        let mut of = Sorted::of(store, &self.ids)?;
        let (mut forgotten, mut taken_out) = (Vec::new(), BTreeMap::new());
        let actor = caller.actor(self.reason.clone());
        if !of.parts.is_empty() {
            forgotten.extend(forget_in_files(store, caller, &of.parts, self.erase)?);
            taken_out = taken_out_of(store, &of.parts)?;
        }
        if !of.files.is_empty() {
            of.files.dedup_by_key(|file| file.id);
            forgotten.extend(forget_files(store, caller, &of.files, self.erase, self.reason)?);
        }
        // Last, because these succeed or fail together: if a file cannot be written, they stay too.
        if !of.plain.is_empty() || self.ids.is_empty() {
            forgotten.splice(0..0, store.forget(&of.plain, self.erase, &actor)?);
        }
        let left = match self.erase {
            Erase::Soft => Traces::default(),
            Erase::Hard => store.traces(&forgotten.iter().map(|one| one.id).collect::<Vec<_>>())?,
        };
        Ok(Gone { forgotten, left, taken_out })
    }
}

/// Memories, grouped by where their text is stored.
struct Sorted {
    plain: Vec<MemoryRef>,
    parts: Vec<Memory>,
    files: Vec<Memory>,
}

impl Sorted {
    /// Checks all memories before any of them is changed.
    fn of(store: &Store, ids: &[MemoryRef]) -> Result<Self, StoreError> {
        let mut of = Self { plain: Vec::new(), parts: Vec::new(), files: Vec::new() };
        for id in ids {
            let memory = store.get(*id)?.ok_or(StoreError::NotFound(*id))?;
            // Another user's memory is in no local file.
            if memory.file.is_none() || memory.share.is_some() {
                of.plain.push(*id);
            } else if memory.is_whole_file() {
                of.files.push(memory);
            } else {
                of.parts.push(memory);
            }
        }
        Ok(of)
    }
}

/// Removes the lines of parts from their files. If the lines of a section were already removed from its file, a
/// permanent deletion removes the section only from earlier versions.
fn forget_in_files(
    store: &mut Store,
    caller: &Caller,
    parts: &[Memory],
    erase: Erase,
) -> Result<Vec<Forgotten>, StoreError> {
    let all: Vec<MemoryRef> = parts.iter().map(|part| MemoryRef::Id(part.id)).collect();
    let there = parts.iter().filter(|part| part.deleted.is_none()).map(|part| MemoryRef::Id(part.id));
    let there: Vec<MemoryRef> = there.collect();
    if !there.is_empty() {
        forget_parts(store, caller, &there)?;
    }
    match erase {
        Erase::Soft => {
            let forgotten =
                |part: &Memory| Forgotten { id: part.id, short_id: part.short_id, again: part.deleted.is_some() };
            Ok(parts.iter().map(forgotten).collect())
        }
        Erase::Hard => store.purge_parts(&all, &caller.actor(None)),
    }
}

/// For each section that was removed from its file, how to restore it.
fn taken_out_of(store: &Store, parts: &[Memory]) -> Result<BTreeMap<MemoryUuid, RemovedSection>, StoreError> {
    let mut taken_out = BTreeMap::new();
    for part in parts.iter().filter(|part| part.deleted.is_none()) {
        let Some(path) = part.file.as_ref().map(|file| file.path.clone()) else { continue };
        let row = store.file_at(&path)?.filter(|row| row.is_kept);
        let file = row.map(|row| store.get(MemoryRef::Id(row.id))).transpose()?.flatten();
        taken_out.insert(part.id, RemovedSection { path, rev: file.map(|file| file.rev) });
    }
    Ok(taken_out)
}

/// Restores a deleted memory, or an earlier text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restore {
    /// The memory.
    pub id: MemoryRef,
    /// The change to undo, by its number in the history.
    pub before: Option<u64>,
}

impl UseCase for Restore {
    type Outcome = Stored;
    const EFFECT: Effect = Effect::Changes;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Stored, StoreError> {
        let memory = store.get(self.id)?.ok_or(StoreError::NotFound(self.id))?;
        match &memory.file {
            Some(_) if memory.share.is_some() => store.restore(self.id, self.before, &caller.actor(None)),
            Some(file) if file.is_whole => restore_file(store, caller, &memory, self.before),
            Some(file) => restore_part(store, caller, &memory, &file.path, self.before),
            None => store.restore(self.id, self.before, &caller.actor(None)),
        }
    }
}

/// Restoring a section restores its file. If the file exists, the user must decide where the section's lines belong in
/// it.
fn restore_part(
    store: &mut Store,
    caller: &Caller,
    part: &Memory,
    path: &FilePath,
    before: Option<u64>,
) -> Result<Stored, StoreError> {
    let refused = |problem: String| StoreError::InFile { path: path.clone(), problem };
    if before.is_some() {
        return Err(refused(format!(
            "stores earlier texts only of the whole file: `tessera history {path}` lists them, and `tessera restore \
            {path} --before REV` restores one"
        )));
    }
    if part.deleted.is_none() {
        let problem = "is neither deleted nor expired; `tessera undo ID` undoes its last change";
        return Err(StoreError::Conflict { memory: MemoryRef::ShortId(part.short_id), problem });
    }
    let file = store.file_of_part(part.id)?.map(|file| store.get(MemoryRef::Id(file))).transpose()?.flatten();
    let file = file.ok_or_else(|| refused("was deleted permanently".to_owned()))?;
    if file.deleted.is_none() {
        return Err(refused(format!(
            "exists, but does not contain these lines: write them into it again, or restore an earlier text with `tessera restore \
            {path} --before REV` (`tessera history {path}` lists them)"
        )));
    }
    if says_all_of_file(&file.content) && !file.content.contains(&part.content) {
        return Err(refused(format!(
            "was deleted after these lines were removed; `tessera restore {path}` restores it without them, and then \
            `tessera restore {path} --before REV` restores an earlier text (`tessera history {path}` lists them)"
        )));
    }
    restore_file(store, caller, &file, None)?;
    let stored = store.stored(MemoryRef::Id(part.id))?;
    if stored.memory.deleted.is_some() {
        return Err(refused(format!(
            "was restored without these lines; `tessera restore {path} --before REV` restores an earlier text \
            (`tessera history {path}` lists them)"
        )));
    }
    Ok(stored)
}
