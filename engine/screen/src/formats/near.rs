//! Finds random texts that have no format of their own. A text is a token if a word for a credential, or the name of a
//! provider, is directly before it. `datadog_api_key: 8f2b…`, `heroku 4f1c9a7e-…`.

use super::alphabet::counted;
use super::look::Look;
use super::nouns::{Noun, noun_in, provider_in};
use super::providers::Provider;
use super::{look, nouns};
use crate::place::{Finding, Kind};

/// If a name is joined to its value, the name is searched in the first bytes of the joined text, at most this number.
const LONGEST_NAME: usize = 96;
/// Maximum bytes between the word and the value: quotes, symbols and white space.
const WIDEST_GAP: usize = 100;
/// Maximum length of a name that looks random.
const LONGEST_SPOKEN: usize = 40;
/// Maximum words between the word for a credential and the value: `token is …`.
const MOST_FILLERS: usize = 2;
/// The maximum distance in bytes between the provider's name and the word for a credential.
const BEFORE: usize = 48;
/// Minimum length of a value.
const SHORTEST: usize = 8;

const FILLERS: [&[u8]; 14] = [
    b"is", b"are", b"was", b"code", b"value", b"foo", b"bar", b"xyz", b"tok", b"x", b"string", b"to", b"default",
    b"live",
];

/// The text before a value.
#[derive(Debug, Clone, Copy)]
struct Context {
    noun: Option<Noun>,
    provider: Provider,
    /// True if `=`, `:` or `>` is between the word and the value.
    assigns: bool,
    /// True if the word is just `key`, because rows, files and caches have keys too.
    bare: bool,
}

impl Context {
    /// True if a value of this class is a credential in this context.
    fn accepts(self, look: Look) -> bool {
        let known = self.provider > Provider::None;
        let named = self.noun.is_some_and(|noun| noun != Noun::ClientId || known);
        match look {
            Look::Plain => false,
            Look::Number => named && known && self.assigns,
            Look::Mixed | Look::Brief => named && known,
            Look::Short => named && (known || !self.bare),
            Look::Uuid if self.bare => known,
            Look::Uuid | Look::Random => named || self.provider == Provider::Telling,
        }
    }
}

/// The tokens of a text, in order.
pub(super) fn findings(text: &str) -> Vec<Finding> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let (end, promising) = run(bytes, at);
        if promising && let Some(finding) = value_of(bytes, at, end) {
            found.push(finding);
        }
        at = (at + counted(end - at)).max(at + 1);
    }
    found
}

/// Returns the end of a run of characters that may occur in values, and whether the run may contain a value.
fn run(bytes: &[u8], start: usize) -> (usize, bool) {
    let (mut digits, mut letters) = (0_usize, 0_usize);
    let mut end = start;
    for byte in bytes.iter().skip(start) {
        match byte {
            b'0'..=b'9' => digits += 1,
            b'a'..=b'z' | b'A'..=b'Z' => letters += 1,
            b'_' | b'-' | b'.' | b'=' | b'+' | b'/' | b'~' | b'%' | b':' | b'!' | b'$' | b'@' => {}
            _ => break,
        }
        end += 1;
    }
    (end, digits + letters >= SHORTEST && (digits >= 2 || digits + letters >= 12))
}

/// Returns the value in a run if a word before it or in it shows that it is a credential.
fn value_of(bytes: &[u8], start: usize, end: usize) -> Option<Finding> {
    let text = bytes.get(start..end)?;
    let signs = text.iter().rev().take_while(|byte| b".:!~$%@".contains(byte)).count();
    let (text, signs) = text.split_at_checked(text.len() - signs)?;
    if text.windows(3).any(|window| window == b"://")
        || is_path_of_names(text)
        || is_digest(text)
        || signs.starts_with(b"...")
    {
        return None;
    }
    if let Some(kind) = of_own_look(text) {
        return Some(Finding { span: start..start + text.len(), kind });
    }
    let (from, context) = glued(bytes, start, text).or_else(|| {
        let is_name = |at: &usize| text.get(..*at).is_some_and(|name| provider_in(name) == Provider::Telling);
        let sign = text.iter().take(LONGEST_NAME).position(|byte| *byte == b'=').filter(is_name);
        let from = sign.map_or(0, |at| at + 1);
        let signs = text.get(from..)?.iter().take_while(|byte| b"=:.".contains(byte)).count();
        // After `key = "`, a symbol belongs to the value.
        let from = if from == 0 && is_assigned(bytes, start) { 0 } else { from + signs };
        if look::look(text.get(from..)?) == Look::Plain {
            return None;
        }
        Some((from, before(bytes, start + from)?))
    })?;
    let value = text.get(from..)?;
    if value.starts_with(b"$") || value.starts_with(b"%") || is_identifier(value) {
        return None;
    }
    let is_accepted = context.accepts(look::look(value)) && !is_path(value);
    is_accepted.then(|| Finding { span: start + from..start + text.len(), kind: kind_of(context.noun) })
}

fn kind_of(noun: Option<Noun>) -> Kind {
    Kind::new(match noun {
        Some(Noun::Token) => "token",
        Some(Noun::Secret) => "secret",
        Some(Noun::ClientId) => "client ID",
        Some(Noun::Key) | None => "API key",
    })
}

/// True for an identifier: it contains a word for a credential and no digits.
fn is_identifier(value: &[u8]) -> bool {
    !value.iter().any(u8::is_ascii_digit) && nouns::is_spoken_of(value.get(..look::JUDGED).unwrap_or(value))
}

/// True if an assignment symbol precedes a position, ignoring quotes and white space between them.
fn is_assigned(bytes: &[u8], at: usize) -> bool {
    let head = bytes.get(at.saturating_sub(WIDEST_GAP)..at).unwrap_or_default();
    let mut before = head.iter().rev().skip_while(|byte| byte.is_ascii_whitespace() || b"\"'`".contains(byte));
    matches!(before.next(), Some(b'=' | b':' | b'>'))
}

/// `PrivateKeyDer::Sec1`
fn is_path_of_names(text: &[u8]) -> bool {
    text.windows(3).any(|three| matches!(three, [b':', b':', next] if next.is_ascii_alphabetic()))
}

/// Finds tokens that need no word before them. Some consist of a small number, `-` and 64 letters and digits. Others
/// have three parts separated by dots; the first part is a user's number in base64.
fn of_own_look(text: &[u8]) -> Option<Kind> {
    let signs = |part: &[u8]| part.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let mut dotted = text.split(|byte| *byte == b'.');
    if let (Some(user @ [b'M' | b'N' | b'O', ..]), Some(time), Some(rest), None) =
        (dotted.next(), dotted.next(), dotted.next(), dotted.next())
    {
        let fits = (24..=28).contains(&user.len()) && time.len() == 6 && (27..=38).contains(&rest.len());
        let drawn = || [user, time, rest].into_iter().all(signs) && look::look(text) == Look::Random;
        return (fits && drawn()).then_some(Kind::new("Discord token"));
    }
    let at = text.iter().position(|byte| *byte == b'-')?;
    let (number, rest) = (text.get(..at)?, text.get(at + 1..)?);
    let is_numbered = (1..=3).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && rest.len() == 64
        && rest.iter().all(u8::is_ascii_alphanumeric)
        && look::look(rest) == Look::Random;
    is_numbered.then_some(Kind::new("TrueNAS key"))
}

/// True for a checksum, which begins with the name of its algorithm.
fn is_digest(text: &[u8]) -> bool {
    let starts = |name: &[u8]| {
        let named = text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
        named && matches!(text.get(name.len()), Some(b':' | b'-' | b'='))
    };
    [&b"sha1"[..], b"sha256", b"sha384", b"sha512", b"md5", b"urn", b"h1"].into_iter().any(starts)
}

/// Most parts of paths and addresses are words.
fn is_path(value: &[u8]) -> bool {
    let parts = || value.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
    parts().count() >= 3
        && parts().any(|part| part.len() >= 3 && part.iter().all(u8::is_ascii_lowercase) && look::is_words(part))
}

/// The start of the value in a run of characters that begins with the value's name: `SECRET-8ded…`, `api_key=8f2b…`.
fn glued(bytes: &[u8], start: usize, text: &[u8]) -> Option<(usize, Context)> {
    let head = text.get(..text.len().min(LONGEST_NAME))?;
    let mut best = None;
    for (at, sign) in head.iter().enumerate().filter(|(_, byte)| b"-=:._".contains(byte)) {
        let word = head.get(..at)?;
        let last = word.rsplit(|byte| b"=:/".contains(byte)).next()?;
        let segment = last.rsplit(|byte| b"-._".contains(byte)).next()?;
        let noun = if segment.eq_ignore_ascii_case(b"id") { noun_in(last) } else { noun_in(segment) };
        let rest = text.get(at + 1..)?;
        // A longer name after the provider is the name of something.
        let alone = || best.is_none() && *sign != b'_' && !head.get(at + 1..).is_some_and(|rest| rest.contains(&b'='));
        if noun.is_none() && (!alone() || provider_in(last) != Provider::Telling) || look::look(rest) == Look::Plain {
            continue;
        }
        let from = match sign {
            // Some tokens begin with such a word: `key-8f2b…`.
            b'-' | b'_' if last.len() == segment.len() && nouns::is_prefix(segment) => at - segment.len(),
            // A hyphen or a dot may belong to the token or to the name.
            b'-' | b'.' if noun.is_some() => at,
            _ => at + 1,
        };
        let named = before_word(bytes, start, noun, last, word, matches!(sign, b'=' | b':'));
        best = named.map(|context| (from, context)).or(best);
    }
    best
}

/// Reads the text before a value, backwards from the gap between them.
fn before(bytes: &[u8], value: usize) -> Option<Context> {
    let mut at = value;
    let mut assigns = false;
    for _ in 0..=MOST_FILLERS {
        let gap = bytes.get(at.saturating_sub(WIDEST_GAP)..at)?.iter().rev().take_while(|byte| is_gap(**byte)).count();
        let end = at - gap;
        assigns |= bytes.get(end..at)?.iter().any(|byte| b"=:>".contains(byte));
        let reach = end.saturating_sub(nouns::LONGEST_WORD);
        let length = bytes.get(reach..end)?.iter().rev().take_while(|byte| is_word(**byte)).count();
        let start = end - length;
        let word = bytes.get(start..end)?;
        // Nothing, or another sentence.
        if length == 0 || (gap == 0 && at == value) || word.ends_with(b".") {
            return None;
        }
        // A line of encoded bytes is not a name, whatever letters it has.
        let encoded = matches!(start.checked_sub(1).and_then(|at| bytes.get(at)), Some(b'+' | b'/'));
        let wraps = encoded && bytes.get(end..at).is_some_and(|gap| gap.contains(&b'\n'));
        if wraps || (word.len() >= LONGEST_SPOKEN && look::look(word) == Look::Random) {
            return None;
        }
        let noun = noun_in(word);
        if noun.is_some() || provider_in(word) == Provider::Telling {
            return before_word(bytes, start, noun, word, word, assigns);
        }
        if !FILLERS.iter().any(|filler| word.eq_ignore_ascii_case(filler)) && !word.iter().all(u8::is_ascii_digit) {
            return None;
        }
        at = start;
    }
    None
}

/// Returns the context of a word, unless the word or the word before it shows that the value is not secret.
fn before_word(
    bytes: &[u8],
    start: usize,
    noun: Option<Noun>,
    word: &[u8],
    near: &[u8],
    assigns: bool,
) -> Option<Context> {
    let line = bytes.get(start.saturating_sub(BEFORE)..start)?;
    let line = line.rsplit(|byte| matches!(byte, b'\n' | b';')).next()?;
    let last = line.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next()?;
    if nouns::is_other(last, word) {
        return None;
    }
    let provider = match provider_in(word) {
        // A provider without a noun must be directly before the value.
        found if noun.is_none() || found == Provider::Telling => found,
        found => found.max(provider_in(near)).max(provider_in(line)),
    };
    let bare = word.eq_ignore_ascii_case(b"key") && noun_in(last).is_none() && !last.eq_ignore_ascii_case(b"api");
    Some(Context { noun, provider, assigns, bare })
}

const fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            0x0b | b'"'
                | b'\''
                | b'`'
                | b'='
                | b':'
                | b'>'
                | b','
                | b'('
                | b'['
                | b'{'
                | b'|'
                | b'\\'
                | b'-'
                | b'~'
                | b'?'
                | b'*'
        )
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}
