//! UserPromptSubmit: recalls memories for a prompt, or returns nothing if none matches.
//!
//! Also remembers which notices the person has already seen.

use std::io::Write;
use std::time::Instant;

use tessera_desk::use_cases::{Prompted, Question, Recipient};
use tessera_desk::{Desk, chain, files};
use tessera_engine::domain::{Purpose, RecallRequest, ShortId};
use tessera_engine::pack::Recall;
use tessera_engine::store::{Ahead, Home, Usage, private_file};

use crate::notice;
use crate::prompt::Reading;
use crate::reply::{HookError, Reply, caller, claim, event};
use crate::surroundings::Surroundings;
use crate::wire::Payload;

const EVENT: &str = "UserPromptSubmit";

/// Adds matching memories to a prompt before the model sees it, and shows what was learned from earlier prompts.
pub(crate) fn on_prompt(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    Ok(notice::with_results(for_prompt(payload, surroundings)?, payload, surroundings))
}

fn for_prompt(payload: &Payload, surroundings: &Surroundings) -> Result<Option<Reply>, HookError> {
    let started = Instant::now();
    if !surroundings.settings.recall || !surroundings.home.holds_store() {
        return Ok(None);
    }
    chain::make_ready(&surroundings.home);
    let prompt = payload.text(&["prompt", "user_prompt", "content"]).unwrap_or_default();
    let question = match Reading::of(&prompt) {
        Reading::Skip(reason) => Question::None(reason.to_owned()),
        Reading::Ask { query, expanded } => Question::Of { query, expanded },
    };
    let event = event(EVENT, started, &claim(payload, surroundings));
    let (budget, recipient) = (surroundings.settings.recall_tokens, Recipient::Session);
    recalled(Prompted { event, question, budget, recipient }, payload, surroundings)
}

/// A reply with memories for a question of a session.
pub(crate) fn recalled(
    prompted: Prompted,
    payload: &Payload,
    surroundings: &Surroundings,
) -> Result<Option<Reply>, HookError> {
    let event = prompted.event.name;
    let given = found(prompted, payload, surroundings)?;
    Ok(given.map(|given| notice::given(event, &given.body, &ids_of(&given), given.tokens_used, surroundings)))
}

/// Recalls memories for a question of a session. The embedding of the question is computed while the store is opened.
pub(crate) fn found(
    prompted: Prompted,
    payload: &Payload,
    surroundings: &Surroundings,
) -> Result<Option<Recall>, HookError> {
    let ahead = match &prompted.question {
        Question::Of { query, .. } if surroundings.settings.embedding => {
            let request = RecallRequest { purpose: Purpose::Unasked, ..RecallRequest::new(query.clone()) };
            Ahead::question(&request, surroundings.clock.now())
        }
        _ => None,
    };
    let (mut store, caller) = (surroundings.open(Usage::ReadOnce)?, caller(payload, surroundings));
    store.expect(ahead);
    Ok(Desk::new(&mut store, &caller).perform(prompted)?)
}

/// The memories in a reply.
pub(crate) fn ids_of(given: &Recall) -> Vec<ShortId> {
    let details = given.details.iter().map(|detail| detail.memory.short_id);
    details.chain(given.index.iter().map(|entry| entry.memory.short_id)).collect()
}

/// True if the person has already seen this notice.
pub(crate) fn was_told(home: &Home, words: &str) -> bool {
    let mark = mark_of(words);
    files::small_text(&home.told_once()).is_some_and(|told| told.lines().any(|line| line == mark))
}

fn mark_of(words: &str) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(words.as_bytes()))
}

/// True if this notice is shown for the first time. The file contains one hash per line, so no text can be read from
/// it. Lines are appended without a lock, so two sessions that start at the same moment may both show a notice.
pub(crate) fn is_first(home: &Home, words: &str) -> bool {
    if was_told(home, words) {
        return false;
    }
    let mark = mark_of(words);
    // If the notice cannot be recorded, it is not shown. Otherwise, it would appear every time.
    private_file()
        .create(true)
        .append(true)
        .open(home.told_once())
        .and_then(|mut file| writeln!(file, "{mark}"))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_said_once() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        assert!(is_first(&home, "a") && is_first(&home, "b"));
        assert!(!is_first(&home, "a") && !is_first(&home, "b"));
        assert!(!is_first(&Home::new(dir.path().join("gone")), "a"), "a notice that cannot be recorded is not shown");
    }
}
