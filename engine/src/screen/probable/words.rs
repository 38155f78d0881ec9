//! The first, cheap classifier: the letters of a text. Most ordinary texts end here, before the encoder reads them.

use unicode_normalization::UnicodeNormalization as _;
use xxhash_rust::xxh3::xxh3_64;

/// The number of weights. Each sequence of letters has one of them.
pub const BUCKETS: usize = 1 << 15;
/// The lengths of the sequences, in characters.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=5;

/// The weights of a text: one for each of its sequences of letters, in order and without duplicates. A space stands
/// before and after each word, and `0` for each digit.
pub fn buckets(text: &str) -> Vec<usize> {
    let plain: String =
        text.nfkc().flat_map(char::to_lowercase).map(|c| if c.is_numeric() { '0' } else { c }).collect();
    let mut found = Vec::new();
    for word in plain.split_whitespace() {
        let word = format!(" {word} ");
        let ends: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
        for length in LENGTHS {
            for window in ends.windows(length + 1) {
                if let [start, .., end] = window
                    && let Some(letters) = word.get(*start..*end)
                    && let Ok(hash) = usize::try_from(xxh3_64(letters.as_bytes()) % BUCKETS as u64)
                {
                    found.push(hash);
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
