//! Byte pair encoding of one piece: merges neighbouring parts until no two of them form a token, and counts the rest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::rank;

/// Pieces up to this many bytes are merged on the stack, because scanning a few parts repeatedly is faster than keeping
/// them sorted.
const SHORT: usize = 64;

/// A part of the piece; each part is one token.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// Its start.
    start: usize,
    /// The rank of the token that this part and the next one form together.
    rank: Option<u32>,
}

/// The number of tokens of a piece.
pub(super) fn tokens(piece: &[u8]) -> u32 {
    let count = match piece.len() {
        0 => 0,
        _ if rank(piece).is_some() => 1,
        1..=SHORT => short(piece),
        _ => long(piece),
    };
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The rank of part of a piece, if that part is a token.
fn rank_of(piece: &[u8], start: usize, end: usize) -> Option<u32> {
    rank(piece.get(start..end)?)
}

/// Merges the pair with the lowest rank, or the first of several such pairs, until no pair is left.
fn short(piece: &[u8]) -> usize {
    let mut space = [Part::default(); SHORT];
    let mut parts = space.get_mut(..piece.len()).unwrap_or_default();
    for (start, part) in parts.iter_mut().enumerate() {
        *part = Part { start, rank: rank_of(piece, start, start + 2) };
    }
    loop {
        let ranked = parts.iter().enumerate().filter_map(|(at, part)| Some((part.rank?, at)));
        let Some((_, at)) = ranked.min() else { return parts.len() };
        parts.copy_within(at + 2.., at + 1);
        let Some((_, left)) = std::mem::take(&mut parts).split_last_mut() else { return 0 };
        parts = left;
        for at in [at.checked_sub(1), Some(at)].into_iter().flatten() {
            let end = parts.get(at + 2).map_or(piece.len(), |part| part.start);
            let has_next = at + 1 < parts.len();
            if let Some(part) = parts.get_mut(at) {
                part.rank = if has_next { rank_of(piece, part.start, end) } else { None };
            }
        }
    }
}

/// The same with a heap of pairs. A piece may be as long as a text, so its processing must not take quadratic time.
fn long(piece: &[u8]) -> usize {
    let mut parts = Chain::of(piece);
    let mut waiting: BinaryHeap<Reverse<(u32, usize)>> =
        parts.links.iter().enumerate().filter_map(|(start, link)| Some(Reverse((link.rank?, start)))).collect();
    let mut count = piece.len();
    while let Some(Reverse((rank, start))) = waiting.pop() {
        // A pair whose parts have changed since has another rank, or none.
        if parts.links.get(start).and_then(|link| link.rank) != Some(rank) {
            continue;
        }
        let Some(changed) = parts.merge(start) else { break };
        count -= 1;
        for start in changed.into_iter().flatten() {
            let rank = parts.links.get(start).and_then(|link| link.rank);
            waiting.extend(rank.map(|rank| Reverse((rank, start))));
        }
    }
    count
}

/// The parts of a long piece, each linked with its neighbours.
struct Chain<'a> {
    piece: &'a [u8],
    /// One entry per byte of the piece. Entries inside a part are unused.
    links: Vec<Link>,
}

/// The part that begins at a byte.
#[derive(Clone, Copy)]
struct Link {
    /// The start of the previous part.
    previous: Option<usize>,
    /// Where this part ends and the next one starts.
    end: usize,
    /// The rank of the token that this part and the next one form together.
    rank: Option<u32>,
}

impl<'a> Chain<'a> {
    fn of(piece: &'a [u8]) -> Self {
        let link = |start: usize| Link {
            previous: start.checked_sub(1),
            end: start + 1,
            rank: rank_of(piece, start, start + 2),
        };
        Self { piece, links: (0..piece.len()).map(link).collect() }
    }

    /// Joins the part at `start` with the next, and returns the starts of the two changed pairs.
    fn merge(&mut self, start: usize) -> Option<[Option<usize>; 2]> {
        let gone = self.links.get(start)?.end;
        let next = self.links.get_mut(gone)?;
        next.rank = None;
        let end = next.end;
        let joined = self.links.get_mut(start)?;
        joined.end = end;
        let previous = joined.previous;
        if let Some(next) = self.links.get_mut(end) {
            next.previous = Some(start);
        }
        for start in [previous, Some(start)].into_iter().flatten() {
            let joint = self.links.get(start)?.end;
            let rank = self.links.get(joint).and_then(|next| rank_of(self.piece, start, next.end));
            self.links.get_mut(start)?.rank = rank;
        }
        Some([previous, Some(start)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_merging_agree() {
        let mut random = fastrand::Rng::with_seed(7);
        for case in 0..2_000 {
            let letters: &[u8] = if case % 2 == 0 { b"aabnst .-=" } else { "éあ用🚀".as_bytes() };
            let length = random.usize(2..=SHORT);
            let piece: Vec<u8> = (0..length).map(|_| *random.choice(letters).unwrap()).collect();
            assert_eq!(short(&piece), long(&piece), "{piece:?}");
        }
    }

    #[test]
    fn what_is_a_token_is_one_and_nothing_is_none() {
        for (piece, expected) in [("", 0), ("a", 1), (" the", 1), ("tessera", 3)] {
            assert_eq!(tokens(piece.as_bytes()), expected, "{piece}");
        }
    }
}
