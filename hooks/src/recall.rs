//! UserPromptSubmit: what the memory knows of a prompt, and nothing when it knows nothing.

use std::path::PathBuf;
use std::time::Instant;

use tessera_desk::project::{Claim, claim_of};
use tessera_engine::Store;
use tessera_engine::domain::{Filters, Packing, Purpose, RecallRequest, Scope, TokenBudget};
use tessera_engine::pack::Recall;
use tessera_engine::store::{Receipt, StoreError, Usage, given_by};

use crate::prompt::Reading;
use crate::reply::Reply;
use crate::run::HookError;
use crate::surroundings::{MOST_CHARACTERS, Surroundings};
use crate::wire::Payload;

const EVENT: &str = "UserPromptSubmit";
/// Memories given to one prompt, at most.
const MOST_GIVEN: u32 = 8;

/// Answers a prompt before the model sees it.
pub(crate) fn on_prompt(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    if !surroundings.settings.recall || !Store::is_there(&surroundings.home) {
        return Ok(None);
    }
    let prompt = payload.text(&["prompt", "user_prompt", "content"]).unwrap_or_default();
    let mut store = surroundings.open(Usage::ReadOnce)?;
    let mut receipt = blank(&store, seen_in(&store, &claim(payload, surroundings))?, payload, EVENT);
    let (query, expanded_query) = match Reading::of(&prompt) {
        Reading::Skip(reason) => {
            receipt.skipped = Some(reason.to_owned());
            keep(&store, receipt, started);
            return Ok(None);
        }
        Reading::Ask { query, expanded } => (query, expanded),
    };
    let exclude = store.given_in(&receipt.session)?;
    let request = RecallRequest {
        query,
        expanded_query,
        exclude,
        filters: Filters { scopes: visible(&receipt.scope), own_only: true, ..Filters::default() },
        ..unasked(surroundings, surroundings.settings.recall_tokens, &receipt.scope)
    };
    let ranking = store.rank(&request)?;
    (receipt.searched, receipt.below_floor) = (ranking.searched, ranking.below_floor);
    receipt.best_below_floor = ranking.best_below_floor;
    if ranking.total() == 0 {
        keep(&store, receipt, started);
        return Ok(None);
    }
    let recall = bounded(&request, |request| store.answer(request, &ranking))?;
    recall.iter().for_each(|recall| store.note_delivery(recall));
    Ok(give(&store, recall, receipt, started))
}

/// A receipt of an event that gave nothing yet.
pub(crate) fn blank(store: &Store, scope: Scope, payload: &Payload, event: &str) -> Receipt {
    Receipt {
        session: payload.session().unwrap_or_default(),
        at: store.now(),
        event: event.to_owned(),
        scope,
        tokens: 0,
        characters: 0,
        searched: 0,
        below_floor: 0,
        best_below_floor: 0.0,
        took_micros: 0,
        skipped: None,
        resets: false,
        given: Vec::new(),
    }
}

/// The directory that a session is in.
pub(crate) fn dir_of(payload: &Payload, surroundings: &Surroundings) -> Option<PathBuf> {
    surroundings.project_dir.clone().or_else(|| payload.cwd())
}

/// What the session's directory says that it is.
pub(crate) fn claim(payload: &Payload, surroundings: &Surroundings) -> Claim {
    let dir = dir_of(payload, surroundings).unwrap_or_else(|| PathBuf::from("/"));
    claim_of(&dir, surroundings.user_home.as_deref())
}

/// The project whose memories may be shown unasked: the one that is claimed, if that is believed.
pub(crate) fn seen_in(store: &Store, claim: &Claim) -> Result<Scope, StoreError> {
    Ok(if claim.is_believed(store)? { claim.scope.clone() } else { Scope::Global })
}

/// What may be shown in a project unasked: its own, and what holds everywhere.
pub(crate) fn visible(scope: &Scope) -> Vec<Scope> {
    match scope {
        Scope::Global => vec![Scope::Global],
        project @ Scope::Project(_) => vec![project.clone(), Scope::Global],
    }
}

/// A request that nobody made.
pub(crate) fn unasked(surroundings: &Surroundings, budget: TokenBudget, scope: &Scope) -> RecallRequest {
    RecallRequest {
        budget,
        profile: surroundings.settings.profile,
        limit: MOST_GIVEN,
        scope: Some(scope.clone()),
        packing: Packing::Dual,
        purpose: Purpose::Unasked,
        ..RecallRequest::new("")
    }
}

/// A reply that the client will show whole: with less budget, as long as it has too many characters.
pub(crate) fn bounded(
    request: &RecallRequest,
    mut recall: impl FnMut(&RecallRequest) -> Result<Recall, StoreError>,
) -> Result<Option<Recall>, StoreError> {
    let mut request = request.clone();
    loop {
        let found = match recall(&request) {
            // No room for any reply: then nothing is said.
            Err(StoreError::Domain(_)) => return Ok(None),
            other => other?,
        };
        if found.details.is_empty() && found.index.is_empty() {
            return Ok(None);
        }
        if characters(&found.body) <= MOST_CHARACTERS {
            return Ok(Some(found));
        }
        match TokenBudget::try_from(request.budget.get() / 2) {
            Ok(budget) => request.budget = budget,
            Err(_) => return Ok(None),
        }
    }
}

/// Characters as the client counts them: UTF-16 units.
fn characters(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Keeps the receipt of a recall and makes the reply of it.
pub(crate) fn give(store: &Store, recall: Option<Recall>, mut receipt: Receipt, started: Instant) -> Option<Reply> {
    let Some(recall) = recall else {
        keep(store, receipt, started);
        return None;
    };
    receipt.tokens = recall.tokens_used;
    receipt.characters = u32::try_from(characters(&recall.body)).unwrap_or(u32::MAX);
    receipt.given = given_by(&recall);
    let reply = Reply::context(&receipt.event, &recall.body);
    keep(store, receipt, started);
    Some(reply)
}

/// Keeps a receipt.
pub(crate) fn keep(store: &Store, mut receipt: Receipt, started: Instant) {
    receipt.took_micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    store.note_receipt(&receipt);
}
