//! What is asked of recall.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::{Category, DomainError, Handle, MemoryType, Scope, Tag, Timestamp, TokenBudget, TokenProfile};

/// The most rows one recall may return.
pub const MAX_LIMIT: u32 = 200;

/// In which order matches come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Relevance, with importance, recency and use reordering what is about equally relevant.
    #[default]
    Hybrid,
    /// Relevance alone.
    Relevance,
    /// The most important first, among what is relevant.
    Importance,
    /// The newest first, among what is relevant.
    Recency,
}

impl Sort {
    /// All orders, in the order they are documented.
    pub const ALL: [Self; 4] = [Self::Hybrid, Self::Relevance, Self::Importance, Self::Recency];

    /// The name as typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hybrid => "hybrid",
            Self::Relevance => "relevance",
            Self::Importance => "importance",
            Self::Recency => "recency",
        }
    }
}

impl FromStr for Sort {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let folded = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|sort| sort.as_str() == folded).ok_or_else(|| {
            let fix = "give hybrid, relevance, importance or recency";
            DomainError::invalid("sort", "is unknown", fix)
        })
    }
}

/// How the budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Packing {
    /// Details first, then an index of what was not given in full.
    #[default]
    Dual,
    /// Details only.
    Details,
    /// Details, and an index of everything: also of what was given in full.
    All,
}

impl FromStr for Packing {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        match text.trim().to_lowercase().as_str() {
            "dual" => Ok(Self::Dual),
            "details" => Ok(Self::Details),
            "all" => Ok(Self::All),
            _ => Err(DomainError::invalid("packing", "is unknown", "give dual, details or all")),
        }
    }
}

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

/// Where the next page of a recall begins: ranks below `from` were shown, and so were `also`, which are at most
/// [`Cursor::REACH`] above it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cursor {
    /// The first rank not yet shown.
    pub from: u32,
    /// Ranks above `from` that were shown already, ascending.
    pub also: Vec<u32>,
    /// Three digits that tie the cursor to its question.
    pub check: u16,
}

impl fmt::Display for Cursor {
    /// Digits and hyphens only, so that its tokens are counted by rule: the check, the first rank not shown, and the
    /// ranks after it that were, a bit each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.check, self.from)?;
        match self.bits() {
            0 => Ok(()),
            bits => write!(f, "-{bits}"),
        }
    }
}

impl FromStr for Cursor {
    type Err = DomainError;

    fn from_str(text: &str) -> Result<Self, DomainError> {
        let bad = || DomainError::invalid("cursor", "is not one of ours", "pass next_cursor back unchanged");
        let mut parts = text.trim().split('-');
        let check = parts.next().and_then(|part| part.parse().ok()).ok_or_else(bad)?;
        let from: u32 = parts.next().and_then(|part| part.parse().ok()).ok_or_else(bad)?;
        let bits: u64 = parts.next().map_or(Ok(0), |part| part.parse().map_err(|_| bad()))?;
        let last = u64::BITS - bits.leading_zeros();
        if parts.next().is_some() || last > Self::REACH || from.checked_add(last).is_none() {
            return Err(bad());
        }
        let also = (0..last).filter(|bit| bits >> bit & 1 == 1).map(|bit| from + 1 + bit).collect();
        Ok(Self { from, also, check })
    }
}

impl Cursor {
    /// How far above the first rank that was not shown one that was may be.
    pub const REACH: u32 = 59;

    /// The ranks after `from` that were shown, a bit each, from the next on.
    fn bits(&self) -> u64 {
        let bit = |rank: &u32| rank.checked_sub(self.from)?.checked_sub(1).filter(|bit| *bit < Self::REACH);
        self.also.iter().filter_map(bit).fold(0, |bits, bit| bits | 1 << bit)
    }

    /// The numbers that stand after its check, each after a hyphen.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> {
        let bits = self.bits();
        std::iter::once(u64::from(self.from)).chain((bits != 0).then_some(bits))
    }

    /// The dearest cursor up to a rank, in tokens.
    pub(crate) fn dearest(last_rank: u32) -> Self {
        let from = last_rank.max(Self::REACH);
        Self { from, also: (from + 1..=from + Self::REACH).collect(), check: 100 }
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
    pub exclude: BTreeSet<Handle>,
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
        let cursor = Cursor { from: 20, also: vec![23, 31], check: 417 };
        assert_eq!(cursor.to_string(), "417-20-1028");
        assert_eq!("417-20-1028".parse(), Ok(cursor));
        assert_eq!("417-20".parse(), Ok(Cursor { from: 20, also: vec![], check: 417 }));
        let dearest = Cursor::dearest(70);
        assert_eq!(dearest.to_string().parse(), Ok(dearest));
        for bad in [
            "",
            "12",
            "a-b",
            "1--2",
            "99999999999-1",
            "70000-1",
            "417-20-1-1",
            "417-20-9999999999999999999",
            "417-4294967295-1",
        ] {
            assert!(bad.parse::<Cursor>().is_err(), "{bad}");
        }
    }
}
