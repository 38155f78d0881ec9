//! Where a memory belongs: everywhere, or to one project.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::DomainError;

/// A project's identity (a remote, a path, or a declared name), or global.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    /// Holds in every project.
    #[default]
    Global,
    /// Holds in the project of this identity.
    Project(String),
}

const GLOBAL: &str = "global";
const MAX_SCOPE_CHARS: usize = 300;

impl Scope {
    /// The identity as stored: `global`, or the project's.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Global => GLOBAL,
            Self::Project(identity) => identity,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let identity = text.trim();
        if identity.is_empty() || identity.eq_ignore_ascii_case(GLOBAL) {
            return Ok(Self::Global);
        }
        if identity.chars().count() > MAX_SCOPE_CHARS || identity.chars().any(char::is_control) {
            let fix = "give a project name or path of at most 300 characters";
            return Err(DomainError::invalid("scope", "is not a project identity", fix));
        }
        Ok(Self::Project(identity.to_owned()))
    }
}

impl TryFrom<String> for Scope {
    type Error = DomainError;

    fn try_from(text: String) -> Result<Self, DomainError> {
        text.parse()
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.as_str().to_owned()
    }
}
