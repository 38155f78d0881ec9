//! The reply as one JSON payload, laid out in lines whose counts add.
//!
//! Line breaks between JSON tokens are free, so each part that holds a person's text stands on a
//! line of its own, and what stands between is fixed or a number.

use super::line::json_detail;
use super::reply::{Detail, IndexEntry};
use super::select::Frame;
use super::weak::{JSON_NEAR_TOKENS, json_row};
use crate::domain::{Cursor, TokenBudget, TokenCount, TokenProfile};
use crate::text::{TokenCounter, number_tokens};

/// The JSON form of one reply.
#[derive(Debug, Clone)]
pub struct JsonFrame {
    /// Matches in all.
    pub total: u32,
    /// The budget, as asked.
    pub budget: TokenBudget,
    /// Whose tokens it counts.
    pub profile: TokenProfile,
    /// The query as a JSON string and a line end.
    query: String,
    query_tokens: u32,
}

const OPEN: &str = "{\"query\":\n";
const OPEN_TOKENS: u32 = 3;
const DETAILS: &str = ",\"details\":[\n";
const DETAILS_TOKENS: u32 = 4;
const INDEX: &str = "],\"index\":[\n";
const INDEX_TOKENS: u32 = 4;
const CLOSE: &str = "]}\n";
const CLOSE_TOKENS: u32 = 1;
/// `,{"score":0.83,` and the line end, whatever the two decimals. A first row has no comma: one token less.
const ROW_TOKENS: u32 = 8;

impl JsonFrame {
    /// A frame that echoes `query`. The query is the one text that is not counted beforehand, so
    /// this form, unlike the text form, needs a counter when it is asked for.
    pub fn new(
        total: u32,
        budget: TokenBudget,
        profile: TokenProfile,
        query: &str,
        counter: &impl TokenCounter,
    ) -> Self {
        let shown = super::neutral(query);
        let query = format!("{}\n", serde_json::Value::from(shown.as_ref()));
        let query_tokens = counter.count(&query);
        Self { total, budget, profile, query, query_tokens }
    }

    fn counts(&self, has_more: bool, cursor: Option<&Cursor>, near: Option<u32>, used: u32) -> String {
        let cursor = cursor.map_or_else(|| "null".to_owned(), |cursor| format!("\"{cursor}\""));
        let unit = if self.profile.is_exact() { "o200k_base" } else { "claude_estimate" };
        let near = near.map(|near| format!(",\"near\":{near}")).unwrap_or_default();
        format!(
            ",\"total_count\":{}{near},\"has_more\":{has_more},\"next_cursor\":{cursor},\"unit\":\"{unit}\",\"tokens_used\":{used}",
            self.total
        )
    }

    fn counts_tokens(&self, cursor: Option<&Cursor>, near: Option<u32>, used: u32) -> u32 {
        let near = near.map_or(0, |near| JSON_NEAR_TOKENS + number_tokens(near));
        let cursor = cursor.map_or(1, |cursor| {
            1 + std::iter::once(&cursor.from).chain(&cursor.also).map(|rank| 1 + number_tokens(*rank)).sum::<u32>()
        });
        COUNTS_TOKENS + near + cursor + number_tokens(self.total) + number_tokens(used)
    }

    /// Tokens of a row that is not the first; the count of its own line is stored with the memory.
    pub fn row(body: u32) -> u32 {
        ROW_TOKENS + body
    }

    /// Renders the reply and counts it: (body, tokens in the unit of the profile).
    pub fn render(
        &self,
        details: &[Detail],
        index: &[IndexEntry],
        more: Option<&Cursor>,
        has_more: bool,
    ) -> (String, u32) {
        self.render_near(details, index, more, has_more, None)
    }

    /// [`JsonFrame::render`] with the number of near memories that are not shown.
    pub(super) fn render_near(
        &self,
        details: &[Detail],
        index: &[IndexEntry],
        more: Option<&Cursor>,
        has_more: bool,
        near: Option<u32>,
    ) -> (String, u32) {
        let full =
            rows(details.iter().map(|detail| (detail.ranked.score, format!("\n{}", json_detail(&detail.memory)))));
        let short = rows(index.iter().map(|entry| (entry.ranked.score, json_row(entry))));
        let listed = details.iter().map(|detail| detail.tokens).chain(index.iter().map(|entry| entry.tokens));
        let first_rows = u32::from(!details.is_empty()) + u32::from(!index.is_empty());
        let tokens = self.fixed_tokens() + listed.sum::<u32>() - first_rows;
        let mut used = 0;
        for _ in 0..3 {
            used = self.profile.of_o200k(TokenCount(tokens + self.counts_tokens(more, near, used)));
        }
        let counts = self.counts(has_more, more, near, used);
        (format!("{OPEN}{}{counts}{DETAILS}{full}{INDEX}{short}{CLOSE}", self.query), used)
    }

    fn fixed_tokens(&self) -> u32 {
        OPEN_TOKENS + self.query_tokens + DETAILS_TOKENS + INDEX_TOKENS + CLOSE_TOKENS
    }

    /// The smallest budget, in the unit of the profile, that holds a reply to this request.
    pub fn minimum(&self) -> u32 {
        self.profile.of_o200k(TokenCount(self.envelope()))
    }
}

/// The words between query and details, without numbers and cursor.
const COUNTS_TOKENS: u32 = 24;

impl Frame for JsonFrame {
    fn envelope(&self) -> u32 {
        let last_rank = self.total.max(1) - 1;
        let cursor = Cursor { from: last_rank, also: vec![last_rank; super::reply::MAX_ALSO], check: 100 };
        self.fixed_tokens() + self.counts_tokens(Some(&cursor), None, self.budget.get())
    }

    fn bare_line(&self) -> Option<u32> {
        None
    }
}

fn rows(bodies: impl Iterator<Item = (f64, String)>) -> String {
    let row = |(at, (score, body)): (usize, (f64, String))| {
        let comma = if at == 0 { "" } else { "," };
        format!("{comma}{{\"score\":{score:.2},{body}")
    };
    bodies.enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::O200k;

    #[test]
    fn the_fixed_parts_cost_what_the_constants_say() {
        let counter = O200k::load();
        for (part, tokens) in [
            (OPEN, OPEN_TOKENS),
            (DETAILS, DETAILS_TOKENS),
            (INDEX, INDEX_TOKENS),
            (CLOSE, CLOSE_TOKENS),
            (",{\"score\":0.05,\n", ROW_TOKENS),
            ("{\"score\":1.00,\n", ROW_TOKENS - 1),
        ] {
            assert_eq!(tokens, counter.count(part), "{part}");
        }
        for profile in [TokenProfile::O200K, TokenProfile::CLAUDE] {
            for (total, used, has_more) in [(1, 7, true), (999, 1000, false), (100_000, 99_999, true)] {
                let frame = JsonFrame::new(total, TokenBudget::DEFAULT, profile, "q", &counter);
                let cursor = Cursor { from: used, also: vec![total], check: 417 };
                for (cursor, near) in [(None, None), (Some(&cursor), None), (None, Some(used))] {
                    let counts = frame.counts(has_more, cursor, near, used);
                    assert_eq!(frame.counts_tokens(cursor, near, used), counter.count(&counts), "{counts}");
                }
            }
        }
    }
}
