//! Recall for an action: the memories that bind to a tool call that is about to run.

use tessera_engine::Store;
use tessera_engine::action::{Action, Bound, Candidate, bound};
use tessera_engine::domain::{ShortId, TokenBudget};
use tessera_engine::pack::{Advice, advice};
use tessera_engine::score::ScoreParts;
use tessera_engine::store::{Given, GivenAs, StoreError};
use tessera_engine::text::O200k;

use super::automatic::Event;
use crate::caller::Caller;
use crate::desk::{Effect, UseCase};

/// Maximum memories for one action.
const MOST_FOR_ACTION: usize = 2;

/// Recalls the memories that bind to an action, or returns nothing.
#[derive(Debug, Clone)]
pub struct Acting {
    /// The event.
    pub event: Event,
    /// The action.
    pub action: Action,
    /// The budget of one reply.
    pub budget: TokenBudget,
    /// The budget of all replies of a session.
    pub session_budget: TokenBudget,
}

impl UseCase for Acting {
    type Outcome = Option<Advice>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<Option<Advice>, StoreError> {
        let mut delivery = self.event.delivery(store, caller)?;
        if delivery.session.is_empty() {
            // Without a session, nothing would limit the repetitions.
            return Ok(None);
        }
        let candidates = store.anchored(&self.action.keys(), &delivery.scope)?;
        let found = bound(&self.action, &candidates);
        if found.is_empty() {
            return Ok(None);
        }
        // A rule that the session knows from its beginning is repeated at the action that breaks it, once.
        let (given, used) = store.given_by_event(&delivery.session, self.event.name)?;
        let new: Vec<(&Bound, &Candidate)> = found
            .iter()
            .filter_map(|bound| Some((bound, candidates.get(bound.at)?)))
            .filter(|(_, candidate)| !given.contains(&candidate.short_id))
            .collect();
        let texts: Vec<(ShortId, &str)> =
            new.iter().map(|(_, candidate)| (candidate.short_id, candidate.text.as_str())).collect();
        let left = self.session_budget.get().saturating_sub(used).min(self.budget.get());
        let Ok(budget) = TokenBudget::try_from(left) else { return Ok(None) };
        let Some(advice) = advice(&texts, MOST_FOR_ACTION, caller.profile.to_o200k(budget), &O200k) else {
            return Ok(None);
        };
        delivery.searched = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
        delivery.tokens = caller.profile.of_o200k(advice.tokens);
        delivery.characters = u32::try_from(advice.body.encode_utf16().count()).unwrap_or(u32::MAX);
        delivery.given = advice.lines.iter().filter_map(|line| given_as(*line, &new)).collect();
        self.event.keep(store, delivery);
        Ok(Some(advice))
    }
}

/// The record of a delivered memory. Its score is the probability that it binds to the action.
fn given_as((short_id, tokens, is_complete): (ShortId, u32, bool), new: &[(&Bound, &Candidate)]) -> Option<Given> {
    let (bound, _) = new.iter().find(|(_, candidate)| candidate.short_id == short_id)?;
    let form = if is_complete { GivenAs::Detail } else { GivenAs::Excerpt };
    let (score, because) = (bound.probability, bound.because.clone());
    Some(Given { short_id, form, tokens, score, parts: ScoreParts::default(), because })
}
