//! PostToolUseFailure: recalls what is known about the error of a failed command, or returns nothing.

use std::time::Instant;

use tessera_desk::chain;
use tessera_desk::use_cases::{Prompted, Question, Recipient};
use tessera_engine::domain::TokenBudget;

use crate::prompt::error_query;
use crate::recall::recalled;
use crate::reply::{HookError, Reply, claim, event};
use crate::surroundings::Surroundings;
use crate::wire::Payload;

const EVENT: &str = "PostToolUseFailure";
/// Maximum tokens for one failure.
const MOST_TOKENS: u32 = 160;

/// Adds matching memories after a command failed.
pub(crate) fn on_failure(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    let is_off = !surroundings.settings.recall || surroundings.settings.actions.is_none();
    if is_off || payload.flag(&["is_interrupt"]) == Some(true) || !surroundings.home.holds_store() {
        return Ok(None);
    }
    let error = payload.text(&["error"]).unwrap_or_default();
    let (Some(query), Ok(budget)) = (error_query(&error), TokenBudget::try_from(MOST_TOKENS)) else { return Ok(None) };
    chain::make_ready(&surroundings.home);
    let event = event(EVENT, started, &claim(payload, surroundings));
    let question = Question::Of { query, expanded: None };
    recalled(Prompted { event, question, budget, recipient: Recipient::Session }, payload, surroundings)
}
