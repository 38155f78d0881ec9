//! Pages of a ranking. A cursor names memories, so that a page begins where the last one ended whatever was written meanwhile:
//! ranks change with every use.

use super::rank::{Match, Ranking};
use crate::domain::{Cursor, DomainError, RecallRequest};
use crate::pack::Ranked;

impl Ranking {
    /// The rows of the page that the request asks for, in rank order.
    ///
    /// # Errors
    /// When the cursor belongs to another question.
    pub fn page(&self, request: &RecallRequest) -> Result<Vec<Ranked>, DomainError> {
        if request.cursor.as_ref().is_some_and(|cursor| cursor.check != check_of(request)) {
            let fix = "pass next_cursor with the query and filters it came with";
            return Err(DomainError::invalid("cursor", "belongs to another question", fix));
        }
        if self.is_led_astray {
            let fix = "ask again without it: the memories that it leads to are gone";
            return Err(DomainError::invalid("cursor", "leads nowhere", fix));
        }
        let page = self.left(request).take(self.rows(request));
        let page: Vec<Ranked> = page.filter_map(|(rank, found)| found.ranked(rank)).collect();
        if self.total() > 0 {
            return Ok(page);
        }
        let weak = (0..).zip(&self.weak).filter_map(|(rank, found)| found.ranked(rank));
        Ok(weak.map(|ranked| Ranked { is_weak: true, ..ranked }).collect())
    }

    /// The matches that no earlier page has shown, in rank order.
    fn left(&self, request: &RecallRequest) -> impl Iterator<Item = (u32, &Match)> {
        let passed = request.cursor.as_ref().map_or(&[][..], |cursor| cursor.passed.as_slice());
        let start = self.start;
        (0..)
            .zip(&self.matches)
            .filter(move |(rank, found): &(u32, _)| *rank as usize >= start || passed.contains(&found.short_id))
    }

    /// The cursor after a page that showed some of its ranks.
    pub(super) fn cursor_after(&self, request: &RecallRequest, shown: &[u32]) -> Option<Cursor> {
        let Left { passed, mut next, .. } = self.left_apart(request, shown);
        let [next, then] = [next.next(), next.next()].map(Option::unwrap_or_default);
        let is_any = next > 0 || !passed.is_empty();
        is_any.then(|| Cursor { next, then, passed, check: check_of(request) })
    }

    /// What a page that showed some of its ranks leaves.
    fn left_apart(&self, request: &RecallRequest, shown: &[u32]) -> Left<impl Iterator<Item = u32>> {
        let start = u32::try_from(self.start).unwrap_or(u32::MAX);
        let next = shown.iter().max().map_or(start, |last| start.max(last + 1));
        let left = self.left(request).filter(|(rank, _)| !shown.contains(rank));
        let passed = left.take_while(|(rank, _)| *rank < next).map(|(_, found)| found.short_id).collect();
        let after = self.matches.iter().skip(next as usize).map(|found| found.short_id);
        Left { passed, next: after, beyond: self.total().saturating_sub(next) }
    }

    /// True when the cursor after a page that dealt with some of its ranks keeps all of them.
    pub(super) fn can_go_on_after(&self, request: &RecallRequest, dealt_with: &[u32]) -> bool {
        self.left_apart(request, dealt_with).passed.len() <= Cursor::MAX_PASSED
    }

    /// Matches that no page up to and including this one has shown.
    pub(super) fn left_after(&self, request: &RecallRequest, shown: &[u32]) -> u32 {
        let Left { passed, beyond, .. } = self.left_apart(request, shown);
        beyond.saturating_add(u32::try_from(passed.len()).unwrap_or(u32::MAX))
    }
}

/// What a page leaves.
struct Left<N> {
    /// Matches before the next page that had no room.
    passed: Vec<u32>,
    /// The matches after all that was shown, as far as they are known.
    next: N,
    /// How many those are.
    beyond: u32,
}

/// Where the rest of the matches begins after the pages that a cursor knows of. `rank_of` tells the rank of a match by its place in
/// the list. `None` where the memories that it leads to are gone.
pub(super) fn start_of(matches: &[Match], cursor: &Cursor, rank_of: impl Fn(usize) -> usize) -> Option<usize> {
    let place = |short_id: u32| matches.iter().position(|found| found.short_id == short_id);
    match (cursor.next, cursor.then) {
        (0, _) => Some(matches.len()),
        (next, then) => match (place(next), then) {
            (Some(at), _) => Some(rank_of(at)),
            // It was the last one.
            (None, 0) => Some(matches.len()),
            (None, then) => place(then).map(rank_of),
        },
    }
}

/// Three digits that differ when the question does.
fn check_of(request: &RecallRequest) -> u16 {
    let asked = (&request.query, &request.expanded_query, &request.filters, &request.scope, request.sort);
    let question = if request.is_broad() { format!("{asked:?} broad") } else { format!("{asked:?}") };
    u16::try_from(xxhash_rust::xxh3::xxh3_64(question.as_bytes()) % 900).unwrap_or(0) + 100
}
