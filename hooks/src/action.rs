//! PreToolUse: recalls the memories that bind to a tool call, or returns nothing. Never denies the call.

use std::time::Instant;

use tessera_desk::Desk;
use tessera_desk::use_cases::Acting;
use tessera_engine::action::Action;
use tessera_engine::domain::ShortId;
use tessera_engine::store::Usage;

use crate::reply::{HookError, Reply, caller, claim, dir_of, event};
use crate::surroundings::Surroundings;
use crate::wire::Payload;
use crate::{approve, notice, subagent};

const EVENT: &str = "PreToolUse";

/// Approves our own safe tools, and adds matching memories before a tool changes something or starts a subagent.
pub(crate) fn before_use(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    match approve::before_use(payload, surroundings) {
        Some(approval) => Ok(Some(approval)),
        None if subagent::starts(payload) => subagent::on_task(payload, surroundings),
        None => on_action(payload, surroundings),
    }
}

fn on_action(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    let Some(budgets) = surroundings.settings.actions.filter(|_| surroundings.settings.recall) else { return Ok(None) };
    if !surroundings.home.holds_store() {
        return Ok(None);
    }
    let (Some(tool), Some(input)) = (payload.text(&["tool_name"]), payload.tool_input()) else { return Ok(None) };
    let claim = claim(payload, surroundings);
    let directory = payload.cwd().or_else(|| dir_of(payload, surroundings)).unwrap_or_default();
    let action = Action::read(&tool, input, &claim.root.to_string_lossy(), &directory.to_string_lossy());
    let Some(action) = action.filter(|action| !action.is_idle()) else { return Ok(None) };
    let acting = Acting {
        event: event(EVENT, started, &claim),
        action,
        budget: budgets.action,
        session_budget: budgets.session,
    };
    let (mut store, caller) = (surroundings.open(Usage::ReadOnce)?, caller(payload, surroundings));
    let advice = Desk::new(&mut store, &caller).perform(acting)?;
    Ok(advice.map(|advice| {
        let ids: Vec<ShortId> = advice.lines.iter().map(|(id, _, _)| *id).collect();
        notice::given(EVENT, &advice.body, &ids, surroundings.settings.profile.of_o200k(advice.tokens), surroundings)
    }))
}
