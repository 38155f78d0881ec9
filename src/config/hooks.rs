//! Settings of the hooks and the learning worker.

use std::time::Duration;

use tessera_engine::domain::TokenBudget;
use tessera_hooks::{ActionBudgets, Settings};

use super::{
    ACTION_TOKENS, ACTIONS, AUTO_APPROVE, COMPACT_TOKENS, ConfigFile, DAILY_TOKENS, DEADLINE, EXTRACTOR, HANDOFF,
    HANDOFF_TOKENS, NO_APPROVAL, PROFILE, RECALL, RECALL_TOKENS, REVIEW, SEMANTIC, SESSION_ACTION_TOKENS,
    SESSION_TOKENS, SHOW, SUBAGENT_TOKENS, SUBAGENTS, Setting, SetupError, any, budget, number, plugins, switch,
};

/// The settings from the file and the environment.
pub(super) fn hook_settings(file: &ConfigFile) -> Result<Settings, SetupError> {
    let unset = Settings::default();
    Ok(Settings {
        recall: RECALL.parsed(file, unset.recall, switch)?,
        recall_tokens: RECALL_TOKENS.parsed(file, unset.recall_tokens, budget)?,
        session_summary_tokens: SESSION_TOKENS.parsed(file, unset.session_summary_tokens, budget)?,
        compact_tokens: COMPACT_TOKENS.parsed(file, unset.compact_tokens, budget)?,
        actions: ACTIONS.parsed(file, true, switch)?.then_some(action_budgets(file)?),
        subagent_tokens: switched(file, &SUBAGENTS, &SUBAGENT_TOKENS, unset.subagent_tokens)?,
        handoff_tokens: switched(file, &HANDOFF, &HANDOFF_TOKENS, unset.handoff_tokens)?,
        profile: PROFILE.parsed(file, unset.profile, any)?,
        auto_approve: AUTO_APPROVE.parsed(file, unset.auto_approve, switch)? && !NO_APPROVAL.is_on(),
        extractor: EXTRACTOR.parsed(file, unset.extractor, any)?,
        review: REVIEW.parsed(file, unset.review, any)?,
        show: SHOW.parsed(file, unset.show, any)?,
        daily_tokens: DAILY_TOKENS.parsed(file, unset.daily_tokens, number)?,
        embedding: SEMANTIC.parsed(file, unset.embedding, switch)?,
        plugins: plugins::of_hooks(file)?,
        deadline: Duration::from_millis(DEADLINE.parsed(file, 1000, number)?.clamp(10, 60_000)),
    })
}

/// A budget that a second setting switches off.
fn switched(
    file: &ConfigFile,
    is_on: &Setting,
    tokens: &Setting,
    usual: Option<TokenBudget>,
) -> Result<Option<TokenBudget>, SetupError> {
    let tokens = tokens.parsed(file, usual.unwrap_or(TokenBudget::DEFAULT), budget)?;
    Ok(is_on.parsed(file, usual.is_some(), switch)?.then_some(tokens))
}

fn action_budgets(file: &ConfigFile) -> Result<ActionBudgets, SetupError> {
    let unset = ActionBudgets::default();
    Ok(ActionBudgets {
        action: ACTION_TOKENS.parsed(file, unset.action, budget)?,
        session: SESSION_ACTION_TOKENS.parsed(file, unset.session, budget)?,
    })
}
