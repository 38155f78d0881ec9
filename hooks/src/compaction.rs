//! PreCompact: what the session must not lose is set aside, and its last turns are learned from.

use std::time::Instant;

use tessera_desk::Desk;
use tessera_desk::verbs::SetAside;
use tessera_engine::store::Usage;

use crate::error::HookError;
use crate::event::{caller, claim, event};
use crate::reply::Reply;
use crate::stop;
use crate::surroundings::Surroundings;
use crate::wire::Payload;

/// Sets the session's memories aside for the session start that follows a compaction. Never blocks it.
pub(crate) fn before(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    if surroundings.home.holds_store() {
        let event = event("PreCompact", started, &claim(payload, surroundings));
        let (mut store, caller) = (surroundings.open(Usage::ReadOnce)?, caller(payload, surroundings));
        Desk::new(&mut store, &caller).perform(SetAside { event })?;
    }
    stop::on_stop(payload, surroundings)
}
