//! What is found: a span of a text, and of what kind it is.

use std::fmt;
use std::ops::Range;

/// What a credential is, in words for a person: `password`, `GitHub token`. Letters, digits, spaces and `.+/-`, at most 40.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(&'static str);

impl Kind {
    /// A kind by its words.
    pub const fn new(words: &'static str) -> Self {
        Self(words)
    }

    /// Its words.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

impl Finding {
    /// True when it shares a byte with a span.
    pub fn overlaps(&self, span: &Range<usize>) -> bool {
        self.span.start < span.end && span.start < self.span.end
    }
}

/// The same, in order, with overlapping ones made one: the longest names it, the earliest of equally long ones.
pub(crate) fn merged(mut found: Vec<Finding>) -> Vec<Finding> {
    found.retain(|finding| !finding.span.is_empty());
    found.sort_by_key(|finding| (finding.span.start, std::cmp::Reverse(finding.span.len())));
    let mut merged: Vec<(Finding, usize)> = Vec::with_capacity(found.len());
    for finding in found {
        match merged.last_mut() {
            Some((last, longest)) if last.overlaps(&finding.span) => {
                last.span.end = last.span.end.max(finding.span.end);
                if finding.span.len() > *longest {
                    (last.kind, *longest) = (finding.kind, finding.span.len());
                }
            }
            _ => {
                let length = finding.span.len();
                merged.push((finding, length));
            }
        }
    }
    merged.into_iter().map(|(finding, _)| finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_one_and_is_called_by_the_longest() {
        let found = |start, end, kind| Finding { span: start..end, kind: Kind::new(kind) };
        let all = vec![found(9, 12, "c"), found(0, 4, "a"), found(3, 9, "b"), found(5, 5, "none")];
        assert_eq!(merged(all), [found(0, 9, "b"), found(9, 12, "c")]);
    }
}
