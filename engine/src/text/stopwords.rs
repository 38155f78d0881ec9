//! English function words that say nothing of what a text is about.

/// Sorted, folded. Contractions stand in full, as the tokenizer keeps them whole.
const STOP_WORDS: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "ain't", "all", "am", "an", "and", "any", "are", "aren't",
    "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can",
    "can't", "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "down",
    "during", "each", "few", "for", "from", "further", "had", "hadn't", "has", "hasn't", "have", "haven't",
    "having", "he", "he'd", "he'll", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i",
    "i'd", "i'll", "i'm", "i've", "if", "in", "into", "is", "isn't", "it", "it'd", "it'll", "its", "itself",
    "just", "let", "may", "me", "might", "more", "most", "must", "mustn't", "my", "myself", "no", "nor", "not",
    "now", "of", "off", "on", "once", "only", "or", "other", "our", "ours", "ourselves", "out", "over", "own",
    "shall", "shan't", "she", "she'd", "she'll", "should", "shouldn't", "so", "some", "such", "than", "that",
    "that'd", "that'll", "the", "their", "theirs", "them", "themselves", "then", "there", "these", "they",
    "they'd", "they'll", "they're", "they've", "this", "those", "through", "to", "too", "under", "until", "up",
    "us", "very", "was", "wasn't", "we", "we'd", "we'll", "we're", "we've", "were", "weren't", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "won't", "would", "wouldn't",
    "you", "you'd", "you'll", "you're", "you've", "your", "yours", "yourself", "yourselves",
];

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
