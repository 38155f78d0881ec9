//! SessionStart: a brief, or what a compaction took away. SessionEnd: the worker folds the spools.

use std::time::Instant;

use tessera_desk::project::Claim;
use tessera_desk::queue;
use tessera_engine::Store;
use tessera_engine::domain::{Handle, MemoryRef, RecallRequest};
use tessera_engine::pack::neutral;
use tessera_engine::store::{Receipt, Usage};

use crate::recall::{blank, bounded, claim, give, keep, seen_in, unasked, visible};
use crate::reply::Reply;
use crate::run::HookError;
use crate::surroundings::Surroundings;
use crate::wire::Payload;
use crate::{asked, stop};

const EVENT: &str = "SessionStart";
/// Memories of a brief, at most.
const MOST_BRIEFED: u32 = 20;
/// Characters of a project's name in a notice.
const LONGEST_NAME: usize = 80;

/// Tells a new session what holds here; a compacted one what it lost.
pub(crate) fn on_start(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    if !surroundings.settings.recall || !Store::is_there(&surroundings.home) {
        return Ok(None);
    }
    let mut store = surroundings.open(Usage::ReadOnce)?;
    let claim = claim(payload, surroundings);
    let mut receipt = blank(&store, seen_in(&store, &claim)?, payload, EVENT);
    let source = payload.text(&["source"]).unwrap_or_default();
    let settings = &surroundings.settings;
    let is_compacted = source == "compact";
    // A resumed session still has what it was given.
    receipt.resets = source != "resume";
    let budget = if is_compacted { settings.compact_tokens } else { settings.brief_tokens };
    let exclude = if receipt.resets { std::collections::BTreeSet::new() } else { store.given_in(&receipt.session)? };
    let request = RecallRequest { limit: MOST_BRIEFED, exclude, ..unasked(surroundings, budget, &receipt.scope) };
    let lost = if is_compacted { lost(&store, &receipt)? } else { Vec::new() };
    let nothing = || tessera_engine::domain::DomainError::invalid("handles", "none is left", "store some");
    let mut chosen = |request: &RecallRequest| {
        let chosen = if lost.is_empty() { store.brief(request)? } else { store.chosen(&lost, request)? };
        Ok(chosen.ok_or_else(nothing)?)
    };
    let recall = bounded(&request, &mut chosen)?;
    let notice = match notice(&store, surroundings)? {
        None => unbelieved(&store, &claim, surroundings)?,
        notice => notice,
    };
    let reply = if recall.is_none() && !receipt.resets {
        keep(&store, receipt, started);
        None
    } else {
        give(&store, recall, receipt, started)
    };
    Ok(match (reply, notice) {
        (Some(reply), Some(notice)) => Some(reply.with_notice(&notice)),
        (None, Some(notice)) => Some(Reply::notice(&notice)),
        (reply, None) => reply,
    })
}

/// What a compaction took away, as far as it may be shown here.
fn lost(store: &Store, receipt: &Receipt) -> Result<Vec<Handle>, HookError> {
    let visible = visible(&receipt.scope);
    let mut kept = Vec::new();
    for handle in store.lost_to_compaction(&receipt.session)? {
        let memory = store.get(MemoryRef::Handle(handle))?;
        kept.extend(memory.filter(|memory| visible.contains(&memory.scope)).map(|memory| memory.handle));
    }
    Ok(kept)
}

/// What the person should know of a directory that says it is a project with memories, and is not believed: once.
fn unbelieved(store: &Store, claim: &Claim, surroundings: &Surroundings) -> Result<Option<String>, HookError> {
    if claim.is_believed(store)? || !store.holds_any_of(&claim.scope)? {
        return Ok(None);
    }
    let place = claim.real_place();
    if !asked::is_first(&surroundings.home, &format!("{} {}", claim.scope, place.display())) {
        return Ok(None);
    }
    let name: String = neutral(claim.scope.as_str()).chars().take(LONGEST_NAME).collect();
    let why = claim.by.as_str();
    Ok(Some(format!(
        "Tessera: by {why} this directory is {name}, whose memories are kept back here until you confirm it: \
         tessera project trust"
    )))
}

/// What the person should know of the team server: only what it will not mend by itself.
fn notice(store: &Store, surroundings: &Surroundings) -> Result<Option<String>, HookError> {
    if store.server()?.is_none() {
        return Ok(None);
    }
    let status = store.sync_status()?;
    let of = |count: u64, what: &str| (count > 0).then(|| format!("{count} {what}"));
    let parts = [
        of(status.refused, "changes that the team server refuses (tessera sync dead)"),
        of(status.conflicts, "memories changed on two machines at once (tessera resolve)"),
    ];
    let mut parts: Vec<String> = parts.into_iter().flatten().collect();
    // What somebody wants to share is said once, however it is answered.
    let offers = store.offers()?.into_iter();
    let new: Vec<_> = offers
        .filter(|offer| asked::is_first(&surroundings.home, &format!("offer {} {}", offer.owner, offer.tag)))
        .collect();
    if let Some(first) = new.first() {
        let (owner, tag) = (neutral(&first.owner), neutral(first.tag.as_str()));
        let more = if new.len() > 1 { format!(", and {} more are offered", new.len() - 1) } else { String::new() };
        parts.push(format!("{owner} offers all that is tagged {tag}{more} (tessera shares; tessera accept OWNER TAG)"));
    }
    Ok((!parts.is_empty()).then(|| format!("Tessera: {}", parts.join(", "))))
}

/// Wakes the worker if work is waiting, or the session left something in spools: an event of the client takes no
/// write lock itself.
pub(crate) fn on_end(_: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    if !Store::is_there(&surroundings.home) {
        return Ok(None);
    }
    if queue::is_waiting(&surroundings.home) || Store::has_spooled(&surroundings.home) {
        stop::wake_worker(surroundings)?;
    }
    Ok(None)
}
