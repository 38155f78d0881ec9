//! The request of a recall.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use tessera_tables::names;

use super::error::by_name;
use super::{Category, DomainError, MemoryType, Scope, ShortId, Tag, Timestamp, TokenBudget, TokenProfile};

/// Maximum rows of one recall.
pub const MAX_LIMIT: u32 = 200;

names! {
/// The order of matches.
#[derive(Default)]
pub enum Sort {
    /// Ordered by relevance; memories of about equal relevance are ordered by importance, recency and use.
    #[default]
    Hybrid = "hybrid",
    /// By relevance only.
    Relevance = "relevance",
    /// The most important relevant memories first.
    Importance = "importance",
    /// The newest relevant memories first.
    Recency = "recency",
}
}

by_name! { Sort, "sort", "use hybrid, relevance, importance or recency" }

names! {
/// How the budget is used.
#[derive(Default)]
pub enum Packing {
    /// First full results, then summaries of the other matches.
    #[default]
    Dual = "dual",
    /// Details only.
    Details = "details",
    /// Full results, and summaries of all matches.
    All = "all",
}
}

by_name! { Packing, "packing", "use dual, details or all" }

/// Whether the reply has many short rows in order of time, instead of the best memories in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Breadth {
    /// If the question asks for many memories, the reply has many short rows.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl FromStr for Breadth {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        match text.trim().to_lowercase().as_str() {
            "auto" => Ok(Self::Auto),
            "on" | "true" => Ok(Self::On),
            "off" | "false" => Ok(Self::Off),
            _ => Err(DomainError::invalid("breadth", "is unknown", "use auto, on or off")),
        }
    }
}

/// Whether somebody requested the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// A person or a model requested it: possibly helpful memories are included, and further pages offered.
    #[default]
    Asked,
    /// Automatic recall: only clearly relevant memories are included, and none of trust `foreign`.
    Unasked,
}

/// Conditions for matches. A memory must match one item of each list that is not empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters {
    /// Any of these categories.
    pub categories: Vec<Category>,
    /// Any of these types.
    pub types: Vec<MemoryType>,
    /// Any of these tags.
    pub tags: Vec<Tag>,
    /// Any of these entities, case-insensitive.
    pub entities: Vec<String>,
    /// Only these scopes.
    pub scopes: Vec<Scope>,
    /// Created at or after this time.
    pub since: Option<Timestamp>,
    /// Created before this time.
    pub until: Option<Timestamp>,
    /// Shared by this user.
    pub shared_by: Option<String>,
    /// Excludes memories of trust `foreign`.
    pub own_only: bool,
}

impl Filters {
    /// True if every memory passes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Checks the order of the times.
    ///
    /// # Errors
    /// Returns an error if the first time is not before the last one, because no memory can pass then.
    pub fn in_order(self) -> Result<Self, DomainError> {
        match (self.since, self.until) {
            (Some(since), Some(until)) if since >= until => {
                Err(DomainError::invalid("since", "is after until, so no memory can match", "swap the two times"))
            }
            _ => Ok(self),
        }
    }
}

/// Where the next page of a recall begins. The cursor contains IDs of memories instead of ranks, because ranks may
/// change while other clients write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cursor {
    /// The ID of the next match after all shown ones; 0 if there is none.
    pub next: u32,
    /// The ID of the match after `next`, in case `next` is deleted; 0 if there is none.
    pub then: u32,
    /// The IDs of matches before `next` that did not fit: at most [`Cursor::MAX_PASSED`].
    pub passed: Vec<u32>,
    /// A three-digit check sum of the question.
    pub check: u16,
}

impl fmt::Display for Cursor {
    /// A cursor contains only digits and hyphens, so its number of tokens can be calculated.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.check)?;
        self.numbers().try_for_each(|number| write!(f, "-{number}"))
    }
}

impl FromStr for Cursor {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let bad = || {
            DomainError::invalid("cursor", "is not a valid cursor", "copy the cursor of the previous page unchanged")
        };
        let (check, numbers) = text.trim().split_once('-').ok_or_else(bad)?;
        let check = check.parse().map_err(|_| bad())?;
        let numbers: Vec<u32> =
            numbers.split('-').map(str::parse).collect::<Result<_, _>>().map_err(|_: std::num::ParseIntError| bad())?;
        match numbers.as_slice() {
            [next, then, passed @ ..] if passed.len() <= Self::MAX_PASSED => {
                Ok(Self { next: *next, then: *then, passed: passed.to_vec(), check })
            }
            _ => Err(bad()),
        }
    }
}

impl Cursor {
    /// Maximum number of matches that a page may skip.
    pub const MAX_PASSED: usize = 2;

    /// The numbers after the checksum, each after a hyphen.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        [self.next, self.then].into_iter().chain(self.passed.iter().copied())
    }

    /// Among the cursors with IDs up to the given one, returns the cursor with the most tokens.
    pub(crate) fn dearest(highest: u32) -> Self {
        Self { next: highest, then: highest, passed: vec![highest; Self::MAX_PASSED], check: 100 }
    }
}

/// One question.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// The question, in any words and any language.
    pub query: String,
    /// Additional search words with a lower weight.
    pub expanded_query: Option<String>,
    /// The budget of the reply.
    pub budget: TokenBudget,
    /// The token profile of the budget.
    pub profile: TokenProfile,
    /// Maximum rows of index and details together, 1 to 200.
    pub limit: u32,
    /// True if more rows were requested than one page may have. The reply says so.
    pub is_limited: bool,
    /// Conditions for matches.
    pub filters: Filters,
    /// The current project. Memories of other projects are left out, unless the query names their project or nothing
    /// else matches nearly as well.
    pub scope: Option<Scope>,
    /// The order.
    pub sort: Sort,
    /// How the budget is used.
    pub packing: Packing,
    /// Whether the reply should contain many short rows.
    pub breadth: Breadth,
    /// Where to continue.
    pub cursor: Option<Cursor>,
    /// True if the reply also explains the scores, and lists the omitted matches.
    pub explain: bool,
    /// If nothing matches: show all low-confidence matches, not only the best.
    pub weak: bool,
    /// Whether somebody requested the reply.
    pub purpose: Purpose,
    /// Memories to skip, because the session already received them.
    pub exclude: BTreeSet<ShortId>,
}

impl RecallRequest {
    /// The default number of rows per page.
    pub const DEFAULT_LIMIT: u32 = 20;

    /// A question with defaults: 1000 tokens, 20 rows, hybrid order.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            expanded_query: None,
            budget: TokenBudget::DEFAULT,
            profile: TokenProfile::O200K,
            limit: Self::DEFAULT_LIMIT,
            is_limited: false,
            filters: Filters::default(),
            scope: None,
            sort: Sort::default(),
            packing: Packing::default(),
            breadth: Breadth::default(),
            cursor: None,
            explain: false,
            weak: false,
            purpose: Purpose::default(),
            exclude: BTreeSet::new(),
        }
    }

    /// Reduces a limit to the maximum of a page. Returns the effective limit, and whether it is lower than requested.
    ///
    /// # Errors
    /// Returns an error if the limit is 0.
    pub fn bounded_limit(limit: u32) -> Result<(u32, bool), DomainError> {
        Self::checked_limit(limit.min(MAX_LIMIT)).map(|bounded| (bounded, bounded < limit))
    }

    /// A checked limit.
    pub fn checked_limit(limit: u32) -> Result<u32, DomainError> {
        if (1..=MAX_LIMIT).contains(&limit) {
            return Ok(limit);
        }
        Err(DomainError::invalid("limit", format!("{limit} is out of range"), "use 1 to 200"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_round_trip_and_refuse_strangers() {
        let cursor = Cursor { next: 20, then: 7, passed: vec![23, 31], check: 417 };
        assert_eq!(cursor.to_string(), "417-20-7-23-31");
        assert_eq!("417-20-7-23-31".parse(), Ok(cursor));
        assert_eq!("417-20-0".parse(), Ok(Cursor { next: 20, then: 0, passed: vec![], check: 417 }));
        let dearest = Cursor::dearest(u32::MAX);
        assert_eq!(dearest.to_string().parse(), Ok(dearest));
        for bad in
            ["", "12", "a-b", "1--2", "417-20", "99999999999-1-1", "70000-1-1", "417-1-1-1-1-1", "417-4294967296-1"]
        {
            assert!(bad.parse::<Cursor>().is_err(), "{bad}");
        }
    }
}
