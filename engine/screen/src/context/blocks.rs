//! Private keys in blocks: PEM, OpenPGP, PuTTY; complete, truncated, indented, or on one line with `\n`.
//!
//! Also recognises lines of formats such as `.pgpass`, password files and password hashes.

use std::ops::Range;

use super::{headers, judge, letters, stand_in, value};

const BEGIN: &str = "-----";
const LONGEST: usize = 64 * 1024;
const MOST_PUBLIC: usize = 4096;
const LONGEST_JSON: usize = 2048;
/// Minimum length of a run of letters and digits that is not a word.
const FEWEST: usize = 24;

/// The private key block whose `-----BEGIN` begins here.
pub(super) fn pem(text: &str, start: usize) -> Option<Range<usize>> {
    let line = letters::rest(text, start, 80);
    let label = line.get(BEGIN.len()..)?;
    let close = label.find(BEGIN)?;
    let title = label.get(..close)?;
    if !title.contains("PRIVATE KEY") {
        return None;
    }
    let body = start + BEGIN.len() + close + BEGIN.len();
    let rest = letters::rest(text, body, LONGEST);
    let (mut run, mut longest, mut last) = (0, 0, 0);
    let mut at = 0;
    while let Some(byte) = rest.as_bytes().get(at) {
        if rest.get(at..).is_some_and(|rest| rest.starts_with(BEGIN)) {
            let end = rest.get(at..).and_then(|rest| rest.get(BEGIN.len()..)?.find(BEGIN)).filter(|end| *end < 60);
            let is_end = rest.get(at + BEGIN.len()..).is_some_and(|rest| rest.starts_with("END"));
            last = if let (true, Some(end)) = (is_end, end) { at + 2 * BEGIN.len() + end } else { last };
            break;
        }
        let length = match byte {
            b'\\' => {
                usize::from(rest.get(at + 1..).is_some_and(|rest| rest.starts_with(['n', 'r', 't', '\\', '\n']))) + 1
            }
            _ if byte.is_ascii_alphanumeric() || b"+/=".contains(byte) => {
                run += 1;
                longest = longest.max(run);
                last = at + 1;
                1
            }
            _ if byte.is_ascii_whitespace() || b"\"'+>|#*,".contains(byte) => 1,
            b':' | b'-' | b'.' | b'(' | b')' | b'_' => 1,
            _ => break,
        };
        if last != at + 1 {
            run = 0;
        }
        at += length;
        if is_prose(rest, at) {
            break;
        }
    }
    (longest >= FEWEST).then_some(start..body + last)
}

/// True at the beginning of a line that is a sentence and not a part of a block.
fn is_prose(rest: &str, at: usize) -> bool {
    if at == 0 || rest.as_bytes().get(at - 1) != Some(&b'\n') {
        return false;
    }
    let line = rest
        .get(at..)
        .unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches([' ', '\t', '>', '|', '"', '#']);
    let is_header = line.split_once(": ").is_some_and(|(name, _)| {
        ["Proc-Type", "DEK-Info", "Comment", "Version", "Hash", "Charset", "Subject", "Key-Type", "X-"]
            .iter()
            .any(|known| name.starts_with(known))
    });
    !line.starts_with('-') && !is_header && line.split(' ').filter(|word| !word.is_empty()).count() > 2
}

/// A base64 block that begins here: a private key, whose block always begins with
/// `LS0tLS1CRUdJTi`, or the login of a container registry.
pub(super) fn encoded(text: &str, start: usize) -> Option<Range<usize>> {
    let end = letters::on_while(text, start, LONGEST, |byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    let head = headers::decoded(letters::rest(text, start, (end - start).min(64) / 4 * 4))?;
    let title = String::from_utf8_lossy(&head);
    let is_one = title.contains("PRIVATE KEY") || title.starts_with("{\"auths\"");
    (end - start > 2 * FEWEST && is_one).then_some(start..end)
}

/// The secret part of a JSON web key whose type is at this position: the value of `d` (private key) or `k` (symmetric
/// key).
pub(super) fn json_key(text: &str, start: usize, end: usize) -> Option<Range<usize>> {
    let from = letters::floor(text, start.saturating_sub(LONGEST_JSON));
    let around = text.get(from..letters::floor(text, end + LONGEST_JSON))?;
    let name = ["\"d\"", "\"k\""].iter().find_map(|name| around.find(name).map(|at| from + at + name.len()))?;
    let at = letters::on_while(text, name, 8, |byte| byte == b':' || byte.is_ascii_whitespace());
    let value = value::quoted(text, at)?;
    let inside = text.get(value.span.clone())?;
    let is_encoded = inside.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    (inside.len() > FEWEST && is_encoded).then_some(value.span)
}

/// The private lines of a PuTTY key whose header begins here.
pub(super) fn putty(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = letters::rest(text, start, LONGEST);
    // The public half comes first.
    let at = letters::rest(text, start, MOST_PUBLIC).find("Private-Lines:")?;
    let mut end = at;
    for line in rest.get(at..)?.split_inclusive('\n') {
        let content = line.trim_end();
        let is_part = content.starts_with("Private-")
            || !content.is_empty()
                && content.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
        if !is_part {
            break;
        }
        end += line.len();
    }
    let block = rest.get(..end)?.trim_end();
    Some(start..start + block.len())
}

/// The body of a private key without its header and footer, around a position.
pub(super) fn body(text: &str, mark: usize) -> Option<Range<usize>> {
    /// In the text of a key, the number of characters before its version. They encode the key's length.
    const LENGTH: usize = 6;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let start = letters::back_while(text, mark, LENGTH, is_part);
    let is_whole = !is_part(letters::byte(text, start.wrapping_sub(1)));
    if !is_whole
        || !letters::rest(text, start, 3).starts_with("MI") && !letters::rest(text, start, 3).starts_with("MC4")
    {
        return None;
    }
    let mut end = letters::on_while(text, start, LONGEST, is_part);
    // Further lines belong to the body if they contain nothing else.
    for line in letters::rest(text, end, LONGEST).split_inclusive('\n').skip(1) {
        let content = line.trim();
        let is_body = !content.is_empty() && content.bytes().all(is_part);
        if !is_body {
            break;
        }
        let next = letters::after_space(text, end);
        end = next + content.len();
    }
    (end - start >= SHORTEST_BODY).then_some(start..end)
}

/// The length of the body of an Ed25519 key.
const SHORTEST_BODY: usize = 60;

/// The password in a line of `.pgpass` whose port is at `port`: `host:port:database:user:password`.
pub(super) fn pgpass(text: &str, port: usize) -> Option<Range<usize>> {
    let is_field = |byte: u8| byte.is_ascii_alphanumeric() || b"._-*".contains(&byte);
    let host = letters::back_while(text, port, 128, is_field);
    let is_start = host == 0
        || letters::byte(text, host - 1).is_ascii_whitespace()
        || b"\"'`".contains(&letters::byte(text, host - 1));
    if host == port || !is_start {
        return None;
    }
    let mut at = port + 1;
    for _ in 0..3 {
        let end = letters::on_while(text, at, 64, is_field);
        if end == at || letters::byte(text, end) != b':' {
            return None;
        }
        at = end + 1;
    }
    let line = letters::rest(text, at, 256);
    let length =
        line.find(|character: char| character.is_whitespace() || "\"'`".contains(character)).unwrap_or(line.len());
    let password = line.get(..length)?;
    (password.len() >= 4 && !stand_in::is_stand_in(password)).then_some(at..at + length)
}

/// The password hash whose first `$` is here: `$6$salt$hash`, `$2b$10$…`, `$argon2id$…`.
pub(super) fn hash(text: &str, start: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"./$,=+-_".contains(&byte);
    let end = letters::on_while(text, start, 512, is_part);
    let whole = text.get(start..end)?.trim_end_matches([',', '-']);
    let mut parts = whole.split('$').skip(2);
    let last = whole.rsplit('$').next()?;
    let least = if whole.starts_with("$2") { 53 } else { 20 };
    let is_hash = parts.next().is_some() && last.len() >= least && !stand_in::is_stand_in(last);
    is_hash.then(|| start..start + whole.len())
}

/// The password hash whose scheme is here: `{SSHA}…`, `pbkdf2_sha256$…`, `scrypt:32768:…`.
pub(super) fn named_hash(text: &str, start: usize) -> Option<Range<usize>> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"./$=+-_:{}".contains(&byte);
    let end = letters::on_while(text, start, 512, is_part);
    let whole = text.get(start..end)?.trim_end_matches([',', '-', ':']);
    let last = whole.rsplit(['$', '}']).next()?;
    (last.len() >= 20 && judge::is_drawn(last)).then(|| start..start + whole.len())
}
