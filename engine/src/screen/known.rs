//! Values that are known to be credentials. A credential is first recognised at one place, by the words around it. Then
//! all other occurrences of the same value are found too.
//!
//! Also finds passwords in keywords, names and tags, if the memory's text says that they are passwords.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tessera_screen::{Place, places, without_places};

use super::found::{findings, is_clean};
use super::screened::{again, is_unspaced};
use super::texts::Texts;

/// The minimum length of a value that is searched for everywhere.
const LEAST: usize = 8;

/// The minimum length of a word that counts as a part of a value.
const PIECE: usize = 16;

/// Values known to be credentials, with their kinds. They are never shown.
#[derive(Clone, Default)]
pub struct KnownValues {
    /// Values that are found as complete words.
    values: BTreeMap<String, String>,
    /// Values that a person marked as secret. They are found everywhere, even as parts of words.
    marked: BTreeMap<String, String>,
}

impl std::fmt::Debug for KnownValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KnownValues({})", self.values.len() + self.marked.len())
    }
}

impl KnownValues {
    /// Adds a value. A value that may be an ordinary word is not added, so it is recognised only with the words around
    /// it.
    pub fn note(&mut self, kind: &str, value: &str) {
        if Self::takes(value) {
            self.values.entry(value.to_owned()).or_insert_with(|| kind.to_owned());
        }
    }

    /// Adds a value that a person marked, for texts that belong to no memory. It is found as a whole word there, even if
    /// it may be an ordinary word. In scripts without spaces, it is found everywhere.
    pub fn note_marked(&mut self, kind: &str, value: &str) {
        let known = if value.chars().any(is_unspaced) { &mut self.marked } else { &mut self.values };
        known.entry(value.to_owned()).or_insert_with(|| kind.to_owned());
    }

    /// Adds a value that a person marked in a text. It is also found as a part of a word, because many languages write
    /// no spaces between words.
    pub fn mark(&mut self, kind: &str, value: &str) {
        self.marked.entry(value.to_owned()).or_insert_with(|| kind.to_owned());
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty() && self.marked.is_empty()
    }

    /// The places of marked values in a text, in order, outside of placeholders. They may overlap.
    pub(super) fn marked_in(&self, text: &str) -> Vec<Range<usize>> {
        let taken = if self.marked.is_empty() { Vec::new() } else { places(text) };
        let is_free =
            |span: &Range<usize>| taken.iter().all(|(place, _)| span.end <= place.start || place.end <= span.start);
        let spans = self.marked.keys().flat_map(|value| text.match_indices(value.as_str()));
        let mut spans: Vec<Range<usize>> =
            spans.map(|(start, value)| start..start + value.len()).filter(is_free).collect();
        spans.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
        spans
    }

    /// True for a value that is not a word and is long enough to be recognised alone.
    pub(super) fn takes(value: &str) -> bool {
        let is_word = value.chars().all(char::is_alphabetic) || value.chars().all(char::is_numeric);
        value.len() >= LEAST && !is_word
    }

    /// The values.
    pub(super) fn values(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Adds the credentials of a text to the known values.
    pub fn note_all(&mut self, text: &str) {
        for finding in findings(text) {
            self.note(finding.kind.as_str(), text.get(finding.span).unwrap_or_default());
        }
    }

    /// The known values in a text, with their kinds.
    pub fn in_text<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let stands = move |value: &str| again(text, value).next().is_some();
        let marked: BTreeSet<&str> = self.marked_in(text).into_iter().filter_map(|span| text.get(span)).collect();
        let marked = self.marked.iter().filter(move |(value, _)| marked.contains(value.as_str()));
        let values = self.values.iter().filter(move |(value, _)| stands(value));
        marked.chain(values).map(|(value, kind)| (value.as_str(), kind.as_str()))
    }

    /// True if a text contains one.
    pub fn stands_in(&self, text: &str) -> bool {
        self.in_text(text).next().is_some() || self.piece(text).is_some()
    }

    /// If the word is a part of a known value, returns the kind of that value. Such a word may be a line of a private
    /// key that was mistaken for a name. Case is ignored, because keywords are lower-case. A complete value does not
    /// count as a part of itself.
    pub fn piece(&self, word: &str) -> Option<&str> {
        let is_of_key = |c: char| c.is_ascii_alphanumeric() || "+/=_-".contains(c);
        let is_mixed = word.contains(|c: char| c.is_ascii_digit()) && word.contains(|c: char| c.is_ascii_alphabetic());
        if word.len() < PIECE || !is_mixed || !word.chars().all(is_of_key) {
            return None;
        }
        let word = word.to_ascii_lowercase();
        let longer = self.values.iter().filter(|(value, _)| value.len() > word.len());
        longer.filter(|(value, _)| value.to_ascii_lowercase().contains(&word)).map(|(_, kind)| kind.as_str()).next()
    }

    /// Does the same as [`Self::taken_out_of`] for a text with a known value; `None` for any other text.
    pub fn cleaned(&self, text: &str) -> Option<String> {
        self.stands_in(text).then(|| self.taken_out_of(text)).flatten()
    }

    /// Returns the text without known values and other credentials; `None` if it contains none of them.
    pub fn taken_out_of(&self, text: &str) -> Option<String> {
        let mut said = super::dropped(text).into_owned();
        let marked = self.marked_in(&said);
        said = replaced(&said, &marked, |value| self.marked.get(value));
        for (value, kind) in self.values.iter().filter(|(value, _)| text.contains(value.as_str())) {
            let taken = places(&said);
            let is_free =
                |span: &Range<usize>| taken.iter().all(|(place, _)| span.end <= place.start || place.end <= span.start);
            let spans: Vec<_> = again(&said, value).filter(is_free).collect();
            said = replaced(&said, &spans, |_| Some(kind));
        }
        if let (true, Some(kind)) = (said == text, self.piece(text)) {
            said = Place { name: None, kind: kind.to_owned() }.to_string();
        }
        (said != text).then_some(said)
    }
}

/// A text in which placeholders without a name replace ranges in order. The rest of an overlapping range is removed.
fn replaced<'k>(text: &str, spans: &[Range<usize>], kind_of: impl Fn(&str) -> Option<&'k String>) -> String {
    let (mut said, mut at) = (String::with_capacity(text.len()), 0);
    for span in spans {
        if span.start >= at {
            let kind = text.get(span.clone()).and_then(&kind_of).cloned().unwrap_or_default();
            said.push_str(text.get(at..span.start).unwrap_or_default());
            said.push_str(&Place { name: None, kind }.to_string());
        }
        at = at.max(span.end);
    }
    said.push_str(text.get(at..).unwrap_or_default());
    said
}

/// Returns the words that are credentials according to the text of the memory, each with its kind.
pub(super) fn called(value: &impl Texts) -> Vec<(String, &'static str)> {
    let Some((text, words)) = value.words_beside() else { return Vec::new() };
    let mut suspects = words.into_iter().filter(|word| is_like_a_password(word) && !text.contains(word)).peekable();
    if suspects.peek().is_none() {
        return Vec::new();
    }
    // The words of a placeholder say nothing about other words.
    let text = without_places(text, |_| ";".to_owned());
    let clauses = clauses(&text);
    let kind_of = |word: &str| clauses.iter().find_map(|clause| kind_by(clause, word));
    suspects.filter(|word| is_clean(word)).filter_map(|word| Some((word.to_owned(), kind_of(word)?))).collect()
}

/// The maximum number of words in a clause that may label a password.
const CALLING: usize = 12;
/// Verbs. A clause with a verb is a sentence about passwords, and not a label.
const VERBS: [&str; 14] =
    ["is", "are", "was", "were", "be", "been", "has", "have", "had", "no", "not", "never", "without", "must"];
/// Words that may follow a label and introduce the purpose of the password.
const OF: [&str; 6] = ["for", "of", "to", "on", "at", "in"];

/// The first and the last clause of a text. Each clause may say that a word outside the text is a password.
fn clauses(text: &str) -> Vec<&str> {
    let clauses =
        || text.split(['.', ':', ',', ';', '!', '?', '\n']).map(str::trim).filter(|clause| !clause.is_empty());
    let is_verb = |word: &str| VERBS.iter().any(|verb| verb.eq_ignore_ascii_case(word));
    let is_name = |clause: &&str| {
        clause.split_whitespace().count() <= CALLING && !clause.split_whitespace().any(is_verb) && is_clean(clause)
    };
    let mut ends: Vec<&str> = [clauses().next(), clauses().next_back()].into_iter().flatten().collect();
    ends.dedup();
    ends.into_iter().filter(is_name).collect()
}

/// The kind that a clause such as `staging db password` or `db password for staging` states for a word.
fn kind_by(clause: &str, word: &str) -> Option<&'static str> {
    let words: Vec<&str> = clause.split_whitespace().collect();
    let called = |count: usize| {
        let head = words.get(..count)?.join(" ");
        let called = findings(&format!("{head}: {word}")).into_iter().next_back()?;
        (called.span.start == head.len() + 2 && called.span.len() == word.len()).then(|| called.kind.as_str())
    };
    let (count, kind) = (1..=words.len()).find_map(|count| Some((count, called(count)?)))?;
    let is_end = words.get(count).is_none_or(|next| OF.iter().any(|of| of.eq_ignore_ascii_case(next)));
    is_end.then_some(kind)
}

/// The minimum length in bytes of a word that a clause can label as a password.
const LEAST_PASSWORD: usize = 8;

/// True for a word that looks like a password and not like a name: it mixes letters with digits, or contains symbols.
pub(super) fn is_like_a_password(word: &str) -> bool {
    let is_mixed = |piece: &str| {
        let has = |is: fn(&u8) -> bool| piece.bytes().any(|byte| is(&byte));
        let cases = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        let turns =
            piece.as_bytes().windows(2).filter(|pair| pair.iter().filter(|byte| byte.is_ascii_digit()).count() == 1);
        has(u8::is_ascii_digit) && (cases || turns.count() > 2)
    };
    let has_sign = word.bytes().any(|byte| b"!@#$%^&*?+=~".contains(&byte));
    let is_hexadecimal = |piece: &str| piece.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    let is_mixed = |piece: &str| is_mixed(piece) && !is_hexadecimal(piece);
    let is_one = word.len() >= LEAST_PASSWORD && !word.contains(char::is_whitespace);
    is_one && (has_sign || word.split(['-', '_', '.', '/']).any(is_mixed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Draft;

    #[test]
    fn a_value_is_found_again_without_a_word_around_it_unless_it_may_be_a_word_itself() {
        let mut known = KnownValues::default();
        known.note_all("the staging password is hunter2!X9");
        known.note("password", "production");
        let said = "it was hunter2!X9, in production";
        assert!(known.stands_in(said) && !known.stands_in("xhunter2!X9y"));
        assert_eq!(known.taken_out_of(said).unwrap(), "it was [secret dropped: password], in production");
        assert_eq!(known.taken_out_of("in production"), None);
        assert_eq!(format!("{known:?}"), "KnownValues(1)");
    }

    #[test]
    fn the_words_of_a_placeholder_call_no_other_word_a_secret() {
        let draft = |text: &str| Draft { entities: vec!["E7x#z2E!9q".into()], ..Draft::new(text) };
        assert_eq!(called(&draft("staging db password")).len(), 1);
        for text in
            ["#tag [secret s7k4q2: probable secret]", "[secret s7k4q2: password]", "tag, [secret dropped: token]"]
        {
            assert_eq!(called(&draft(text)), []);
        }
    }

    #[test]
    fn a_word_that_is_a_line_of_a_known_value_is_a_piece_of_it_and_no_other_word_is() {
        let mut known = KnownValues::default();
        known.note("private key", "-----BEGIN\nnY7p4bKq2Lw9Zt5XcV1mQ0bZ\nharbour-crane-of-the-north\n-----END");
        assert_eq!(known.piece("nY7p4bKq2Lw9Zt5XcV1m"), Some("private key"));
        assert_eq!(known.taken_out_of("ny7p4bkq2lw9zt5xcv1mq0bz").unwrap(), "[secret dropped: private key]");
        for other in
            ["nY7p4bKq2Lw9Zt5", "harbour-crane-of-the-north", "the line nY7p4bKq2Lw9Zt5XcV1m", "x1x2x3x4x5x6x7x8"]
        {
            assert_eq!((known.piece(other), known.taken_out_of(other)), (None, None), "{other}");
        }
    }
}
