//! The passages of a text that get a vector each.

/// Bytes of a passage, about.
const LONG: usize = 500;
/// Passages of one text, at most.
const MOST: usize = 32;

/// Cuts a text where a line or a sentence ends.
pub fn passages_of(text: &str) -> Vec<&str> {
    let mut passages = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() && passages.len() < MOST {
        if rest.len() <= LONG + LONG / 4 {
            passages.push(rest);
            break;
        }
        let end = rest.floor_char_boundary(LONG);
        let head = rest.get(..end).unwrap_or(rest);
        let cut = head.rfind(['\n', '.', '!', '?']).filter(|at| *at > LONG / 3).map_or(end, |at| at + 1);
        let (passage, after) = rest.split_at(rest.floor_char_boundary(cut.max(1)));
        passages.push(passage.trim());
        rest = after.trim_start();
    }
    passages
}
