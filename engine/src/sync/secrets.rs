//! Secrets in sync: they have their own routes and are never part of a change. Their values never appear in debug
//! output.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::MemoryUuid;

/// The header with a machine's name. This header tells the server which machines received a deletion.
pub const MACHINE_HEADER: &str = "tessera-machine";
/// Maximum secrets per request.
pub const MOST_SECRETS: usize = 100;
/// Maximum bytes of a secret's value.
pub const MOST_SECRET_BYTES: usize = 65_536;

/// A secret of a memory, with its value.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSecret {
    /// The memory.
    pub memory: MemoryUuid,
    /// The name of the secret, which the text contains in place of the value.
    pub name: String,
    /// Its kind, in words.
    pub kind: String,
    /// The value.
    pub value: String,
}

impl fmt::Debug for SentSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SentSecret").field("memory", &self.memory).field("name", &self.name).finish_non_exhaustive()
    }
}

/// The body of `PUT /v1/sync/secrets`: at most [`MOST_SECRETS`] secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentSecrets {
    /// The secrets.
    pub secrets: Vec<SentSecret>,
}

/// The result for a sent secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// It is stored.
    Kept,
    /// The user has no such memory, or it was permanently deleted.
    Unknown,
    /// The server already has another value with this name for this memory, and keeps it.
    Differs,
    /// The name or kind is invalid, or the value is missing or too long.
    Invalid,
}

/// The answer for one of the secrets in [`SentSecrets`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecret {
    /// The memory.
    pub memory: MemoryUuid,
    /// The name.
    pub name: String,
    /// The result.
    pub became: Became,
}

/// The answers to [`SentSecrets`], in the same order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptSecrets {
    /// One for each.
    pub kept: Vec<KeptSecret>,
}

/// The reason why a value is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// The server never received the value. The machine that stored the secret has it.
    NotHere,
    /// It was discarded.
    Dropped,
    /// The server does not have the key that encrypted the value.
    Key,
}

/// A secret in a text, with its value.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownSecret {
    /// The name of the secret; `None` if the secret was discarded.
    pub name: Option<String>,
    /// Its kind, in words.
    pub kind: String,
    /// The value.
    pub value: Option<String>,
    /// Why it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
}

impl fmt::Debug for ShownSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownSecret").field("name", &self.name).field("missing", &self.missing).finish_non_exhaustive()
    }
}

/// `POST /api/memories/{id}/secret`: a memory with the values of its secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownSecrets {
    /// The memory.
    pub id: MemoryUuid,
    /// Its category.
    pub category: String,
    /// The text with its secret values. A name without a value stays in the text.
    pub content: String,
    /// Where values are stored: `encrypted` or `vault`; `plaintext` if there are none.
    pub source: String,
    /// Each secret once.
    pub secrets: Vec<ShownSecret>,
}

impl fmt::Debug for ShownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownSecrets").field("id", &self.id).field("secrets", &self.secrets).finish_non_exhaustive()
    }
}

/// An API key of the user, and a machine that uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct KeyMachine {
    /// The ID of the key.
    pub key: String,
    /// The purpose of the key.
    pub label: String,
    /// The machine's name; empty if it sends none.
    pub machine: String,
    /// True if the machine has applied the deletion.
    pub confirmed: bool,
    /// When the machine last asked for changes.
    pub asked: Option<String>,
}

/// Another user who saw the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct OtherUserMachines {
    /// The user.
    pub user: String,
    /// Their machines.
    pub machines: u64,
    /// Machines that have applied the deletion.
    pub confirmed: u64,
}

/// `GET /v1/sync/purged/{id}`: which machines have applied a permanent deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct PurgeReport {
    /// The memory.
    pub memory: MemoryUuid,
    /// `purged`, `here` or `unknown`.
    pub state: String,
    /// The time at which the memory got this state, in RFC 3339, if known.
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
