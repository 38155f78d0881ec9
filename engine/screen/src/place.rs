//! The placeholder of a removed credential: `[secret s7k4q2: password]`, or `[secret dropped: password]` if its value
//! was discarded.
//!
//! Also defines a finding: a range of a text with its kind.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

const OPENING: &str = "[secret ";
const DROPPED: &str = "dropped";
/// The minimum and maximum length of a secret's name, without its `s`.
const NAME: Range<usize> = 1..17;
const MOST_KIND: usize = 40;

/// The name of a secret: `s`, then lower-case letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// Parses a name.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('s')?;
        let is_name = NAME.contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        is_name.then(|| Self(text.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The placeholder of a credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of the secret; `None` if the value was discarded.
    pub name: Option<Name>,
    /// Its kind; see [`crate::Kind`].
    pub kind: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map_or(DROPPED, Name::as_str);
        write!(f, "{OPENING}{name}: {}]", self.kind)
    }
}

/// The placeholders of a text, in order.
pub fn places(text: &str) -> Vec<(Range<usize>, Place)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(OPENING)) {
        let start = from + at;
        from = start + OPENING.len();
        if let Some((length, place)) = text.get(from..).and_then(place_at) {
            from += length;
            found.push((start..from, place));
        }
    }
    found
}

/// A text with other words instead of its placeholders.
pub fn without_places(text: &str, instead: impl Fn(&Place) -> String) -> Cow<'_, str> {
    let mut without = Cow::Borrowed(text);
    for (span, place) in places(text).into_iter().rev() {
        without.to_mut().replace_range(span, &instead(&place));
    }
    without
}

/// Parses a placeholder after its opening bracket and its first word. Returns the length of this text.
fn place_at(rest: &str) -> Option<(usize, Place)> {
    // Limited, so that a text without an end mark is not searched completely each time.
    let head = rest.as_bytes().iter().take(NAME.end + MOST_KIND + 4).position(|byte| *byte == b']')?;
    let (name, kind) = rest.get(..head)?.split_once(": ")?;
    let name = if name == DROPPED { None } else { Some(Name::parse(name)?) };
    let is_kind = (1..=MOST_KIND).contains(&kind.len())
        && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b" .+/-".contains(&b));
    is_kind.then(|| (head + 1, Place { name, kind: kind.to_owned() }))
}

/// The kind of a credential, in words: `password`, `GitHub token`. The name of a kind contains letters, digits, spaces
/// and `.+/-`, at most 40 characters.
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
    /// Its range in bytes.
    pub span: Range<usize>,
    /// Its kind.
    pub kind: Kind,
}

impl Finding {
    /// True if the finding overlaps with a range.
    pub fn overlaps(&self, span: &Range<usize>) -> bool {
        self.span.start < span.end && span.start < self.span.end
    }
}

/// Sorts the findings, and merges those that overlap. The longest one determines the kind, or the first of equally long
/// ones.
pub fn merged(mut found: Vec<Finding>) -> Vec<Finding> {
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
    fn a_place_is_read_as_it_is_written_and_nothing_else_is_one() {
        for place in [
            Place { name: Name::parse("s7k4q2"), kind: "password".into() },
            Place { name: None, kind: "GitHub token".into() },
        ] {
            let text = format!("ä {place} and {place}.");
            let found = places(&text);
            assert_eq!(found.iter().map(|(_, place)| place).collect::<Vec<_>>(), [&place, &place]);
            assert!(found.iter().all(|(span, _)| text[span.clone()] == place.to_string()));
        }
        for none in ["[secret ", "[secret s: password]", "[secret s7 password]", "[secret S7: x]", "[secret s7: ü]"] {
            assert!(places(none).is_empty(), "{none}");
        }
        assert_eq!(places("[secret [secret s7: pin]").len(), 1);
    }
}

#[cfg(test)]
mod finding_tests {
    use super::*;

    #[test]
    fn what_overlaps_is_one_and_is_called_by_the_longest() {
        let found = |start, end, kind| Finding { span: start..end, kind: Kind::new(kind) };
        let all = vec![found(9, 12, "c"), found(0, 4, "a"), found(3, 9, "b"), found(5, 5, "none")];
        assert_eq!(merged(all), [found(0, 9, "b"), found(9, 12, "c")]);
    }
}
