//! Calculates the importance of a text by rules, if its author does not set it.

use super::cues::{Phrase, is_decision, is_instruction, says};
use super::scan::{after, next, words};
use crate::domain::Importance;
use crate::text::{is_digit, is_lower, is_upper, is_word};

const URGENT: &[Phrase] = &[
    &[&["critical", "important", "urgent", "security", "production", "outage", "incident", "deadline", "breaking"]],
    &[&["data loss", "root cause", "do not", "don't", "dont"]],
];
const HEDGED: &[Phrase] =
    &[&[&["maybe", "perhaps", "might", "probably", "not sure", "i think", "could be", "possibly", "seem", "seems"]]];

/// The importance of a text. It starts at 0.40. The importance increases by 0.20 for a lasting preference or rule, 0.15
/// for a decision, 0.15 for something urgent or dangerous, and 0.10 for something concrete (a number, path, identifier
/// or code span). The importance is reduced by 0.15 for uncertain words, 0.10 for a question, and 0.15 for fewer than
/// four words. The result is limited to 0.05–0.95.
pub fn importance(text: &str) -> Importance {
    let mut percent = 40_i32;
    let words = text.split_whitespace().count();
    let rules = [
        (is_instruction(text), 20),
        (is_decision(text), 15),
        (is_urgent(text), 15),
        (is_concrete(text), 10),
        (says(text, HEDGED), -15),
        (text.trim_end().ends_with(['?', '？']), -10),
        (words < 4 && text.chars().count() < 20, -15),
    ];
    percent += rules.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum::<i32>();
    Importance::from_percent(u8::try_from(percent.clamp(5, 95)).unwrap_or(40))
}

fn is_urgent(text: &str) -> bool {
    let opens = |(at, _)| after(text, at, "vulnerab").is_some_and(|end| next(text, end).is_some_and(is_word));
    says(text, URGENT) || words(text).any(opens)
}

/// A number, a code span, a path, or a word written like an identifier.
fn is_concrete(text: &str) -> bool {
    let has_path = || {
        let mut slashes = text.match_indices('/').map(|(at, _)| at);
        slashes.any(|at| {
            text.get(..at).is_some_and(|before| before.ends_with(is_word)) && next(text, at + 1).is_some_and(is_word)
        })
    };
    let has_code = || {
        let mut between = text.split('`');
        let _outer = (between.next(), between.next_back());
        between.any(|code| !code.is_empty())
    };
    has_digit(text) || has_code() || has_path() || words(text).any(|(_, word)| has_joint(word) || has_hump(word))
}

/// True if a text contains a digit. The random name of a secret (`[secret s7k4q2: password]`) does not count.
fn has_digit(text: &str) -> bool {
    let mut parts = text.split("[secret ");
    let before = parts.next().unwrap_or_default();
    let without_name = |part: &str| part.split_once(':').map_or(part, |(_, rest)| rest).contains(is_digit);
    before.contains(is_digit) || parts.any(without_name)
}

/// True for a word with an underscore inside: `max_tokens`.
pub(super) fn has_joint(word: &str) -> bool {
    let mut inner = word.chars();
    let _outer = (inner.next(), inner.next_back());
    inner.any(|character| character == '_')
}

/// True for a word that begins in lower case and continues with upper case: `parseRequest`.
pub(super) fn has_hump(word: &str) -> bool {
    let rest = word.trim_start_matches(is_lower);
    rest.len() < word.len() && rest.starts_with(is_upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_more_scores_more() {
        let ranked = [
            "ok then",
            "maybe we could use Redis",
            "the office has a red door near the lift",
            "The exporter listens on port 8080",
            "I prefer dark mode in all applications",
            "CRITICAL: production endpoint migrated to v2",
            "Never deploy to production on Fridays after the March outage",
        ];
        let scores: Vec<u8> = ranked.iter().map(|text| importance(text).percent()).collect();
        assert!(scores.is_sorted(), "{scores:?}");
        assert_eq!(importance("The exporter listens on port 8080").percent(), 50);
        assert_eq!(importance("the database password is [secret s7k4q2: password]").percent(), 40);
        assert_eq!(importance("the pin of door 7 is [secret sabcde: pin]").percent(), 50);
    }
}
