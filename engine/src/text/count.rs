//! Counting o200k_base tokens: exactly, with a vocabulary that is loaded only to write.

/// Something that counts tokens of a text.
pub trait TokenCounter {
    /// The number of tokens of `text`.
    fn count(&self, text: &str) -> u32;
}

/// The o200k_base encoding. About 27 MB and 50 ms to load, so build it late and drop it early.
///
/// Special-token spellings such as `<|endoftext|>` count as the ordinary text that they are.
pub struct O200k(tiktoken::CoreBpe);

impl O200k {
    /// Loads the vocabulary, which is compiled in.
    pub fn load() -> Self {
        Self(tiktoken::encoding::o200k_base())
    }
}

impl std::fmt::Debug for O200k {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("O200k")
    }
}

impl TokenCounter for O200k {
    fn count(&self, text: &str) -> u32 {
        u32::try_from(self.0.count(text)).unwrap_or(u32::MAX)
    }
}

/// The tokens of a number written in decimal digits: o200k_base cuts digits in threes, and every
/// group of one to three digits is one token.
pub fn number_tokens(number: u32) -> u32 {
    let digits = number.checked_ilog10().unwrap_or(0) + 1;
    digits.div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_rule() {
        let counter = O200k::load();
        let samples = (0..=1_200).chain([9_999, 10_000, 99_999, 100_000, 999_999, 1_000_000, u32::MAX]);
        for number in samples {
            assert_eq!(number_tokens(number), counter.count(&number.to_string()), "{number}");
        }
    }
}
