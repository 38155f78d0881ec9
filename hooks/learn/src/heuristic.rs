//! The free extractor: it finds sentences in which a person states a lasting preference, correction or decision.
//!
//! English patterns find the most frequent forms. In case of doubt, the patterns extract nothing. They skip questions,
//! requests, conditions, and sentences that apply only to the present situation. A classifier reads the other messages
//! (see `taught.rs`).

use std::sync::LazyLock;

use regex_lite::Regex;
use tessera_engine::text::{TokenKind, tokenize};
use unicode_segmentation::UnicodeSegmentation;

use crate::correction::lacks_subject;
use crate::extracted_memory::{ExtractedKind, ExtractedMemory, MOST_LESSONS, Window};
use crate::taught::Message;
use crate::transcript::Turn;
use tessera_desk::screen::holds_credential;

/// The length of an extractable sentence in characters.
const LENGTH: std::ops::RangeInclusive<usize> = 10..=300;
/// The minimum number of words in a statement, without stop words.
const FEWEST_WORDS: usize = 2;

macro_rules! pattern {
    ($name:ident, $($source:expr),+) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(concat!($($source),+)).expect("the patterns are constants, and a test compiles them"));
    };
}

pub(crate) use pattern;

// Phrases before the statement.
pattern!(
    OPENING,
    r"(?i)^(?:(?:please|also|and|but|so|well|ok|okay|btw|by the way|hey|hi|fyi|note|thanks|yes|yeah|great|cool|for the record|(?:as|like) (?:i|we) (?:said|mentioned|told you)|wie gesagt|comme (?:je l'ai )?dit|como (?:ya )?dije|como (?:eu )?disse)\b[,:.!]*\s+)+"
);
pattern!(
    EXPLICIT,
    r"(?i)^(?:can you |could you )?(?:remember|keep in mind|don'?t forget|note|make a note|take note)\b(?:\s*:\s*|,? (?:that |this: ?)|\s+(?P<wish>to |i |we |my |our |the ))"
);
pattern!(
    PREFERENCE,
    r"(?i)^(?:actually[, ]+|no[, ]+)?(?:",
    r"(?:i|we)(?: (?:really|always|usually|generally|much|strongly|still|now|personally|actually|do))* (?:prefer|favou?r|hate|dislike|can'?t stand|love|always use|never use|always want|never want)\b",
    r"|i(?: (?:really|always|usually|generally|much))* like (?:to|my|when|using|writing|having|keeping|short|small|long)\b",
    r"|i'?d (?:much )?rather\b|i would rather\b",
    r"|(?:always|never) [a-z]+|(?:do not|don'?t) ever\b|(?:do not|don'?t|never) use\b|stop using\b|avoid using\b",
    r"|from now on\b|going forward\b|in (?:the )?future\b|whenever (?:i|you|we)\b|by default,? (?:use|write|run|i|we|you)\b",
    r"|my (?:[\w-]+ ){0,2}(?:favou?rite|preferred|default|name|nickname|time ?zone|pronouns?|editor|shell|keyboard|birthday|stack|os|language)\b.{0,60}\b(?:is|are)\b",
    r"|call me\b|i(?:'m| am) (?:based|located|living|allergic|colou?r-?blind|dyslexic|left-handed)\b",
    r"|i(?:'m| am) an? [\w /-]{0,40}(?:developer|engineer|designer|student|manager|founder|scientist|analyst|researcher|freelancer|architect|teacher|writer|beginner)\b",
    r"|(?:i|we) want (?:all|every|you to (?:always|never))\b",
    r")"
);
pattern!(FROM_NOW_ON, r"(?i),? \b(?:from now on|going forward|in (?:the )?future|by default|every time)[.!]*$");
pattern!(
    DECISION,
    r"(?i)^(?:actually[, ]+)?(?:",
    r"(?:we|i)(?:'ve| have|'re| are)?(?: now| just| all| finally)* (?:decided|agreed|chosen|chose|settled|opted|picked|standardi[sz]ed|migrated|switched|moved|dropped|going with)\b",
    r"|(?:let'?s|we'?ll|we will|we'?re going to|we are going to) (?:go with|use|stick (?:with|to)|standardi[sz]e on|switch to|adopt|stay (?:with|on))\b",
    r"|(?:the|our) (?:decision|convention|rule|policy|approach) (?:is|was)\b|decision:",
    r"|(?:in this (?:project|repo|repository|codebase)|here),? we\b",
    r")"
);
pattern!(
    CORRECTION,
    r"(?i)^(?:",
    r"(?:no|nope|wrong|actually|incorrect)[,.:;! ]+(?:it|that|this|the|we|you|our|there|they|use|[a-z]+ (?:is|are|uses?))\b.*\b(?:is|are|was|should|uses?|lives?|runs?|listens?|goes|isn'?t|aren'?t|don'?t|doesn'?t|must|needs?|use|not)\b",
    r"|(?:that|this|it)(?:'s| is) (?:wrong|not (?:right|correct|true|how)|incorrect)[,.:; -]+\w+",
    r"|(?:the|our) (?:root cause|real (?:problem|issue|cause)|actual (?:problem|cause|issue)|correct way|right way) (?:was|is|to)\b",
    r"|(?:the|our) (?:problem|issue|cause|culprit|solution) (?:was|turned out to be) (?:that|an?|the|our|my|in|on|with|due|caused|because|not|too|wrong|missing)\b",
    r"|use [\w@/.+-]+(?: [\w@/.+-]+)?,? (?:instead of|not|rather than|and not) ",
    r")"
);
// Signs that a sentence is not lasting: only this time, a condition, or a request.
pattern!(
    PASSING,
    r"(?i)\b(?:for now|just this (?:once|time)|this time|temporarily|today|tonight|tomorrow|for this (?:one|task|file|pr|commit|test|change|branch)|",
    r"in this (?:file|function|pr|commit|test|case|example|branch)|right now|at the moment|never ?mind)\b|^(?:if|unless|can|could|would|should|will|do|does|did|what|why|how|when|where|who|which|is|are|let me|i want to|i need|i think|maybe|perhaps)\b"
);
pattern!(
    CHANGE,
    r"(?i)\b(?:now|instead|no longer|any ?more|switch(?:ed)?|changed my mind|moved|migrated|replaced?|dropped|actually)\b"
);
pattern!(
    REPLACED,
    r"(?i)\b(?:instead of|rather than|no longer(?: (?:use|like|want|prefer))?|(?:switch(?:ed)?|mov(?:ed|ing)|migrat(?:ed|ing)) (?:away )?from|replac(?:ed|es|ing)|dropped|over|and not|, not)\s+(?P<old>[\w@#/.+-]+(?: [\w@#/.+-]+)?)"
);

/// True for a statement of a person about themselves that matters only for a few days. It expires. Rules, wishes,
/// decisions and statements about the work do not expire.
pub(crate) fn is_passing(lesson: &ExtractedMemory) -> bool {
    pattern!(ABOUT_ME, r"(?i)^(?:user|i|i'm|i’m|i am|i'll|i’ll|i have|i've|i’ve|my)\b");
    pattern!(
        FEW_DAYS,
        r"(?i)\b(?:today|tonight|tomorrow|this (?:morning|afternoon|evening|week(?:end)?)|right now|at the moment|for now|until (?:tomorrow|tonight|monday|tuesday|wednesday|thursday|friday|saturday|sunday))\b"
    );
    pattern!(LASTING, r"(?i)\b(?:always|never|every|usually|generally)\b");
    let said = &lesson.content;
    lesson.kind == ExtractedKind::Fact && ABOUT_ME.is_match(said) && FEW_DAYS.is_match(said) && !LASTING.is_match(said)
}

/// Returns the memories in all given turns.
pub(crate) fn extracted_memories(window: &Window<'_>) -> Vec<ExtractedMemory> {
    let mut found: Vec<ExtractedMemory> = Vec::new();
    let mut before = window.before;
    for turn in window.turns {
        for lesson in of_message(&turn.user, before) {
            if !found.iter().any(|known| known.content == lesson.content) {
                found.push(lesson);
            }
        }
        before = &turn.assistant;
    }
    found.truncate(MOST_LESSONS);
    found
}

/// The memories of a message. If the patterns find a statement in each of its sentences, each statement is a memory. If
/// they do not, the classifier decides about the complete message. If the classifier is uncertain, the statements of the
/// patterns have priority.
fn of_message(said: &str, before: &str) -> Vec<ExtractedMemory> {
    let all = sentences(said);
    let by_patterns: Vec<ExtractedMemory> = all.iter().filter_map(|sentence| lesson(sentence)).collect();
    if by_patterns.len() == all.len() {
        return by_patterns;
    }
    let message = Message::new(said, before);
    let is_asked = message.teaches() || (by_patterns.is_empty() && message.may_teach());
    let Some(memory) = is_asked.then(|| message.memory()).flatten() else { return by_patterns };
    let is_explicit = by_patterns.iter().any(|lesson| lesson.is_explicit);
    let replaces = by_patterns.into_iter().find_map(|lesson| lesson.replaces);
    vec![ExtractedMemory { replaces, is_explicit, ..memory }]
}

/// The statements of a turn that would be stored without review if the store contained no memory. A correction without a
/// subject is not among them.
pub fn statements(said: &str) -> Vec<String> {
    let turn = Turn { id: String::new(), at: None, user: said.to_owned(), assistant: String::new() };
    let found = extracted_memories(&Window { turns: &[turn], is_deep: false, before: "", known: &[] });
    let stored = found.into_iter().filter(ExtractedMemory::is_certain);
    stored.map(|lesson| lesson.content).filter(|content| !lacks_subject(content)).collect()
}

/// Sentences; a line break also ends one.
fn sentences(text: &str) -> Vec<String> {
    let whole = |line: &str| line.unicode_sentences().map(|sentence| sentence.trim().to_owned()).collect::<Vec<_>>();
    text.lines().map(without_bullet).flat_map(whole).collect()
}

fn lesson(sentence: &str) -> Option<ExtractedMemory> {
    let point = OPENING.replace(sentence, "");
    let mut point = point.trim();
    if !LENGTH.contains(&point.chars().count()) || holds_credential(point) {
        return None;
    }
    let explicit = EXPLICIT.captures(point);
    if let Some(explicit) = &explicit {
        let end = explicit.name("wish").map_or_else(|| explicit.get(0).map_or(0, |m| m.end()), |wish| wish.start());
        point = point.get(end..).unwrap_or(point).trim_start_matches("to ").trim();
    }
    if point.trim_end_matches(['"', ')', ' ']).ends_with('?') || (explicit.is_none() && PASSING.is_match(point)) {
        return None;
    }
    let kind = kind_of(point, explicit.is_some())?;
    let words = tokenize(point).into_iter().filter(|token| token.kind != TokenKind::Stop).count();
    if words < FEWEST_WORDS {
        return None;
    }
    let replaces = REPLACED.captures(point).and_then(|found| found.name("old")).map(|old| old.as_str().to_owned());
    let replaces = replaces.or_else(|| CHANGE.is_match(point).then(String::new));
    let is_explicit = explicit.is_some();
    Some(ExtractedMemory { replaces, is_explicit, ..ExtractedMemory::new(kind, capitalised(point)) })
}

/// A line without the marks of a list or a quotation. A minus sign belongs to its number.
fn without_bullet(line: &str) -> &str {
    let line = line.trim_start_matches(['*', '>', ' ', '\t']);
    let rest = line.trim_start_matches('-');
    if rest.starts_with(|c: char| c.is_ascii_digit()) {
        line
    } else {
        rest.trim_start_matches(['-', '*', '>', ' ', '\t'])
    }
}

/// A sentence without words such as "please" or "btw" at its beginning.
pub(crate) fn without_opening(sentence: &str) -> String {
    OPENING.replace(sentence, "").trim().to_owned()
}

fn kind_of(point: &str, is_explicit: bool) -> Option<ExtractedKind> {
    if PREFERENCE.is_match(point) || FROM_NOW_ON.is_match(point) {
        Some(ExtractedKind::Preference)
    } else if DECISION.is_match(point) {
        Some(ExtractedKind::Decision)
    } else if CORRECTION.is_match(point) {
        Some(ExtractedKind::Correction)
    } else {
        is_explicit.then_some(ExtractedKind::Fact)
    }
}

pub(crate) fn capitalised(point: &str) -> String {
    let mut letters = point.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What a person asks to forget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retraction {
    /// Nothing.
    Nothing,
    /// The statements of this turn.
    ThisTurn,
    /// The memories learned last.
    TheLast,
}

/// Recognises "forget that" and "don't remember this".
pub(crate) fn taken_back(user: &str) -> Retraction {
    pattern!(
        FORGET,
        r"(?i)\b(?:forget (?:that|it|this|about (?:that|it)|what i (?:just )?(?:said|told you))|scratch that|strike that|un-?remember (?:that|this)|never ?mind (?:that|what i said))(?:[.!,; ]|$)"
    );
    pattern!(
        OFF_RECORD,
        r"(?i)\b(?:do not|don'?t|no need to|please don'?t) (?:remember|save|store|learn|memori[sz]e|keep) (?:that|this|it|any of (?:that|this))\b|\boff the record\b"
    );
    pattern!(
        NOT_FORGET,
        r"(?i)\b(?:do not|don'?t|never|won'?t|can'?t|cannot|not|to) forget\b|\bforget what i (?:just )?(?:said|told you) about\b"
    );
    if OFF_RECORD.is_match(user) {
        return Retraction::ThisTurn;
    }
    let Some(found) = FORGET.find(user) else { return Retraction::Nothing };
    if NOT_FORGET.is_match(user) {
        return Retraction::Nothing;
    }
    // The words before it say what to forget. Without such words, it means the turn before.
    let before = user.get(..found.start()).unwrap_or("");
    let says_something = sentences(before).iter().any(|sentence| lesson(sentence).is_some());
    if says_something { Retraction::ThisTurn } else { Retraction::TheLast }
}

#[cfg(test)]
mod tests;
