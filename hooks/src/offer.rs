//! The hand-off of a session: after a compaction for the session itself, and as an offer for the next session in the
//! project.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::UNIX_EPOCH;

use tessera_desk::Desk;
use tessera_desk::log;
use tessera_desk::project::Claim;
use tessera_desk::use_cases::IsBelieved;
use tessera_engine::domain::{Timestamp, TokenCount};
use tessera_engine::text::{O200k, TokenCounter};

use crate::handoff::{self, Handoff, Limits, Rendered, SessionRecord, SessionState};
use crate::recall;
use crate::reply::claim;
use crate::surroundings::{MOST_CHARACTERS, Surroundings};
use crate::wire::Payload;

/// If the client did not report the end of a session, the session probably still runs for this number of minutes after its
/// last turn.
const MINUTES_OPEN: i64 = 10;
/// The maximum number of bytes at the end of a transcript that are read while the client waits.
const MOST_BYTES: u64 = 2 * 1024 * 1024;
/// The number of recent sessions that are examined. A session without work is skipped.
const MOST_SESSIONS: usize = 4;
/// The characters that a hand-off leaves for memories.
const CHARACTERS_FOR_MEMORIES: usize = 3_500;

/// Records which session took place in the project. If this fails, only the hand-off is missing.
pub(crate) fn keep(payload: &Payload, state: SessionState, surroundings: &Surroundings) {
    let (Some(session), Some(transcript)) = (payload.session(), payload.transcript()) else { return };
    let is_wanted = surroundings.settings.handoff_tokens.is_some() && surroundings.home.holds_store();
    if !is_wanted || payload.text(&["agent_id"]).is_some() {
        return;
    }
    let (claim, now) = (claim(payload, surroundings), surroundings.clock.now());
    let record = SessionRecord { session, transcript, place: claim.real_place(), at: now, state };
    if let Err(error) = handoff::keep(&surroundings.home, &claim, &record) {
        log::line_in_passing(&surroundings.home, now, &format!("no hand-off will be offered: {error}"));
    }
    if state == SessionState::Ended {
        handoff::clean(&surroundings.home, now);
    }
}

/// What the session did. The client's summary of a compacted session loses commands and decisions. The memories of the
/// session are more important, so the hand-off is left out if it takes too long.
pub(crate) fn after_compaction(payload: &Payload, claim: &Claim, surroundings: &Surroundings) -> Option<Rendered> {
    let budget = surroundings.settings.handoff_tokens?;
    let (transcript, root) = (payload.transcript()?, claim.root.clone());
    let characters = MOST_CHARACTERS.saturating_sub(CHARACTERS_FOR_MEMORIES);
    let limits = Limits { budget, profile: surroundings.settings.profile, characters };
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let rendered = Handoff::read(&transcript, &root, MOST_BYTES).ok().and_then(|handoff| handoff.rendered(limits));
        // The receiver may have stopped waiting.
        let _ = sender.send(rendered);
    });
    let Ok(rendered) = receiver.recv_timeout(surroundings.settings.deadline / 2) else {
        log::line_in_passing(
            &surroundings.home,
            surroundings.clock.now(),
            "the hand-off took too long, and was left out",
        );
        return None;
    };
    rendered
}

/// Offers the hand-off of the last session in the project. Each session is offered once.
pub(crate) fn of_last_session(
    payload: &Payload,
    claim: &Claim,
    desk: &mut Desk<'_>,
    surroundings: &Surroundings,
) -> Option<Rendered> {
    surroundings.settings.handoff_tokens?;
    let (own, now) = (payload.session(), surroundings.clock.now());
    let is_over = |record: &SessionRecord| {
        let is_quiet = |at| minutes(at, now) >= MINUTES_OPEN;
        // During a long turn, the client writes to the transcript.
        record.state == SessionState::Ended || is_quiet(record.at) && changed(&record.transcript).is_none_or(is_quiet)
    };
    let is_believed = |claim: Claim| desk.perform(IsBelieved(claim)).unwrap_or(false);
    let mark = |record: &SessionRecord| format!("handoff {} {}", record.session, record.at);
    let (last, request) = handoff::of_project(&surroundings.home, claim, now, is_believed)
        .into_iter()
        .filter(|record| Some(&record.session) != own.as_ref())
        .take(MOST_SESSIONS)
        .take_while(|record| is_over(record) && !recall::was_told(&surroundings.home, &mark(record)))
        .find_map(|record| handoff::last_request(&record.transcript).map(|request| (record, request)))?;
    if !recall::is_first(&surroundings.home, &mark(&last)) {
        return None;
    }
    // The agent may run the command, so a name with signs of a shell is left out.
    let is_plain = last.session.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let session = if is_plain { format!(" --session {}", last.session) } else { String::new() };
    let text = format!(
        "The last session in this project ended at {}. Its last request was: \"{request}\". `tessera handoff{session}` prints what \
        it did. Run this only if the user continues that work.\n",
        last.at
    );
    let tokens = surroundings.settings.profile.of_o200k(TokenCount(O200k.count(&text)));
    Some(Rendered { text, tokens })
}

/// The time of the last change of a file.
fn changed(path: &Path) -> Option<Timestamp> {
    let since = path.metadata().ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_micros(i64::try_from(since.as_micros()).ok()?))
}

/// The minutes from one time to another. A time in the future counts as long ago, because the clock was moved back.
fn minutes(from: Timestamp, to: Timestamp) -> i64 {
    if from > to { i64::MAX } else { (to.as_micros() - from.as_micros()) / 60_000_000 }
}
