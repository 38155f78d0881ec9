//! Secrets on their way between a machine and the server: by routes of their own, never in an op or in news. Their values
//! show in no debug print.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::MemoryUuid;

/// The header by which a machine names itself to the server, so that one can tell which have heard of a removal.
pub const MACHINE_HEADER: &str = "tessera-machine";
/// Secrets of a request, at most.
pub const MOST_SECRETS: usize = 100;
/// Bytes of a secret's value, at most.
pub const MOST_SECRET_BYTES: usize = 65_536;

/// A secret of a memory, with its value.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSecret {
    /// The memory.
    pub memory: MemoryUuid,
    /// The name that its text has in the place of the value.
    pub name: String,
    /// What it is, in words.
    pub kind: String,
    /// The value.
    pub value: String,
}

impl fmt::Debug for SentSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentSecret").field("memory", &self.memory).field("name", &self.name).finish_non_exhaustive()
    }
}

/// `PUT /v1/sync/secrets`: at most [`MOST_SECRETS`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSecrets {
    /// The secrets.
    pub secrets: Vec<SentSecret>,
}

/// What became of a secret that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// It is kept, since now or before.
    Kept,
    /// There is no such memory of the user's, or it was removed for good.
    Unknown,
    /// Another value has that name in that memory: it stays.
    Differs,
    /// A name or a kind that is none, or no value, or one that is too long.
    Invalid,
}

/// One of the answers to [`SentSecrets`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecret {
    /// The memory.
    pub memory: MemoryUuid,
    /// The name.
    pub name: String,
    /// What became of it.
    pub became: Became,
}

/// The answers to [`SentSecrets`], in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecrets {
    /// One for each.
    pub kept: Vec<KeptSecret>,
}

/// Why a place has no value to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// It never came here: it is on the machine that stored it.
    NotHere,
    /// It was not kept anywhere.
    Dropped,
    /// It is sealed with a key that the server has not.
    Key,
}

/// A place of a text, and what belongs there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownSecret {
    /// Its name; of what was dropped there is none.
    pub name: Option<String>,
    /// What it is, in words.
    pub kind: String,
    /// The value.
    pub value: Option<String>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
}

impl fmt::Debug for ShownSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownSecret").field("name", &self.name).field("missing", &self.missing).finish_non_exhaustive()
    }
}

/// `POST /api/memories/{id}/secret`: a memory with its secrets put back in.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownSecrets {
    /// The memory.
    pub id: MemoryUuid,
    /// Its category.
    pub category: String,
    /// Its text; a place without a value stays.
    pub content: String,
    /// Where values are kept: `encrypted` or `vault`; `plaintext` where there are none.
    pub source: String,
    /// Each place once.
    pub secrets: Vec<ShownSecret>,
}

impl fmt::Debug for ShownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownSecrets").field("id", &self.id).field("secrets", &self.secrets).finish_non_exhaustive()
    }
}

/// A key of the user, and a machine that it is used on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMachine {
    /// The key's id.
    pub key: String,
    /// What the key is for.
    pub label: String,
    /// How the machine names itself; empty where it does not.
    pub machine: String,
    /// True once it has heard of the removal, and taken it.
    pub confirmed: bool,
    /// When it last asked for news.
    pub asked: Option<String>,
}

/// Another user who saw the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherUserMachines {
    /// Who.
    pub user: String,
    /// Machines of theirs that ask.
    pub machines: u64,
    /// Those that have heard of the removal.
    pub confirmed: u64,
}

/// `GET /v1/sync/purged/{id}`: who has heard that a memory was removed for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgeReport {
    /// The memory.
    pub memory: MemoryUuid,
    /// `purged`, `here` or `unknown`.
    pub state: String,
    /// Since when, as RFC 3339, where that is known.
    pub at: Option<String>,
    /// The user's own machines.
    pub machines: Vec<KeyMachine>,
    /// Other users who saw it.
    pub others: Vec<OtherUserMachines>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_shows_in_a_debug_print() {
        let memory = MemoryUuid::from_key("m");
        let value = "hunter2!X9".to_owned();
        let sent = SentSecret { memory, name: "s1".into(), kind: "password".into(), value: value.clone() };
        let shown = ShownSecret { name: None, kind: "password".into(), value: Some(value.clone()), missing: None };
        let all = ShownSecrets {
            id: memory,
            category: "facts".into(),
            content: value.clone(),
            source: "encrypted".into(),
            secrets: vec![shown],
        };
        assert!(!format!("{sent:?} {all:?} {:?}", SentSecrets { secrets: vec![sent.clone()] }).contains(&value));
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<ShownSecrets>(&text).unwrap(), all);
        assert!(!text.contains("missing"));
    }
}
