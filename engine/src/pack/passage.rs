//! Passages: the pieces into which a long text can be cut, with their token counts.

use super::neutral::neutral;
use crate::text::{TokenCounter, pieces};

/// A piece of a text: its length in bytes, and the cost of its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// Length in bytes.
    pub bytes: u32,
    /// Tokens of its line; 0 if nothing is shown.
    pub tokens: u32,
    /// Tokens of its line in JSON; 0 if nothing is shown.
    pub json: u32,
}

impl Passage {
    /// Encodes passages for storage: bytes, tokens and JSON tokens of each, as little-endian u32.
    pub fn encode_all(passages: &[Self]) -> Vec<u8> {
        let numbers = passages.iter().flat_map(|passage| [passage.bytes, passage.tokens, passage.json]);
        numbers.flat_map(u32::to_le_bytes).collect()
    }

    /// Decodes the result of [`Passage::encode_all`].
    pub fn decode_all(bytes: &[u8]) -> Vec<Self> {
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        let passages = bytes.chunks_exact(12).map(|three| three.split_at(4)).map(|(a, rest)| (a, rest.split_at(4)));
        passages
            .map(|(bytes, (tokens, json))| Self { bytes: number(bytes), tokens: number(tokens), json: number(json) })
            .collect()
    }
}

/// Shorter texts are not cut into passages, because they fit into a line.
pub(crate) const CUT_TOKENS: u32 = 40;

/// Cuts a text of `tokens` tokens into passages: lines, or sentences of long lines. A short text has none.
pub(super) fn cut(text: &str, tokens: u32, counter: &impl TokenCounter) -> Vec<Passage> {
    if tokens < CUT_TOKENS {
        return Vec::new();
    }
    let passage = |piece: &str| {
        let bytes = u32::try_from(piece.len()).unwrap_or(0);
        match (line(piece), json_line(piece)) {
            (line, _) if line.is_empty() => Passage { bytes, tokens: 0, json: 0 },
            (line, json) => Passage { bytes, tokens: counter.count(&line), json: counter.count(&json) },
        }
    };
    // A blank piece belongs to the piece before it, so that a text with many empty lines has few pieces.
    pieces(text).map(passage).fold(Vec::new(), |mut kept: Vec<Passage>, next| {
        match kept.last_mut() {
            Some(last) if next.tokens == 0 => last.bytes += next.bytes,
            _ => kept.push(next),
        }
        kept
    })
}

/// The line of a piece: `| text`, or nothing for a blank piece.
pub fn line(piece: &str) -> String {
    match words(piece) {
        words if words.is_empty() => words,
        words => format!("| {words}\n"),
    }
}

/// The line of a piece in JSON: `"text"`, or nothing for a blank piece.
pub fn json_line(piece: &str) -> String {
    match words(piece) {
        words if words.is_empty() => words,
        words => format!("{}\n", serde_json::Value::from(words)),
    }
}

/// The visible text of a piece, in one line.
fn words(piece: &str) -> String {
    neutral(piece).trim().replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Words;
    impl TokenCounter for Words {
        fn count(&self, text: &str) -> u32 {
            u32::try_from(text.split_whitespace().count()).unwrap()
        }
    }

    #[test]
    fn empty_lines_make_no_pieces_of_their_own() {
        let text = format!("{}{}", "word ".repeat(200), "\n".repeat(32_000));
        let passages = cut(&text, CUT_TOKENS, &Words);
        assert!(passages.len() < 10 && passages.iter().all(|passage| passage.tokens > 0), "{}", passages.len());
        assert_eq!(cut(&"\n".repeat(500), CUT_TOKENS, &Words), [Passage { bytes: 500, tokens: 0, json: 0 }]);
    }

    proptest! {
        #[test]
        fn passages_cover_the_text(text in "(\\PC{0,300}\n?){1,8}") {
            let passages = cut(&text, CUT_TOKENS, &Words);
            prop_assert_eq!(passages.iter().map(|p| p.bytes as usize).sum::<usize>(), text.len());
            let mut at = 0;
            for passage in passages {
                at += passage.bytes as usize;
                prop_assert!(text.is_char_boundary(at));
            }
        }
    }
}
