//! The best passage of a text that is too long to show in full, by its words and its embedding.

use std::ops::Range;

use crate::embedding::{Embedding, Vector, passages_of};
use crate::pack::{Passage, Row, passage_json_line, passage_line};
use crate::text::{TokenKind, tokenize};

/// A run of passages and its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub lines: String,
    pub tokens: u32,
}

/// How passages are shown, with the costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// One line of text each.
    Text,
    /// Each passage is one JSON string, and commas are on separate lines, so that token counts can be added.
    Json,
}

/// Tokens of a comma on a separate line.
const COMMA_TOKENS: u32 = 1;

impl Lines {
    fn cost(self, passage: &Passage) -> u32 {
        match (self, passage.tokens) {
            (Self::Text, tokens) => tokens,
            (Self::Json, 0) => 0,
            (Self::Json, _) => passage.json + COMMA_TOKENS,
        }
    }

    /// In JSON, each passage is charged with a comma, but the last passage has none. So the tokens of one comma are
    /// added to the available tokens. In text, the number of available tokens stays the same.
    fn room(self, room: u32) -> u32 {
        match self {
            Self::Text => room,
            Self::Json => room + COMMA_TOKENS,
        }
    }

    fn show(self, texts: &[&str], tokens: u32) -> Excerpt {
        match self {
            Self::Text => Excerpt { lines: texts.iter().map(|text| passage_line(text)).collect(), tokens },
            Self::Json => {
                let lines = texts.iter().map(|text| passage_json_line(text)).filter(|line| !line.is_empty());
                let lines = lines.collect::<Vec<_>>().join(",\n");
                Excerpt { lines, tokens: tokens.saturating_sub(COMMA_TOKENS) }
            }
        }
    }
}

/// What the best passage should be about.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    /// Terms in byte order, with their values.
    pub terms: &'a [(String, f64)],
    /// The embedding of the question, if known.
    pub meant: Option<&'a Vector>,
}

/// If another passage of the excerpt already contains a term, the term has only this weight in a passage.
const SAID_AGAIN: f64 = 0.1;
/// The maximum number of terms and of embedded passages that are considered. A piece has one bit for each.
const MOST_TERMS: usize = 64;
const MOST_MEANT: usize = 64;
/// The range of similarity. The two similarities to the question between which a passage gains weight. A passage has no
/// weight up to the first. From the second one on, it counts as much as all words of the question.
const NEAR: Range<f64> = 0.14..0.56;

/// The best run of neighbouring passages that fits into `room`, by its terms and by the similarity of its passages. Of
/// equally good runs, the shortest is chosen, and of equally short ones the earliest. `None` if no relevant passage
/// fits.
pub(super) fn best_excerpt(row: &Row, about: About<'_>, lines: Lines, room: u32) -> Option<Excerpt> {
    let texts = texts_of(row);
    let terms = about.terms.get(..about.terms.len().min(MOST_TERMS)).unwrap_or_default();
    let mut weights: Vec<f64> = terms.iter().map(|(_, weight)| *weight).collect();
    let meant = about.meant.map(|meant| meant_in(row, meant)).unwrap_or_default();
    let all = weights.iter().sum::<f64>();
    let whole = if all > 0.0 { all } else { 1.0 };
    weights.extend(meant.iter().map(|(_, near)| whole * share_of(*near)));
    let mut at = 0;
    let pieces = texts.iter().zip(&row.costs.passages).map(|(text, passage)| {
        let middle = at + text.len() / 2;
        at += text.len();
        let mut piece = Piece::of(text, lines.cost(passage), terms);
        if passage.tokens == 0 {
            return Piece::default();
        }
        let passage = meant.iter().position(|(range, near)| range.contains(&middle) && *near > NEAR.start);
        piece.held |= passage.map_or(0, |passage| bit(terms.len() + passage));
        piece
    });
    let pieces: Vec<Piece> = pieces.collect();
    let piece = |at: usize| pieces.get(at).copied().unwrap_or_default();
    let run = best_run(pieces.len(), piece, &weights, lines.room(room))?;
    Some(lines.show(texts.get(run.start..run.end)?, run.tokens))
}

/// As much of the beginning of a text as fits into `room`. `None` if nothing fits.
pub(super) fn opening(row: &Row, lines: Lines, room: u32) -> Option<Excerpt> {
    let mut tokens = 0_u32;
    let costs = row.costs.passages.iter().map(|passage| lines.cost(passage));
    let fitting = costs.take_while(|cost| {
        let next = tokens.saturating_add(*cost);
        let fits = next <= lines.room(room);
        tokens = if fits { next } else { tokens };
        fits
    });
    let count = fitting.count();
    (tokens > 0).then(|| texts_of(row).get(..count).map(|texts| lines.show(texts, tokens)))?
}

/// The passages of a row that have embeddings: their positions, and their similarity to the question. Empty if the
/// embeddings belong to other passages.
fn meant_in(row: &Row, meant: &Vector) -> Vec<(Range<usize>, f64)> {
    let (content, vectors) = (row.memory.content.as_str(), Embedding::vectors(&row.embedding));
    let passages = if vectors.len() == 0 { Vec::new() } else { passages_of(content) };
    if passages.len() != vectors.len() || passages.len() > MOST_MEANT {
        return Vec::new();
    }
    let mut from = 0;
    let near = |(passage, vector): (&str, &[u8])| {
        let start = from + content.get(from..)?.find(passage)?;
        from = start + passage.len();
        Some((start..from, f64::from(meant.similarities_to_bytes(vector))))
    };
    passages.into_iter().zip(vectors).map(near).collect::<Option<_>>().unwrap_or_default()
}

/// Converts a similarity to a number from 0 to 1, on the scale of the share of the question's words.
fn share_of(near: f64) -> f64 {
    ((near - NEAR.start) / (NEAR.end - NEAR.start)).clamp(0.0, 1.0)
}

fn bit(at: usize) -> u128 {
    u32::try_from(at).ok().and_then(|at| 1_u128.checked_shl(at)).unwrap_or(0)
}

/// A piece of the text: its tokens, and a set of bits. There is one bit for each term in the piece, and one bit for the
/// embedded passage around it if this passage is similar to the question.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    tokens: u32,
    held: u128,
}

impl Piece {
    fn of(text: &str, tokens: u32, terms: &[(String, f64)]) -> Self {
        let mut held = 0;
        for token in tokenize(text).iter().filter(|token| token.kind != TokenKind::Stop) {
            if let Ok(at) = terms.binary_search_by(|(term, _)| term.as_str().cmp(&token.term)) {
                held |= bit(at);
            }
        }
        Self { tokens, held }
    }
}

fn texts_of(row: &Row) -> Vec<&str> {
    let mut rest = row.memory.content.as_str();
    let mut texts = Vec::with_capacity(row.costs.passages.len());
    for passage in &row.costs.passages {
        // The passages belong to another text, so nothing can be cut.
        let Some((text, after)) = rest.split_at_checked(passage.bytes as usize) else { return Vec::new() };
        texts.push(text);
        rest = after;
    }
    texts
}

/// The pieces from `start` up to `end` (excluded), and their tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    start: usize,
    end: usize,
    tokens: u32,
}

/// The best run of adjacent pieces, out of `count` pieces. The start and the end of the window only move forwards, so
/// each piece is visited at most twice.
fn best_run(count: usize, piece: impl Fn(usize) -> Piece, weights: &[f64], room: u32) -> Option<Run> {
    let mut window = Window { held: vec![0; weights.len()], ..Window::default() };
    let mut best: Option<(f64, Run)> = None;
    for end in 0..count {
        let added = piece(end);
        window.tokens += u64::from(added.tokens);
        window.end = end + 1;
        let is_telling = added.held != 0;
        window.count(added.held, 1);
        // Pieces at the front are removed if they contain no term, or until the run fits.
        while window.start < window.end && (window.tokens > u64::from(room) || window.opens_blank(&piece)) {
            let left = window.first.take().unwrap_or_else(|| piece(window.start));
            window.tokens -= u64::from(left.tokens);
            window.count(left.held, -1);
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

/// A window of pieces. For each bit, it counts the pieces that have the bit.
#[derive(Default)]
struct Window {
    start: usize,
    end: usize,
    tokens: u64,
    held: Vec<i32>,
    /// The piece at the start of the window, if it was computed.
    first: Option<Piece>,
}

impl Window {
    fn opens_blank(&mut self, piece: &impl Fn(usize) -> Piece) -> bool {
        self.first.get_or_insert_with(|| piece(self.start)).held == 0
    }

    fn count(&mut self, bits: u128, by: i32) {
        for (at, held) in self.held.iter_mut().enumerate() {
            if bits >> at & 1 == 1 {
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
        let held = prop_oneof![3 => Just(0_u128), 2 => 1..8_u128];
        (0..40_u32, held).prop_map(|(tokens, held)| Piece { tokens, held })
    }

    /// For tests: tries every window, and returns the value and the tokens of the best one.
    fn naive(pieces: &[Piece], room: u32) -> Option<(f64, u32)> {
        let mut best: Option<(f64, u32)> = None;
        for start in 0..pieces.len() {
            for end in start..pieces.len() {
                let run = &pieces[start..=end];
                let tokens: u32 = run.iter().map(|piece| piece.tokens).sum();
                let held = |term: usize| run.iter().filter(|piece| piece.held >> term & 1 == 1).count();
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
        let telling = Piece { tokens: 3, held: 1 };
        let blank = Piece { tokens: 0, held: 0 };
        let words_then_lines: Vec<Piece> = [vec![telling; 200], vec![blank; 32_000]].concat();
        let all_blank = vec![blank; 32_768];
        let free: Vec<Piece> = vec![Piece { tokens: 0, held: 1 }; 32_768];
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
