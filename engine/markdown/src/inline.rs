//! Inline elements: `[[links]]`, which may be nested, and `#tags`, in one pass over the bytes.
//!
//! The Markdown parser also knows links in double brackets, but not nested ones or those with an alias in a table. So
//! this module uses the parser only to find the ranges of code.

use std::ops::Range;

use crate::front::Distinct;
use crate::note::Target;

/// A link in double brackets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// The range of the link with its brackets, and with the `!` of an embedded note.
    pub(crate) at: Range<usize>,
    /// Without its brackets.
    pub(crate) inner: Range<usize>,
    /// True if the note is embedded.
    pub(crate) is_embed: bool,
}

/// The first range that ends after the byte, if it contains the byte.
fn hiding(hidden: &[Range<usize>], at: usize) -> Option<&Range<usize>> {
    hidden.get(hidden.partition_point(|range| range.end <= at)).filter(|range| range.start <= at)
}

/// Code and links as one list without nested ranges.
pub(crate) fn code_and_links(code: &[Range<usize>], links: &[Link]) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = code.iter().cloned().chain(links.iter().map(|link| link.at.clone())).collect();
    all.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for range in all {
        match merged.last_mut().filter(|last| range.start < last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => merged.push(range),
        }
    }
    merged
}

/// Finds the outermost links of a range that end in the same line and are not in code.
pub(crate) fn links(text: &str, span: Range<usize>, hidden: &[Range<usize>]) -> Vec<Link> {
    let bytes = text.as_bytes();
    let byte = |at: usize| if at < span.end { bytes.get(at).copied() } else { None };
    let mut open: Vec<usize> = Vec::new();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut next_hidden = hidden.partition_point(|range| range.end <= span.start);
    let mut at = span.start;
    while let Some(here) = byte(at) {
        while hidden.get(next_hidden).is_some_and(|range| range.end <= at) {
            next_hidden += 1;
        }
        if let Some(range) = hidden.get(next_hidden).filter(|range| range.start <= at) {
            at = range.end;
            continue;
        }
        match here {
            b'\\' => at += 2,
            b'\n' | b'\r' => {
                open.clear();
                at += 1;
            }
            b'[' => {
                let run = (at..span.end).take_while(|next| byte(*next) == Some(b'[')).count();
                open.extend((0..run / 2).map(|pair| at + run % 2 + 2 * pair));
                at += run;
            }
            b']' if byte(at + 1) == Some(b']') && !open.is_empty() => {
                let start = open.pop().unwrap_or(at);
                while found.last().is_some_and(|inner| inner.start >= start) {
                    found.pop();
                }
                found.push(start..at + 2);
                at += 2;
            }
            _ => at += 1,
        }
    }
    found
        .into_iter()
        .map(|at| {
            let is_embed = at.start > span.start && bytes.get(at.start - 1) == Some(&b'!');
            Link { at: at.start - usize::from(is_embed)..at.end, inner: at.start + 2..at.end - 2, is_embed }
        })
        .collect()
}

/// Parses the text in the brackets. Returns `None` if it does not name a note.
pub(crate) fn target(inner: &str) -> Option<Target> {
    let mut inner = inner.trim();
    while let Some(within) = inner.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
        inner = within.trim();
    }
    let (name, alias) = split_alias(inner);
    let name = name.trim();
    let anchor = name.match_indices('#').map(|(at, _)| at).find(|at| {
        // `C#` and `C# notes` are names; a reference to a heading names it.
        name.get(at + 1..).and_then(|rest| rest.chars().next()).is_some_and(|next| !next.is_whitespace())
    });
    let (name, heading) = match anchor {
        Some(at) => (name.get(..at).unwrap_or_default().trim_end(), name.get(at + 1..)),
        None => (name, None),
    };
    let (project, name) = match name.split_once("::") {
        Some((project, rest)) if !project.trim().is_empty() && !rest.trim().is_empty() => {
            (Some(project.trim()), rest.trim())
        }
        _ => (None, name),
    };
    let kept = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    // `[[file:x][shown]]` is a link of another language.
    (!name.is_empty() && !name.contains("][")).then(|| Target {
        name: name.to_owned(),
        project: project.and_then(kept),
        alias: alias.and_then(kept),
        heading: heading.and_then(kept),
    })
}

/// Splits at the first bar outside of inner links; in a table, the bar is escaped.
fn split_alias(inner: &str) -> (&str, Option<&str>) {
    let mut depth = 0_usize;
    for (at, letter) in inner.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                let name = inner.get(..at).unwrap_or_default();
                return (name.strip_suffix('\\').unwrap_or(name), inner.get(at + 1..));
            }
            _ => {}
        }
    }
    (inner, None)
}

/// Finds the visible tags of a range: words that begin with `#`. `#a#b` consists of two tags.
pub(crate) fn tags(text: &str, span: Range<usize>, hidden: &[Range<usize>], list: &mut Distinct) {
    for (at, word) in words(text, span) {
        if word.starts_with('#') && hiding(hidden, at).is_none() {
            for tag in word.split('#').filter_map(tag) {
                list.add(tag);
            }
        }
    }
}

/// The words of a range with their positions.
fn words(text: &str, span: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let start = span.start;
    let mut at = start;
    text.get(span).unwrap_or_default().split(char::is_whitespace).filter_map(move |word| {
        let begins = at;
        at += word.len() + text.get(at + word.len()..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        (!word.is_empty()).then_some((begins, word))
    })
}

/// The tag in a word, without following punctuation. A number alone is not a tag (`#12` is an issue), and neither is
/// code (`#[test]`).
pub(crate) fn tag(word: &str) -> Option<&str> {
    const AFTER: [char; 13] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '"', '\'', '。', '，'];
    const NEVER: [char; 11] = ['[', ']', '(', ')', '{', '}', '<', '>', '"', '`', '\\'];
    let tag = word.trim_end_matches(AFTER);
    let says = tag.chars().any(|letter| letter.is_alphanumeric() && !letter.is_ascii_digit());
    (says && !tag.contains(NEVER)).then_some(tag)
}

/// The tags of running text. Fewer characters can be part of such a tag: `#tag's` is the tag `tag`.
pub(crate) fn running_tags(text: &str, span: Range<usize>, hidden: &[Range<usize>], list: &mut Distinct) {
    for (at, word) in words(text, span) {
        let Some(rest) = word.strip_prefix('#').filter(|_| hiding(hidden, at).is_none()) else { continue };
        for piece in rest.split('#') {
            let is_inside = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/');
            let end = piece.find(|letter| !is_inside(letter)).unwrap_or(piece.len());
            if let Some(tag) = piece.get(..end).and_then(tag) {
                list.add(tag);
            }
        }
    }
}
