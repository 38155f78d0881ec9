//! The origin of a memory, and its trust.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tessera_tables::{names, text_types};

use super::DomainError;
use super::error::by_name;

/// Who created a memory. Code sets it, never a model.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Origin {
    /// The user, on the command line.
    #[default]
    User,
    /// An agent, through a tool call.
    Agent,
    /// Learned from a session.
    AutoLearn,
    /// A turn of a captured conversation. The neighbouring turns of the session are its context.
    Conversation,
    /// Another system's data.
    Import,
    /// A file.
    File,
    /// Another person, by their name on the team server.
    Shared(String),
}

impl Origin {
    /// True if the neighbouring memories of the session are indexed as the memory's context.
    pub fn is_captured(&self) -> bool {
        matches!(self, Self::Conversation)
    }

    /// The trust of this origin.
    pub fn trust(&self) -> Trust {
        match self {
            Self::User | Self::File => Trust::User,
            Self::Agent | Self::AutoLearn | Self::Conversation => Trust::Model,
            Self::Import | Self::Shared(_) => Trust::Foreign,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::Agent => f.write_str("agent"),
            Self::AutoLearn => f.write_str("auto_learn"),
            Self::Conversation => f.write_str("conversation"),
            Self::Import => f.write_str("import"),
            Self::File => f.write_str("file"),
            Self::Shared(user) => write!(f, "shared:{user}"),
        }
    }
}

impl FromStr for Origin {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        Ok(match text.trim() {
            "user" => Self::User,
            "agent" => Self::Agent,
            "auto_learn" => Self::AutoLearn,
            "conversation" => Self::Conversation,
            "import" => Self::Import,
            "file" => Self::File,
            other => match other.strip_prefix("shared:") {
                Some(user) if !user.is_empty() => Self::Shared(user.to_owned()),
                _ => {
                    let fix = "use user, agent, auto_learn, conversation, import, file or shared:<user>";
                    return Err(DomainError::invalid("origin", "is unknown", fix));
                }
            },
        })
    }
}

text_types! { Origin: DomainError }

names! {
/// The trust of a memory: the user's own, a model's, or a stranger's.
#[derive(PartialOrd, Ord, Hash, Default, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The user said it.
    #[default]
    User = "user",
    /// A model wrote the text in the user's session.
    Model = "model",
    /// The text comes from another person or another system, so the memory is never injected automatically.
    Foreign = "foreign",
}
}

impl Trust {
    /// The trust of a memory. The trust depends on whether another user shares the memory, the trust that the owner
    /// set, whether somebody else wrote the text, and the origin; see [`super::Memory::earned_trust`].
    pub fn earned(is_shared: bool, owner_trust: Option<Self>, is_edited: bool, origin: &Origin) -> Self {
        match (is_shared, owner_trust, is_edited) {
            (true, ..) => Self::Foreign,
            (false, Some(owner_trust), _) => owner_trust,
            (false, None, true) => Self::Foreign,
            (false, None, false) => origin.trust(),
        }
    }
}

by_name! { Trust, "trust", "use user, model or foreign" }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_round_trip_and_set_trust() {
        for name in ["user", "agent", "auto_learn", "conversation", "import", "file", "shared:mara"] {
            assert_eq!(name.parse::<Origin>().unwrap().to_string(), name);
        }
        assert_eq!("shared:mara".parse::<Origin>().unwrap().trust(), Trust::Foreign);
        assert!("shared:".parse::<Origin>().is_err());
    }
}
