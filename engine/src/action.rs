//! Decides which memories bind to an action: a tool call that is about to run.
//!
//! [`tessera_actions`] compares the action with each memory. A classifier over the results decides. `benches/train`
//! trains it on the labelled tool calls in `fixtures/actions`.

pub use tessera_actions::{Action, Lesson, Note};

use crate::classifier::Forest;
use crate::domain::{ShortId, Timestamp};

/// The forest that decides whether a memory binds to an action.
const BINDING: &[u8] = include_bytes!("classifier/binding.bin");
/// The minimum probability. It was chosen with `tessera-train binding`.
const MIN_PROBABILITY: f64 = 0.6;

/// A memory that an action may concern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The ID.
    pub short_id: ShortId,
    /// The text.
    pub text: String,
    /// The time of storage.
    pub created: Timestamp,
}

/// A candidate that binds to an action.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// The position among the candidates.
    pub at: usize,
    /// The probability that it binds, 0 to 1.
    pub probability: f64,
    /// The kinds of words that the memory and the action have in common: command, code, option, module, path. For a lesson
    /// whose command the action runs: lesson.
    pub because: Vec<String>,
}

/// The candidates that bind to an action, best first.
pub fn bound(action: &Action, candidates: &[Candidate]) -> Vec<Bound> {
    let lessons: Vec<Option<Lesson>> = candidates.iter().map(|candidate| Lesson::read(&candidate.text)).collect();
    let by_lesson = lessons.iter().enumerate().filter(|(_, lesson)| lesson.as_ref().is_some_and(|it| it.binds(action)));
    let mut bound: Vec<Bound> =
        by_lesson.map(|(at, _)| Bound { at, probability: 1.0, because: vec!["lesson".to_owned()] }).collect();
    let is_decided = |at: usize| lessons.get(at).and_then(Option::as_ref).is_some_and(|lesson| lesson.is_command);
    let rated = rated(action, candidates)
        .into_iter()
        .map(|(at, features, because)| Bound { at, probability: Forest(BINDING).probability(&features), because })
        .filter(|rated| rated.probability >= MIN_PROBABILITY && !is_decided(rated.at));
    for rated in rated {
        if !bound.iter().any(|known| known.at == rated.at) {
            bound.push(rated);
        }
    }
    bound.sort_by(|a, b| b.probability.total_cmp(&a.probability).then(b.at.cmp(&a.at)));
    bound
}

/// The features of each candidate that has something in common with the action: its position, the features, and the
/// kinds of words in common.
pub fn rated(action: &Action, candidates: &[Candidate]) -> Vec<(usize, Vec<i16>, Vec<String>)> {
    let matches: Vec<_> = candidates
        .iter()
        .enumerate()
        .filter_map(|(at, candidate)| Some((at, tessera_actions::compare(action, &Note::read(&candidate.text))?)))
        .collect();
    let created = |at: usize| candidates.get(at).map(|candidate| candidate.created);
    matches
        .iter()
        .map(|(at, found)| {
            let others = matches.iter().filter(|(other, _)| other != at);
            let (mut newer, mut older) = (0, 0);
            for (other, theirs) in others {
                let common = found.found.intersection(&theirs.found).count().min(4);
                let side = if created(*other) > created(*at) { &mut newer } else { &mut older };
                *side = (*side).max(common);
            }
            let counts = [newer, older, found.found.len().min(6)];
            let counts = counts.map(|count| i16::try_from(count).unwrap_or(i16::MAX));
            let features = found.features.iter().copied().chain(counts).collect();
            (*at, features, found.because.iter().map(ToString::to_string).collect())
        })
        .collect()
}
