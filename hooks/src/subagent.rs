//! PreToolUse for a subagent: adds memories that match its task to the task itself.
//!
//! The event `SubagentStart` names no task, and subagents that start together have no fixed order. So only the tool call
//! that starts a subagent says which memories it needs.

use std::time::Instant;

use serde_json::{Value, json};
use tessera_desk::chain;
use tessera_desk::use_cases::{Prompted, Question, Recipient};

use crate::prompt::Reading;
use crate::recall::found;
use crate::reply::{HookError, Reply, claim, event};
use crate::surroundings::Surroundings;
use crate::wire::Payload;
use crate::{notice, recall};

const EVENT: &str = "PreToolUse";
/// The tools that start a subagent. Older clients use the first name.
const TOOLS: [&str; 2] = ["Task", "Agent"];
/// The argument with the task.
const TASK: &str = "prompt";

/// True if the tool call starts a subagent.
pub(crate) fn starts(payload: &Payload) -> bool {
    payload.text(&["tool_name"]).is_some_and(|tool| TOOLS.contains(&tool.as_str()))
}

/// Adds matching memories to the task of a subagent. Does not decide whether the call is allowed.
pub(crate) fn on_task(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    let Some(budget) = surroundings.settings.subagent_tokens.filter(|_| surroundings.settings.recall) else {
        return Ok(None);
    };
    let (Some(Value::Object(input)), Some(task)) = (payload.tool_input(), payload.tool_argument(TASK)) else {
        return Ok(None);
    };
    let Reading::Ask { query, expanded } = Reading::of(task) else { return Ok(None) };
    if !surroundings.home.holds_store() {
        return Ok(None);
    }
    chain::make_ready(&surroundings.home);
    let prompted = Prompted {
        event: event(EVENT, started, &claim(payload, surroundings)),
        question: Question::Of { query, expanded },
        budget,
        recipient: Recipient::Subagent,
    };
    let Some(given) = found(prompted, payload, surroundings)? else { return Ok(None) };
    let mut input = input.clone();
    input.insert(TASK.into(), json!(format!("{task}\n\n{}", given.body)));
    let reply = Reply::with_input(Value::Object(input));
    Ok(Some(notice::with_given(reply, &recall::ids_of(&given), given.tokens_used, surroundings)))
}
