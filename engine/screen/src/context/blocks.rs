//! Private keys in blocks: PEM, OpenPGP, PuTTY; whole, cut off, indented, on one line with `\n` in it.

use std::ops::Range;

use super::scan;

const BEGIN: &str = "-----";
const LONGEST: usize = 64 * 1024;
/// The shortest longest run of letters and digits that is no word.
const FEWEST: usize = 24;

/// The block of a private key whose `-----BEGIN` begins here.
pub(super) fn pem(text: &str, start: usize) -> Option<Range<usize>> {
    let line = scan::rest(text, start, 80);
    let label = line.get(BEGIN.len()..)?;
    let close = label.find(BEGIN)?;
    let title = label.get(..close)?;
    if !title.contains("PRIVATE KEY") {
        return None;
    }
    let body = start + BEGIN.len() + close + BEGIN.len();
    let rest = scan::rest(text, body, LONGEST);
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

/// True at the beginning of a line that is a sentence rather than a part of a block.
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

/// The private lines of a PuTTY key whose header begins here.
pub(super) fn putty(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = scan::rest(text, start, LONGEST);
    let at = rest.find("Private-Lines:")?;
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
