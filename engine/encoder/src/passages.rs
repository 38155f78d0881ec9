//! The passages of a text that get a vector each.

/// Bytes of a passage, about: a hundred words, which is what the encoder reads of it.
const LONG: usize = 500;
/// Bytes at which a text is not yet worth cutting.
const SHORT_ENOUGH: usize = LONG + LONG / 4;
/// A passage is not cut shorter than this.
const LEAST: usize = LONG / 3;
/// Passages of one text, at most: the longest text that may be stored has about as many.
const MOST: usize = 80;

/// Cuts a text where a line ends, else a sentence, else a word; every passage without white space around it. None for a
/// text without words. What is beyond the last of 80 passages gets no vector.
pub fn passages_of(text: &str) -> Vec<&str> {
    let mut passages = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && passages.len() < MOST {
        let end = if rest.len() <= SHORT_ENOUGH { rest.len() } else { end_of_passage(rest) };
        let (passage, after) = rest.split_at(end);
        passages.push(passage.trim());
        rest = after.trim_start();
    }
    passages
}

/// Where the first passage of a long text ends.
fn end_of_passage(text: &str) -> usize {
    let head = text.get(..text.floor_char_boundary(LONG)).unwrap_or(text);
    let line = head.rfind('\n');
    let sentence = || [". ", "! ", "? "].iter().filter_map(|end| head.rfind(end)).max();
    let word = || head.rfind(char::is_whitespace);
    let late = |at: &usize| *at >= LEAST;
    let cut = line.filter(late).or_else(|| sentence().map(|at| at + 1).filter(late)).or_else(|| word().filter(late));
    cut.unwrap_or(head.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_is_cut_where_a_line_ends_else_a_sentence_else_a_word() {
        assert_eq!(passages_of("  one passage\n"), ["one passage"]);
        assert!(passages_of(" \n ").is_empty());
        let (line, sentence) = ("a word ".repeat(40), "Version 1.2 of the parser. ".repeat(30));
        let by_line = format!("{line}\n{sentence}");
        assert_eq!(passages_of(&by_line)[0], line.trim());
        let by_sentence = passages_of(&sentence);
        assert!(by_sentence.len() == 2 && by_sentence.iter().all(|passage| passage.ends_with("parser.")));
        let words = "word ".repeat(300);
        assert!(passages_of(&words).iter().all(|passage| passage.ends_with("word")));
        let endless = "x".repeat(2000);
        assert_eq!(passages_of(&endless).concat(), endless);
        assert_eq!(passages_of(&"é".repeat(100_000)).len(), MOST);
    }

    proptest! {
        #[test]
        fn nothing_but_white_space_is_lost(parts in prop::collection::vec("[a-zé漢. \n]{0,300}", 0..12)) {
            let text = parts.concat();
            let passages = passages_of(&text);
            let solid = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(solid(&passages.concat()), solid(&text));
            prop_assert!(passages.iter().all(|passage| !passage.is_empty() && passage.len() <= SHORT_ENOUGH));
        }
    }
}
