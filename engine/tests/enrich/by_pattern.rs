//! What is derived from a text, told by patterns of the crate `regex`: the definition that the engine's own scanners
//! have to agree with.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use tessera_engine::domain::{Category, Importance, MAX_NAME_CHARS, MemoryType};
use tessera_engine::enrich;
use tessera_engine::enrich::{MAX_ENTITIES, MAX_SUMMARY_WORDS};
use tessera_engine::text::{fold, is_stop_word};
use unicode_segmentation::UnicodeSegmentation;

macro_rules! cue {
    ($name:ident, $source:literal) => {
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($source).unwrap());
    };
}

cue!(
    INSTRUCTION,
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
pub(crate) fn is_instruction(text: &str) -> bool {
    INSTRUCTION.is_match(text)
}

/// The category a text falls in when its author names none.
pub(crate) fn category(text: &str) -> Category {
    let slug = if DECISION.is_match(text) {
        Category::DECISIONS
    } else if enrich::is_personal(text) {
        Category::PREFERENCES
    } else if PERSON.is_match(text) || enrich::is_about_people(text) {
        "people"
    } else if is_instruction(text) {
        Category::PREFERENCES
    } else {
        Category::FACTS
    };
    slug.parse().unwrap_or_default()
}

/// The type of a text when its author names none: `self` for a statement about the speaker,
/// `relationship` for a relation between two or more named things, `entity` for what one thing is.
pub(crate) fn kind(text: &str, entities: &[String]) -> MemoryType {
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

cue!(CODE_SPAN, r"`([^`\n]{2,60})`");
cue!(QUOTED, "[\"“]([^\"“”\n]{3,40})[\"”]");
cue!(ADDRESS, r"[\w.+-]+@[\w-]+\.[\w.-]*\w|https?://([\w.-]+\w)");
cue!(MENTION, r"(?:^|\s)@([\w-]{2,40})");
cue!(IDENTIFIER, r"\b(\p{Ll}+\p{Lu}\w*|\p{Lu}\p{Ll}+(?:\p{Lu}\p{Ll}+)+|\w+(?:_\w+)+|\p{Lu}{2,}[\p{Lu}\d]*)\b");
cue!(NAME, r"\b\p{Lu}[\p{L}\d'’+#]*(?:[ -]\p{Lu}[\p{L}\d'’+#]*|\s\d+(?:\.\d+)*\b)*");

/// The named things of a text, in the order they appear, without repeats (case ignored).
///
/// A capitalised word that opens a sentence counts only when it is capitalised elsewhere too, or
/// more words of a name follow.
pub(crate) fn entities(text: &str) -> Vec<String> {
    let mut found = Found::default();
    for cue in [&CODE_SPAN, &QUOTED, &MENTION, &IDENTIFIER] {
        cue.captures_iter(text).filter_map(|hit| hit.get(1)).for_each(|m| found.add(m.start(), m.as_str()));
    }
    for hit in ADDRESS.captures_iter(text) {
        let whole = hit.get(1).or_else(|| hit.get(0));
        whole.into_iter().for_each(|m| found.add(m.start(), m.as_str()));
    }
    for (offset, sentence) in text.split_sentence_bound_indices() {
        for name in NAME.find_iter(sentence) {
            let opens = sentence.get(..name.start()).is_some_and(|before| !before.contains(char::is_alphanumeric));
            let goes_on = sentence.get(name.end()..).is_some_and(|after| after.starts_with('_'));
            if goes_on {
                continue;
            }
            if !opens
                || name.as_str().contains(' ')
                || capitalised_elsewhere(text, offset + name.start(), name.as_str())
            {
                found.add(offset + name.start(), name.as_str());
            }
        }
    }
    found.finish()
}

fn capitalised_elsewhere(text: &str, at: usize, name: &str) -> bool {
    text.match_indices(name).any(|(other, _)| {
        other != at
            && text
                .get(..other)
                .is_some_and(|before| before.ends_with(' ') && !before.trim_end().ends_with(['.', '!', '?', ':']))
    })
}

#[derive(Default)]
struct Found(Vec<(usize, String)>);

impl Found {
    fn add(&mut self, at: usize, name: &str) {
        let name = name.trim().trim_end_matches(['.', ',', ':', ';']).trim_end_matches("'s").trim_end_matches("’s");
        let words = name.split(' ').count();
        // A heading in capitals is a run of many, and no name.
        let is_noise =
            !(2..=MAX_NAME_CHARS).contains(&name.chars().count()) || (words == 1 && is_stop_word(&fold(name)));
        if !is_noise && name.chars().any(char::is_alphanumeric) {
            self.0.push((at, name.to_owned()));
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.0.sort();
        let mut seen = BTreeSet::new();
        let unique = self.0.into_iter().map(|(_, name)| name).filter(|name| seen.insert(fold(name)));
        unique.take(MAX_ENTITIES).collect()
    }
}

cue!(
    URGENT,
    r"(?i)\b(critical|important|urgent|security|vulnerab\w+|production|outage|incident|deadline|breaking|data loss|root cause|do not|don'?t)\b"
);
cue!(HEDGED, r"(?i)\b(maybe|perhaps|might|probably|not sure|i think|could be|possibly|seems?)\b");
cue!(DIGIT, r"\d");
// The random name of a secret after `[secret `, which is not part of what the text says.
cue!(SECRET_NAME, r"^[^:]*:");
cue!(CONCRETE, r"`[^`]+`|\b\w+[_/]\w+|\b\p{Ll}+\p{Lu}\w*");

/// The importance of a text: 0.40, and
/// +0.20 for a standing wish or rule, +0.15 for a decision, +0.15 for what is urgent or dangerous,
/// +0.10 for something concrete (a number, path, identifier or code span),
/// −0.15 when hedged, −0.10 when it is a question, −0.15 for fewer than four words; within 0.05 to 0.95.
pub(crate) fn importance(text: &str) -> Importance {
    let mut percent = 40_i32;
    let words = text.split_whitespace().count();
    let rules = [
        (INSTRUCTION.is_match(text), 20),
        (DECISION.is_match(text), 15),
        (URGENT.is_match(text), 15),
        (CONCRETE.is_match(text) || has_digit(text), 10),
        (HEDGED.is_match(text), -15),
        (text.trim_end().ends_with(['?', '？']), -10),
        (words < 4 && text.chars().count() < 20, -15),
    ];
    percent += rules.iter().filter(|(holds, _)| *holds).map(|(_, points)| points).sum::<i32>();
    Importance::from_percent(u8::try_from(percent.clamp(5, 95)).unwrap_or(40))
}

fn has_digit(text: &str) -> bool {
    let mut parts = text.split("[secret ");
    let first = parts.next().unwrap_or_default();
    DIGIT.is_match(first) || parts.any(|part| DIGIT.is_match(&SECRET_NAME.replace(part, "")))
}

const MAX_CHARS: usize = 160;
const MIN_OPENING_WORDS: usize = 4;

cue!(FENCE, r"(?s)```.*?(```|\z)");
cue!(MARKUP, r"(?m)^\s*(#{1,6}\s+|>\s?|[-*+]\s+(\[[ xX]\]\s+)?|\d+[.)]\s+)");
cue!(SPEAKER, r"^([\p{Lu}][\p{L}\d_.'-]{0,30}(?: [\p{Lu}][\p{L}.'-]{0,20})?): ");
cue!(UNIT, r"`[^`]{1,120}`\S*|\S+");

/// The summary of a text: from the first sentence of substance on, at most 20 words and 160
/// characters, ending in `…` where it was cut. A speaker's name stays in front.
pub(crate) fn summary(text: &str) -> String {
    let prose = FENCE.replace_all(text, " ");
    let prose = if prose.trim().is_empty() { text.replace("```", " ").into() } else { prose };
    let plain = MARKUP.replace_all(&prose, "");
    let (speaker, said) = match SPEAKER.captures(&plain).and_then(|hit| hit.get(0)) {
        Some(prefix) => plain.split_at(prefix.end()),
        None => ("", plain.as_ref()),
    };
    shorten(speaker, opening(said))
}

/// Skips greetings and other openers of fewer than four words when something longer follows.
fn opening(text: &str) -> &str {
    let is_opening = |(at, sentence): &(usize, &str)| {
        let is_spaced = sentence.is_ascii() || sentence.contains(' ');
        let words = sentence.split_whitespace().count();
        (!is_spaced || words >= MIN_OPENING_WORDS) && text.len() > *at
    };
    let start = text.split_sentence_bound_indices().find(is_opening).map_or(0, |(at, _)| at);
    let skipped = text.get(..start).unwrap_or("");
    if skipped.split_whitespace().count() > 8 { text } else { text.get(start..).unwrap_or(text) }
}

fn shorten(speaker: &str, text: &str) -> String {
    let mut line = speaker.to_owned();
    let spoken = speaker.split_whitespace().count();
    let mut was_cut = false;
    for (words, unit) in (spoken..).zip(UNIT.find_iter(text)) {
        let unit = unit.as_str();
        let room = MAX_CHARS.saturating_sub(line.chars().count() + 1);
        if words == MAX_SUMMARY_WORDS || unit.chars().count() > room {
            was_cut = true;
            if words == spoken {
                line.push_str(&head_of(unit, room));
            }
            break;
        }
        if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(unit);
    }
    let mut line = line.trim_end().to_owned();
    if was_cut {
        line.push('…');
    }
    line
}

/// The beginning of a word that is longer than a summary: whole characters as people see them.
fn head_of(unit: &str, room: usize) -> String {
    let mut head = String::new();
    for grapheme in unit.graphemes(true) {
        if head.chars().count() + grapheme.chars().count() > room {
            break;
        }
        head.push_str(grapheme);
    }
    head
}
