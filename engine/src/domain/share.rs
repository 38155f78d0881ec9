//! What another user allows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::DomainError;

/// What may be done with a memory that another user shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// Read it.
    Read,
    /// Change its text and details too, but neither its tags nor its being there.
    Write,
}

impl Permission {
    /// The name as stored and typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Permission {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        match text.trim().to_lowercase().as_str() {
            "read" => Ok(Self::Read),
            "write" => Ok(Self::Write),
            _ => Err(DomainError::invalid("permission", "is unknown", "give read or write")),
        }
    }
}

/// Whose a memory of another user is, and what they allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The owner, by their name on the team server.
    #[serde(rename = "shared_by")]
    pub by: String,
    /// What they allow.
    #[serde(rename = "share_permission")]
    pub permission: Permission,
}
