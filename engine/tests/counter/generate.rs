//! Makes the tables that counting reads, from the vocabulary of `tiktoken-rs` and the Unicode tables of `regex`.
//! Their layouts are described where they are read: `count/vocabulary.rs` and `classes.rs` in `engine/src/text`.

use std::fs;
use std::path::PathBuf;

use regex::Regex;
use xxhash_rust::xxh3::xxh3_64;

/// Set to 1 by who wants the files written instead of compared.
const WRITE: &str = "TESSERA_WRITE_TABLES";

/// The patterns of the classes, in the order of their numbers from 1 on; a later one is stronger.
const CLASSES: [&str; 7] =
    [r"[\p{Lu}\p{Lt}]+", r"\p{Ll}+", r"[\p{Lm}\p{Lo}]+", r"\p{M}+", r"\p{N}+", r"\s+", r"[\r\n]+"];

/// What is told of a character beside its class, each by a bit.
const FACTS: [(u8, &str); 3] = [(8, r"\p{Lt}+"), (16, r"\d+"), (32, r"\w+")];

const BUCKETS: u64 = 1 << 17;

/// The tokens of the vocabulary, by rank.
fn vocabulary() -> Vec<Vec<u8>> {
    let reference = tiktoken_rs::o200k_base_singleton();
    (0..).map_while(|rank| reference.decode_bytes(&[rank]).ok()).collect()
}

fn three_bytes(number: usize) -> [u8; 3] {
    let [a, b, c, rest @ ..] = number.to_le_bytes();
    assert_eq!(rest, [0; 5], "{number} needs more than three bytes");
    [a, b, c]
}

fn tokens() -> Vec<u8> {
    let mut buckets = vec![Vec::new(); usize::try_from(BUCKETS).unwrap()];
    for (rank, token) in vocabulary().into_iter().enumerate() {
        let bucket: &mut Vec<u8> = &mut buckets[usize::try_from(xxh3_64(&token) % BUCKETS).unwrap()];
        bucket.push(token.len().try_into().unwrap());
        bucket.extend(three_bytes(rank));
        bucket.extend(token);
    }
    let mut table = Vec::new();
    let mut end = (buckets.len() + 1) * 3;
    table.extend(three_bytes(end));
    for bucket in &buckets {
        end += bucket.len();
        table.extend(three_bytes(end));
    }
    table.extend(buckets.concat());
    table
}

fn pairs() -> Vec<u8> {
    let mut table = vec![0xff; 3 << 16];
    for (rank, token) in vocabulary().into_iter().enumerate() {
        if let [first, second] = token[..] {
            let at = usize::from(u16::from_be_bytes([first, second])) * 3;
            table[at..at + 3].copy_from_slice(&three_bytes(rank));
        }
    }
    table
}

fn classes() -> Vec<u8> {
    let every: String = ('\0'..=char::MAX).collect();
    let mut by_code = vec![0_u8; 0x11_0000];
    let all_of = |pattern: &str| {
        let found = Regex::new(pattern).unwrap();
        found.find_iter(&every).flat_map(|found| found.as_str().chars()).map(|found| found as usize).collect::<Vec<_>>()
    };
    for (class, pattern) in (1..).zip(CLASSES) {
        all_of(pattern).into_iter().for_each(|code| by_code[code] = class);
    }
    for (fact, pattern) in FACTS {
        all_of(pattern).into_iter().for_each(|code| by_code[code] |= fact);
    }
    let mut blocks: Vec<&[u8]> = Vec::new();
    let mut table = Vec::new();
    for block in by_code.chunks(256) {
        let known = blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        table.push(u8::try_from(known).unwrap());
    }
    table.extend(blocks.concat());
    table
}

/// What is longer than its budget times this cannot fit (`desk/src/folders/tool.rs`).
#[test]
fn no_token_is_longer_than_128_bytes() {
    assert_eq!(vocabulary().iter().map(Vec::len).max(), Some(128));
}

#[test]
fn the_tables_are_what_is_made_of_the_vocabulary_and_of_unicode() {
    for (name, made) in [("count/tokens.bin", tokens()), ("count/pairs.bin", pairs()), ("classes.bin", classes())] {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/text").join(name);
        if super::setting(WRITE).is_some() {
            fs::write(&path, &made).unwrap();
        }
        let differs = fs::read(&path).unwrap() != made;
        assert!(!differs, "{name} is another: `just token-tables` writes it");
    }
}
