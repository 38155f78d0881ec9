//! Composes rows of the team server from the result of a sync decision or from a request.

use super::composed::{Composed, Known, compose};
use super::fields::{self, Beside, memory_of};
use crate::domain::{DomainError, Draft, MemoryUuid, Patch, Permission, Share, ShortId, Timestamp};
use crate::embedding::Embedding;
use crate::screen::{Screened, Secret};
use crate::sync::{Author, Decision, Document, Edit, Op, Refusal, Row, State, decide};
use crate::text::TokenCounter;

/// A row that is ready to be written. Only this module creates such a row, from screened texts.
#[derive(Debug, Clone)]
pub struct Decided {
    row: Row,
    composed: Option<Composed>,
    secrets: Vec<Secret>,
}

/// The result of a change on the server.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The row gets a new version. If a conflict keeps both texts, the second one becomes a memory of its author. The
    /// secrets of both texts are stored with the row.
    Write {
        /// The row.
        row: Box<Decided>,
        /// The conflict copy.
        copy: Option<Box<Decided>>,
    },
    /// Nothing changes.
    Keep,
    /// The change is not allowed.
    Refuse(Refusal),
}

impl Decided {
    /// The row.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// Returns the row.
    pub fn into_row(self) -> Row {
        self.row
    }

    /// Adds an embedding, if it must still be computed.
    #[must_use]
    pub fn meant(mut self, embedding: Embedding) -> Self {
        self.composed = self.composed.map(|composed| composed.meant(embedding));
        self
    }

    /// The removed secrets, which are stored in the transaction of the row.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// The derived data for the owner's view with ID 1; `None` for a permanently deleted memory.
    pub fn composed(&self) -> Option<&Composed> {
        self.composed.as_ref()
    }
}

/// Applies a change to a row. `known` is the server's stored memory. ID and owner depend on the reader, so they do not
/// affect the result.
pub fn outcome(
    current: Option<(&Row, Option<&Known>)>,
    op: &Screened<Op>,
    author: Author<'_>,
    counter: &impl TokenCounter,
) -> Outcome {
    match decide(current.map(|(row, _)| row), op, author) {
        Decision::Refuse(refusal) => Outcome::Refuse(refusal),
        Decision::Keep => Outcome::Keep,
        Decision::Write { row, copy } => {
            let known = current.and_then(|(_, known)| known);
            let row = Decided { secrets: op.secrets().to_vec(), ..decided(*row, known, counter) };
            let copy = copy.map(|copy| Box::new(decided(*copy, None, counter)));
            Outcome::Write { row: Box::new(row), copy }
        }
    }
}

/// A row from which clear-text secrets are removed. If a secret is removed, this is synced like any other change. A
/// deleted row stays deleted, and the author of the text stays the same.
pub fn cleaned(row: &Row, known: Option<&Known>, document: Screened<Document>, counter: &impl TokenCounter) -> Decided {
    let (document, secrets) = document.into_parts();
    let rev = row.rev + 1;
    let is_new_text = row.state.document().is_none_or(|before| before.content != document.content);
    let content_rev = if is_new_text { rev } else { row.content_rev };
    let state = match row.state {
        State::Live(_) => State::Live(document),
        State::Deleted(_) => State::Deleted(document),
        State::Purged => State::Purged,
    };
    Decided { secrets, ..decided(Row { rev, content_rev, state, ..row.clone() }, known, counter) }
}

fn decided(row: Row, known: Option<&Known>, counter: &impl TokenCounter) -> Decided {
    let composed = row.state.document().map(|document| {
        let mut memory = memory_of(document, Beside::of(row.memory));
        memory.deleted = row.state.live().is_none().then_some(memory.created);
        compose(memory, known, counter)
    });
    Decided { row, composed, secrets: Vec::new() }
}

impl Beside {
    /// The data of a memory on a server that is not part of its document, and does not depend on the reader.
    pub fn of(id: MemoryUuid) -> Self {
        Self {
            id,
            short_id: ShortId::FIRST,
            summary: String::new(),
            share: None,
            edited_by: None,
            stands_for_file: false,
        }
    }
}

/// A draft as a document for sync.
///
/// # Errors
/// Returns an error if a field is rejected. The error names the field and the fix.
pub fn document(draft: &Screened<Draft>, now: Timestamp) -> Result<Screened<Document>, DomainError> {
    let document = Document::of(&fields::new(draft, None, now)?)?;
    document.check()?;
    Ok(draft.follow(document))
}

/// The change from a document to its patched version. The author is the owner, or a user with write permission. The
/// document may be older than secret detection, so the change must be screened.
///
/// # Errors
/// Returns the same errors as [`document`].
pub fn edit(base: &Document, owner: Option<&str>, patch: &Screened<Patch>) -> Result<Edit, DomainError> {
    let share = owner.map(|owner| Share { by: owner.to_owned(), permission: Permission::Write });
    // The UUID has no effect on the edit.
    let beside = Beside { share, ..Beside::of(MemoryUuid::from_key("")) };
    let wanted = Document::of(&fields::patched(&memory_of(base, beside), patch)?)?;
    wanted.check()?;
    Ok(Edit::between(base, &wanted))
}
