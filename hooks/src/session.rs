//! SessionStart: a summary, or the memories that a compaction removed. At the end of a session, starts the worker that
//! processes the waiting records.
//!
//! PreCompact: saves the memories of the session, and learns from its last turns.

use std::path::PathBuf;
use std::time::Instant;

use tessera_desk::chain::{installed, spool};
use tessera_desk::older::System;
use tessera_desk::project::Claim;
use tessera_desk::use_cases::{Context, HasImported, Notice, SessionNotice, SessionSummary, SetAside};
use tessera_desk::{Desk, queue};
use tessera_engine::Store;
use tessera_engine::pack::{Recall, neutral};
use tessera_engine::screen::dropped;
use tessera_engine::store::Usage;

use crate::handoff::{Rendered, SessionState};
use crate::reply::{HookError, Reply, caller, claim, event};
use crate::surroundings::Surroundings;
use crate::wire::Payload;
use crate::{notice, offer, recall, stop};

const EVENT: &str = "SessionStart";
/// Maximum characters of a project's name in a notice.
const LONGEST_NAME: usize = 80;
/// The maximum number of characters of a problem in a notice.
const LONGEST_PROBLEM: usize = 400;
/// Maximum characters of a path in a notice.
const LONGEST_PATH: usize = 200;

/// Gives a new session a summary, and a compacted session its lost memories. Also shows what was learned in earlier
/// sessions.
pub(crate) fn on_start(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    Ok(notice::with_all_results(for_start(payload, surroundings)?, payload, surroundings))
}

fn for_start(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    if !surroundings.settings.recall {
        return Ok(None);
    }
    if !surroundings.home.holds_store() {
        return Ok(of_older(surroundings, |_, _| false).map(|notice| Reply::notice(&notice)));
    }
    let settings = &surroundings.settings;
    let (context, budget) = match payload.text(&["source"]).as_deref() {
        Some("compact") => (Context::Compacted, settings.compact_tokens),
        // A resumed session still has its memories.
        Some("resume") => (Context::Kept, settings.session_summary_tokens),
        _ => (Context::New, settings.session_summary_tokens),
    };
    let claim = claim(payload, surroundings);
    let (mut store, caller) = (surroundings.open(Usage::ReadOnce)?, caller(payload, surroundings));
    let mut desk = Desk::new(&mut store, &caller);
    let handoff = match context {
        Context::Compacted => offer::after_compaction(payload, &claim, surroundings),
        // The person has just cleared the last session.
        Context::New if payload.text(&["source"]).as_deref() == Some("clear") => None,
        Context::New => offer::of_last_session(payload, &claim, &mut desk, surroundings),
        Context::Kept => {
            offer::keep(payload, SessionState::Running, surroundings);
            None
        }
    };
    let event = event(EVENT, started, &claim);
    let quotes = handoff.as_ref().map(|handoff| (handoff.text.clone(), handoff.tokens));
    let given = desk.perform(SessionSummary { event, context, budget, handoff: quotes })?;
    let notice = desk.perform(SessionNotice { claim: claim.clone() })?;
    let mut is_imported = |system, path| desk.perform(HasImported { system, path }).unwrap_or(true);
    let notice = of_settings(surroundings)
        .or_else(|| of_team(&notice, surroundings))
        .or_else(|| of_project(&notice, &claim, surroundings))
        .or_else(|| of_plugins(surroundings))
        .or_else(|| of_older(surroundings, &mut is_imported));
    let reply = summary_of(given.as_ref(), handoff, surroundings);
    if surroundings.home.memories().is_dir() || store.folders().is_ok_and(|folders| !folders.is_empty()) {
        // The summary is already recorded as delivered, so it is returned even if this fails.
        if let Err(error) = stop::scan_files(surroundings) {
            tessera_desk::log::line_in_passing(&surroundings.home, surroundings.clock.now(), &error.to_string());
        }
    }
    Ok(Reply::joined(reply, notice.as_deref()))
}

/// The reply with the memories and the hand-off.
fn summary_of(given: Option<&Recall>, handoff: Option<Rendered>, surroundings: &Surroundings) -> Option<Reply> {
    let Some(given) = given else { return handoff.map(|handoff| Reply::context(EVENT, &handoff.text)) };
    let body = match handoff {
        Some(handoff) => format!("{}\n{}", given.body, handoff.text),
        None => given.body.clone(),
    };
    Some(notice::given(EVENT, &body, &recall::ids_of(given), given.tokens_used, surroundings))
}

/// The notice about invalid settings.
pub(crate) fn settings_are_wrong(problem: &str) -> Reply {
    let problem: String = neutral(&dropped(problem)).chars().take(LONGEST_PROBLEM).collect();
    Reply::notice(&format!("Tessera: recall is off in this session, because a setting is invalid: {problem}"))
}

/// A notice about unknown settings. The same list of settings is shown only once.
fn of_settings(surroundings: &Surroundings) -> Option<String> {
    let unknown = surroundings.unknown_settings.join(", ");
    if unknown.is_empty() || !recall::is_first(&surroundings.home, &format!("settings {unknown}")) {
        return None;
    }
    let unknown: String = neutral(&dropped(&unknown)).chars().take(LONGEST_PROBLEM).collect();
    Some(format!("Tessera: unknown setting {unknown}; `tessera settings` lists all"))
}

/// A notice that a directory names a project with memories, but is not confirmed. It is shown only once.
fn of_project(notice: &Notice, claim: &Claim, surroundings: &Surroundings) -> Option<String> {
    let place = claim.real_place();
    let mark = format!("{} {}", claim.scope, place.display());
    if !notice.is_doubted || !recall::is_first(&surroundings.home, &mark) {
        return None;
    }
    let name: String = neutral(claim.scope.as_str()).chars().take(LONGEST_NAME).collect();
    let why = claim.by.as_str();
    Some(format!(
        "Tessera: this directory looks like project {name} ({why}). Its memories stay hidden here until you run: \
        tessera project trust"
    ))
}

/// A notice that this machine has data of another memory system that was never imported. It is shown once per path. If
/// the database is small, it is checked for content before the notice is shown.
fn of_older(surroundings: &Surroundings, mut is_imported: impl FnMut(System, PathBuf) -> bool) -> Option<String> {
    let is_new = |(system, path): &(System, PathBuf)| {
        let mark = format!("older {}", path.display());
        !recall::was_told(&surroundings.home, &mark)
            && !is_imported(*system, path.clone())
            && surroundings.older.holds_any(*system, path)
            && recall::is_first(&surroundings.home, &mark)
    };
    let (_, path) = surroundings.older.there().into_iter().find(is_new)?;
    let path: String = neutral(&dropped(&path.display().to_string())).chars().take(LONGEST_PATH).collect();
    Some(format!(
        "Tessera: found data of another memory tool in {path}; `tessera import --detect` shows how to import it"
    ))
}

/// Returns a notice about a problem with the team server that only the user can solve.
fn of_team(notice: &Notice, surroundings: &Surroundings) -> Option<String> {
    let of = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let parts = [
        of(notice.refused, "changes that the team server rejected (tessera sync dead)"),
        of(notice.conflicts, "memories in conflict, because two machines changed them (tessera resolve)"),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    if notice.undecided > 0 && recall::is_first(&surroundings.home, "undecided") {
        let what = "memories from before you joined the team server are only on this machine";
        parts.push(format!("{} {what} (tessera sync join --upload all sends them)", notice.undecided));
    }
    // A new share offer is announced once, whatever the answer.
    let new: Vec<_> = notice
        .invitations
        .iter()
        .filter(|offer| recall::is_first(&surroundings.home, &format!("offer {} {}", offer.owner, offer.tag)))
        .collect();
    if let Some(first) = new.first() {
        let (owner, tag) = (neutral(&first.owner), neutral(first.tag.as_str()));
        let more = if new.len() > 1 { format!(", and {} more invitations", new.len() - 1) } else { String::new() };
        parts.push(format!(
            "{owner} wants to share everything tagged {tag}{more} (tessera shares; tessera accept OWNER TAG)"
        ));
    }
    (!parts.is_empty()).then(|| format!("Tessera: {}", parts.join(", ")))
}

/// A one-time notice that a plugin is disabled.
fn of_plugins(surroundings: &Surroundings) -> Option<String> {
    let home = &surroundings.home;
    let is_new = |off: &&installed::Off| recall::is_first(home, &format!("plugin {} off {}", off.name, off.failures));
    let off = installed::off(home);
    let first = off.iter().find(is_new)?;
    Some(format!("Tessera: plugin {} {}", first.name, installed::switched_off(&first.name)))
}

/// Starts the worker if there are jobs, records in log files that are not in the database yet, or events that wait for
/// plugins. The hook itself takes no write lock.
pub(crate) fn on_end(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    offer::keep(payload, SessionState::Ended, surroundings);
    if !surroundings.home.holds_store() {
        return Ok(None);
    }
    let home = &surroundings.home;
    if queue::is_waiting(home) || Store::has_spooled(home) || spool::is_waiting(home) {
        stop::wake_worker(surroundings)?;
    }
    Ok(None)
}

/// Saves the session's memories. The session start after a compaction returns them. Never blocks the compaction.
pub(crate) fn before(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    if surroundings.home.holds_store() {
        let event = event("PreCompact", started, &claim(payload, surroundings));
        let (mut store, caller) = (surroundings.open(Usage::ReadOnce)?, caller(payload, surroundings));
        Desk::new(&mut store, &caller).perform(SetAside { event })?;
    }
    stop::on_stop(payload, surroundings)
}
