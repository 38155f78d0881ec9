//! Providers. If the name of a provider precedes a random text, the text may be a token of this provider.

use tessera_tables::{section, words};

/// Whether a text is the name of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Provider {
    /// None.
    None,
    /// The name is also an ordinary word, or often occurs near hashes of commits and images. A word for a credential is
    /// needed.
    Word,
    /// The name has no other meaning, so a token may follow it directly.
    Telling,
}

/// Returns the provider with a name, which must be in lowercase.
pub(super) fn named(name: &[u8]) -> Provider {
    let (place, bit) = mark(name);
    if MARKS.get(place).is_none_or(|marks| marks & bit == 0) {
        return Provider::None;
    }
    let is_in = |names: &[&str]| names.binary_search_by(|known| known.as_bytes().cmp(name)).is_ok();
    match () {
        () if is_in(NAMES) => Provider::Telling,
        () if is_in(WORDS) => Provider::Word,
        () => Provider::None,
    }
}

/// A table with one bit per name of a provider. It quickly rejects most words.
static MARKS: [u64; PLACES] = marks();
const PLACES: usize = 256;

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
const fn marks() -> [u64; PLACES] {
    let mut marks = [0; PLACES];
    let lists = [NAMES, WORDS];
    let mut list = 0;
    while list < lists.len() {
        let mut at = 0;
        while at < lists[list].len() {
            let (place, bit) = mark(lists[list][at].as_bytes());
            marks[place] |= bit;
            at += 1;
        }
        list += 1;
    }
    marks
}

/// The position of a name's bit, from its FNV hash.
const fn mark(mut name: &[u8]) -> (usize, u64) {
    let mut hash = 0x811c_9dc5_u32;
    while let [first, rest @ ..] = name {
        hash = (hash ^ *first as u32).wrapping_mul(0x0100_0193);
        name = rest;
    }
    let hash = (hash ^ (hash >> 15)) as usize;
    (hash / 64 % PLACES, 1 << (hash % 64))
}

/// All names.
const PROVIDERS: &str = include_str!("providers.txt");

/// Names without another meaning.
const NAMES: &[&str] = words!(section(PROVIDERS, "telling"));

/// Names that are also ordinary words, or that often occur next to hashes that are not credentials.
const WORDS: &[&str] = words!(section(PROVIDERS, "words"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_told_apart() {
        for names in [NAMES, WORDS] {
            assert!(names.windows(2).all(|pair| pair[0] < pair[1]));
        }
        assert!(WORDS.iter().all(|name| named(name.as_bytes()) == Provider::Word));
        assert!(NAMES.iter().all(|name| named(name.as_bytes()) == Provider::Telling));
        assert_eq!(
            [named(b"datadog"), named(b"commit"), named(b"")],
            [Provider::Telling, Provider::None, Provider::None]
        );
    }
}
