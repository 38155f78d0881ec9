//! Turns a page of ranked rows into a reply of many short lines in order of time.

use std::collections::BTreeSet;

use crate::domain::{Cursor, DomainError, Purpose, RecallRequest, Timestamp, TokenCount};
use crate::pack::{BroadRow, Detail, Frame, Heading, IndexEntry, Ranked, Recall, Row, TextFrame};

use super::answer::AnyFrame;
use super::excerpt::{About, Excerpt, Lines, best_excerpt};
use super::rank::Ranking;
use super::timing::TimeOrder;

/// Maximum tokens of a short line. A longer text is shown as its best passage or its summary.
const SHORT_TOKENS: u32 = 30;

/// The reply to a question about many memories.
pub(super) struct Broad<'a> {
    request: &'a RecallRequest,
    ranking: &'a Ranking,
    frame: &'a AnyFrame,
}

/// How a row is shown.
#[derive(PartialEq, Eq)]
enum Form {
    Whole,
    /// As its best passage.
    Passage(String),
    Summary,
    /// As its ID.
    Bare,
}

/// A row of the reply, with its cost.
struct Line {
    form: Form,
    tokens: u32,
}

/// The rows chosen so far.
struct Filled {
    lines: Vec<Line>,
    heading: Heading,
    heads: BTreeSet<String>,
    used: u32,
}

impl<'a> Broad<'a> {
    pub(super) fn of(request: &'a RecallRequest, ranking: &'a Ranking, frame: &'a AnyFrame) -> Self {
        Self { request, ranking, frame }
    }

    /// Takes rows in rank order while they fit, without repetitions, and shows them in order of time. `repeated`
    /// contains the ranks of rows that repeat another row.
    ///
    /// # Errors
    /// Returns an error if the budget of an explicit request is too small for the ID of the first row. The error
    /// contains the minimum.
    pub(super) fn answer(&self, found: Vec<(Ranked, Row)>, repeated: &[u32]) -> Result<Recall, DomainError> {
        let budget = self.request.profile.to_o200k(self.request.budget).0;
        let room = budget.saturating_sub(self.envelope());
        // With several rows, none gets more than half the budget.
        let most = if found.len() > 1 { budget / 2 } else { u32::MAX };
        let (lines, heads) = (Vec::new(), BTreeSet::new());
        let mut filled = Filled { lines, heading: heading_of(&found, self.ranking), heads, used: 0 };
        for (ranked, row) in &found {
            let line = self.short(ranked, row, most);
            let head = filled.heading.line(row.memory.created);
            let tokens = line.tokens + if filled.heads.contains(&head) { 0 } else { self.heading(filled.heading) };
            if filled.used + tokens > room {
                break;
            }
            filled.used += tokens;
            filled.heads.insert(head);
            filled.lines.push(line);
        }
        if filled.lines.is_empty()
            && let Some((_, first)) = found.first()
        {
            self.name(first, &mut filled, room)?;
        }
        self.widen(&found, &mut filled, room, most);
        Ok(self.reply(found, filled, repeated))
    }

    /// If not even the first row fits, shows only its ID, because the row would not fit on the next page either.
    fn name(&self, first: &Row, filled: &mut Filled, room: u32) -> Result<(), DomainError> {
        let tokens = self.bare(first);
        if tokens + self.heading(filled.heading) <= room {
            filled.used = tokens + self.heading(filled.heading);
            filled.lines.push(Line { form: Form::Bare, tokens });
            return Ok(());
        }
        let (minimum, budget) = (self.least(first, filled.heading), self.request.budget.get());
        let is_told = self.request.purpose == Purpose::Asked && minimum > budget;
        if is_told { Err(DomainError::BudgetTooSmall { budget, minimum }) } else { Ok(()) }
    }

    /// The smallest budget for the reply with one ID, in the unit of the request.
    pub(super) fn least(&self, first: &Row, heading: Heading) -> u32 {
        let tokens = self.envelope() + self.heading(heading) + self.bare(first);
        self.request.profile.of_o200k(TokenCount(tokens))
    }

    fn bare(&self, row: &Row) -> u32 {
        let short_id = row.memory.short_id;
        let id = match self.frame {
            AnyFrame::Text(_) => TextFrame::bare(short_id),
            AnyFrame::Json(frame) => frame.bare(short_id),
        };
        self.frame.around_bare() + id
    }

    /// Uses the remaining budget to show rows in full, best first.
    fn widen(&self, found: &[(Ranked, Row)], filled: &mut Filled, room: u32, most: u32) {
        let mut lines: Vec<(&mut Line, &(Ranked, Row))> = filled.lines.iter_mut().zip(found).collect();
        // In JSON, the details come before the summaries. So the first rows in the shown order become details.
        let is_json = matches!(self.frame, AnyFrame::Json(_));
        if is_json {
            lines.sort_by_key(|(_, (_, row))| (row.memory.created, row.memory.short_id));
            if self.ranking.shown() == TimeOrder::Newest {
                lines.reverse();
            }
        }
        for (line, (ranked, row)) in lines {
            let whole = self.whole(ranked, row);
            let used = filled.used - line.tokens + whole;
            if line.form != Form::Whole && whole <= most && used <= room {
                filled.used = used;
                *line = Line { form: Form::Whole, tokens: whole };
            } else if is_json && line.form != Form::Whole {
                return;
            }
        }
    }

    fn reply(&self, found: Vec<(Ranked, Row)>, filled: Filled, repeated: &[u32]) -> Recall {
        let Filled { lines, heading, .. } = filled;
        let shown = lines.len();
        let mut dealt_with: Vec<u32> = found.iter().take(shown).map(|(ranked, _)| ranked.rank).collect();
        if dealt_with.is_empty() {
            // A row that does not fit at the head of a page fits on no page, so it is skipped.
            dealt_with.extend(found.first().map(|(ranked, _)| ranked.rank));
        }
        let next = found.get(shown).map_or(u32::MAX, |(ranked, _)| ranked.rank);
        dealt_with.extend(repeated.iter().filter(|rank| **rank < next));
        let (mut details, mut index, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
        let mut lines = lines.into_iter();
        for (ranked, Row { memory, .. }) in found {
            match lines.next() {
                Some(Line { form: Form::Whole, tokens }) => {
                    details.push(Detail { ranked, memory, excerpt: None, tokens });
                }
                Some(Line { form, tokens }) => {
                    let is_bare = form == Form::Bare;
                    let excerpt = if let Form::Passage(lines) = form { Some(lines) } else { None };
                    index.push(IndexEntry { ranked, memory, excerpt, is_bare, tokens });
                }
                None => left_out.push(ranked),
            }
        }
        details.sort_by_key(|detail| (detail.memory.created, detail.memory.short_id));
        index.sort_by_key(|entry| (entry.memory.created, entry.memory.short_id));
        if self.ranking.shown() == TimeOrder::Newest {
            details.reverse();
            index.reverse();
        }
        let left = self.ranking.left_after(self.request, &dealt_with);
        let cursor = self.ranking.cursor_after(self.request, &dealt_with);
        let (body, tokens_used) = self.render(&details, &index, heading, left, cursor.as_ref());
        Recall {
            query: self.request.query.clone(),
            details,
            index,
            is_broad: true,
            total_count: self.ranking.total(),
            has_more: left > 0,
            next_cursor: cursor.map(|cursor| cursor.to_string()),
            tokens_used,
            profile: self.request.profile,
            body,
            left_out,
            near: 0,
            below_floor: self.ranking.below_floor(),
            unreviewed: self.frame.unreviewed().to_vec(),
        }
    }

    fn render(
        &self,
        details: &[Detail],
        index: &[IndexEntry],
        heading: Heading,
        left: u32,
        cursor: Option<&Cursor>,
    ) -> (String, u32) {
        match self.frame {
            AnyFrame::Text(frame) => {
                let whole = details.iter().map(BroadRow::Whole);
                let mut rows: Vec<BroadRow<'_>> = whole.chain(index.iter().map(BroadRow::Short)).collect();
                rows.sort_by_key(BroadRow::place);
                if self.ranking.shown() == TimeOrder::Newest {
                    rows.reverse();
                }
                frame.render_broad(&rows, heading, cursor.map(|cursor| (left, cursor)))
            }
            AnyFrame::Json(frame) => frame.render(details, index, cursor, left > 0),
        }
    }

    /// A row in short form: the whole text if it is short, otherwise its best passage, otherwise its summary. In JSON,
    /// a whole text has additional fields that make it longer.
    fn short(&self, ranked: &Ranked, row: &Row, most: u32) -> Line {
        let whole = self.whole(ranked, row);
        let is_short = row.costs.detail <= SHORT_TOKENS && whole <= most;
        if is_short && matches!(self.frame, AnyFrame::Text(_)) {
            return Line { form: Form::Whole, tokens: whole };
        }
        let about = About { terms: self.ranking.terms(), meant: self.ranking.meant() };
        let (short_id, costs) = (row.memory.short_id, &row.costs);
        let (around, form) = match self.frame {
            AnyFrame::Text(_) => {
                let head = TextFrame::broad_excerpt(short_id, costs.attribution);
                (head + TextFrame::older(ranked, &row.memory), Lines::Text)
            }
            AnyFrame::Json(frame) => (frame.excerpt(ranked, &row.memory), Lines::Json),
        };
        if let Some(Excerpt { lines, tokens }) = best_excerpt(row, about, form, SHORT_TOKENS) {
            return Line { form: Form::Passage(lines), tokens: tokens + around };
        }
        let tokens = match self.frame {
            AnyFrame::Text(_) => TextFrame::index(short_id, costs.index) + TextFrame::older(ranked, &row.memory),
            AnyFrame::Json(frame) => frame.short(ranked, costs.json_index),
        };
        Line { form: Form::Summary, tokens }
    }

    fn whole(&self, ranked: &Ranked, row: &Row) -> u32 {
        match self.frame {
            AnyFrame::Text(_) => {
                TextFrame::index(row.memory.short_id, row.costs.detail) + TextFrame::older(ranked, &row.memory)
            }
            AnyFrame::Json(frame) => frame.detail(ranked, row),
        }
    }

    fn heading(&self, heading: Heading) -> u32 {
        match self.frame {
            AnyFrame::Text(_) => heading.tokens(),
            AnyFrame::Json(_) => 0,
        }
    }

    fn envelope(&self) -> u32 {
        match self.frame {
            AnyFrame::Text(frame) => frame.broad_envelope(),
            AnyFrame::Json(frame) => frame.envelope(),
        }
    }
}

/// If several rows share a day, or the question names a window, there is a heading for each day. Otherwise, there is a
/// heading for each month. A heading over a single line costs more tokens than its information is worth.
pub(super) fn heading_of(found: &[(Ranked, Row)], ranking: &Ranking) -> Heading {
    if ranking.is_in_window() {
        return Heading::Day;
    }
    let days: BTreeSet<String> = found.iter().map(|(_, row)| day(row.memory.created)).collect();
    if days.len() * 2 <= found.len() { Heading::Day } else { Heading::Month }
}

fn day(time: Timestamp) -> String {
    Heading::Day.line(time)
}
