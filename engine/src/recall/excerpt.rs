//! The best passage of a text that is too long to give in full.

use crate::pack::{Row, TextFrame, passage_line};
use crate::text::{TokenKind, tokenize};

/// A run of passages and its tokens, first line included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub lines: String,
    pub tokens: u32,
}

/// What a term counts in a passage when another passage of the run has it already.
const SAID_AGAIN: f64 = 0.1;

/// The run of neighbouring passages that fits in `room` and holds the most of `terms`; among equals
/// the shortest, then the earliest. `None` if not even one passage with a term fits.
pub(super) fn best_excerpt(row: &Row, terms: &[(String, f64)], room: u32) -> Option<Excerpt> {
    let head = TextFrame::excerpt(row.memory.handle, row.costs.attribution);
    let room = room.checked_sub(head)?;
    let texts = texts_of(row);
    let pieces: Vec<Piece> =
        texts.iter().zip(&row.costs.passages).map(|(text, passage)| Piece::of(text, passage.tokens, terms)).collect();
    let weights: Vec<f64> = terms.iter().take(64).map(|(_, weight)| *weight).collect();
    let run = best_run(pieces.len(), |at| pieces.get(at).copied().unwrap_or_default(), &weights, room)?;
    let lines = texts.get(run.start..run.end)?.iter().map(|text| passage_line(text)).collect();
    Some(Excerpt { lines, tokens: run.tokens + head })
}

/// As much of a text's beginning as fits in `room`. `None` if that is nothing.
pub(super) fn opening(row: &Row, room: u32) -> Option<Excerpt> {
    let head = TextFrame::excerpt(row.memory.handle, row.costs.attribution);
    let room = room.checked_sub(head)?;
    let (mut lines, mut tokens) = (String::new(), 0_u32);
    for (text, passage) in texts_of(row).iter().zip(&row.costs.passages) {
        let next = tokens.saturating_add(passage.tokens);
        if next > room {
            break;
        }
        lines.push_str(&passage_line(text));
        tokens = next;
    }
    (tokens > 0).then(|| Excerpt { lines, tokens: tokens + head })
}

/// A passage: what its line costs, and bits of the terms it holds.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    tokens: u32,
    terms: u64,
}

impl Piece {
    fn of(text: &str, tokens: u32, terms: &[(String, f64)]) -> Self {
        let mut held = 0;
        for token in tokenize(text).iter().filter(|token| token.kind != TokenKind::Stop) {
            if let Ok(at) = terms.binary_search_by(|(term, _)| term.as_str().cmp(&token.term)) {
                held |= 1_u64.checked_shl(u32::try_from(at).unwrap_or(u32::MAX)).unwrap_or(0);
            }
        }
        Self { tokens, terms: held }
    }
}

fn texts_of(row: &Row) -> Vec<&str> {
    let mut rest = row.memory.content.as_str();
    let mut texts = Vec::with_capacity(row.costs.passages.len());
    for passage in &row.costs.passages {
        // Passages of another text: nothing of it can be cut.
        let Some((text, after)) = rest.split_at_checked(passage.bytes as usize) else { return Vec::new() };
        texts.push(text);
        rest = after;
    }
    texts
}

/// Pieces from `start` to before `end`, and their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    start: usize,
    end: usize,
    tokens: u32,
}

/// The best run of `count` pieces. Two ends move over the pieces, both forward only, so that each piece
/// is looked at twice at most, however many of them cost nothing.
fn best_run(count: usize, piece: impl Fn(usize) -> Piece, weights: &[f64], room: u32) -> Option<Run> {
    let mut window = Window { held: vec![0; weights.len()], ..Window::default() };
    let mut best: Option<(f64, Run)> = None;
    for end in 0..count {
        let added = piece(end);
        window.tokens += u64::from(added.tokens);
        window.end = end + 1;
        let is_telling = added.terms != 0;
        window.count(added.terms, 1);
        // A piece without a term in front only costs; what does not fit is given up from the front as well.
        while window.start < window.end && (window.tokens > u64::from(room) || window.opens_blank(&piece)) {
            let left = window.first.take().unwrap_or_else(|| piece(window.start));
            window.tokens -= u64::from(left.tokens);
            window.count(left.terms, -1);
            window.start += 1;
        }
        if !is_telling || window.start == window.end {
            continue;
        }
        let worth = window.worth(weights);
        let run = Run { start: window.start, end: window.end, tokens: u32::try_from(window.tokens).unwrap_or(room) };
        let is_better =
            best.is_none_or(|(most, known)| worth.total_cmp(&most).then(known.tokens.cmp(&run.tokens)).is_gt());
        if worth > 0.0 && is_better {
            best = Some((worth, run));
        }
    }
    best.map(|(_, run)| run)
}

/// A run that is moved over the pieces, with how many of its pieces hold each term.
#[derive(Default)]
struct Window {
    start: usize,
    end: usize,
    tokens: u64,
    held: Vec<i32>,
    /// The piece at `start`, once it was looked at.
    first: Option<Piece>,
}

impl Window {
    fn opens_blank(&mut self, piece: &impl Fn(usize) -> Piece) -> bool {
        self.first.get_or_insert_with(|| piece(self.start)).terms == 0
    }

    fn count(&mut self, terms: u64, by: i32) {
        for (at, held) in self.held.iter_mut().enumerate() {
            if terms >> at & 1 == 1 {
                *held += by;
            }
        }
    }

    fn worth(&self, weights: &[f64]) -> f64 {
        let worth = |(held, weight): (&i32, &f64)| weight * (1.0 + SAID_AGAIN * f64::from(held - 1));
        self.held.iter().zip(weights).filter(|(held, _)| **held > 0).map(worth).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    const WEIGHTS: [f64; 3] = [1.0, 0.7, 0.2];

    fn piece() -> impl Strategy<Value = Piece> {
        let terms = prop_oneof![3 => Just(0_u64), 2 => 1..8_u64];
        (0..40_u32, terms).prop_map(|(tokens, terms)| Piece { tokens, terms })
    }

    /// Every run, looked at one by one: (worth, tokens) of the best.
    fn naive(pieces: &[Piece], room: u32) -> Option<(f64, u32)> {
        let mut best: Option<(f64, u32)> = None;
        for start in 0..pieces.len() {
            for end in start..pieces.len() {
                let run = &pieces[start..=end];
                let tokens: u32 = run.iter().map(|piece| piece.tokens).sum();
                let held = |term: usize| run.iter().filter(|piece| piece.terms >> term & 1 == 1).count();
                let again = |term: usize| f64::from(u32::try_from(held(term)).unwrap() - 1);
                let one = |at: usize| WEIGHTS[at] * (1.0 + SAID_AGAIN * again(at));
                let worth: f64 = (0..WEIGHTS.len()).filter(|at| held(*at) > 0).map(one).sum();
                let is_better =
                    best.is_none_or(|(most, least)| worth.total_cmp(&most).then(least.cmp(&tokens)).is_gt());
                if tokens <= room && worth > 0.0 && is_better {
                    best = Some((worth, tokens));
                }
            }
        }
        best
    }

    proptest! {
        #[test]
        fn the_best_run_is_the_one_that_looking_at_all_finds(
            pieces in prop::collection::vec(piece(), 0..24), room in 0..200_u32,
        ) {
            let run = best_run(pieces.len(), |at| pieces[at], &WEIGHTS, room);
            prop_assert_eq!(run.map(|run| run.tokens), naive(&pieces, room).map(|(_, tokens)| tokens));
            if let Some(run) = run {
                let alone = naive(&pieces[run.start..run.end], room).unwrap();
                prop_assert_eq!(alone, naive(&pieces, room).unwrap());
            }
        }
    }

    #[test]
    fn no_piece_is_looked_at_more_than_twice() {
        let telling = Piece { tokens: 3, terms: 1 };
        let blank = Piece { tokens: 0, terms: 0 };
        let words_then_lines: Vec<Piece> = [vec![telling; 200], vec![blank; 32_000]].concat();
        let all_blank = vec![blank; 32_768];
        let free: Vec<Piece> = vec![Piece { tokens: 0, terms: 1 }; 32_768];
        let mixed: Vec<Piece> = (0..32_768).map(|at| if at % 3 == 0 { telling } else { blank }).collect();
        for (pieces, room) in [(words_then_lines, 300), (all_blank, 300), (free, 0), (mixed, 300)] {
            let looks = Cell::new(0);
            let look = |at: usize| {
                looks.set(looks.get() + 1);
                pieces[at]
            };
            best_run(pieces.len(), look, &WEIGHTS, room);
            assert!(looks.get() <= 2 * pieces.len(), "{} looks at {} pieces", looks.get(), pieces.len());
        }
    }
}
