//! Phrases that say what a note is: a standing wish, a decision, a person, a relation.

use std::sync::LazyLock;

use regex::Regex;

use crate::domain::{Category, MemoryType};

pub(super) fn pattern(source: &str) -> Regex {
    Regex::new(source).expect("the patterns are constants, compiled in a test")
}

macro_rules! cue {
    ($name:ident, $source:literal) => {
        pub(super) static $name: LazyLock<Regex> = LazyLock::new(|| pattern($source));
    };
}
pub(super) use cue;

cue!(
    STANDING,
    r"(?i)\b(always|never|whenever (i|we|you)|when (i|we) ask|from now on|(i|we|they|user) prefers?|prefers? (to )?|i'?d rather|(please )?make sure (to|that)|please remember|by default,? use|do not ever|must (always|not|never))\b"
);
cue!(
    DECISION,
    r"(?i)\b(we (have )?(decided|chose|agreed|settled)|(it was |was )?decided (to|on|that|against|in)|decision:|agreed (to|on|that)|we (will|are going to) use|chosen over|instead of .{1,60} because)\b"
);
cue!(
    PERSON,
    r"(?i)\b(is (our|my|the) (manager|lead|colleague|boss|teammate|designer|reviewer|contact)|works (at|on|for|in)|reports to|on[- ]call contact|birthday|pronouns)\b"
);
cue!(
    RELATION,
    r"(?i)\b(owns?|owned by|maintains?|maintained by|depends on|reports to|works (with|for|on)|belongs to|is part of|talks to|calls|replaces|written by|uses)\b"
);
cue!(
    ABOUT_SELF,
    r"(?i)(^|\b)(i|my|me|user|the user)\b.{0,40}\b(prefers?|likes?|loves?|hates?|dislikes?|wants?|am|is|live|work|use|favou?r|favou?rite|name|timezone|time zone|allerg|speak)"
);
cue!(DEFINES, r"(?i)^\W*[\p{L}\d][\w.+#/ -]{0,60} (is|are) (a|an|the|our) ");

/// True when a text states a lasting wish or rule (always, never, I prefer, from now on …).
pub fn is_standing(text: &str) -> bool {
    STANDING.is_match(text)
}

/// The category a text falls in when its author names none.
pub fn category(text: &str) -> Category {
    let slug = if DECISION.is_match(text) {
        Category::DECISIONS
    } else if is_standing(text) {
        Category::PREFERENCES
    } else if PERSON.is_match(text) {
        "people"
    } else {
        Category::FACTS
    };
    slug.parse().unwrap_or_default()
}

/// The type of a text when its author names none: `self` for a statement about the speaker,
/// `relationship` for a relation between two or more named things, `entity` for what one thing is.
pub fn kind(text: &str, entities: &[String]) -> MemoryType {
    if ABOUT_SELF.is_match(text) {
        MemoryType::Person
    } else if entities.len() >= 2 && RELATION.is_match(text) {
        MemoryType::Relationship
    } else if !entities.is_empty() && DEFINES.is_match(text) {
        MemoryType::Entity
    } else {
        MemoryType::Fact
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_decide_category_and_type() {
        let entities = |names: &[&str]| names.iter().map(|&name| name.into()).collect::<Vec<String>>();
        assert_eq!(category("I prefer Svelte over React").as_str(), "preferences");
        assert_eq!(category("We decided to use SQLite because it is one file").as_str(), "decisions");
        assert_eq!(category("Mara is our designer").as_str(), "people");
        assert_eq!(category("The exporter listens on 8080").as_str(), "facts");
        assert_eq!(kind("I prefer dark mode", &[]), MemoryType::Person);
        assert_eq!(kind("Mara owns the Billing service", &entities(&["Mara", "Billing"])), MemoryType::Relationship);
        assert_eq!(kind("Falcon is a job runner", &entities(&["Falcon"])), MemoryType::Entity);
        assert_eq!(kind("backups run at three", &[]), MemoryType::Fact);
        assert!(is_standing("Never force-push to main") && !is_standing("the tests ran twice"));
    }
}
