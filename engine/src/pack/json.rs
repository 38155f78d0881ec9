//! The reply as one JSON document, in lines whose token counts can be added.
//!
//! Line breaks between JSON tokens have no meaning. So each stored text has its own line. The texts between these lines
//! are constants or numbers.

use std::collections::BTreeMap;

use super::line::{json_attribution, json_beside, json_detail, json_index};
use super::remark::Remark;
use super::select::Frame;
use super::text::{Detail, IndexEntry, MOST_FOR_READINGS, Ranked, Row};
use super::unreviewed::{self, UnreviewedLine};
use crate::domain::{Cursor, Memory, ShortId, TokenBudget, TokenCount, TokenProfile};
use crate::score::ScoreParts;
use crate::text::{O200k, TokenCounter, number_tokens};

/// The fields of a row in addition to `"id"` and `"score"`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JsonRows {
    /// Rows also contain the parts of their score, and the superseded memory that matched.
    pub parts: bool,
    /// Rows also contain the summary, creation, last use, expiry, access count and metadata.
    pub full: bool,
}

/// The JSON form of one reply.
#[derive(Debug, Clone)]
pub struct JsonFrame {
    /// The number of all matches.
    pub total: u32,
    /// The requested budget.
    pub budget: TokenBudget,
    /// The token profile of the budget.
    pub profile: TokenProfile,
    /// The fields of rows.
    rows: JsonRows,
    /// The query as a JSON string with a line end, followed by spelling corrections.
    query: String,
    query_tokens: u32,
    /// The highest ID of the matches.
    highest: u32,
    /// True for a question about many memories. The reply says so, and short rows contain their dates.
    is_broad: bool,
    /// True if more rows were requested than one page may have.
    is_limited: bool,
    /// The shown lines of the review queue.
    pub(crate) unreviewed: Vec<UnreviewedLine>,
}

/// Additional tokens of a row with `"weak":true,`.
pub(super) const JSON_WEAK_TOKENS: u32 = 4;
/// The tokens of `,"near":`, without the following number.
pub(super) const JSON_NEAR_TOKENS: u32 = 3;
const OPEN: &str = "{\"query\":\n";
const OPEN_TOKENS: u32 = 3;
const DETAILS: &str = ",\"details\":[\n";
const DETAILS_TOKENS: u32 = 4;
const INDEX: &str = "],\"index\":[\n";
const INDEX_TOKENS: u32 = 4;
const CLOSE: &str = "]}\n";
const CLOSE_TOKENS: u32 = 1;
/// The tokens of `,{"score":0.83,` and the line end. All scores with two decimals have the same number of tokens. The
/// first row has no comma, so it costs one token less.
const ROW_TOKENS: u32 = 8;
/// Tokens of `,{"id":}` and the line end, without the number. The first row has no comma, so it costs one token less.
const BARE_TOKENS: u32 = 5;
/// The tokens of `"parts":{…},"`. Each part is printed with three decimals, so the number of tokens is always the same.
const PARTS_TOKENS: u32 = 70;
/// Tokens of `"redirected_from":` and `,"`, without the number.
const REDIRECTED_TOKENS: u32 = 5;
/// Tokens of `"older":` and `,"`, without the number.
const OLDER_TOKENS: u32 = 3;
/// The text before the passages of an excerpt.
const EXCERPT: &str = "\"excerpt\":[\n";
const EXCERPT_TOKENS: u32 = 4;
/// The text after the passages of an excerpt.
const EXCERPT_END: &str = "],\n";
const EXCERPT_END_TOKENS: u32 = 1;
/// The tokens of `"created":"2026-11-20","id":}` and the line end, without the ID. They are the same for every day.
const CREATED_TOKENS: u32 = 13;
/// Tokens of `"created":"2026-11-20",` and the line end, before a summary in a broad reply.
const DAY_TOKENS: u32 = 10;
/// Tokens of `,"limit":200` in the counts.
const LIMIT_TOKENS: u32 = 4;
/// Tokens of `,"breadth":true` in the counts.
const BROAD_TOKENS: u32 = 5;

impl JsonFrame {
    /// Creates a frame with the query. The tokens of the query are counted now. The tokens of memories were counted
    /// when the memories were stored.
    pub fn new(total: u32, budget: TokenBudget, profile: TokenProfile, query: &str, rows: JsonRows) -> Self {
        let shown = super::neutral(query);
        let query = format!("{}\n", serde_json::Value::from(shown.as_ref()));
        let query_tokens = O200k.count(&query);
        Self {
            total,
            budget,
            profile,
            rows,
            query,
            query_tokens,
            highest: u32::MAX,
            is_broad: false,
            is_limited: false,
            unreviewed: Vec::new(),
        }
    }

    /// Sets the highest ID of the matches, from which the frame computes the tokens to reserve for a cursor.
    #[must_use]
    pub fn up_to(self, highest: u32) -> Self {
        Self { highest, ..self }
    }

    /// Adds spelling corrections.
    #[must_use]
    pub fn reading(mut self, names: &[(String, String)]) -> Self {
        if !names.is_empty() {
            let mut others: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            names.iter().for_each(|(name, other)| others.entry(name).or_default().push(other));
            let read_as = format!(",\"read_as\":{}\n", serde_json::json!(others));
            let tokens = O200k.count(&read_as);
            if tokens <= self.budget.get() / MOST_FOR_READINGS {
                self.query.push_str(&read_as);
                self.query_tokens += tokens;
            }
        }
        self
    }

    /// Adds remarks about requested memories.
    #[must_use]
    pub fn remarking(mut self, remarks: &[(Remark, Vec<String>)]) -> Self {
        for (remark, names) in remarks {
            let member = remark.member(names, self.budget.get() / MOST_FOR_READINGS);
            self.query_tokens += O200k.count(&member);
            self.query.push_str(&member);
        }
        self
    }

    /// Adds lines of the review queue, as many as fit.
    #[must_use]
    pub fn with_unreviewed(mut self, lines: &[UnreviewedLine]) -> Self {
        if let Some((shown, member)) = unreviewed::as_json(lines, self.budget.get() / MOST_FOR_READINGS) {
            self.query_tokens += O200k.count(&member);
            self.query.push_str(&member);
            self.unreviewed = shown.to_vec();
        }
        self
    }

    /// Marks the reply as an answer to a question about many memories.
    #[must_use]
    pub fn broad(self) -> Self {
        Self { is_broad: true, ..self }
    }

    /// Marks the reply to a request for more rows than one page may have.
    #[must_use]
    pub fn limited(self) -> Self {
        Self { is_limited: true, ..self }
    }

    fn counts(&self, has_more: bool, cursor: Option<&Cursor>, near: Option<u32>, used: u32) -> String {
        let cursor = cursor.map_or_else(|| "null".to_owned(), |cursor| format!("\"{cursor}\""));
        let unit = self.profile.unit();
        let near = near.map(|near| format!(",\"near\":{near}")).unwrap_or_default();
        let broad = if self.is_broad { ",\"breadth\":true" } else { "" };
        let limit = if self.is_limited { ",\"limit\":200" } else { "" };
        format!(
            " \
            ,\"total_count\":{}{near}{broad}{limit},\"has_more\":{has_more},\"next_cursor\":{cursor},\"unit\":\"{unit}\",\"tokens_used\":{used}",
            self.total
        )
    }

    fn counts_tokens(&self, cursor: Option<&Cursor>, near: Option<u32>, used: u32) -> u32 {
        let near = near.map_or(0, |near| JSON_NEAR_TOKENS + number_tokens(near));
        let cursor =
            cursor.map_or(1, |cursor| 1 + cursor.numbers().map(|number| 1 + number_tokens(number)).sum::<u32>());
        let broad = if self.is_broad { BROAD_TOKENS } else { 0 };
        let limit = if self.is_limited { LIMIT_TOKENS } else { 0 };
        COUNTS_TOKENS + broad + limit + near + cursor + number_tokens(self.total) + number_tokens(used)
    }

    /// The beginning of a row before its body, without a comma.
    fn head(&self, ranked: &Ranked) -> String {
        let mut head = "{".to_owned();
        head.push_str(&format!("\"score\":{:.2},", ranked.score));
        if self.rows.parts {
            let parts = ScoreParts::NAMES.iter().zip(ranked.parts.values());
            let parts: Vec<String> =
                // Negative zero would print a `-`, which costs an uncounted token.
                parts.map(|(name, part)| format!("\"{name}\":{:.3}", part.clamp(0.0, 1.0) + 0.0)).collect();
            head.push_str(&format!("\"parts\":{{{}}},", parts.join(",")));
            if let Some(old) = ranked.redirected_from {
                head.push_str(&format!("\"redirected_from\":{},", old.get()));
            }
        }
        if let Some(newer) = ranked.newer {
            head.push_str(&format!("\"older\":{},", newer.get()));
        }
        if ranked.is_weak || ranked.is_unsure {
            head.push_str("\"weak\":true,");
        }
        head.push('\n');
        head
    }

    /// Tokens of a row that is not the first. The tokens of a memory's line are stored with the memory.
    pub fn row(&self, ranked: &Ranked, body: u32) -> u32 {
        let mut tokens = ROW_TOKENS + body;
        tokens += ranked.newer.map_or(0, |newer| OLDER_TOKENS + number_tokens(newer.get()));
        if ranked.is_weak || ranked.is_unsure {
            tokens += JSON_WEAK_TOKENS;
        }
        if self.rows.parts {
            tokens += PARTS_TOKENS;
            tokens += ranked.redirected_from.map_or(0, |old| REDIRECTED_TOKENS + number_tokens(old.get()));
        }
        tokens
    }

    /// The tokens of a row that contains only an ID, with the comma before it.
    pub fn bare(&self, short_id: ShortId) -> u32 {
        BARE_TOKENS + number_tokens(short_id.get())
    }

    fn bare_row(short_id: ShortId) -> String {
        format!("{{\"id\":{}}}\n", short_id.get())
    }

    /// Tokens of a detail row that is not the first.
    pub fn detail(&self, ranked: &Ranked, row: &Row) -> u32 {
        self.row(ranked, row.costs.json_detail) + self.beside_tokens(&row.memory)
    }

    /// The additional line of a row that contains all details. The line is short, so its tokens are counted only when
    /// it is requested.
    fn beside(&self, memory: &Memory) -> String {
        if self.rows.full { json_beside(memory) } else { String::new() }
    }

    fn beside_tokens(&self, memory: &Memory) -> u32 {
        if self.rows.full { O200k.count(&json_beside(memory)) } else { 0 }
    }

    /// Tokens of a short row that is not the first, including its own line.
    pub fn short(&self, ranked: &Ranked, body: u32) -> u32 {
        self.row(ranked, if self.is_broad { DAY_TOKENS + body } else { body })
    }

    /// Tokens of an excerpt row that is not the first, without its passages.
    pub fn excerpt(&self, ranked: &Ranked, memory: &Memory) -> u32 {
        // Names are short, and without names nothing is counted.
        let attribution = json_attribution(memory).map_or(0, |line| O200k.count(&line));
        let tail = EXCERPT_END_TOKENS + CREATED_TOKENS + number_tokens(memory.short_id.get());
        self.row(ranked, EXCERPT_TOKENS + attribution + tail) + self.beside_tokens(memory)
    }

    /// Renders the reply. Returns the body and its tokens in the unit of the profile.
    pub fn render(
        &self,
        details: &[Detail],
        index: &[IndexEntry],
        more: Option<&Cursor>,
        has_more: bool,
    ) -> (String, u32) {
        self.render_near(details, index, more, has_more, None)
    }

    /// Like [`JsonFrame::render`], but also shows the number of omitted low-confidence matches.
    pub(super) fn render_near(
        &self,
        details: &[Detail],
        index: &[IndexEntry],
        more: Option<&Cursor>,
        has_more: bool,
        near: Option<u32>,
    ) -> (String, u32) {
        let full = rows(details.iter().map(|detail| {
            self.head(&detail.ranked)
                + &self.beside(&detail.memory)
                + &match &detail.excerpt {
                    Some(lines) => excerpt_row(lines, &detail.memory),
                    None => json_detail(&detail.memory),
                }
        }));
        let short = rows(index.iter().map(|entry| {
            if entry.is_bare {
                Self::bare_row(entry.memory.short_id)
            } else {
                self.head(&entry.ranked) + &self.index_row(entry)
            }
        }));
        let listed = details.iter().map(|detail| detail.tokens).chain(index.iter().map(|entry| entry.tokens));
        let first_rows = u32::from(!details.is_empty()) + u32::from(!index.is_empty());
        let tokens = self.fixed_tokens() + listed.sum::<u32>() - first_rows;
        let used = self.profile.stated(|used| tokens + self.counts_tokens(more, near, used));
        let counts = self.counts(has_more, more, near, used);
        (format!("{OPEN}{}{counts}{DETAILS}{full}{INDEX}{short}{CLOSE}", self.query), used)
    }

    /// The text that follows the beginning of a short row.
    fn index_row(&self, entry: &IndexEntry) -> String {
        let IndexEntry { memory, excerpt, .. } = entry;
        match excerpt {
            Some(lines) => self.beside(memory) + &excerpt_row(lines, memory),
            None if self.is_broad => format!("\"created\":\"{}\",\n{}", memory.created.date(), json_index(memory)),
            None => json_index(memory),
        }
    }

    fn fixed_tokens(&self) -> u32 {
        OPEN_TOKENS + self.query_tokens + DETAILS_TOKENS + INDEX_TOKENS + CLOSE_TOKENS
    }

    /// The smallest budget for a reply to this request, in the unit of the profile.
    pub fn minimum(&self) -> u32 {
        self.profile.of_o200k(TokenCount(self.envelope()))
    }
}

/// The tokens between query and full results, without numbers and cursor.
const COUNTS_TOKENS: u32 = 24;

impl Frame for JsonFrame {
    fn envelope(&self) -> u32 {
        let cursor = Cursor::dearest(self.highest);
        self.fixed_tokens() + self.counts_tokens(Some(&cursor), None, self.budget.get())
    }

    fn bare_line(&self) -> Option<u32> {
        None
    }
}

/// The text after the head of an excerpt row.
fn excerpt_row(lines: &str, memory: &Memory) -> String {
    let attribution = json_attribution(memory).unwrap_or_default();
    let (created, short_id) = (memory.created.date(), memory.short_id.get());
    format!("{EXCERPT}{lines}{EXCERPT_END}{attribution}\"created\":\"{created}\",\"id\":{short_id}}}\n")
}

fn rows(rows: impl Iterator<Item = String>) -> String {
    rows.enumerate().map(|(at, row)| if at == 0 { row } else { format!(",{row}") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::O200k;

    #[test]
    fn the_fixed_parts_cost_what_the_constants_say() {
        for (part, tokens) in [
            (OPEN, OPEN_TOKENS),
            (DETAILS, DETAILS_TOKENS),
            (INDEX, INDEX_TOKENS),
            (CLOSE, CLOSE_TOKENS),
            (EXCERPT, EXCERPT_TOKENS),
            (EXCERPT_END, EXCERPT_END_TOKENS),
        ] {
            assert_eq!(tokens, O200k.count(part), "{part}");
        }
        for short_id in [1_u32, 42, 999, 12_345] {
            let line = format!("\"created\":\"2026-11-20\",\"id\":{short_id}}}\n");
            assert_eq!(CREATED_TOKENS + number_tokens(short_id), O200k.count(&line), "{line}");
        }
        assert_eq!(DAY_TOKENS, O200k.count("\"created\":\"2026-11-20\",\n"));
        let parts = ScoreParts { text: 1.0, recency: 0.0004, names: 0.1239, ..ScoreParts::default() };
        for parts_shown in [false, true] {
            let rows = JsonRows { parts: parts_shown, full: false };
            let frame = JsonFrame::new(1, TokenBudget::DEFAULT, TokenProfile::O200K, "q", rows);
            for (number, old, score) in [(1, None, 0.05), (999, Some(1000), 1.0), (12_345, Some(7), 0.5)] {
                let short_id = |number: u32| ShortId::try_from(number).unwrap();
                let bare = JsonFrame::bare_row(short_id(number));
                assert_eq!(frame.bare(short_id(number)), O200k.count(&format!(",{bare}")), "{bare}");
                assert_eq!(frame.bare(short_id(number)) - 1, O200k.count(&bare), "{bare}");
                let redirected_from = old.map(short_id);
                for is_weak in [false, true] {
                    let chosen = Ranked::chosen(short_id(number), 0);
                    for newer in [None, redirected_from] {
                        let ranked = Ranked { score, parts, redirected_from, newer, is_weak, ..chosen.clone() };
                        let head = frame.head(&ranked);
                        assert_eq!(frame.row(&ranked, 0), O200k.count(&format!(",{head}")), "{head}");
                        assert_eq!(frame.row(&ranked, 0) - 1, O200k.count(&head), "{head}");
                    }
                }
            }
        }
        for profile in [TokenProfile::O200K, TokenProfile::CLAUDE] {
            for (total, used, has_more) in [(1, 7, true), (999, 1000, false), (100_000, 99_999, true)] {
                let frame = JsonFrame::new(total, TokenBudget::DEFAULT, profile, "q", JsonRows::default());
                let cursor = Cursor { next: used, then: used + 30, passed: vec![used + 59], check: 417 };
                for (cursor, near) in [(None, None), (Some(&cursor), None), (None, Some(used))] {
                    for frame in [frame.clone(), frame.clone().broad(), frame.clone().limited()] {
                        let counts = frame.counts(has_more, cursor, near, used);
                        assert_eq!(frame.counts_tokens(cursor, near, used), O200k.count(&counts), "{counts}");
                    }
                }
            }
        }
    }
}
