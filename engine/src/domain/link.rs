//! Typed links between memories.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{DomainError, MemoryId};

/// What one memory is to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// The source replaces the target: recall answers with the source.
    Supersedes,
    /// The source (a question, an incident) was settled by the target.
    ResolvedBy,
    /// The source is a part of the target.
    PartOf,
    /// The two belong beside one another.
    SeeAlso,
}

impl LinkKind {
    /// All kinds, in the order they are documented.
    pub const ALL: [Self; 4] = [Self::Supersedes, Self::ResolvedBy, Self::PartOf, Self::SeeAlso];

    /// The name as stored and typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Supersedes => "supersedes",
            Self::ResolvedBy => "resolved_by",
            Self::PartOf => "part_of",
            Self::SeeAlso => "see_also",
        }
    }
}

impl fmt::Display for LinkKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LinkKind {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let folded = text.trim().to_lowercase().replace('-', "_");
        Self::ALL.into_iter().find(|kind| kind.as_str() == folded).ok_or_else(|| {
            let fix = "give supersedes, resolved_by, part_of or see_also";
            DomainError::invalid("type", "is not a link type", fix)
        })
    }
}

/// A link from the memory that carries it to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Link {
    /// What the carrier is to the other.
    #[serde(rename = "type")]
    pub kind: LinkKind,
    /// The other memory.
    pub to: MemoryId,
}
