//! Divides a text into words of time, in one language.

use std::borrow::Cow;
use std::ops::Range;

use jiff::tz::TimeZone;

use super::fold::folded;
use super::value::{Value, value};
use super::words::{Language, Reading};

/// A word or a phrase.
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a word in its text")]
#[derive(Debug, Clone, Default)]
pub(crate) struct Token {
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
    /// What it may mean; nothing for other words.
    pub(crate) readings: Vec<Reading>,
    /// Its value, if it is written in digits.
    pub(crate) value: Option<Value>,
    /// True if it begins with a capital letter.
    pub(crate) is_capital: bool,
    /// True for the first word of a sentence.
    pub(crate) is_first: bool,
    /// True for `October's`.
    pub(crate) is_possessive: bool,
    /// True if punctuation stands before it.
    pub(crate) is_apart: bool,
    /// True between quotation marks.
    pub(crate) is_quoted: bool,
}

/// Maximum number of words of a phrase.
const MAX_WORDS: usize = 5;
/// Maximum number of characters of a phrase in a script without spaces.
const MAX_DENSE: usize = 6;

/// The tokens of the chunks of a text.
pub(crate) fn tokens(chunks: &[Chunk], language: &Language, zone: &TimeZone) -> Vec<Token> {
    if language.is_dense {
        return chunks.iter().flat_map(|chunk| dense(chunk, language, zone)).collect();
    }
    let has_elided = chunks.iter().any(|chunk| chunk.folded.contains('\''));
    let divided = || chunks.iter().flat_map(|chunk| elided(chunk.clone(), language)).collect();
    let chunks = if has_elided { Cow::Owned(divided()) } else { Cow::Borrowed(chunks) };
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(chunk) = chunks.get(at) {
        let (count, readings) = phrase(chunks.get(at..).unwrap_or_default(), language);
        let last = chunks.get(at + count - 1).unwrap_or(chunk);
        if readings.is_empty()
            && let Some(parts) = compound(chunk, language)
        {
            tokens.extend(parts);
        } else {
            let digits = || value(&chunk.folded, zone).or_else(|| value(chunk.folded.trim_end_matches('.'), zone));
            let value = if readings.is_empty() { digits() } else { None };
            let range = chunk.range.start..last.range.end;
            tokens.push(Token { range, readings, value, is_possessive: last.is_possessive, ..chunk.token() });
        }
        at += count;
    }
    tokens
}

/// The letters between two separators.
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a word in its text")]
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    range: Range<usize>,
    folded: String,
    is_capital: bool,
    is_first: bool,
    is_apart: bool,
    is_possessive: bool,
    is_quoted: bool,
    /// The folded characters with their positions, for scripts without spaces.
    places: Vec<usize>,
}

impl Chunk {
    /// The folded word, without a point at its end unless it may belong to a number.
    fn word(&self) -> &str {
        let trimmed = self.folded.trim_end_matches('.');
        if trimmed.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') { &self.folded } else { trimmed }
    }

    fn token(&self) -> Token {
        let (is_capital, is_first, is_apart) = (self.is_capital, self.is_first, self.is_apart);
        let is_quoted = self.is_quoted;
        Token { range: self.range.clone(), is_capital, is_first, is_apart, is_quoted, ..Token::default() }
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            ',' | ';'
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '"'
                | '“'
                | '”'
                | '„'
                | '«'
                | '»'
                | '?'
                | '!'
                | '¿'
                | '¡'
                | '…'
                | '、'
                | '。'
                | '，'
                | '？'
                | '！'
                | '；'
                | '「'
                | '」'
                | '（'
                | '）'
                | '・'
        )
}

fn is_range_sign(c: char) -> bool {
    matches!(c, '–' | '—' | '~' | '〜' | '～')
}

/// The chunks of a text.
struct Chunks<'a> {
    text: &'a str,
    found: Vec<Chunk>,
    is_first: bool,
    is_apart: bool,
    is_quoted: bool,
}

/// Divides a text, for any language.
pub(crate) fn chunks(text: &str) -> Vec<Chunk> {
    let mut chunks = Chunks { text, found: Vec::new(), is_first: true, is_apart: false, is_quoted: false };
    let mut start = None;
    let bytes = text.as_bytes();
    for (at, c) in text.char_indices() {
        // `2026-11-01..2026-11-15`
        let is_dots = c == '.' && bytes.get(at + 1) == Some(&b'.');
        let is_second_dot = c == '.' && at > 0 && bytes.get(at - 1) == Some(&b'.');
        if !(is_separator(c) || is_range_sign(c) || is_dots || is_second_dot) {
            start.get_or_insert(at);
            continue;
        }
        if let Some(from) = start.take() {
            chunks.push(from..at);
        }
        if is_dots {
            chunks.push(at..at + 2);
        } else if is_range_sign(c) {
            chunks.push(at..at + c.len_utf8());
        } else if !is_second_dot {
            chunks.separate(c);
        }
    }
    if let Some(from) = start {
        chunks.push(from..text.len());
    }
    chunks.found
}

impl Chunks<'_> {
    fn separate(&mut self, sign: char) {
        if sign.is_whitespace() {
            return;
        }
        self.is_apart = true;
        self.is_first |= !matches!(sign, ',' | ';' | '(' | ')' | '、' | '，' | '・');
        match sign {
            '"' => self.is_quoted = !self.is_quoted,
            '“' | '„' | '«' | '「' => self.is_quoted = true,
            '”' | '»' | '」' => self.is_quoted = false,
            _ => {}
        }
    }

    fn push(&mut self, range: Range<usize>) {
        let Some(shown) = self.text.get(range.clone()) else { return };
        let (mut folded, mut places) = folded(shown);
        places.iter_mut().for_each(|place| *place += range.start);
        let is_capital = shown.chars().next().is_some_and(char::is_uppercase);
        let (is_first, is_apart, is_quoted) = (self.is_first, self.is_apart, self.is_quoted);
        let is_possessive = folded.ends_with("'s");
        folded.truncate(folded.len() - if is_possessive { 2 } else { 0 });
        let ends = folded.ends_with([':', '.']) && folded.len() > 4;
        folded.truncate(folded.len() - usize::from(folded.ends_with(':')));
        self.found.push(Chunk { range, folded, is_capital, is_first, is_apart, is_possessive, is_quoted, places });
        (self.is_first, self.is_apart) = (ends, ends);
    }
}

/// Divides `d'octobre`, unless the whole is a phrase such as `aujourd'hui`.
fn elided(chunk: Chunk, language: &Language) -> Vec<Chunk> {
    let is_whole = || language.readings(&chunk.folded).is_some() || language.may_continue(&chunk.folded);
    let Some(at) = chunk.folded.find('\'').filter(|at| *at > 0 && *at < 8 && !is_whole()) else { return vec![chunk] };
    let Some(next) = chunk.folded.get(..=at).map(|head| head.chars().count()) else { return vec![chunk] };
    let Some(place) = chunk.places.get(next).copied() else { return vec![chunk] };
    let (head, rest) = chunk.folded.split_at(at + 1);
    let is_capital = head.len() == 2 && chunk.is_capital;
    let first = Chunk { range: chunk.range.start..place, folded: head.to_owned(), places: Vec::new(), ..chunk.clone() };
    let (is_first, is_apart) = (false, false);
    let rest =
        Chunk { range: place..chunk.range.end, folded: rest.to_owned(), is_first, is_apart, is_capital, ..chunk };
    vec![first, rest]
}

/// The longest phrase at the beginning of the chunks, and the number of its words.
fn phrase(chunks: &[Chunk], language: &Language) -> (usize, Vec<Reading>) {
    let Some(first) = chunks.first() else { return (1, Vec::new()) };
    let mut best = (1, language.readings(first.word()).unwrap_or_default());
    if !language.may_continue(&first.folded) {
        return best;
    }
    let mut joined = first.folded.clone();
    for (count, chunk) in (2..=MAX_WORDS).zip(chunks.iter().skip(1)) {
        if chunk.is_apart {
            break;
        }
        joined.push(' ');
        let length = joined.len();
        joined.push_str(chunk.word());
        if let Some(readings) = language.readings(&joined) {
            best = (count, readings);
        }
        joined.truncate(length);
        joined.push_str(&chunk.folded);
    }
    best
}

/// A weekday and a part of the day in one word: `Montagabend`.
fn compound(chunk: &Chunk, language: &Language) -> Option<[Token; 2]> {
    let word = chunk.word();
    if word.len() < 9 || !word.is_ascii() {
        return None;
    }
    (6..word.len() - 3).find_map(|at| {
        let (day, part) = word.split_at(at);
        let day = language.readings(day).filter(|found| found.iter().any(|one| matches!(one, Reading::Weekday(_))))?;
        let part = language.readings(part).filter(|found| found.iter().any(|one| matches!(one, Reading::Part(..))))?;
        let rest = Token { range: chunk.range.clone(), readings: part, ..Token::default() };
        Some([Token { readings: day, ..chunk.token() }, rest])
    })
}

/// The value of a Chinese or Japanese digit.
fn numeral(c: char) -> Option<i64> {
    let at = "〇一二三四五六七八九".chars().position(|digit| digit == c);
    at.and_then(|at| i64::try_from(at).ok()).or(if c == '两' { Some(2) } else { None })
}

/// A number in Chinese digits up to 99, and the number of its characters.
fn numerals(chars: &[char]) -> Option<(i64, usize)> {
    let digit = |at: usize| chars.get(at).and_then(|c| numeral(*c));
    let is_ten = |at: usize| chars.get(at) == Some(&'十');
    match (digit(0), is_ten(0), is_ten(1)) {
        (Some(tens), _, true) => Some(digit(2).map_or((tens * 10, 2), |ones| (tens * 10 + ones, 3))),
        (None, true, _) => Some(digit(1).map_or((10, 1), |ones| (10 + ones, 2))),
        (Some(ones), ..) if digit(1).is_none() => Some((ones, 1)),
        // A year is written in single digits.
        (Some(_), ..) => {
            let number = chars.iter().map_while(|c| numeral(*c)).take(4);
            Some(number.fold((0, 0), |(value, count), digit| (value * 10 + digit, count + 1)))
        }
        _ => None,
    }
}

/// The tokens of a chunk in a script without spaces.
fn dense(chunk: &Chunk, language: &Language, zone: &TimeZone) -> Vec<Token> {
    let chars: Vec<char> = chunk.folded.chars().collect();
    let place = |at: usize| chunk.places.get(at).copied().unwrap_or(chunk.range.end);
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = chars.get(at..).unwrap_or_default();
        let (length, readings, value) = dense_word(rest, language, zone);
        let range = place(at)..place(at + length);
        let (is_first, is_apart) = (at == 0 && chunk.is_first, at == 0 && chunk.is_apart);
        let is_capital = false;
        tokens.push(Token { range, readings, value, is_capital, is_first, is_apart, ..chunk.token() });
        at += length;
    }
    tokens
}

fn dense_word(rest: &[char], language: &Language, zone: &TimeZone) -> (usize, Vec<Reading>, Option<Value>) {
    let ascii = rest.iter().take_while(|c| c.is_ascii() && **c != '~').count();
    if ascii > 0 {
        let word: String = rest.iter().take(ascii).collect();
        return (ascii, Vec::new(), value(&word, zone));
    }
    let longest = MAX_DENSE.min(rest.len());
    let found = (1..=longest).rev().find_map(|length| {
        let phrase: String = rest.iter().take(length).collect();
        Some((length, language.readings(&phrase)?))
    });
    let number = numerals(rest);
    match (found, number) {
        (Some((length, readings)), number) if number.is_none_or(|(_, count)| count <= length) => {
            (length, readings, None)
        }
        (_, Some((number, length))) => (length, Vec::new(), Some(Value::Number(number, length))),
        (Some((length, readings)), None) => (length, readings, None),
        (None, None) => (1, Vec::new(), None),
    }
}
