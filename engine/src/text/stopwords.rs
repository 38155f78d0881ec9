//! English function words that say nothing of what a text is about.

use tessera_tables::words;

/// Sorted, folded. Contractions stand in full, as the tokenizer keeps them whole.
const STOP_WORDS: &[&str] = words!(include_str!("stopwords.txt"));

/// True for a folded word that is dropped from a query while anything else is left.
pub fn is_stop_word(folded: &str) -> bool {
    STOP_WORDS.binary_search(&folded).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_the_search_finds_every_word() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
        assert!(!is_stop_word("rust"));
    }
}
