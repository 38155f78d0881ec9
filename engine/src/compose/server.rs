//! What a team server writes: a row that the sync decided, with what is derived from it; and what a request asks for,
//! as the sync says it.

use super::composed::{Composed, Known, compose};
use super::fields::{self, Beside, memory_of};
use crate::domain::{DomainError, Draft, Handle, MemoryId, Patch, Permission, Share, Timestamp};
use crate::meaning::Meaning;
use crate::screen::Screened;
use crate::sync::{Document, Edit, Row};
use crate::text::TokenCounter;

/// A row as it is to be written. Only this room makes one.
#[derive(Debug, Clone)]
pub struct Decided {
    row: Row,
    composed: Option<Composed>,
}

impl Decided {
    /// What was decided.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// The same with what somebody found its text to mean, where that has to be found out.
    #[must_use]
    pub fn meant(mut self, meaning: Meaning) -> Self {
        self.composed = self.composed.map(|composed| composed.meant(meaning));
        self
    }

    /// What is derived from it, as its owner sees it under the first handle; nothing of one that was removed for good.
    pub fn composed(&self) -> Option<&Composed> {
        self.composed.as_ref()
    }
}

/// A row that the sync decided. `known` is how the server held the memory: handle and owner are the reader's, so that
/// nothing of it depends on them.
pub fn decided(row: Row, known: Option<&Known>, counter: &impl TokenCounter) -> Decided {
    let composed = row.state.document().map(|document| {
        let mut memory = memory_of(document, Beside::of(row.memory));
        memory.deleted = row.state.live().is_none().then_some(memory.created);
        compose(memory, known, counter)
    });
    Decided { row, composed }
}

impl Beside {
    /// What stands beside a document on a server: nothing that depends on who reads it.
    pub fn of(id: MemoryId) -> Self {
        Self { id, handle: Handle::FIRST, summary: String::new(), share: None, edited_by: None }
    }
}

/// What a draft says, as it travels.
///
/// # Errors
/// Naming the field that is refused, and the fix.
pub fn document(draft: &Screened<Draft>, now: Timestamp) -> Result<Document, DomainError> {
    let document = Document::of(&fields::new(draft, now)?)?;
    document.check()?;
    Ok(document)
}

/// The change that leads from a document to what a patch wants of it, by its owner or by somebody with whom it is
/// shared for writing.
///
/// # Errors
/// As [`document`].
pub fn edit(base: &Document, owner: Option<&str>, patch: &Screened<Patch>) -> Result<Edit, DomainError> {
    let share = owner.map(|owner| Share { by: owner.to_owned(), permission: Permission::Write });
    // Identity is no part of what an edit says.
    let beside = Beside { share, ..Beside::of(MemoryId::from_key("")) };
    let wanted = Document::of(&fields::patched(&memory_of(base, beside), patch)?)?;
    wanted.check()?;
    Ok(Edit::between(base, &wanted))
}
