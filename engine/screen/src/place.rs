//! The place of a credential that was taken out: `[secret s7k4q: password]`, or `[secret dropped: password]` where its
//! value was not kept.

use std::fmt;
use std::ops::Range;

const OPENING: &str = "[secret ";
const DROPPED: &str = "dropped";
/// Characters of a name beside its `s`, least and most.
const NAME: Range<usize> = 1..17;
const MOST_KIND: usize = 40;

/// The name of a secret: `s`, then small letters and digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

impl Name {
    /// A name, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix('s')?;
        let is_name = NAME.contains(&rest.len()) && rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        is_name.then(|| Self(text.to_owned()))
    }

    /// As written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What stands in a text where a credential stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its name; `None` where the value was not kept.
    pub name: Option<Name>,
    /// What it is: see [`crate::Kind`].
    pub kind: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_ref().map_or(DROPPED, Name::as_str);
        write!(f, "{OPENING}{name}: {}]", self.kind)
    }
}

/// The places of a text, in order.
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

/// The place that begins a text, after its opening, and the bytes of the rest of it.
fn place_at(rest: &str) -> Option<(usize, Place)> {
    // No place is longer: a text without an end to it is not searched to its end each time.
    let head = rest.as_bytes().iter().take(NAME.end + MOST_KIND + 4).position(|byte| *byte == b']')?;
    let (name, kind) = rest.get(..head)?.split_once(": ")?;
    let name = if name == DROPPED { None } else { Some(Name::parse(name)?) };
    let is_kind = (1..=MOST_KIND).contains(&kind.len())
        && kind.bytes().all(|b| b.is_ascii_alphanumeric() || b" .+/-".contains(&b));
    is_kind.then(|| (head + 1, Place { name, kind: kind.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_read_as_it_is_written_and_nothing_else_is_one() {
        for place in [
            Place { name: Name::parse("s7k4q"), kind: "password".into() },
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
