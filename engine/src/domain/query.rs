//! What is asked of recall.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use tessera_tables::names;

use super::error::by_name;
use super::{Category, DomainError, MemoryType, Scope, ShortId, Tag, Timestamp, TokenBudget, TokenProfile};

/// The most rows one recall may return.
pub const MAX_LIMIT: u32 = 200;

names! {
/// In which order matches come back.
#[derive(Default)]
pub enum Sort {
    /// Relevance, with importance, recency and use reordering what is about equally relevant.
    #[default]
    Hybrid = "hybrid",
    /// Relevance alone.
    Relevance = "relevance",
    /// The most important first, among what is relevant.
    Importance = "importance",
    /// The newest first, among what is relevant.
    Recency = "recency",
}
}

by_name! { Sort, "sort", "give hybrid, relevance, importance or recency" }

names! {
/// How the budget is spent.
#[derive(Default)]
pub enum Packing {
    /// Details first, then an index of what was not given in full.
    #[default]
    Dual = "dual",
    /// Details only.
    Details = "details",
    /// Details, and an index of everything: also of what was given in full.
    All = "all",
}
}

by_name! { Packing, "packing", "give dual, details or all" }

/// Whether the reply has many rows as short lines in order of time, rather than the best in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Breadth {
    /// Where the question has the form of one over many memories.
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
            _ => Err(DomainError::invalid("breadth", "is unknown", "give auto, on or off")),
        }
    }
}

/// Whether somebody asked for the reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Purpose {
    /// A person or a model asked: what may help is shown, and further pages are offered.
    #[default]
    Asked,
    /// Nobody asked: what is not clearly to the point is not shown, and nothing of foreign trust is.
    Unasked,
}

/// What a match must be, beside relevant. Items of one list are alternatives; lists combine.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filters {
    /// Any of these categories.
    pub categories: Vec<Category>,
    /// Any of these types.
    pub types: Vec<MemoryType>,
    /// Any of these tags.
    pub tags: Vec<Tag>,
    /// Any of these named things, case ignored.
    pub entities: Vec<String>,
    /// Any of these scopes, and no other.
    pub scopes: Vec<Scope>,
    /// Created at or after.
    pub since: Option<Timestamp>,
    /// Created before.
    pub until: Option<Timestamp>,
    /// Shared by this user.
    pub shared_by: Option<String>,
    /// Leave out what came from elsewhere (trust `foreign`).
    pub own_only: bool,
}

impl Filters {
    /// True when every memory passes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Where the next page of a recall begins. It names memories, not ranks: those may change while others write.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cursor {
    /// The first match after all that were shown, by its ID; 0 where there is none.
    pub next: u32,
    /// The match after that one, for when that one is gone; 0 where there is none.
    pub then: u32,
    /// Matches before `next` that had no room, by their IDs: at most [`Cursor::MAX_PASSED`].
    pub passed: Vec<u32>,
    /// Three digits that tie the cursor to its question.
    pub check: u16,
}

impl fmt::Display for Cursor {
    /// Digits and hyphens only, so that its tokens are counted by rule.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.check)?;
        self.numbers().try_for_each(|number| write!(f, "-{number}"))
    }
}

impl FromStr for Cursor {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let bad = || DomainError::invalid("cursor", "is not one of ours", "pass next_cursor back unchanged");
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
    /// Matches that a page may pass over.
    pub const MAX_PASSED: usize = 2;

    /// The numbers that stand after its check, each after a hyphen.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> {
        [self.next, self.then].into_iter().chain(self.passed.iter().copied())
    }

    /// The dearest cursor where no match has a higher ID, in tokens.
    pub(crate) fn dearest(highest: u32) -> Self {
        Self { next: highest, then: highest, passed: vec![highest; Self::MAX_PASSED], check: 100 }
    }
}

/// One question to the memory.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// The question, in any words and any language.
    pub query: String,
    /// Further words for it, at a lower weight.
    pub expanded_query: Option<String>,
    /// What the reply may cost.
    pub budget: TokenBudget,
    /// Whose tokens the budget counts.
    pub profile: TokenProfile,
    /// Rows of index and details together, 1 to 200.
    pub limit: u32,
    /// More rows were asked for than one page may have: the reply says where it ends.
    pub is_limited: bool,
    /// What a match must be.
    pub filters: Filters,
    /// The current project: its memories and global ones come first.
    pub scope: Option<Scope>,
    /// In which order.
    pub sort: Sort,
    /// How the budget is spent.
    pub packing: Packing,
    /// Whether many short rows are wanted.
    pub breadth: Breadth,
    /// Where to go on.
    pub cursor: Option<Cursor>,
    /// Return the score parts and what was left out.
    pub explain: bool,
    /// Where nothing matches: show all that is below the relevance floor, not only the best of it.
    pub weak: bool,
    /// Whether somebody asked.
    pub purpose: Purpose,
    /// Memories that are not to be shown: those a session was given before.
    pub exclude: BTreeSet<ShortId>,
}

impl RecallRequest {
    /// Rows of a page where nobody says how many.
    pub const DEFAULT_LIMIT: u32 = 20;

    /// A question with every setting at its default: 1000 tokens, 20 rows, hybrid order.
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

    /// The limit of a client that may ask for more than one page has: what it gets, and whether that is less.
    ///
    /// # Errors
    /// When it is 0.
    pub fn bounded_limit(limit: u32) -> Result<(u32, bool), DomainError> {
        Self::checked_limit(limit.min(MAX_LIMIT)).map(|bounded| (bounded, bounded < limit))
    }

    /// The limit, checked.
    pub fn checked_limit(limit: u32) -> Result<u32, DomainError> {
        if (1..=MAX_LIMIT).contains(&limit) {
            return Ok(limit);
        }
        Err(DomainError::invalid("limit", format!("{limit} is out of range"), "give 1 to 200"))
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
