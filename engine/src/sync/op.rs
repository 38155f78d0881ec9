//! The changes from machines, and the server's rows and answers.

use serde::{Deserialize, Serialize};

use super::document::{Document, Edit, State};
use crate::domain::{Content, DomainError, MemoryUuid, Timestamp};

/// One change for the server.
///
/// The op ID makes retries safe, because the content of a sent change never changes under the same ID.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Op {
    /// The ID of the change.
    pub op_id: MemoryUuid,
    /// The memory.
    pub memory: MemoryUuid,
    /// The server's `rev` on which the change is based; 0 for none.
    pub base_rev: u64,
    /// The time of the change, by the clock of the machine. The machine's time only decides which details win.
    pub at: Timestamp,
    /// The action.
    pub action: Action,
    /// True if the server lost the memory, and the machine sends it again unchanged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told_again: bool,
}

/// The action of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Creates the memory.
    Create(Document),
    /// Changes fields, and restores a deleted memory.
    Edit(Edit),
    /// Deletes the memory, unless somebody has changed it after the base revision.
    Delete,
    /// Deletes the memory permanently, even if it changed meanwhile.
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
    /// Rejects actions that no store can hold.
    ///
    /// # Errors
    /// Names the field.
    pub fn check(&self) -> Result<(), DomainError> {
        match self {
            Self::Create(document) => document.check(),
            Self::Edit(edit) => edit.check(),
            Self::Delete | Self::Purge => Ok(()),
        }
    }

    /// Its text, if it has one.
    pub fn text(&self) -> Option<&Content> {
        match self {
            Self::Create(document) => Some(&document.content),
            Self::Edit(edit) => edit.content.as_ref(),
            Self::Delete | Self::Purge => None,
        }
    }
}

/// A memory on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its UUID.
    pub memory: MemoryUuid,
    /// The revision number of the memory, counted from 1.
    pub rev: u64,
    /// The `rev` of the last change by a person, not by the server's own maintenance. Only the server knows it.
    #[serde(skip)]
    pub people_rev: u64,
    /// The `rev` of the last change of its text.
    pub content_rev: u64,
    /// The time of the last change of the details, by the clock of the machine that made it.
    pub details_at: Timestamp,
    /// Its content.
    pub state: State,
    /// The author of the present text, if not the owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<String>,
}

/// The author of a change, and their rights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Author<'a> {
    /// Their name on the server.
    pub name: &'a str,
    /// Their rights.
    pub rights: Rights,
}

/// The rights on a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rights {
    /// None; it is invisible.
    None,
    /// Read it.
    Read,
    /// Change its text only.
    Write,
    /// All.
    Owner,
}

/// The decision about a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// The row gets a new version. If both texts are kept, the text that is not in the row becomes a memory of its
    /// author.
    Write {
        /// The row.
        row: Box<Row>,
        /// The copy.
        copy: Option<Box<Row>>,
    },
    /// Nothing changes, because the row already has the requested state, or because another change wins.
    Keep,
    /// It is not allowed.
    Refuse(Refusal),
}

/// The reason why a change is rejected. A retry would be rejected too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// There is no such memory, or the author may not see it.
    Unknown,
    /// The UUID of the new memory belongs to another memory.
    IdTaken,
    /// It was permanently deleted.
    Purged,
    /// The memory belongs to another user, who does not allow this change.
    NotAllowed,
    /// A field has an invalid value.
    Invalid,
    /// The op ID belongs to another change.
    OpReused,
}

/// The UUID of a conflict copy. The UUID is derived from the text, so the server and all machines create the same copy.
pub fn copy_id(memory: MemoryUuid, text: &Content) -> MemoryUuid {
    MemoryUuid::from_key(&format!("conflict {memory} {}", text.as_str().trim()))
}
