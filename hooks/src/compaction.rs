//! PreCompact: what the session must not lose is set aside, and its last turns are learned from.

use std::time::Instant;

use tessera_engine::Store;
use tessera_engine::score::ScoreParts;
use tessera_engine::store::{Given, GivenAs, Usage};

use crate::recall::{blank, claim, keep, seen_in};
use crate::reply::Reply;
use crate::run::HookError;
use crate::stop;
use crate::surroundings::Surroundings;
use crate::wire::Payload;

const EVENT: &str = "PreCompact";
/// Memories of the session itself that are set aside, at most.
const MOST_SAVED: u32 = 20;

/// Sets the session's memories aside for the session start that follows a compaction. Never blocks it.
pub(crate) fn before(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    if Store::is_there(&surroundings.home) {
        let store = surroundings.open(Usage::ReadOnce)?;
        let mut receipt = blank(&store, seen_in(&store, &claim(payload, surroundings))?, payload, EVENT);
        let saved = store.of_session(&receipt.session, MOST_SAVED)?;
        let aside =
            |handle| Given { handle, form: GivenAs::Saved, tokens: 0, score: 0.0, parts: ScoreParts::default() };
        receipt.given = saved.into_iter().map(aside).collect();
        keep(&store, receipt, started);
    }
    stop::on_stop(payload, surroundings)
}
