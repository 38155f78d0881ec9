//! UserPromptSubmit: what the memory knows of a prompt, and nothing when it knows nothing.

use std::time::Instant;

use tessera_desk::verbs::{Prompted, Question};
use tessera_desk::{Desk, chain};
use tessera_engine::store::Usage;

use crate::error::HookError;
use crate::event::{caller, claim, event};
use crate::prompt::Reading;
use crate::reply::Reply;
use crate::surroundings::Surroundings;
use crate::wire::Payload;

const EVENT: &str = "UserPromptSubmit";

/// Answers a prompt before the model sees it.
pub(crate) fn on_prompt(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    if !surroundings.settings.recall || !surroundings.home.holds_store() {
        return Ok(None);
    }
    chain::make_ready(&surroundings.home);
    let prompt = payload.text(&["prompt", "user_prompt", "content"]).unwrap_or_default();
    let question = match Reading::of(&prompt) {
        Reading::Skip(reason) => Question::None(reason.to_owned()),
        Reading::Ask { query, expanded } => Question::Of { query, expanded },
    };
    let event = event(EVENT, started, &claim(payload, surroundings));
    let prompted = Prompted { event, question, budget: surroundings.settings.recall_tokens };
    let (mut store, caller) = (surroundings.open(Usage::ReadOnce)?, caller(payload, surroundings));
    let given = Desk::new(&mut store, &caller).perform(prompted)?;
    Ok(given.map(|given| Reply::context(EVENT, &given.body)))
}
