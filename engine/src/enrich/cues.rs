//! Phrases that show what a text is: a lasting preference, a decision, a statement about a person, a relation.

use tessera_tables::words;

use super::personal::{is_about_people, is_personal};
use super::scan::{after, end_of, is_boundary, next, within, words};
use crate::domain::{Category, MemoryType};
use crate::text::{is_digit, is_letter, is_word};

/// A phrase: parts in order, each with alternative forms in lower case. A form may be empty.
pub(super) type Phrase = &'static [&'static [&'static str]];

const INSTRUCTION: &[Phrase] = &[
    &[&["always", "never", "from now on", "please remember", "do not ever", "i'd rather", "id rather"]],
    &[&["whenever "], &["i", "we", "you"]],
    &[&["when "], &["i ", "we "], &["ask"]],
    &[&["i ", "we ", "they ", "user "], &["prefer", "prefers"]],
    &[&["prefer", "prefers"], &[" ", " to "]],
    &[&["", "please "], &["make sure "], &["to", "that"]],
    &[&["by default"], &["", ","], &[" use"]],
    &[&["must "], &["always", "not", "never"]],
];
const DECISION: &[Phrase] = &[
    &[&["we "], &["", "have "], &["decided", "chose", "agreed", "settled"]],
    &[&["", "it was ", "was "], &["decided "], &["to", "on", "that", "against", "in"]],
    &[&["agreed "], &["to", "on", "that"]],
    &[&["we "], &["will", "are going to"], &[" use"]],
    &[&["decision:", "chosen over"]],
];
const PERSON: &[Phrase] = &[
    &[
        &["is "],
        &["our ", "my ", "the "],
        &["manager", "lead", "colleague", "boss", "teammate", "designer", "reviewer", "contact"],
    ],
    &[&["works "], &["at", "on", "for", "in"]],
    &[&["reports to", "on-call contact", "on call contact", "birthday", "pronouns"]],
];
const RELATION: &[Phrase] = &[
    &[&["own", "owns", "owned by", "maintain", "maintains", "maintained by", "depends on", "reports to"]],
    &[&["works "], &["with", "for", "on"]],
    &[&["belongs to", "is part of", "talks to", "calls", "replaces", "written by", "uses"]],
];
const SPEAKER: &[&str] = &["i", "my", "me", "user", "the user"];
/// Beginnings of phrases in which speakers describe themselves.
const OF_SELF: &[&str] = words!(include_str!("of_self.txt"));

/// True if a text contains one of the phrases in whole words.
pub(super) fn says(text: &str, phrases: &[Phrase]) -> bool {
    let phrases: Vec<(u32, Phrase)> = phrases.iter().map(|phrase| (letters(phrase), *phrase)).collect();
    words(text).any(|(at, word)| {
        let letter = letter(word);
        phrases.iter().any(|(letters, phrase)| letters & letter != 0 && fits(text, at, phrase))
    })
}

/// The bit for the first letter of a word. A word that begins with another character gets all bits, because this
/// character may be a variant of a letter.
fn letter(word: &str) -> u32 {
    match word.bytes().next().map(|byte| byte.to_ascii_lowercase()) {
        Some(byte @ b'a'..=b'z') => 1 << (byte - b'a'),
        _ => u32::MAX,
    }
}

/// The possible first letters of a phrase. Most words of a text begin with none of these letters, and are skipped
/// quickly.
fn letters(parts: &[&[&str]]) -> u32 {
    let Some((forms, rest)) = parts.split_first() else { return u32::MAX };
    forms.iter().map(|form| if form.is_empty() { letters(rest) } else { letter(form) }).fold(0, |all, one| all | one)
}

/// True if the parts of a phrase follow one another from a position, and end at the end of a word.
fn fits(text: &str, at: usize, parts: &[&[&str]]) -> bool {
    let Some((forms, rest)) = parts.split_first() else { return is_boundary(text, at) };
    forms.iter().any(|form| after(text, at, form).is_some_and(|end| fits(text, end, rest)))
}

/// True if a text states a lasting preference or rule (always, never, I prefer, from now on …).
pub fn is_instruction(text: &str) -> bool {
    says(text, INSTRUCTION)
}

/// True if a text states a decision.
pub(super) fn is_decision(text: &str) -> bool {
    says(text, DECISION) || words(text).any(|(at, _)| is_for_a_reason(text, at))
}

/// True for `instead of … because`, with a few words of the same line between them.
fn is_for_a_reason(text: &str, at: usize) -> bool {
    let Some(end) = after(text, at, "instead of ") else { return false };
    let mut places = within(text, end, 60).skip(1);
    places.any(|place| after(text, place, " because").is_some_and(|end| is_boundary(text, end)))
}

/// Derives the category of a text, if its author did not set one.
pub fn category(text: &str) -> Category {
    let slug = if is_decision(text) {
        Category::DECISIONS
    } else if is_personal(text) {
        Category::PREFERENCES
    } else if says(text, PERSON) || is_about_people(text) {
        "people"
    } else if is_instruction(text) {
        Category::PREFERENCES
    } else {
        Category::FACTS
    };
    slug.parse().unwrap_or_default()
}

/// Derives the type of a text, if its author did not set one: `self` for a statement about the speaker, `relationship`
/// for a relation of named things, `entity` for what a thing is.
pub fn kind(text: &str, entities: &[String]) -> MemoryType {
    if words(text).any(|(at, _)| is_about_self(text, at)) {
        MemoryType::Person
    } else if entities.len() >= 2 && says(text, RELATION) {
        MemoryType::Relationship
    } else if !entities.is_empty() && defines(text) {
        MemoryType::Entity
    } else {
        MemoryType::Fact
    }
}

/// A speaker, and after it in the same line a description of this speaker.
fn is_about_self(text: &str, at: usize) -> bool {
    let ends = SPEAKER.iter().filter_map(|speaker| after(text, at, speaker)).filter(|end| is_boundary(text, *end));
    let is_told = |place: usize| OF_SELF.iter().any(|words| after(text, place, words).is_some());
    ends.into_iter().any(|end| within(text, end, 40).any(|place| is_boundary(text, place) && is_told(place)))
}

/// A text that begins with a name and says what it is: `The exporter is a …`.
fn defines(text: &str) -> bool {
    let start = end_of(text, 0, usize::MAX, |character| !is_word(character));
    // The iota subscript is a form of a letter, so it belongs to the class of letters in any case.
    let Some(first) = next(text, start).filter(|first| is_letter(*first) || is_digit(*first) || *first == '\u{345}')
    else {
        return false;
    };
    let mut at = start + first.len_utf8();
    for _ in 0..=60 {
        if [" is ", " are "].iter().any(|verb| {
            let end = after(text, at, verb);
            end.is_some_and(|end| {
                ["a ", "an ", "the ", "our "].iter().any(|article| after(text, end, article).is_some())
            })
        }) {
            return true;
        }
        match next(text, at) {
            Some(character) if is_word(character) || ".+#/ -".contains(character) => at += character.len_utf8(),
            _ => return false,
        }
    }
    false
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
        assert!(is_instruction("Never force-push to main") && !is_instruction("the tests ran twice"));
    }
}
