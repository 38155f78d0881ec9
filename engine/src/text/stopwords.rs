//! English function words, which say nothing about the subject of a text.

use tessera_tables::words;

/// Sorted and folded. The list contains contractions such as `don't`, because the tokenizer keeps them.
const STOP_WORDS: &[&str] = words!(include_str!("stopwords.txt"));

/// True for a folded word that is dropped from a query if other words remain.
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
