//! Changing fields of a memory that is there.

use super::links;
use super::outbox::tell;
use super::write::{Stored, write_over};
use crate::domain::{Memory, MemoryRef, Patch, Permission, Trust};
use crate::enrich;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};

impl Store {
    /// Changes fields of a memory.
    ///
    /// # Errors
    /// When there is no such memory, a field is refused, or the store cannot be written.
    pub fn update(&mut self, reference: MemoryRef, patch: &Patch, actor: &Actor) -> Result<Stored, StoreError> {
        patch.check()?;
        let stored = self.write(|change| update(change, reference, patch, actor))?;
        self.maintain();
        Ok(stored)
    }

    /// Changes the same fields of many memories: of all of them, or of none.
    ///
    /// # Errors
    /// As [`Store::update`].
    pub fn update_all(
        &mut self,
        references: &[MemoryRef],
        patch: &Patch,
        actor: &Actor,
    ) -> Result<Vec<Stored>, StoreError> {
        patch.check()?;
        let stored =
            self.write(|change| references.iter().map(|reference| update(change, *reference, patch, actor)).collect())?;
        self.maintain();
        Ok(stored)
    }
}

fn update(change: &Change<'_>, reference: MemoryRef, patch: &Patch, actor: &Actor) -> Result<Stored, StoreError> {
    let before = change.existing(reference)?;
    if before.deleted.is_some() {
        return Err(StoreError::Conflict { memory: reference, problem: "is deleted; restore it first" });
    }
    if let Some(share) = &before.share {
        if share.permission == Permission::Read {
            return Err(StoreError::Conflict { memory: reference, problem: "is another user's, shared for reading" });
        }
        if (Patch { content: None, ..patch.clone() }) != Patch::default() {
            let problem = "is another user's: its text may be changed, everything else is for the owner to change";
            return Err(StoreError::Conflict { memory: reference, problem });
        }
    }
    rewrite(change, &before, patch, actor)
}

/// Writes a live memory with fields changed.
pub(crate) fn rewrite(
    change: &Change<'_>,
    before: &Memory,
    patch: &Patch,
    actor: &Actor,
) -> Result<Stored, StoreError> {
    let mut memory = before.clone();
    apply(&mut memory, patch);
    memory.updated = change.now;
    memory.rev = change.next_rev()?;
    let tokens = write_over(change, before, &memory)?;
    if memory.trust != before.trust {
        links::elect_around(change, &memory)?;
    }
    history::record(change, &memory, Operation::Update, actor, Some(before))?;
    tell(change, memory.id)?;
    Ok(Stored { memory, tokens, existed: true })
}

/// A new text is summarised and scanned again; what the caller set explicitly is kept.
fn apply(memory: &mut Memory, patch: &Patch) {
    if let Some(content) = &patch.content {
        let was_derived = memory.entities == enrich::entities(&memory.content);
        let was_told_apart = memory.kind == enrich::kind(&memory.content, &memory.entities);
        let was_scored = memory.importance == enrich::importance(&memory.content);
        memory.content.clone_from(content);
        // Whoever writes a text here writes it as themselves.
        memory.edited_by = None;
        // A word of mistrust was of the text before.
        memory.vouched = memory.vouched.filter(|vouched| *vouched != Trust::Foreign);
        memory.summary = enrich::summary(content);
        if was_derived {
            memory.entities = enrich::entities(content);
        }
        if was_told_apart {
            memory.kind = enrich::kind(content, patch.entities.as_ref().unwrap_or(&memory.entities));
        }
        if was_scored {
            memory.importance = enrich::importance(content);
        }
    }
    fn set<T: Clone>(field: &mut T, value: Option<&T>) {
        if let Some(value) = value {
            field.clone_from(value);
        }
    }
    set(&mut memory.category, patch.category.as_ref());
    set(&mut memory.kind, patch.kind.as_ref());
    set(&mut memory.importance, patch.importance.as_ref());
    set(&mut memory.tags, patch.tags.as_ref());
    set(&mut memory.keywords, patch.keywords.as_ref());
    set(&mut memory.entities, patch.entities.as_ref());
    set(&mut memory.scope, patch.scope.as_ref());
    set(&mut memory.expires, patch.expires.as_ref());
    memory.vouched = patch.vouched.or(memory.vouched);
    memory.trust = memory.earned_trust();
}
