//! The hand-off of a session: after a compaction for the session itself, and as an offer for the next session in the
//! project.

use tessera_desk::project::Claim;
use tessera_engine::domain::{Timestamp, TokenCount};
use tessera_engine::text::{O200k, TokenCounter};

use crate::handoff::{self, Handoff, SessionRecord};
use crate::recall;
use crate::reply::claim;
use crate::surroundings::Surroundings;
use crate::wire::Payload;

/// If the client did not report the end of a session, the session probably still runs for this number of minutes after its
/// last turn.
const MINUTES_OPEN: i64 = 10;

/// Records which session took place in the project. Without this record, there is only no hand-off.
pub(crate) fn keep(payload: &Payload, has_ended: bool, surroundings: &Surroundings) {
    let (Some(session), Some(transcript)) = (payload.session(), payload.transcript()) else { return };
    let is_wanted = surroundings.settings.handoff_tokens.is_some() && surroundings.home.holds_store();
    if !is_wanted || payload.text(&["agent_id"]).is_some() {
        return;
    }
    let now = surroundings.clock.now();
    let record = SessionRecord { session, transcript, at: now, has_ended };
    if let Err(error) = handoff::keep(&surroundings.home, &claim(payload, surroundings), &record) {
        tessera_desk::log::line_in_passing(&surroundings.home, now, &format!("no hand-off will be offered: {error}"));
    }
}

/// What the session did, with its tokens. The client's summary of a compacted session loses commands and decisions.
pub(crate) fn after_compaction(payload: &Payload, claim: &Claim, surroundings: &Surroundings) -> Option<(String, u32)> {
    let budget = surroundings.settings.handoff_tokens?;
    let handoff = Handoff::read(&payload.transcript()?, &claim.root).ok()?;
    let rendered = handoff.rendered(budget, surroundings.settings.profile)?;
    Some((rendered.text, rendered.tokens))
}

/// Offers the hand-off of the last session in the project, with the tokens of the offer. Each session is offered once.
pub(crate) fn of_last_session(payload: &Payload, claim: &Claim, surroundings: &Surroundings) -> Option<(String, u32)> {
    surroundings.settings.handoff_tokens?;
    let (own, now) = (payload.session(), surroundings.clock.now());
    let is_over = |record: &SessionRecord| record.has_ended || minutes(record.at, now) >= MINUTES_OPEN;
    let last = handoff::of_project(&surroundings.home, claim, now)
        .into_iter()
        .find(|record| Some(&record.session) != own.as_ref() && is_over(record))?;
    let mark = format!("handoff {}", last.session);
    if recall::was_told(&surroundings.home, &mark) {
        return None;
    }
    let request = handoff::last_request(&last.transcript)?;
    if !recall::is_first(&surroundings.home, &mark) {
        return None;
    }
    let text = format!(
        "The last session in this project ended at {}. Its last request was: \"{request}\". `tessera handoff --session {}` \
        prints what it did. Run this only if the user continues that work.\n",
        last.at, last.session
    );
    let tokens = surroundings.settings.profile.of_o200k(TokenCount(O200k.count(&text)));
    Some((text, tokens))
}

/// The minutes from one time to another. A time in the future counts as long ago, because the clock was moved back.
fn minutes(from: Timestamp, to: Timestamp) -> i64 {
    if from > to { i64::MAX } else { (to.as_micros() - from.as_micros()) / 60_000_000 }
}
