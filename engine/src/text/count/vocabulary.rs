//! The table that counting reads: every token of the vocabulary with its rank.
//!
//! `tokens.bin` is made by `engine/tests/counter/generate.rs`, whose tests compare it with what would be made now. It is
//! compiled in, needs no alignment, and all its numbers are little-endian on every machine. It is a hash table that is
//! never built: `BUCKETS + 1` places of three bytes, then the entries. The place of bucket *b* says where its entries
//! begin, the next place where they end. An entry is the token's length (1 byte), its rank (3 bytes) and its bytes; a
//! token lies in the bucket that the low bits of its XXH3 hash name.
//!
//! `pairs.bin` holds the ranks of the tokens of two bytes again, three bytes each at three times the number that the two
//! bytes make: every merging of a piece begins with all its pairs.

use xxhash_rust::xxh3::xxh3_64;

static TOKENS: &[u8] = include_bytes!("tokens.bin");
static PAIRS: &[u8] = include_bytes!("pairs.bin");

/// Buckets of the vocabulary: a power of two, about two thirds of the number of tokens.
const BUCKETS: u64 = 1 << 17;
/// Bytes of the longest token.
const LONGEST: usize = 128;

/// What stands for no rank among the pairs.
const NO_RANK: u32 = 0xff_ffff;

/// The rank of a token; `None` for bytes that are no token.
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
