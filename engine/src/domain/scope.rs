//! The scope of a memory: global, or one project.

use std::borrow::Cow;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_tables::{displays, text_types};

use super::DomainError;

/// Global, or the identity of a project: a git remote, a path, or a declared name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    /// Valid in every project.
    #[default]
    Global,
    /// Valid in this project.
    Project(String),
}

const GLOBAL: &str = "global";
const MAX_SCOPE_CHARS: usize = 300;

impl Scope {
    /// The scope as stored: `global`, or the project's identity.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Global => GLOBAL,
            Self::Project(identity) => identity,
        }
    }
}

impl FromStr for Scope {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let identity = without_user(text.trim());
        if identity.is_empty() || identity.eq_ignore_ascii_case(GLOBAL) {
            return Ok(Self::Global);
        }
        if identity.chars().count() > MAX_SCOPE_CHARS || identity.chars().any(char::is_control) {
            let fix = "use a project name or path of at most 300 characters";
            return Err(DomainError::invalid("scope", "is not a valid project name", fix));
        }
        Ok(Self::Project(identity.into_owned()))
    }
}

/// An address without its user and password, which do not identify a project.
fn without_user(identity: &str) -> Cow<'_, str> {
    let parts = identity.split_once("://").and_then(|(scheme, rest)| {
        let end = rest.find('/').unwrap_or(rest.len());
        let at = rest.get(..end)?.rfind('@')?;
        Some((scheme, rest.get(at + 1..)?))
    });
    parts.map_or(Cow::Borrowed(identity), |(scheme, rest)| Cow::Owned(format!("{scheme}://{rest}")))
}

text_types! { Scope: DomainError }
displays! { Scope }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobodys_password_is_part_of_a_project() {
        let named = |text: &str| text.parse::<Scope>().unwrap().to_string();
        let address = format!("https://jo:{}@git.example/acme/ledger", "hunter2!X9");
        assert_eq!(named(&address), "https://git.example/acme/ledger");
        for same in ["https://git.example/a@b", "github.com/acme/ledger", "/w/a@b", "git@github.com:acme/x"] {
            assert_eq!(named(same), same);
        }
    }
}
