//! The token counter beside `tiktoken-rs`, which the engine does not use: on every character, on random and
//! adversarial texts, and on real ones.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may")]

mod generate;

use std::fs;
use std::path::PathBuf;

use tessera_engine::text::{O200k, TokenCounter};

/// Directories of more texts to compare, divided by colons.
const TEXTS: &str = "TESSERA_COUNTER_TEXTS";
/// Bytes of them that are enough.
const BYTES: &str = "TESSERA_COUNTER_BYTES";

fn expected(text: &str) -> u32 {
    u32::try_from(tiktoken_rs::o200k_base_singleton().count_ordinary(text)).unwrap()
}

fn check(text: &str) {
    let (counted, expected) = (O200k.count(text), expected(text));
    if counted != expected {
        let shown: String = text.chars().take(300).collect();
        panic!("{counted} tokens counted, {expected} expected: {shown:?}");
    }
}

/// Counts many texts as one; if that differs, says which of them does.
fn check_together(texts: &[String]) {
    let whole = texts.concat();
    if O200k.count(&whole) != expected(&whole) {
        texts.iter().for_each(|text| check(text));
        check(&whole);
    }
}

#[test]
fn every_character_counts_alone_and_within_words() {
    let characters: Vec<char> = ('\0'..=char::MAX).collect();
    for some in characters.chunks(64) {
        let texts: Vec<String> = some.iter().map(|c| format!("{c}\n1{c}x{c}X {c}{c}'s")).collect();
        check_together(&texts);
    }
}

/// Pieces of texts that the pattern or the merging could take wrongly.
const PIECES: &[&[&str]] = &[
    &["a", "B", "the", "The", "THE", "ſ", "K", "İ", "ß", "ǅ", "ʰ", "あ", "用户", "서울", "é", "e\u{301}", "ﬁ", "𝒜"],
    &["'s", "'S", "'ſ", "'t", "'re", "'RE", "'rE", "'ve", "'m", "'ll", "'lL", "'d", "'", "''", "’s", "'l", "'r"],
    &["0", "12", "345", "6789", "٣", "Ⅷ", "½", "۲", "𝟘"],
    &[" ", "  ", "\t", "\u{a0}", "\u{2003}", "\u{3000}", "\u{2028}", "\u{85}", "\u{b}", "\u{c}", "\u{1680}"],
    &["\n", "\r", "\r\n", "\n\r", "\n\n", " \n", "\n "],
    &["/", "//", "-", "--", "_", ".", "...", "#", "{", "}", "(", ")", "\"", "`", "|", "*", "€", "→", "<|endoftext|>"],
    &["\u{301}", "\u{300}\u{323}", "\u{20dd}", "\u{fe0f}", "\u{94d}", "\u{e0100}"],
    &["🚀", "👩\u{200d}💻", "🏳\u{fe0f}\u{200d}🌈", "👍🏽", "🇩🇪", "1\u{fe0f}\u{20e3}", "\u{200d}", "\u{200b}"],
    &[
        "\u{d7ff}",
        "\u{e000}",
        "\u{fffd}",
        "\u{fffe}",
        "\u{ffff}",
        "\u{10000}",
        "\u{10ffff}",
        "\0",
        "\u{7f}",
        "\u{feff}",
    ],
];

#[test]
fn random_sequences_of_difficult_pieces_count_alike() {
    let mut random = fastrand::Rng::with_seed(200_000);
    for _ in 0..6_000 {
        let length = random.usize(1..40);
        let mut piece = || {
            let pieces = random.choice(PIECES).unwrap();
            *random.choice(*pieces).unwrap()
        };
        check(&(0..length).map(|_| piece()).collect::<String>());
    }
}

#[test]
fn random_unicode_counts_alike() {
    let mut random = fastrand::Rng::with_seed(16);
    let ranges = ['\u{7f}', '\u{24f}', '\u{6ff}', '\u{d7ff}', '\u{ffff}', char::MAX];
    for _ in 0..3_000 {
        let most = random.choice(ranges).unwrap();
        let length = random.usize(1..80);
        check(&(0..length).map(|_| random.char('\0'..=most)).collect::<String>());
    }
}

#[test]
fn long_runs_count_alike() {
    let repeated = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    for piece in ["a", "A", "あ", "\u{301}", "-", "/", "0", "=-", "ab", "aB", "é", "🚀", "the", "abcdefghij", "Ａ"]
    {
        for bytes in [63, 64, 65, 66, 127, 128, 129, 300, 4_096, 32_768] {
            check(&repeated(piece, bytes));
        }
    }
    for piece in [" ", "\n", "\r\n", "\t", " \n", "\u{3000}", "\u{a0} "] {
        for bytes in [1, 2, 3, 64, 127, 128, 129, 300, 4_096] {
            let run = repeated(piece, bytes);
            [run.clone(), format!("{run}x"), format!("x{run}"), format!("x{run}!\n{run}1")]
                .iter()
                .for_each(|text| check(text));
        }
    }
    let mut random = fastrand::Rng::with_seed(3);
    for letters in [b"ab".as_slice(), b"ACGT", b"etaoinshrdlu", b"0123456789abcdef", b"=-_.*#"] {
        check(&(0..32_768).map(|_| char::from(*random.choice(letters).unwrap())).collect::<String>());
    }
}

#[expect(clippy::disallowed_methods, reason = "a test cannot use the settings of the program")]
fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[test]
fn real_texts_count_alike() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let own = ["README.md", "docs", "fixtures", "engine/src"].map(|name| root.join(name));
    let told = setting(TEXTS).map(|dirs| dirs.split(':').map(PathBuf::from).collect::<Vec<_>>());
    let enough = setting(BYTES).map_or(1_500_000, |bytes| bytes.parse().unwrap());
    let mut waiting = told.unwrap_or_else(|| own.to_vec());
    let (mut texts, mut bytes) = (0, 0);
    while let Some(path) = waiting.pop() {
        if path.is_dir() && !path.is_symlink() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            // No text of a memory is longer, and the reference takes too long for what is.
            for part in text.as_bytes().chunks(64 * 1024).map(String::from_utf8_lossy) {
                check(&part);
                (texts, bytes) = (texts + 1, bytes + part.len());
            }
        }
        if bytes >= enough {
            break;
        }
    }
    println!("{texts} texts of {bytes} bytes count alike");
    assert!(bytes > 500_000, "only {bytes} bytes of text were found");
}
