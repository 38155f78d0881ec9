//! A question to recall.

use serde::Deserialize;
use tessera_engine::domain::{
    Breadth, Cursor, DomainError, Filters, MAX_LIMIT, Metadata, Packing, RecallRequest, Scope, Sort, TokenBudget,
    TokenProfile,
};
use tessera_engine::pack::JsonRows;
use utoipa::ToSchema;

use super::{Words, each, parsed, tags};

/// A question.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub(crate) struct Question {
    /// The question, in any words.
    #[serde(alias = "query")]
    #[schema(max_length = 100_000)]
    context: String,
    /// Further words for it, at a lower weight.
    #[schema(max_length = 100_000)]
    expanded_query: Option<String>,
    /// Tokens that the whole answer may cost, 1 to 100000. With it the answer has details and an index; without it,
    /// rows in the older API's form.
    #[schema(minimum = 1, maximum = 100_000)]
    max_tokens: Option<u32>,
    /// o200k, claude or claude:FACTOR: whose tokens.
    token_profile: Option<String>,
    /// Memories of the answer, 1 to 200. Without max_tokens up to 10000 may be asked for: a question gets the best 200,
    /// none at all gets as many of all memories.
    #[schema(minimum = 1, maximum = 10000)]
    limit: Option<u32>,
    /// hybrid (default), relevance, importance or recency. Without max_tokens as in the older API: importance by default,
    /// and relevance by any name that is none of these.
    #[serde(alias = "sort_by")]
    sort: Option<String>,
    /// dual or details.
    packing: Option<String>,
    /// short (default), or full: memories in full say also their summary, when they were made, last used and end, how
    /// often they were used, and what is kept beside them. Only with max_tokens.
    rows: Option<String>,
    /// on, off or auto: many short rows in order of time; with auto, where the question asks for many. Only with
    /// max_tokens.
    breadth: Option<String>,
    /// Only of these categories.
    category: Option<Words>,
    /// Only of these types.
    #[serde(rename = "type")]
    kind: Option<Words>,
    /// Only with one of these tags.
    tags: Option<Words>,
    /// Only with one of these named things.
    entities: Option<Words>,
    /// Only of these scopes.
    scope: Option<Words>,
    /// The current project: its memories and global ones come first.
    project: Option<String>,
    /// Only shared by this user.
    shared_by: Option<String>,
    /// Only created at or after.
    since: Option<String>,
    /// Only created before.
    until: Option<String>,
    /// Where to go on.
    cursor: Option<String>,
    /// Where nothing matches: list all that shares a word with the question, not only the best of it.
    weak: Option<bool>,
}

/// Bytes of a question, and of its further words.
const MOST_QUESTION_BYTES: usize = 100_000;

fn bounded(field: &'static str, text: &str) -> Result<(), DomainError> {
    if text.len() > MOST_QUESTION_BYTES {
        return Err(DomainError::invalid(field, "is too long", "give at most 100000 bytes"));
    }
    Ok(())
}

/// Memories that may be asked for in the older form.
const MOST_OLDER: u32 = 10_000;

/// Texts that stand for nothing when they are blank.
fn some(text: Option<&String>) -> Option<String> {
    text.cloned().filter(|text| !text.trim().is_empty())
}

/// All that a user sees, as it is listed.
#[derive(Debug, Clone)]
pub(crate) struct Everything {
    pub(crate) filters: Filters,
    pub(crate) newest_first: bool,
    pub(crate) limit: u32,
}

impl Question {
    pub(crate) fn has_budget(&self) -> bool {
        self.max_tokens.is_some()
    }

    /// What is listed for a question of the older form that asks nothing: it lists everything. `None` for any other.
    pub(crate) fn everything(&self) -> Result<Option<Everything>, DomainError> {
        let asks = some(Some(&self.context)).is_some() || some(self.expanded_query.as_ref()).is_some();
        if self.has_budget() || asks {
            return Ok(None);
        }
        let RecallRequest { filters, sort, limit, .. } = self.request()?;
        let limit = self.limit.unwrap_or(limit);
        Ok(Some(Everything { filters, newest_first: sort == Sort::Recency, limit }))
    }

    fn older_limit(limit: u32) -> Result<u32, DomainError> {
        if (1..=MOST_OLDER).contains(&limit) {
            return Ok(limit);
        }
        Err(DomainError::invalid("limit", format!("{limit} is out of range"), "give 1 to 10000"))
    }

    fn checked_limit(&self, default: u32) -> Result<u32, DomainError> {
        match self.limit {
            None => Ok(default),
            Some(limit) if self.has_budget() => RecallRequest::checked_limit(limit),
            Some(limit) => Self::older_limit(limit).map(|limit| limit.min(MAX_LIMIT)),
        }
    }

    fn sorting(&self) -> Result<Sort, DomainError> {
        match (some(self.sort.as_ref()), self.has_budget()) {
            (None, true) => Ok(Sort::default()),
            (None, false) => Ok(Sort::Importance),
            (Some(sort), true) => parsed("sort", &sort),
            (Some(sort), false) => Ok(sort.parse().unwrap_or(Sort::Relevance)),
        }
    }

    /// What the rows of an answer within a budget say.
    pub(crate) fn rows(&self) -> Result<JsonRows, DomainError> {
        match some(self.rows.as_ref()).as_deref() {
            None | Some("short") => Ok(JsonRows::default()),
            Some("full") => Ok(JsonRows { full: true, ..JsonRows::default() }),
            Some(_) => Err(DomainError::invalid("rows", "is unknown", "give full or short")),
        }
    }

    pub(crate) fn request(&self) -> Result<RecallRequest, DomainError> {
        bounded("context", &self.context)?;
        bounded("expanded_query", self.expanded_query.as_deref().unwrap_or_default())?;
        let some = |text: &Option<String>| some(text.as_ref());
        let plain = RecallRequest::new(self.context.clone());
        Ok(RecallRequest {
            expanded_query: some(&self.expanded_query),
            budget: self.max_tokens.map_or(Ok(TokenBudget::DEFAULT), TokenBudget::try_from)?,
            profile: match some(&self.token_profile) {
                Some(profile) => parsed("token_profile", &profile)?,
                None => TokenProfile::O200K,
            },
            limit: self.checked_limit(plain.limit)?,
            sort: self.sorting()?,
            packing: some(&self.packing).map_or(Ok(Packing::default()), |packing| parsed("packing", &packing))?,
            breadth: match some(&self.breadth) {
                // The older form has rows in full alone, best first.
                _ if !self.has_budget() => Breadth::Off,
                Some(breadth) => parsed("breadth", &breadth)?,
                None => Breadth::Auto,
            },
            scope: some(&self.project).map(|project| parsed("project", &project)).transpose()?,
            cursor: some(&self.cursor).map(|cursor| parsed::<Cursor>("cursor", &cursor)).transpose()?,
            filters: Filters {
                categories: each("category", self.category.as_ref())?,
                types: each("type", self.kind.as_ref())?,
                tags: tags(self.tags.as_ref())?,
                entities: self.entities.as_ref().map(Words::list).unwrap_or_default(),
                scopes: each::<Scope>("scope", self.scope.as_ref())?,
                since: some(&self.since).map(|time| parsed("since", &time)).transpose()?,
                until: some(&self.until).map(|time| parsed("until", &time)).transpose()?,
                shared_by: some(&self.shared_by),
                own_only: false,
            },
            weak: self.weak.unwrap_or(false),
            ..plain
        })
    }
}

/// The answer within a budget, as the engine renders it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the engine renders it; this describes it")]
pub(crate) struct Budgeted {
    /// The question.
    query: String,
    /// Matches on all pages.
    total_count: u32,
    /// Where nothing matches: memories that share a word with the question and are not shown.
    near: Option<u32>,
    /// True where the question asks for many memories: details and index are short, and in order of time.
    breadth: Option<bool>,
    /// True when matches are left.
    has_more: bool,
    /// Pass it back as cursor to see them.
    next_cursor: Option<String>,
    /// Whose tokens: o200k_base or claude_estimate.
    unit: String,
    /// Tokens of this answer, never more than max_tokens.
    tokens_used: u32,
    /// Memories in full, best first; a long one may be an excerpt.
    details: Vec<DetailRow>,
    /// Others in short.
    index: Vec<IndexRow>,
}

/// A memory in full.
#[derive(ToSchema)]
#[expect(dead_code, reason = "as above")]
pub(crate) struct DetailRow {
    /// 0 to 1.
    score: f64,
    /// Its short number for this user.
    id: u32,
    /// The text; not on an excerpt.
    content: Option<String>,
    /// On an excerpt: its best passages. Beside them stand only id, created, shared_by and edited_by.
    excerpt: Option<Vec<String>>,
    /// Its category.
    category: Option<String>,
    /// Its type.
    r#type: Option<String>,
    /// 0 to 1.
    importance: Option<f64>,
    /// Its tags.
    tags: Option<Vec<String>>,
    /// Named things in it.
    entities: Option<Vec<String>>,
    /// The day it became true.
    created: String,
    /// With rows full: how often it was given in full or read.
    access_count: Option<u32>,
    /// With rows full: when it became true.
    #[schema(format = DateTime)]
    created_at: Option<String>,
    /// With rows full: from when on it is hidden.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// With rows full: when it was last used.
    #[schema(format = DateTime)]
    last_accessed: Option<String>,
    /// With rows full: what is kept beside the text.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Metadata>,
    /// With rows full: at most 20 words.
    summary: Option<String>,
    /// Whose it is, if another user's.
    shared_by: Option<String>,
    /// What they allow.
    share_permission: Option<String>,
    /// Who wrote the text, if not its owner.
    edited_by: Option<String>,
}

/// A memory in short. Where the budget has no room for more, its `id` alone.
#[derive(ToSchema)]
#[expect(dead_code, reason = "as above")]
pub(crate) struct IndexRow {
    /// 0 to 1.
    score: Option<f64>,
    /// Below the relevance floor, and shown because nothing is above it.
    weak: Option<bool>,
    /// Its short number for this user.
    id: u32,
    /// At most 20 words; not on an excerpt.
    summary: Option<String>,
    /// In a broad reply, in place of the summary: its best passages.
    excerpt: Option<Vec<String>>,
    /// In a broad reply: the day it became true.
    created: Option<String>,
    /// Whose it is, if another user's.
    shared_by: Option<String>,
    /// Who wrote the text, if not its owner.
    edited_by: Option<String>,
}

/// With max_tokens a budgeted answer, without it rows in the older API's form.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "as above")]
pub(crate) enum Answer {
    /// Within a budget.
    Budgeted(Budgeted),
    /// In the older form.
    Matches(super::MatchesView),
}
