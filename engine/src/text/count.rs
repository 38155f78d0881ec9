//! Counts o200k_base tokens exactly, from tables in the program's read-only pages. Nothing is loaded at start-up.

mod merge;
mod remembered;
mod split;
mod vocabulary;

pub use remembered::Remembered;

/// Counts the tokens of a text.
pub trait TokenCounter {
    /// The number of tokens of `text`.
    fn count(&self, text: &str) -> u32;
}

/// The o200k_base encoding.
///
/// Spellings of special tokens such as `<|endoftext|>` count as ordinary text.
#[derive(Debug, Clone, Copy)]
pub struct O200k;

impl TokenCounter for O200k {
    fn count(&self, text: &str) -> u32 {
        split::pieces(text).map(|piece| merge::tokens(piece.as_bytes())).fold(0, u32::saturating_add)
    }
}

/// The tokens of a decimal number: o200k_base cuts digits in groups of three, and each group of one to three digits is
/// one token.
pub fn number_tokens(number: impl Into<u64>) -> u32 {
    let digits = number.into().checked_ilog10().unwrap_or(0) + 1;
    digits.div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_rule() {
        let samples = (0..=1_200).chain([9_999, 10_000, 99_999, 100_000, 999_999, 1_000_000, u32::MAX]);
        for number in samples {
            assert_eq!(number_tokens(number), O200k.count(&number.to_string()), "{number}");
        }
    }
}
