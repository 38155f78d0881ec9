//! Decides whether a text is about the speaker and the assistant in all projects, about other people, or about the
//! current project.

use tessera_tables::{section, words};

use super::scan::{after, is_boundary, words as words_of};

const LISTS: &str = include_str!("personal.txt");
const OPENING: &[&str] = words!(section(LISTS, "opening"));
const ANYWHERE: [&[&str]; 2] = [words!(section(LISTS, "anywhere")), words!(section(LISTS, "anywhere dense"))];
const HERE: [&[&str]; 2] = [words!(section(LISTS, "here")), words!(section(LISTS, "here dense"))];
const PEOPLE_LISTS: &str = include_str!("people.txt");
const PEOPLE: [&[&str]; 2] = [words!(section(PEOPLE_LISTS, "people")), words!(section(PEOPLE_LISTS, "people dense"))];

/// True for a text about the speaker, or about how the assistant works in all projects: "I prefer tabs", "answer me in
/// German". False if the text names the project ("in this repository").
pub fn is_personal(text: &str) -> bool {
    (opens(text) || says_one(text, ANYWHERE)) && !is_about_here(text)
}

/// True if a text says that it is about the current project.
pub fn is_about_here(text: &str) -> bool {
    says_one(text, HERE)
}

/// True for a text about who does what, and who is away.
pub fn is_about_people(text: &str) -> bool {
    says_one(text, PEOPLE)
}

/// True if a sentence begins with one of the opening phrases. A typographic apostrophe counts like a straight one.
fn opens(text: &str) -> bool {
    let plain = text.replace('’', "'");
    let begins = |at: usize| {
        let before = plain.get(..at).unwrap_or_default().trim_end_matches([' ', '"', '(', '-', '*']);
        before.is_empty() || before.ends_with(['.', '!', '?', ':', ';', '\n', ','])
    };
    let fits = |at: usize, phrase: &str| after(&plain, at, phrase).is_some_and(|end| is_boundary(&plain, end));
    words_of(&plain).any(|(at, _)| OPENING.iter().any(|phrase| fits(at, phrase)) && begins(at))
}

/// True if a text contains one of the phrases. The phrases of the first list are whole words.
fn says_one(text: &str, [spaced, dense]: [&[&str]; 2]) -> bool {
    let fits = |at: usize, phrase: &str| after(text, at, phrase).is_some_and(|end| is_boundary(text, end));
    words_of(text).any(|(at, _)| spaced.iter().any(|phrase| fits(at, phrase)))
        || dense.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_about_the_speaker_or_the_assistant_is_personal() {
        for text in [
            "I prefer Svelte over React",
            "No emojis in commit messages",
            "Tabs not spaces. Everywhere, I'm serious.",
            "Répondez-moi en français",
            "Ich möchte kurze Antworten",
            "I’d rather read tables",
            "我更喜欢简短的回答",
            "my pronouns are they/them",
        ] {
            assert!(is_personal(text), "{text}");
        }
        for text in [
            "Never push to main in this repository",
            "I prefer tabs in this project",
            "Prices always go through the money filter",
            "The basket lost items; I saw it only in Safari",
            "The retry helper is used everywhere",
            "The customer said he would rather get a refund",
            "Music is by Oleg",
        ] {
            assert!(!is_personal(text), "{text}");
        }
    }
}
