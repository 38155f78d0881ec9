//! An event of a session: where it is, who it is, and its way to the desk.

use std::path::PathBuf;
use std::time::Instant;

use tessera_desk::Caller;
use tessera_desk::project::{Claim, claim_of};
use tessera_desk::verbs::Event;
use tessera_engine::domain::Origin;

use crate::surroundings::{MOST_CHARACTERS, Surroundings};
use crate::wire::Payload;

/// The directory that a session is in.
pub(crate) fn dir_of(payload: &Payload, surroundings: &Surroundings) -> Option<PathBuf> {
    surroundings.project_dir.clone().or_else(|| payload.cwd())
}

/// What the session's directory says that it is.
pub(crate) fn claim(payload: &Payload, surroundings: &Surroundings) -> Claim {
    let dir = dir_of(payload, surroundings).unwrap_or_else(|| PathBuf::from("/"));
    claim_of(&dir, surroundings.user_home.as_deref())
}

/// The event as the desk takes it.
pub(crate) fn event(name: &'static str, started: Instant, claim: &Claim) -> Event {
    Event { name, claim: claim.clone(), started, most_characters: MOST_CHARACTERS }
}

/// The session as a caller.
pub(crate) fn caller(payload: &Payload, surroundings: &Surroundings) -> Caller {
    let (profile, plugins) = (surroundings.settings.profile, surroundings.settings.plugins);
    Caller { session: payload.session(), profile, plugins, ..Caller::new(Origin::Agent) }
}
