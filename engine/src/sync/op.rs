//! What a machine asks of the server, and what the server holds and answers.

use serde::{Deserialize, Serialize};

use super::document::{Document, Edit, State};
use crate::domain::{Content, DomainError, MemoryUuid, Timestamp};

/// One change on its way to the server.
///
/// The op id makes a retry a replay: an op that was sent is never sent in other words under the same id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    /// Identity of the change.
    pub op_id: MemoryUuid,
    /// The memory.
    pub memory: MemoryUuid,
    /// The server's `rev` that the change was made on; 0 for none.
    pub base_rev: u64,
    /// The machine's time of the change. It decides nothing but which details win.
    pub at: Timestamp,
    /// What is to be done.
    pub action: Action,
    /// True for what a server had and lost: it is told as it was.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told_again: bool,
}

/// What an op does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Makes the memory.
    Create(Document),
    /// Changes fields of it; brings it back if it was deleted.
    Edit(Edit),
    /// Deletes it, unless somebody changed it since.
    Delete,
    /// Removes it for good, whatever happened since.
    Purge,
}

impl From<Document> for Action {
    fn from(document: Document) -> Self {
        Self::Create(document)
    }
}

impl From<Edit> for Action {
    fn from(edit: Edit) -> Self {
        Self::Edit(edit)
    }
}

impl Action {
    /// Refuses what no store can hold.
    ///
    /// # Errors
    /// Naming the field.
    pub fn check(&self) -> Result<(), DomainError> {
        match self {
            Self::Create(document) => document.check(),
            Self::Edit(edit) => edit.check(),
            Self::Delete | Self::Purge => Ok(()),
        }
    }

    /// The text that it says, if it says one.
    pub fn text(&self) -> Option<&Content> {
        match self {
            Self::Create(document) => Some(&document.content),
            Self::Edit(edit) => edit.content.as_ref(),
            Self::Delete | Self::Purge => None,
        }
    }
}

/// A memory as the server holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its identity everywhere.
    pub memory: MemoryUuid,
    /// Counts its changes, from 1.
    pub rev: u64,
    /// The `rev` of the last change that somebody made: the server's own clean-up is none. The server alone knows it.
    #[serde(skip)]
    pub people_rev: u64,
    /// The `rev` of the last change of its text.
    pub content_rev: u64,
    /// The machine's time of the last change of its details.
    pub details_at: Timestamp,
    /// What it says.
    pub state: State,
    /// Who wrote the text as it is, if that is not the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<String>,
}

/// Whose op it is, and what they may do with its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Author<'a> {
    /// Their name on the server.
    pub name: &'a str,
    /// What they may do.
    pub rights: Rights,
}

/// What somebody may do with a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rights {
    /// Not even know of it.
    None,
    /// Read it.
    Read,
    /// Change its text, and nothing else.
    Write,
    /// Everything.
    Owner,
}

/// What the server does with an op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The row becomes this one, and where both texts are kept, the other becomes a memory of whoever wrote it.
    Write {
        /// The row.
        row: Box<Row>,
        /// The copy.
        copy: Option<Box<Row>>,
    },
    /// Nothing changes: it is so already, or somebody's change has precedence.
    Keep,
    /// It may not be done.
    Refuse(Refusal),
}

/// Why an op is refused. A retry would be refused again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No such memory, as far as the author may know.
    Unknown,
    /// The id of a new memory belongs to another one.
    IdTaken,
    /// It was removed for good.
    Purged,
    /// It is another's, and may only be read, or not be deleted.
    NotAllowed,
    /// A field holds what cannot be stored.
    Invalid,
    /// The op id belongs to another op.
    OpReused,
}

/// The id of the other text of a conflict. It comes from the text, so that the server and every machine
/// that find the same conflict make the same copy, once.
pub fn copy_id(memory: MemoryUuid, text: &Content) -> MemoryUuid {
    MemoryUuid::from_key(&format!("conflict {memory} {}", text.as_str().trim()))
}
