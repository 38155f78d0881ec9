//! What a team server writes: a row that the sync decided, with what is derived from it; and what a request asks for,
//! as the sync says it.

use super::composed::{Composed, Known, compose};
use super::fields::{self, Beside, memory_of};
use crate::domain::{DomainError, Draft, MemoryUuid, Patch, Permission, Share, ShortId, Timestamp};
use crate::meaning::Meaning;
use crate::screen::{Screened, Secret};
use crate::sync::{Author, Decision, Document, Edit, Op, Refusal, Row, State, decide};
use crate::text::TokenCounter;

/// A row as it is to be written. Only this room makes one, of what was looked through.
#[derive(Debug, Clone)]
pub struct Decided {
    row: Row,
    composed: Option<Composed>,
    secrets: Vec<Secret>,
}

/// What a server does with an op.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The row becomes this one; where both texts are kept, the other becomes a memory of whoever wrote it. What was taken
    /// out of either stays beside the row.
    Write {
        /// The row.
        row: Box<Decided>,
        /// The copy.
        copy: Option<Box<Decided>>,
    },
    /// Nothing changes.
    Keep,
    /// It may not be done.
    Refuse(Refusal),
}

impl Decided {
    /// What was decided.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// Takes what was decided.
    pub fn into_row(self) -> Row {
        self.row
    }

    /// The same with what somebody found its text to mean, where that has to be found out.
    #[must_use]
    pub fn meant(mut self, meaning: Meaning) -> Self {
        self.composed = self.composed.map(|composed| composed.meant(meaning));
        self
    }

    /// What was taken out of it, to be kept in the transaction of its row.
    pub fn secrets(&self) -> &[Secret] {
        &self.secrets
    }

    /// What is derived from it, as its owner sees it under the first ID; nothing of one that was removed for good.
    pub fn composed(&self) -> Option<&Composed> {
        self.composed.as_ref()
    }
}

/// What becomes of a row by an op. `known` is how the server held the memory: ID and owner are the reader's, so that
/// nothing of it depends on them.
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

/// A row of which what stood there in clear is taken out: a change like any other, that everybody hears of. A deleted one
/// stays deleted, and whoever wrote the text goes on having written it.
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
    /// What stands beside a document on a server: nothing that depends on who reads it.
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

/// What a draft says, as it travels.
///
/// # Errors
/// Naming the field that is refused, and the fix.
pub fn document(draft: &Screened<Draft>, now: Timestamp) -> Result<Screened<Document>, DomainError> {
    let document = Document::of(&fields::new(draft, now)?)?;
    document.check()?;
    Ok(draft.follow(document))
}

/// The change that leads from a document to what a patch wants of it, by its owner or by somebody with whom it is
/// shared for writing. The document may be older than the looking through of texts: so the change is to be looked through.
///
/// # Errors
/// As [`document`].
pub fn edit(base: &Document, owner: Option<&str>, patch: &Screened<Patch>) -> Result<Edit, DomainError> {
    let share = owner.map(|owner| Share { by: owner.to_owned(), permission: Permission::Write });
    // Identity is no part of what an edit says.
    let beside = Beside { share, ..Beside::of(MemoryUuid::from_key("")) };
    let wanted = Document::of(&fields::patched(&memory_of(base, beside), patch)?)?;
    wanted.check()?;
    Ok(Edit::between(base, &wanted))
}
