//! SessionStart: a brief, or what a compaction took away. SessionEnd: the worker folds the spools.
//!
//! PreCompact: what the session must not lose is set aside, and its last turns are learned from.

use std::path::PathBuf;
use std::time::Instant;

use tessera_desk::chain::{installed, spool};
use tessera_desk::older::System;
use tessera_desk::project::Claim;
use tessera_desk::use_cases::{Context, HasImported, Notice, SessionNotice, SessionSummary, SetAside};
use tessera_desk::{Desk, queue};
use tessera_engine::Store;
use tessera_engine::pack::neutral;
use tessera_engine::screen::dropped;
use tessera_engine::store::Usage;

use crate::reply::{HookError, Reply, caller, claim, event};
use crate::surroundings::Surroundings;
use crate::wire::Payload;
use crate::{recall, stop};

const EVENT: &str = "SessionStart";
/// Characters of a project's name in a notice.
const LONGEST_NAME: usize = 80;
/// Characters of a problem in one.
const LONGEST_PROBLEM: usize = 400;
/// Characters of a path in one.
const LONGEST_PATH: usize = 200;

/// Tells a new session what holds here; a compacted one what it lost.
pub(crate) fn on_start(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
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
        // A resumed session still has what it was given.
        Some("resume") => (Context::Kept, settings.session_summary_tokens),
        _ => (Context::New, settings.session_summary_tokens),
    };
    let claim = claim(payload, surroundings);
    let (mut store, caller) = (surroundings.open(Usage::ReadOnce)?, caller(payload, surroundings));
    let mut desk = Desk::new(&mut store, &caller);
    let given = desk.perform(SessionSummary { event: event(EVENT, started, &claim), context, budget })?;
    let notice = desk.perform(SessionNotice { claim: claim.clone() })?;
    let mut came_over = |system, path| desk.perform(HasImported { system, path }).unwrap_or(true);
    let notice = of_settings(surroundings)
        .or_else(|| of_team(&notice, surroundings))
        .or_else(|| of_project(&notice, &claim, surroundings))
        .or_else(|| of_plugins(surroundings))
        .or_else(|| of_older(surroundings, &mut came_over));
    let reply = given.map(|given| Reply::context(EVENT, &given.body));
    if surroundings.home.memories().is_dir() || store.folders().is_ok_and(|folders| !folders.is_empty()) {
        // The receipt says that the brief was given, so it is given even if this fails.
        if let Err(error) = stop::scan_files(surroundings) {
            tessera_desk::log::line_in_passing(&surroundings.home, surroundings.clock.now(), &error.to_string());
        }
    }
    Ok(match (reply, notice) {
        (Some(reply), Some(notice)) => Some(reply.with_notice(&notice)),
        (None, Some(notice)) => Some(Reply::notice(&notice)),
        (reply, None) => reply,
    })
}

/// The notice about settings that cannot be used.
pub(crate) fn settings_are_wrong(problem: &str) -> Reply {
    let problem: String = neutral(&dropped(problem)).chars().take(LONGEST_PROBLEM).collect();
    Reply::notice(&format!(
        "Tessera: no memories are given in this session, because a setting cannot be used: {problem}"
    ))
}

/// Settings that do not exist: said once for each list of them.
fn of_settings(surroundings: &Surroundings) -> Option<String> {
    let unknown = surroundings.unknown_settings.join(", ");
    if unknown.is_empty() || !recall::is_first(&surroundings.home, &format!("settings {unknown}")) {
        return None;
    }
    let unknown: String = neutral(&dropped(&unknown)).chars().take(LONGEST_PROBLEM).collect();
    Some(format!("Tessera: no such setting: {unknown}; `tessera settings` lists all"))
}

/// What the person should know of a directory that says it is a project with memories, and is not believed: once.
fn of_project(notice: &Notice, claim: &Claim, surroundings: &Surroundings) -> Option<String> {
    let place = claim.real_place();
    let mark = format!("{} {}", claim.scope, place.display());
    if !notice.is_doubted || !recall::is_first(&surroundings.home, &mark) {
        return None;
    }
    let name: String = neutral(claim.scope.as_str()).chars().take(LONGEST_NAME).collect();
    let why = claim.by.as_str();
    Some(format!(
        "Tessera: by {why} this directory is {name}, whose memories are kept back here until you confirm it: \
         tessera project trust"
    ))
}

/// That an older memory lies on this machine and never came over: once for each, whatever becomes of it. Of a small one it
/// is looked whether anything is in it, until it was said.
fn of_older(surroundings: &Surroundings, mut came_over: impl FnMut(System, PathBuf) -> bool) -> Option<String> {
    let is_new = |(system, path): &(System, PathBuf)| {
        let mark = format!("older {}", path.display());
        !recall::was_told(&surroundings.home, &mark)
            && !came_over(*system, path.clone())
            && surroundings.older.holds_any(*system, path)
            && recall::is_first(&surroundings.home, &mark)
    };
    let (_, path) = surroundings.older.there().into_iter().find(is_new)?;
    let path: String = neutral(&dropped(&path.display().to_string())).chars().take(LONGEST_PATH).collect();
    Some(format!("Tessera: an older memory lies in {path}, and nothing of it was taken over: tessera import --detect"))
}

/// What the person should know of the team server: only what it will not mend by itself.
fn of_team(notice: &Notice, surroundings: &Surroundings) -> Option<String> {
    let of = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let parts = [
        of(notice.refused, "changes that the team server refuses (tessera sync dead)"),
        of(notice.conflicts, "memories changed on two machines at once (tessera resolve)"),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    if notice.undecided > 0 && recall::is_first(&surroundings.home, "undecided") {
        let what = "memories from before the team server was set stay on this machine";
        parts.push(format!("{} {what} (tessera sync join --upload all sends them)", notice.undecided));
    }
    // What somebody wants to share is said once, however it is answered.
    let new: Vec<_> = notice
        .offers
        .iter()
        .filter(|offer| recall::is_first(&surroundings.home, &format!("offer {} {}", offer.owner, offer.tag)))
        .collect();
    if let Some(first) = new.first() {
        let (owner, tag) = (neutral(&first.owner), neutral(first.tag.as_str()));
        let more = if new.len() > 1 { format!(", and {} more are offered", new.len() - 1) } else { String::new() };
        parts.push(format!("{owner} offers all that is tagged {tag}{more} (tessera shares; tessera accept OWNER TAG)"));
    }
    (!parts.is_empty()).then(|| format!("Tessera: {}", parts.join(", ")))
}

/// What the person should know of plugins: that one is switched off, once.
fn of_plugins(surroundings: &Surroundings) -> Option<String> {
    let home = &surroundings.home;
    let is_new = |off: &&installed::Off| recall::is_first(home, &format!("plugin {} off {}", off.name, off.failures));
    let off = installed::off(home);
    let first = off.iter().find(is_new)?;
    Some(format!("Tessera: plugin {} {}", first.name, installed::switched_off(&first.name)))
}

/// Wakes the worker if work is waiting, or the session left something in spools: an event of the client takes no
/// write lock itself.
pub(crate) fn on_end(_: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    if !surroundings.home.holds_store() {
        return Ok(None);
    }
    let home = &surroundings.home;
    if queue::is_waiting(home) || Store::has_spooled(home) || spool::is_waiting(home) {
        stop::wake_worker(surroundings)?;
    }
    Ok(None)
}

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
