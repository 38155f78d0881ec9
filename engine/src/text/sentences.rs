//! The sentences of a text according to Unicode.

use unicode_segmentation::UnicodeSegmentation;

/// The sentences of a text with their positions. Joined, they are the text.
pub fn sentences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let one = is_one(text).then_some((0, text));
    let several = one.is_none().then(|| text.split_sentence_bound_indices());
    one.into_iter().chain(several.into_iter().flatten())
}

/// True for a text that is certainly one sentence: only its last character may end one. Most notes are a single
/// sentence, and this test is much faster than the Unicode rules.
fn is_one(text: &str) -> bool {
    let ends = |byte: &u8| matches!(byte, b'.' | b'!' | b'?' | b'\n' | b'\r');
    text.is_ascii() && text.as_bytes().split_last().is_some_and(|(_, before)| !before.iter().any(ends))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_of_one_sentence_is_known_without_looking_its_characters_up() {
        for (text, expected) in [("", false), ("uses tabs", true), ("uses tabs.", true), ("a. B", false), ("é", false)]
        {
            assert_eq!(is_one(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn sentences_are_those_of_unicode(text in "[a-cA-C0-2 .!?,:;()'\"\t\r\n\u{b}\u{85}é-]{0,12}|[\\x00-\\x7f]{0,12}|.{0,12}") {
            let expected: Vec<_> = text.split_sentence_bound_indices().collect();
            prop_assert_eq!(sentences(&text).collect::<Vec<_>>(), expected);
        }
    }
}
