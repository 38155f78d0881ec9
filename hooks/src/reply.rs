//! The reply that a client reads on stdout.
//!
//! This module also determines the directory, the caller and the event of a session, and defines the errors of a hook,
//! which clients never see.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};
use tessera_desk::Caller;
use tessera_desk::project::{Claim, claim_of};
use tessera_desk::use_cases::Event;
use tessera_engine::domain::Origin;
use tessera_engine::store::StoreError;

use crate::surroundings::{MOST_CHARACTERS, Surroundings};
use crate::wire::{Payload, PayloadError};

/// The one JSON object that a hook prints.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply(Value);

impl Reply {
    /// Text for the model.
    pub(crate) fn context(event: &str, text: &str) -> Self {
        Self(json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } }))
    }

    /// Other arguments for the tool that is about to run. The client still decides whether it may run.
    pub(crate) fn with_input(input: Value) -> Self {
        Self(json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "updatedInput": input } }))
    }

    /// Text for the person only, which costs no tokens.
    pub(crate) fn notice(text: &str) -> Self {
        Self(json!({ "systemMessage": text }))
    }

    /// Adds a line of text for the person.
    #[must_use]
    pub(crate) fn with_notice(mut self, text: &str) -> Self {
        if let Some(fields) = self.0.as_object_mut() {
            let before = fields.get("systemMessage").and_then(Value::as_str).map(|before| format!("{before}\n"));
            fields.insert("systemMessage".into(), json!(format!("{}{text}", before.unwrap_or_default())));
        }
        self
    }

    /// A reply with text for the person, if there is such text. Without a reply, the text alone is the reply.
    pub(crate) fn joined(reply: Option<Self>, notice: Option<&str>) -> Option<Self> {
        match (reply, notice) {
            (Some(reply), Some(notice)) => Some(reply.with_notice(notice)),
            (None, Some(notice)) => Some(Self::notice(notice)),
            (reply, None) => reply,
        }
    }

    /// Approves one of our tools at PreToolUse.
    pub(crate) fn allow_tool() -> Self {
        Self(json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "this is a safe tool of Tessera, the user's own memory",
        } }))
    }

    /// Approves one of our tools at PermissionRequest.
    pub(crate) fn allow_request() -> Self {
        Self(
            json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": { "behavior": "allow" } } }),
        )
    }
}

impl std::fmt::Display for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The directory of a session.
pub(crate) fn dir_of(payload: &Payload, surroundings: &Surroundings) -> Option<PathBuf> {
    surroundings.project_dir.clone().or_else(|| payload.cwd())
}

/// The project that the session's directory claims to be.
pub(crate) fn claim(payload: &Payload, surroundings: &Surroundings) -> Claim {
    let dir = dir_of(payload, surroundings).unwrap_or_else(|| PathBuf::from("/"));
    claim_of(&dir, surroundings.user_home.as_deref())
}

/// The event for the use cases.
pub(crate) fn event(name: &'static str, started: Instant, claim: &Claim) -> Event {
    Event { name, claim: claim.clone(), started, most_characters: MOST_CHARACTERS }
}

/// The session as a caller.
pub(crate) fn caller(payload: &Payload, surroundings: &Surroundings) -> Caller {
    let (profile, plugins) = (surroundings.settings.profile, surroundings.settings.plugins);
    Caller { session: payload.session(), profile, plugins, ..Caller::new(Origin::Agent) }
}

/// An internal error, which is logged and never shown to the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// stdin cannot be read.
    #[error("stdin cannot be read: {0}")]
    Stdin(#[from] std::io::Error),
    /// The text on stdin is not valid input for a hook.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A job for the worker cannot be written.
    #[error("the job queue {path} cannot be written: {source}")]
    Queue {
        /// Its directory.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// The worker cannot be started.
    #[error("the worker cannot be started: {0}")]
    Worker(std::io::Error),
}
