//! What a client reads on stdout.

use serde_json::{Value, json};

/// The one JSON object of a hook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reply(Value);

impl Reply {
    /// Text for the model.
    pub(crate) fn context(event: &str, text: &str) -> Self {
        Self(json!({ "hookSpecificOutput": { "hookEventName": event, "additionalContext": text } }))
    }

    /// Words for the person alone: they cost the model nothing.
    pub(crate) fn notice(text: &str) -> Self {
        Self(json!({ "systemMessage": text }))
    }

    /// The same beside what is said already.
    #[must_use]
    pub(crate) fn with_notice(mut self, text: &str) -> Self {
        if let Some(fields) = self.0.as_object_mut() {
            fields.insert("systemMessage".into(), json!(text));
        }
        self
    }

    /// Leave to run one of our tools, before the client would ask.
    pub(crate) fn allow_tool() -> Self {
        Self(json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "a safe tool of the user's own memory",
        } }))
    }

    /// Leave to run one of our tools, when the client asks.
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
