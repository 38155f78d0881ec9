//! The best passage of a text that is too long to give in full.

use crate::pack::{Row, TextFrame, passage_line};
use crate::text::{TokenKind, tokenize};

/// A run of passages and its tokens, first line included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub lines: String,
    pub tokens: u32,
}

/// The run of neighbouring passages that fits in `room` and holds the most of `terms`; among equals
/// the shortest, then the earliest. `None` if not even one passage with a term fits.
pub(super) fn best_excerpt(row: &Row, terms: &[(String, f64)], room: u32) -> Option<Excerpt> {
    let room = room.checked_sub(TextFrame::excerpt(row.memory.handle))?;
    let pieces = pieces_of(row, terms);
    let mut best: Option<(f64, usize, usize, u32)> = None;
    for start in 0..pieces.len() {
        let (mut tokens, mut worth, mut held) = (0_u32, 0.0, 0_u64);
        for (end, piece) in pieces.iter().enumerate().skip(start) {
            tokens += piece.tokens;
            if tokens > room {
                break;
            }
            worth += weight_of(piece.terms & !held, terms) + 0.1 * weight_of(piece.terms & held, terms);
            held |= piece.terms;
            let is_better =
                best.is_none_or(|(most, _, _, least)| worth.total_cmp(&most).then(least.cmp(&tokens)).is_gt());
            if worth > 0.0 && is_better {
                best = Some((worth, start, end, tokens));
            }
        }
    }
    let (_, start, end, tokens) = best?;
    let lines = pieces.get(start..=end)?.iter().map(|piece| passage_line(piece.text)).collect();
    Some(Excerpt { lines, tokens: tokens + TextFrame::excerpt(row.memory.handle) })
}

struct Piece<'a> {
    text: &'a str,
    tokens: u32,
    /// Bits of the terms it holds.
    terms: u64,
}

fn pieces_of<'a>(row: &'a Row, terms: &[(String, f64)]) -> Vec<Piece<'a>> {
    let mut rest = row.memory.content.as_str();
    let mut pieces = Vec::with_capacity(row.costs.passages.len());
    for passage in &row.costs.passages {
        let Some((text, after)) = rest.split_at_checked(passage.bytes as usize) else { return Vec::new() };
        let mut held = 0;
        for token in tokenize(text).iter().filter(|token| token.kind != TokenKind::Stop) {
            if let Ok(at) = terms.binary_search_by(|(term, _)| term.as_str().cmp(&token.term)) {
                held |= 1_u64.checked_shl(u32::try_from(at).unwrap_or(u32::MAX)).unwrap_or(0);
            }
        }
        pieces.push(Piece { text, tokens: passage.tokens, terms: held });
        rest = after;
    }
    pieces
}

fn weight_of(held: u64, terms: &[(String, f64)]) -> f64 {
    terms.iter().take(64).enumerate().filter(|(at, _)| held >> at & 1 == 1).map(|(_, (_, weight))| weight).sum()
}
