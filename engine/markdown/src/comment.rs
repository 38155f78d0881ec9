//! Finds Obsidian's comments (`%%comment%%`), which no Markdown parser supports. Comments are found and overwritten
//! before the text is parsed.
//!
//! Also finds the line of a byte. Only `\n` ends a line, as in all file views.

use std::borrow::Cow;
use std::ops::Range;

const MARK: &str = "%%";

/// Finds the comments of a text. Comments in code are ignored. A comment at the beginning of a line may have several
/// lines; any other comment must end in the same line.
pub(crate) fn find(text: &str, base: usize, code: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_code = |at: usize| {
        let next = code.partition_point(|range| range.end <= at);
        code.get(next).is_some_and(|range| range.start <= at)
    };
    let is_mark = |at: &usize| *at >= base && !is_code(*at);
    let marks: Vec<usize> = text.match_indices(MARK).map(|(at, _)| at).filter(is_mark).collect();
    let line_ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
    let line_of = |at: usize| line_ends.partition_point(|end| *end < at);
    let mut found = Vec::new();
    let mut marks = marks.into_iter().peekable();
    while let Some(open) = marks.next() {
        let line = line_of(open);
        let start = line.checked_sub(1).and_then(|before| line_ends.get(before)).map_or(0, |end| end + 1);
        let begins_line = text.get(start..open).is_some_and(|before| before.trim().is_empty());
        if let Some(close) = marks.next_if(|close| begins_line || line_of(*close) == line) {
            found.push(open..close + MARK.len());
        }
    }
    found
}

/// Overwrites comments with the same number of bytes. It writes spaces. If text follows in the same line, it writes a
/// letter, so that the line does not become code.
pub(crate) fn painted<'a>(text: &'a str, comments: &[Range<usize>]) -> Cow<'a, str> {
    if comments.is_empty() {
        return Cow::Borrowed(text);
    }
    let follows = followed(text, comments);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (comment, follows) in comments.iter().zip(follows) {
        out.push_str(text.get(done..comment.start).unwrap_or_default());
        let inside = text.get(comment.clone()).unwrap_or_default();
        let last_line = inside.rfind('\n').map_or(0, |at| at + 1);
        for (at, byte) in inside.bytes().enumerate() {
            out.push(match byte {
                b'\n' | b'\r' => char::from(byte),
                _ if follows && at >= last_line => 'x',
                _ => ' ',
            });
        }
        done = comment.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// For each comment, true if other text than comments follows in its line.
fn followed(text: &str, comments: &[Range<usize>]) -> Vec<bool> {
    let mut follows = vec![false; comments.len()];
    let mut next: Option<(usize, bool)> = None;
    for (comment, follows) in comments.iter().zip(&mut follows).rev() {
        let (end, is_followed) = next.unwrap_or((text.len(), false));
        let between = text.get(comment.end..end).unwrap_or_default().trim_start_matches([' ', '\t']);
        *follows = match between.chars().next() {
            None => is_followed,
            Some(letter) => letter != '\n' && letter != '\r',
        };
        next = Some((comment.start, *follows));
    }
    follows
}

/// The starts of the lines of a text.
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    /// Finds the lines of a text.
    pub(crate) fn of(text: &str) -> Self {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after).collect() }
    }

    /// The line number of a byte, from 1.
    pub(crate) fn number(&self, at: usize) -> u32 {
        u32::try_from(self.starts.partition_point(|start| *start <= at)).unwrap_or(u32::MAX).max(1)
    }

    /// The first and the last line of a range.
    pub(crate) fn span(&self, span: &Range<usize>) -> (u32, u32) {
        (self.number(span.start), self.number(span.end.saturating_sub(1).max(span.start)))
    }
}
