//! A line of a text, and its words.

use std::ops::Range;

use tessera_tables::{field, section, words};

use crate::LISTS;

/// Maximum length of a checked line. People do not state secrets in longer lines.
const LONGEST: usize = 2_000;
/// Maximum words of a line.
const MOST_WORDS: usize = 240;

/// A word, and its lower-case spelling.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) span: Range<usize>,
    pub(super) lower: String,
}

/// A line, as ranges of the whole text.
#[derive(Debug)]
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) span: Range<usize>,
    pub(super) words: Vec<Word>,
    /// The next line that is not empty.
    pub(super) next: Option<Range<usize>>,
}

impl<'a> Line<'a> {
    /// The lines of a text. A search for a value does not continue after the placeholder of a redacted secret.
    pub(super) fn all(text: &'a str, taken: &[Range<usize>]) -> Vec<Self> {
        let mut spans = Vec::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let (from, to) = (start, start + line.trim_end_matches(['\n', '\r']).len());
            start += line.len();
            let mut from = from;
            for place in taken.iter().filter(|place| place.start < to) {
                if place.end <= from {
                    continue;
                }
                spans.push((from..place.start.max(from), false));
                from = place.end.min(to);
            }
            spans.push((from..to, true));
        }
        let is_blank = |span: &Range<usize>| text.get(span.clone()).is_none_or(|line| line.trim().is_empty());
        let mut lines: Vec<Self> = Vec::new();
        let mut next = None;
        for (span, is_end) in spans.into_iter().rev() {
            if is_blank(&span) {
                continue;
            }
            let words = words(text, &span);
            lines.push(Self { text, span: span.clone(), words, next: next.clone().filter(|_| is_end) });
            next = Some(span);
        }
        lines.reverse();
        lines
    }

    /// The line from a position.
    pub(super) fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..self.span.end).unwrap_or_default()
    }

    /// The line up to a position.
    pub(super) fn head(&self, at: usize) -> &'a str {
        self.text.get(self.span.start..at).unwrap_or_default()
    }

    /// True for a line of code, whose unquoted words are names.
    pub(super) fn is_code(&self) -> bool {
        const STARTS: &[&str] = words!(field(section(LISTS, "code"), "starts"));
        const SIGNS: &[&str] = words!(field(section(LISTS, "code"), "signs"));
        let line = self.head(self.span.end).trim_start();
        STARTS.iter().any(|start| line.starts_with(start))
            || SIGNS.iter().any(|sign| line.contains(sign))
            || line.ends_with(['{', '('])
            || line.ends_with(';') && line.contains(" = ")
    }
}

fn words(text: &str, span: &Range<usize>) -> Vec<Word> {
    let mut words = Vec::new();
    let line = text.get(span.clone()).unwrap_or_default();
    if line.len() > LONGEST {
        return words;
    }
    let mut start = None;
    for (at, letter) in line.char_indices().chain([(line.len(), ' ')]) {
        match (start, is_part(letter)) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                start = None;
                let word = line.get(from..at).unwrap_or_default();
                let trimmed = word.trim_end_matches(['\'', '’', '-', '_']);
                let lead = trimmed.len() - trimmed.trim_start_matches(['\'', '’', '-', '_']).len();
                let Some(word) = trimmed.get(lead..).filter(|word| !word.is_empty()) else { continue };
                let from = span.start + from + lead;
                words.push(Word { span: from..from + word.len(), lower: word.to_lowercase() });
                if words.len() == MOST_WORDS {
                    break;
                }
            }
            _ => {}
        }
    }
    words
}

/// True for letters, digits, combining marks, and characters that join the parts of a word.
fn is_part(letter: char) -> bool {
    letter.is_alphanumeric()
        || matches!(letter, '_' | '-' | '\'' | '’')
        || matches!(letter, '\u{300}'..='\u{36f}' | '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{97f}')
}

/// True for a letter of a script without spaces.
pub(super) fn is_joined(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

/// The position of a part in its text.
pub(super) fn place_of(part: &str, whole: &str) -> usize {
    part.as_ptr().addr().saturating_sub(whole.as_ptr().addr())
}
