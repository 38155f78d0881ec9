//! Recognises texts that are not in English.

use super::join::Side;

/// The commonest function words of English, sorted. Of the English questions of our development sets, nearly all
/// consist of them to two fifths or more.
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "but", "by", "can", "could", "did", "do", "does", "every", "for", "from", "get", "had", "has", "have",
    "he", "her", "how", "i", "if", "in", "instead", "into", "is", "it", "its", "let", "may", "me", "must", "my",
    "never", "no", "not", "now", "of", "off", "on", "one", "only", "or", "our", "out", "over", "should", "so", "some",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "too", "until", "up", "us",
    "use", "uses", "was", "we", "were", "what", "when", "where", "which", "while", "who", "whose", "why", "will",
    "with", "without", "would", "you", "your",
];
/// A question with a smaller share of function words may be in another language. Notes are often written without them.
const FEW: f32 = 0.25;
const FEW_IN_NOTES: f32 = 0.12;
/// A text with few function words and this number of words with other letters than those of ASCII is not in English. A
/// single one may be a name.
const MARKED: usize = 2;
/// A network that was trained on English cuts words of other languages into more pieces. From this ratio on, a text with
/// few function words is not in English.
const RATIO: f32 = 1.1;

/// False for a text that is probably not in English. If the words do not decide, `ratio` is called. It computes the
/// ratio of the two numbers of pieces: the English network's divided by the multilingual network's.
#[expect(clippy::cast_precision_loss, reason = "only a ratio is needed")]
pub(super) fn is_english(text: &str, side: Side, ratio: impl FnOnce() -> f32) -> bool {
    let (mut all, mut function, mut marked) = (0_usize, 0_usize, 0_usize);
    for word in text.split(|char: char| !char.is_alphabetic()).filter(|word| !word.is_empty()) {
        all += 1;
        marked += if word.is_ascii() { 0 } else { 1 + usize::from(word.chars().any(is_beyond_latin)) };
        function += usize::from(FUNCTION_WORDS.binary_search(&word.to_ascii_lowercase().as_str()).is_ok());
    }
    let few = if side == Side::Question { FEW } else { FEW_IN_NOTES };
    function as f32 >= few * all as f32 || (marked < MARKED && ratio() < RATIO)
}

fn is_beyond_latin(letter: char) -> bool {
    letter >= '\u{250}'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn function_words_show_english() {
        assert!(FUNCTION_WORDS.is_sorted());
        for text in [
            "",
            "which port does staging use?",
            "is Zsófi on call?",
            "kafka topic naming",
            "7070",
            "Zürich office address",
        ] {
            assert!(is_english(text, Side::Question, || 1.0), "{text}");
        }
        for (text, ratio) in [
            ("¿Cuánto cuesta la aplicación?", 0.8),
            ("Wer macht bei uns was", 1.3),
            ("端口是多少", 1.6),
            ("Порт стенда", 2.0),
        ] {
            assert!(!is_english(text, Side::Question, || ratio), "{text}");
        }
    }
}
