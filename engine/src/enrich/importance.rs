//! How much a text matters, by rule, when its author does not say.

use std::sync::LazyLock;

use regex::Regex;

use super::cues::{DECISION, STANDING, cue, pattern};
use crate::domain::Importance;

cue!(
    URGENT,
    r"(?i)\b(critical|important|urgent|security|vulnerab\w+|production|outage|incident|deadline|breaking|data loss|root cause|do not|don'?t)\b"
);
cue!(HEDGED, r"(?i)\b(maybe|perhaps|might|probably|not sure|i think|could be|possibly|seems?)\b");
cue!(CONCRETE, r"\d|`[^`]+`|\b\w+[_/]\w+|\b\p{Ll}+\p{Lu}\w*");

/// The importance of a text: 0.40, and
/// +0.20 for a standing wish or rule, +0.15 for a decision, +0.15 for what is urgent or dangerous,
/// +0.10 for something concrete (a number, path, identifier or code span),
/// −0.15 when hedged, −0.10 when it is a question, −0.15 for fewer than four words; within 0.05 to 0.95.
pub fn importance(text: &str) -> Importance {
    let mut percent = 40_i32;
    let words = text.split_whitespace().count();
    let rules = [
        (STANDING.is_match(text), 20),
        (DECISION.is_match(text), 15),
        (URGENT.is_match(text), 15),
        (CONCRETE.is_match(text), 10),
        (HEDGED.is_match(text), -15),
        (text.trim_end().ends_with(['?', '？']), -10),
        (words < 4 && text.chars().count() < 20, -15),
    ];
    percent += rules.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum::<i32>();
    Importance::from_percent(u8::try_from(percent.clamp(5, 95)).unwrap_or(40))
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
    }
}
