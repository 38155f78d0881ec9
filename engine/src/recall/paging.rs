//! Pages of a ranking. A cursor names memories instead of ranks, because every use changes ranks. So a page begins
//! where the last one ended, whatever was written meanwhile.

use super::rank::{Match, Ranking};
use crate::domain::{Cursor, DomainError, Filters, RecallRequest};
use crate::pack::Ranked;

impl Ranking {
    /// The rows of the requested page, in rank order.
    ///
    /// # Errors
    /// Returns an error if the cursor belongs to another question.
    pub fn page(&self, request: &RecallRequest) -> Result<Vec<Ranked>, DomainError> {
        if request.cursor.as_ref().is_some_and(|cursor| cursor.check != check_of(request)) {
            let fix = "repeat the question and the filters of the previous page";
            return Err(DomainError::invalid("cursor", "belongs to another query", fix));
        }
        if self.is_led_astray {
            let fix = "omit it to start again";
            return Err(DomainError::invalid("cursor", "points to memories that no longer exist", fix));
        }
        let page = self.left(request).take(self.rows(request));
        let is_unsure = self.is_unsure();
        let page = page.filter_map(|(rank, found)| Some(Ranked { is_unsure, ..found.ranked(rank)? }));
        let page: Vec<Ranked> = page.collect();
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

    /// Returns the cursor after a page that showed the matches with the ranks in `shown`.
    pub(super) fn cursor_after(&self, request: &RecallRequest, shown: &[u32]) -> Option<Cursor> {
        let Left { passed, mut next, .. } = self.left_apart(request, shown);
        let [next, then] = [next.next(), next.next()].map(Option::unwrap_or_default);
        let is_any = next > 0 || !passed.is_empty();
        is_any.then(|| Cursor { next, then, passed, check: check_of(request) })
    }

    /// The matches that a page omitted, and the matches after the page.
    fn left_apart(&self, request: &RecallRequest, shown: &[u32]) -> Left<impl Iterator<Item = u32>> {
        let start = u32::try_from(self.start).unwrap_or(u32::MAX);
        let next = shown.iter().max().map_or(start, |last| start.max(last + 1));
        let left = self.left(request).filter(|(rank, _)| !shown.contains(rank));
        let passed = left.take_while(|(rank, _)| *rank < next).map(|(_, found)| found.short_id).collect();
        let after = self.matches.iter().skip(next as usize).map(|found| found.short_id);
        Left { passed, next: after, beyond: self.total().saturating_sub(next) }
    }

    /// True if the cursor can record all ranks that the page omitted.
    pub(super) fn can_go_on_after(&self, request: &RecallRequest, dealt_with: &[u32]) -> bool {
        self.left_apart(request, dealt_with).passed.len() <= Cursor::MAX_PASSED
    }

    /// The number of matches that no page up to this one has shown.
    pub(super) fn left_after(&self, request: &RecallRequest, shown: &[u32]) -> u32 {
        let Left { passed, beyond, .. } = self.left_apart(request, shown);
        beyond.saturating_add(u32::try_from(passed.len()).unwrap_or(u32::MAX))
    }
}

/// The matches left by a page.
struct Left<N> {
    /// The matches that rank before the next page but were omitted.
    passed: Vec<u32>,
    /// The matches after the last shown one, as far as the ranking still contains them.
    next: N,
    /// The number of all matches after the last shown one, including those that the ranking no longer contains.
    beyond: u32,
}

/// The position where the matches after a cursor begin. `rank_of` returns the rank of a match by its position in the
/// list. `None` if the memories that the cursor names no longer exist.
pub(super) fn start_of(matches: &[Match], cursor: &Cursor, rank_of: impl Fn(usize) -> usize) -> Option<usize> {
    let place = |short_id: u32| matches.iter().position(|found| found.short_id == short_id);
    match (cursor.next, cursor.then) {
        (0, _) => Some(matches.len()),
        (next, then) => match (place(next), then) {
            (Some(at), _) => Some(rank_of(at)),
            // It was the last page.
            (None, 0) => Some(matches.len()),
            (None, then) => place(then).map(rank_of),
        },
    }
}

/// A three-digit check sum of the question.
fn check_of(request: &RecallRequest) -> u16 {
    // Relative times such as `2h` are other times for the next page.
    let filters = Filters { since: None, until: None, ..request.filters.clone() };
    let asked = (&request.query, &request.expanded_query, &filters, &request.scope, request.sort);
    let question = format!("{asked:?} {:?} {:?}", request.breadth, request.packing);
    u16::try_from(xxhash_rust::xxh3::xxh3_64(question.as_bytes()) % 900).unwrap_or(0) + 100
}
