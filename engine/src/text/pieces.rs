//! The smallest pieces of a long text: lines, or sentences of long lines.

use unicode_segmentation::UnicodeSegmentation;

use super::sentences::sentences;

/// Longer lines are cut into sentences.
const LONG_LINE: usize = 120;
/// Maximum bytes of a piece, unless one visible character is longer.
const LONGEST_PIECE: usize = 400;

/// The pieces of a text, in order. Joined together, they are the text.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').flat_map(|line| {
        let cut: Vec<&str> =
            if line.len() > LONG_LINE { sentences(line).map(|(_, sentence)| sentence).collect() } else { vec![line] };
        cut.into_iter().flat_map(halved)
    })
}

/// Cuts a long sentence at words, and a long word between visible characters.
fn halved(sentence: &str) -> Vec<&str> {
    if sentence.len() <= LONGEST_PIECE {
        return vec![sentence];
    }
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut end = 0;
    for word in sentence.split_word_bounds() {
        let parts: Vec<&str> = if word.len() > LONGEST_PIECE { word.graphemes(true).collect() } else { vec![word] };
        for part in parts {
            if end > start && end - start + part.len() > LONGEST_PIECE {
                pieces.extend(sentence.get(start..end));
                start = end;
            }
            end += part.len();
        }
    }
    pieces.extend(sentence.get(start..end).filter(|rest| !rest.is_empty()));
    pieces
}
