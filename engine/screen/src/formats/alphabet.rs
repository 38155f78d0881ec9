//! The alphabets of tokens. In a pattern, a letter stands for an alphabet.

/// An alphabet, as one bit of [`CLASSES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Class(u32);

impl Class {
    /// True for a byte of the set.
    pub(super) fn holds(self, byte: u8) -> bool {
        CLASSES.get(usize::from(byte)).is_some_and(|classes| classes & self.0 != 0)
    }

    /// Returns the alphabet for a letter of a pattern.
    pub(super) fn named(letter: u8) -> Option<Self> {
        ALPHABETS.iter().position(|(name, _)| *name == letter).map(|at| Self(1 << at))
    }

    /// The number of consecutive bytes from a position that belong to the alphabet, up to a maximum.
    pub(super) fn run(self, bytes: &[u8], from: usize, most: usize) -> usize {
        counted(bytes.iter().skip(from).take(most).take_while(|byte| self.holds(**byte)).count())
    }

    /// Counts the consecutive bytes of the set before a position, up to `most`.
    pub(super) fn run_before(self, bytes: &[u8], end: usize, most: usize) -> usize {
        let head = bytes.get(..end).unwrap_or_default();
        counted(head.iter().rev().take(most).take_while(|byte| self.holds(**byte)).count())
    }
}

/// The digits, letters and other characters of an alphabet.
struct Alphabet {
    digits: bool,
    lower: Option<u8>,
    upper: Option<u8>,
    more: &'static [u8],
}

const fn of(digits: bool, lower: Option<u8>, upper: Option<u8>, more: &'static [u8]) -> Alphabet {
    Alphabet { digits, lower, upper, more }
}

const Z: Option<u8> = Some(b'z');
const UPPER_Z: Option<u8> = Some(b'Z');

/// The letters of a pattern and their sets. An alphabet contains the letters from the first letter to the given one.
const ALPHABETS: [(u8, Alphabet); 19] = [
    (b'd', of(true, None, None, b"")),
    (b'h', of(true, Some(b'f'), None, b"")),
    (b'H', of(true, Some(b'f'), Some(b'F'), b"")),
    (b'a', of(false, Z, None, b"")),
    (b'l', of(true, Z, None, b"")),
    (b'u', of(true, None, UPPER_Z, b"")),
    (b'k', of(false, None, UPPER_Z, b"234567")),
    (b'w', of(true, Z, UPPER_Z, b"")),
    (b'x', of(true, Z, UPPER_Z, b"_")),
    (b's', of(true, Z, UPPER_Z, b"_-")),
    (b'e', of(true, Z, UPPER_Z, b"_-=")),
    (b'b', of(true, Z, UPPER_Z, b"+/=")),
    (b'v', of(true, Z, UPPER_Z, b"./")),
    (b't', of(true, Z, UPPER_Z, b"_-.")),
    (b'y', of(true, Z, UPPER_Z, b"_-.~")),
    (b'z', of(true, Z, UPPER_Z, b"_-.=")),
    (b'j', of(true, Z, UPPER_Z, b"_-=/\\")),
    (b'p', of(true, Z, UPPER_Z, b"!#$%&()*+,-./:;=?@[]^_{|}~")),
    (b'g', of(true, Z, UPPER_Z, b"_-.~+/=%")),
];

/// For each byte, its sets.
static CLASSES: [u32; 256] = classes();

#[expect(clippy::indexing_slicing, reason = "evaluated at compile time: a wrong index is a compile error")]
const fn classes() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < ALPHABETS.len() {
        let alphabet = &ALPHABETS[at].1;
        let mut letter = 0_u8;
        while letter < 128 {
            let mut holds = alphabet.digits && letter.is_ascii_digit();
            if let Some(last) = alphabet.lower {
                holds |= letter.is_ascii_lowercase() && letter <= last;
            }
            if let Some(last) = alphabet.upper {
                holds |= letter.is_ascii_uppercase() && letter <= last;
            }
            let mut extra = 0;
            while extra < alphabet.more.len() {
                holds |= alphabet.more[extra] == letter;
                extra += 1;
            }
            if holds {
                table[letter as usize] |= 1 << at;
            }
            letter += 1;
        }
        at += 1;
    }
    table
}

/// True if a token may begin here: at the start, after a character that is not a letter, digit or underscore, and after
/// an escaped line end or tab.
pub(super) fn may_begin(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| bytes.get(at)) else { return true };
    let second = at.checked_sub(2).and_then(|at| bytes.get(at));
    match before {
        // After the dot of a file name follows its extension.
        b'.' => second.is_none_or(|second| !second.is_ascii_alphanumeric()),
        b'n' | b'r' | b't' => second == Some(&b'\\'),
        // A plus sign occurs inside encoded bytes.
        _ => !before.is_ascii_alphanumeric() && !matches!(before, b'_' | b'+'),
    }
}

/// True if a token may end here: at the end, or before a character that is not an ASCII letter, digit, underscore or
/// plus sign.
pub(super) fn may_end(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|after| !after.is_ascii_alphanumeric() && !matches!(after, b'_' | b'+'))
}

/// Returns the number of visited bytes. In tests, counts the visited bytes, to check that the time is linear.
#[cfg(not(test))]
pub(super) const fn counted(bytes: usize) -> usize {
    bytes
}

#[cfg(test)]
thread_local! {
    /// Bytes visited by this thread.
    pub(super) static LOOKED_AT: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
pub(super) fn counted(bytes: usize) -> usize {
    LOOKED_AT.set(LOOKED_AT.get() + bytes + 1);
    bytes
}
