//! The vocabulary: every token with its rank.
//!
//! `engine/tests/counter/generate.rs` creates `tokens.bin`, and its tests compare the file with a new one. The file is
//! compiled in and needs no alignment, and all its numbers are little-endian. The file is a hash table that needs no
//! preparation: `BUCKETS + 1` offsets of three bytes, then the entries. The offset of bucket *b* is the start of its
//! entries, and the next offset is their end. An entry has the token's length (1 byte), its rank (3 bytes) and its
//! bytes. The low bits of the XXH3 hash of a token determine its bucket.
//!
//! `pairs.bin` has the ranks of all two-byte tokens, three bytes each, indexed by the two bytes. The file exists
//! because the encoder first looks up the rank of every pair of neighbouring bytes in a piece.

use xxhash_rust::xxh3::xxh3_64;

static TOKENS: &[u8] = include_bytes!("tokens.bin");
static PAIRS: &[u8] = include_bytes!("pairs.bin");

/// Buckets of the vocabulary: a power of two, about two thirds of the number of tokens.
const BUCKETS: u64 = 1 << 17;
/// Bytes of the longest token.
const LONGEST: usize = 128;

/// The entry of a pair that has no rank.
const NO_RANK: u32 = 0xff_ffff;

/// The rank of a token; `None` if the bytes are not a token.
pub(super) fn rank(token: &[u8]) -> Option<u32> {
    if let [first, second] = *token {
        let (&pair, _) = PAIRS.get(usize::from(u16::from_be_bytes([first, second])) * 3..)?.split_first_chunk()?;
        return Some(number(pair)).filter(|rank| *rank != NO_RANK);
    }
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
}
