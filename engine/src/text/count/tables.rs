//! The two tables that counting reads: every token of the vocabulary with its rank, and every character's class.
//!
//! Both are files of bytes that `engine/tests/counter/generate.rs` makes; its tests compare them with what it would
//! make now. They are compiled in, need no alignment, and all their numbers are little-endian on every machine.
//!
//! `tokens.bin` is a hash table that is never built: `BUCKETS + 1` places of three bytes, then the entries. The place
//! of bucket *b* says where its entries begin, the next place where they end. An entry is the token's length (1 byte),
//! its rank (3 bytes) and its bytes; a token lies in the bucket that the low bits of its XXH3 hash name.
//!
//! `classes.bin` has two stages: for each 256 code points the number of their block, then the blocks, one byte for
//! each character. Equal blocks are there once.

use xxhash_rust::xxh3::xxh3_64;

static TOKENS: &[u8] = include_bytes!("tokens.bin");
static CLASSES: &[u8] = include_bytes!("classes.bin");

/// Buckets of the vocabulary: a power of two, about two thirds of the number of tokens.
const BUCKETS: u64 = 1 << 17;
/// Bytes of the longest token.
const LONGEST: usize = 128;
/// Characters of a block of classes.
const BLOCK: usize = 256;
/// Blocks of all code points.
const BLOCKS: usize = 0x11_0000 / BLOCK;

/// What the split pattern asks of a character: the Unicode general categories that it tells apart, and white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// None of the others: punctuation, symbols, controls, unassigned.
    Other,
    /// Letters in upper or title case: Lu, Lt.
    Upper,
    /// Letters in lower case: Ll.
    Lower,
    /// Letters without case: Lm, Lo.
    Letter,
    /// Combining marks: M.
    Mark,
    /// Digits and other numbers: N.
    Number,
    /// White space that breaks no line by `[\r\n]`.
    Space,
    /// `\r` and `\n`.
    Break,
}

/// The class of a character.
pub(super) fn class(character: char) -> Class {
    let code = character as usize;
    let of_code = || {
        let block = usize::from(*CLASSES.get(code / BLOCK)?);
        CLASSES.get(BLOCKS + block * BLOCK + code % BLOCK).copied()
    };
    match of_code().unwrap_or(0) {
        1 => Class::Upper,
        2 => Class::Lower,
        3 => Class::Letter,
        4 => Class::Mark,
        5 => Class::Number,
        6 => Class::Space,
        7 => Class::Break,
        _ => Class::Other,
    }
}

/// The rank of a token; `None` for bytes that are no token.
pub(super) fn rank(token: &[u8]) -> Option<u32> {
    if token.len() > LONGEST {
        return None;
    }
    let bucket = usize::try_from(xxh3_64(token) % BUCKETS).ok()? * 3;
    let (&[a, b, c, d, e, f], _) = TOKENS.get(bucket..)?.split_first_chunk()?;
    let mut entries = TOKENS.get(number([a, b, c]) as usize..number([d, e, f]) as usize)?;
    while let Some((&[length, a, b, c], rest)) = entries.split_first_chunk() {
        let (known, rest) = rest.split_at_checked(usize::from(length))?;
        if known == token {
            return Some(number([a, b, c]));
        }
        entries = rest;
    }
    None
}

fn number([a, b, c]: [u8; 3]) -> u32 {
    u32::from_le_bytes([a, b, c, 0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_token_of_its_own() {
        let mut ranks: Vec<u32> = (0..=u8::MAX).map(|byte| rank(&[byte]).unwrap()).collect();
        ranks.sort_unstable();
        assert_eq!(ranks, (0..256).collect::<Vec<u32>>());
    }

    #[test]
    fn tokens_are_found_by_their_bytes_and_nothing_else_is() {
        assert_eq!(rank(b"!"), Some(0));
        assert_eq!(rank(b" cocos"), Some(199_997));
        assert!(rank(&[b' '; LONGEST]).is_some(), "the longest token is one");
        for bytes in ["", " cocoss", " tessera", &" ".repeat(LONGEST + 1)] {
            assert_eq!(rank(bytes.as_bytes()), None, "{bytes}");
        }
    }

    #[test]
    fn classes_are_those_of_unicode() {
        let classes = "aAǅʰあ\u{301}٣ \r\u{a0}\u{2028}'🚀\u{200d}\u{10ffff}".chars().map(class);
        use Class::{Break, Letter, Lower, Mark, Number, Other, Space, Upper};
        let expected =
            [Lower, Upper, Upper, Letter, Letter, Mark, Number, Space, Break, Space, Space, Other, Other, Other, Other];
        assert_eq!(classes.collect::<Vec<_>>(), expected);
    }
}
