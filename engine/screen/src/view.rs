//! The readable form of a text: plain letters instead of full-width ones, without invisible characters. The positions
//! of findings are converted to positions in the original text.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

/// A readable form, and for each of its bytes the position of the original character.
#[derive(Debug)]
pub(crate) struct View {
    text: String,
    origins: Vec<usize>,
    length: usize,
}

impl View {
    /// The readable form; `None` if it equals the text.
    pub(crate) fn of(written: &str) -> Option<Self> {
        let folds = joints(written);
        let is_plain = |character| !is_unseen(character) && !is_wide(character);
        if folds.is_empty() && (written.is_ascii() || written.chars().all(is_plain)) {
            return None;
        }
        let mut view = Self { text: String::with_capacity(written.len()), origins: Vec::new(), length: written.len() };
        let mut folds = folds.into_iter().peekable();
        for (at, character) in written.char_indices() {
            folds.next_if(|fold| fold.end <= at);
            if is_unseen(character) || folds.peek().is_some_and(|fold| fold.contains(&at)) {
                continue;
            }
            if is_wide(character) {
                view.text.extend(std::iter::once(character).nfkc());
            } else {
                view.text.push(character);
            }
            view.origins.resize(view.text.len(), at);
        }
        Some(view)
    }

    /// The readable text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The original range of a range. Invisible characters inside a range are part of the range.
    pub(crate) fn origin(&self, span: &Range<usize>) -> Range<usize> {
        let start = self.origins.get(span.start).copied().unwrap_or(self.length);
        // A character that is converted to several belongs to the range as a whole.
        let last = span.end.checked_sub(1).and_then(|last| self.origins.get(last));
        let mut after = self.origins.get(span.end..).unwrap_or_default().iter();
        let end = after.find(|origin| last.is_none_or(|last| *origin > last)).copied().unwrap_or(self.length);
        start..end.max(start)
    }
}

/// Characters inside a token that do not belong to it: the soft line break of a mail, a backslash at the end of a line,
/// and the `" + "` between two strings in a program.
fn joints(written: &str) -> Vec<Range<usize>> {
    let mut joints = soft_breaks(written);
    if written.contains("\\\n") || written.contains("\\\r\n") {
        joints.extend(continued(written));
    }
    if written.contains('+') {
        joints.extend(put_together(written));
    }
    if written.contains('\n') {
        joints.extend(broken(written));
    }
    joints.sort_by_key(|joint| joint.start);
    joints
}

/// Minimum lengths of a token's parts before and after a plain line break.
const LEAST_PIECES: (usize, usize) = (8, 4);
/// Maximum lines of one token.
const MOST_LINES: usize = 6;

/// Returns the line breaks inside a provider's token. Without the line break, the text is a complete token.
fn broken(written: &str) -> Vec<Range<usize>> {
    let mut breaks: Vec<Range<usize>> = Vec::new();
    for (at, _) in written.match_indices('\n') {
        let before = written.get(..at).unwrap_or_default().trim_end_matches('\r');
        let piece = last_run(before);
        let tells = piece.len() >= LEAST_PIECES.0 && super::formats::may_begin(piece);
        if !tells || breaks.last().is_some_and(|last| last.end > before.len() - piece.len()) {
            continue;
        }
        let (mut joined, mut joints) = (piece.to_owned(), Vec::new());
        let (mut end, mut rest) = (before.len(), written.get(before.len()..).unwrap_or_default());
        while joints.len() < MOST_LINES {
            let next =
                rest.trim_start_matches('\r').strip_prefix('\n').map(|next| next.trim_start_matches([' ', '\t']));
            let run = next.map_or("", first_run);
            if run.is_empty() {
                break;
            }
            let start = written.len() - next.map_or(0, str::len);
            joints.push(end..start);
            let known = joined.len();
            joined.push_str(run);
            if goes_on(&joined, known) {
                breaks.append(&mut joints);
                break;
            }
            end = start + run.len();
            rest = written.get(end..).unwrap_or_default();
        }
    }
    breaks
}

/// True if the joined lines end in a token, and the text before the line break is not a complete token.
fn goes_on(joined: &str, known: usize) -> bool {
    let (before, after) = joined.split_at(known);
    let is_signature = after.starts_with('.');
    let is_enough = after.len() >= LEAST_PIECES.1;
    let ends_at = |text: &str, end: usize| super::formats::findings(text).iter().any(|found| found.span.end == end);
    is_enough && (is_signature || !ends_at(before, known)) && ends_at(joined, joined.len())
}

/// Returns the token characters at the end of a text. If they contain `=`, returns only those after it.
fn last_run(text: &str) -> &str {
    let length = text.bytes().rev().take_while(|byte| is_of_token(Some(byte))).count();
    let run = text.get(text.len() - length..).unwrap_or_default();
    run.rsplit_once('=').map_or(run, |(_, value)| value)
}

fn first_run(text: &str) -> &str {
    let length = text.bytes().take_while(|byte| is_of_token(Some(byte))).count();
    text.get(..length).unwrap_or_default()
}

/// True for a token character.
fn is_of_token(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'+' | b'/' | b'=' | b'.' | b'-'))
}

/// Backslashes at the end of a line, between two token characters.
fn continued(written: &str) -> Vec<Range<usize>> {
    let bytes = written.as_bytes();
    let at = written.match_indices('\\').filter_map(|(at, _)| {
        let end = at
            + match bytes.get(at + 1..)? {
                [b'\n', ..] => 2,
                [b'\r', b'\n', ..] => 3,
                _ => return None,
            };
        (is_of_token(at.checked_sub(1).and_then(|before| bytes.get(before))) && is_of_token(bytes.get(end)))
            .then_some(at..end)
    });
    at.collect()
}

/// Finds `" + "` between two token characters, also if they are in different lines.
fn put_together(written: &str) -> Vec<Range<usize>> {
    let bytes = written.as_bytes();
    let at = written.match_indices('+').filter_map(|(at, _)| {
        let before = written.get(..at)?.trim_end();
        let after = written.get(at + 1..)?;
        let begin = after.trim_start();
        let quote = before.bytes().next_back().filter(|quote| matches!(quote, b'"' | b'\''))?;
        let (start, end) = (before.len() - 1, at + 1 + after.len() - begin.len() + 1);
        let is_joint = begin.bytes().next() == Some(quote)
            && is_of_token(start.checked_sub(1).and_then(|before| bytes.get(before)))
            && is_of_token(bytes.get(end));
        is_joint.then_some(start..end)
    });
    at.collect()
}

/// The soft line breaks of a mail program: a long line ends in an equals sign.
fn soft_breaks(written: &str) -> Vec<Range<usize>> {
    const FULL: Range<usize> = 73..77;
    if !written.contains("=\n") && !written.contains("=\r\n") {
        return Vec::new();
    }
    let mut at = 0;
    let mut breaks = Vec::new();
    for line in written.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        let start = at + content.len();
        at += line.len();
        if content.len() < line.len() && content.ends_with('=') && FULL.contains(&content.len()) {
            breaks.push(start - 1..at);
        }
    }
    breaks
}

/// Zero-width and directional marks, soft hyphens, joiners, variation selectors, fillers.
fn is_unseen(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// True for full-width, mathematical or circled letters and digits, and for special spaces.
fn is_wide(character: char) -> bool {
    matches!(character,
        '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2460}'..='\u{24ff}' | '\u{3000}'
        | '\u{ff01}'..='\u{ff5e}' | '\u{ffe0}'..='\u{ffee}' | '\u{1d400}'..='\u{1d7ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_as_written_has_no_view() {
        for plain in ["", "password: x", "Größe, 密码是, пароль"] {
            assert!(View::of(plain).is_none(), "{plain}");
        }
    }

    #[test]
    fn lines_that_a_mail_program_broke_are_one() {
        let head = format!("{} password: Xy7kQ9", "x".repeat(58));
        let written = format!("{head}=\nmB2z is it\nempty=\nnext=1\n");
        let view = View::of(&written).unwrap();
        assert_eq!(view.text(), format!("{head}mB2z is it\nempty=\nnext=1\n"));
        let at = view.text().find("Xy7").unwrap();
        assert_eq!(&written[view.origin(&(at..at + 10))], "Xy7kQ9=\nmB2z");
        assert!(View::of("GITHUB_KEY=\nOTHER_KEY=\n").is_none());
    }

    #[test]
    fn tokens_that_a_shell_or_a_program_puts_together_are_one() {
        for (written, read) in [
            ("TOKEN=abc123\\\ndef456 x", "TOKEN=abc123def456 x"),
            ("TOKEN=abc123\\\r\ndef456", "TOKEN=abc123def456"),
            ("t = \"abc\" + \"def\";", "t = \"abcdef\";"),
            ("t = 'abc'\n    + 'def'", "t = 'abcdef'"),
        ] {
            let view = View::of(written).unwrap();
            assert_eq!(view.text(), read);
            let at = view.text().find("abc").unwrap();
            let whole = &written[view.origin(&(at..at + read.trim_end_matches(['"', ';', '\'', 'x', ' ']).len() - at))];
            assert!(
                whole.starts_with("abc") && whole.ends_with(if read.contains('4') { "456" } else { "def" }),
                "{whole}"
            );
        }
        for same in ["cargo build \\\n  --release", "a + b", "\"a \" + \" b\"", "1 + '1'", "C++", "\\", "+"] {
            assert!(View::of(same).is_none(), "{same}");
        }
    }

    #[test]
    fn a_token_that_a_line_break_cuts_is_one_and_lines_below_a_token_are_not_part_of_it() {
        let token = concat!("ghp_", "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx");
        for breaks in [vec![20], vec![12, 24], vec![9, 15, 30]] {
            let mut written = token.to_owned();
            breaks.iter().rev().for_each(|at| written.insert_str(*at, "\r\n   "));
            let written = format!("GH_TOKEN={written}\nnext line");
            assert_eq!(View::of(&written).unwrap().text(), format!("GH_TOKEN={token}\nnext line"));
        }
        for same in [format!("{token}\nnext"), format!("see {}\nnext", &token[..20]), "snake_case1\nwords".into()] {
            assert!(View::of(&same).is_none(), "{same}");
        }
    }

    #[test]
    fn a_span_of_the_view_is_brought_back() {
        let written = "ｐａｓｓ：a\u{200b}b\u{feff} ü";
        let view = View::of(written).unwrap();
        assert_eq!(view.text(), "pass:ab ü");
        let span = view.origin(&(5..7));
        assert_eq!(&written[span], "a\u{200b}b\u{feff}");
        assert_eq!(&written[view.origin(&(0..4))], "ｐａｓｓ");
        assert_eq!(view.origin(&(8..10)), written.len() - 2..written.len());
    }
}
