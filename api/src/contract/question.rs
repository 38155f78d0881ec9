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
    /// Additional words for the search, with a lower weight than the question.
    #[schema(max_length = 100_000)]
    expanded_query: Option<String>,
    /// Maximum tokens of the whole answer, 1 to 100000. With `max_tokens`, the answer has full results and summaries;
    /// without it, the rows have the format of the older API.
    #[schema(minimum = 1, maximum = 100_000)]
    max_tokens: Option<u32>,
    /// The tokenizer: o200k, claude or claude:FACTOR.
    token_profile: Option<String>,
    /// Number of memories, 1 to 200. The maximum is 10000 without `max_tokens`. Without `max_tokens`, a question
    /// returns at most the best 200 memories; an empty question lists all memories.
    #[schema(minimum = 1, maximum = 10000)]
    limit: Option<u32>,
    /// The order: hybrid (default), relevance, importance or recency. Without `max_tokens`, the default is importance,
    /// and any unknown name means relevance, as in the older API.
    #[serde(alias = "sort_by")]
    sort: Option<String>,
    /// dual or details.
    packing: Option<String>,
    /// short (default), or full: full results also contain summary, times, access count and metadata. Only with
    /// max_tokens.
    rows: Option<String>,
    /// Whether to return many short rows in chronological order: on, off or auto. With `auto`, the wording of the
    /// question decides whether many memories are needed. Only with max_tokens.
    breadth: Option<String>,
    /// Only of these categories.
    category: Option<Words>,
    /// Only of these types.
    #[serde(rename = "type")]
    kind: Option<Words>,
    /// Only with one of these tags.
    tags: Option<Words>,
    /// Only memories with one of these entities.
    entities: Option<Words>,
    /// Only of these scopes.
    scope: Option<Words>,
    /// The current project: memories of other projects are left out, unless the question names their project or nothing
    /// else matches nearly as well.
    project: Option<String>,
    /// Only shared by this user.
    shared_by: Option<String>,
    /// Only created at or after.
    since: Option<String>,
    /// Only created before.
    until: Option<String>,
    /// Where to continue.
    cursor: Option<String>,
    /// If nothing matches, lists all memories that share a word with the question.
    weak: Option<bool>,
}

/// The maximum size of a question in bytes, and of its additional words.
const MOST_QUESTION_BYTES: usize = 100_000;

fn bounded(field: &'static str, text: &str) -> Result<(), DomainError> {
    if text.len() > MOST_QUESTION_BYTES {
        return Err(DomainError::invalid(field, "is too long", "send at most 100000 bytes"));
    }
    Ok(())
}

/// Maximum `limit` of a question without `max_tokens`, which older clients send.
const MOST_OLDER: u32 = 10_000;

/// A text, unless it is blank.
fn some(text: Option<&String>) -> Option<String> {
    text.cloned().filter(|text| !text.trim().is_empty())
}

/// A list of all memories that a user sees.
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

    /// What to list for an empty question without `max_tokens`; `None` for any other question.
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
        Err(DomainError::invalid("limit", format!("{limit} is out of range"), "use 1 to 10000"))
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

    /// The fields of a row in an answer to a question with `max_tokens`.
    pub(crate) fn rows(&self) -> Result<JsonRows, DomainError> {
        match some(self.rows.as_ref()).as_deref() {
            None | Some("short") => Ok(JsonRows::default()),
            Some("full") => Ok(JsonRows { full: true, ..JsonRows::default() }),
            Some(_) => Err(DomainError::invalid("rows", "has an unknown value", "use full or short")),
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
                // The older form only has full rows, best first.
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

/// An answer that has a budget, as the engine renders it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "the engine renders the reply; this type only describes it")]
pub(crate) struct Budgeted {
    /// The question.
    query: String,
    /// Matches on all pages.
    total_count: u32,
    /// If nothing matches: the number of memories that share a word with the question.
    near: Option<u32>,
    /// True if the question asks for many memories. The rows of the answer are short and in chronological order.
    breadth: Option<bool>,
    /// True if there are more matches.
    has_more: bool,
    /// The `cursor` for the next page.
    next_cursor: Option<String>,
    /// The unit of the token counts: o200k_base or claude_estimate.
    unit: String,
    /// Tokens of this answer, at most max_tokens.
    tokens_used: u32,
    /// Full results, best first; a long one may be an excerpt.
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
    /// Its short ID for this user.
    id: u32,
    /// The text; not on an excerpt.
    content: Option<String>,
    /// The best passages of a long text, instead of `content`. Besides `excerpt`, such a row has only score, id,
    /// created, shared_by and edited_by. With `rows: "full"`, it also has access_count, created_at, expires_at,
    /// last_accessed, metadata and summary.
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
    /// How often the memory was delivered in full; only with `rows: "full"`.
    access_count: Option<u32>,
    /// The time at which the statement became true; only with `rows: "full"`.
    #[schema(format = DateTime)]
    created_at: Option<String>,
    /// The time at which the memory expires; only with `rows: "full"`.
    #[schema(format = DateTime)]
    expires_at: Option<String>,
    /// The time at which the memory was last used; only with `rows: "full"`.
    #[schema(format = DateTime)]
    last_accessed: Option<String>,
    /// With rows full: its metadata.
    #[schema(value_type = Option<Object>)]
    metadata: Option<Metadata>,
    /// A summary of at most 20 words; only with `rows: "full"`.
    summary: Option<String>,
    /// The owner's name, if the memory belongs to another user.
    shared_by: Option<String>,
    /// The permission.
    share_permission: Option<String>,
    /// The author of the text, if it is not the owner.
    edited_by: Option<String>,
}

/// A summary row. If the budget is almost used up, a row has only its `id`.
#[derive(ToSchema)]
#[expect(dead_code, reason = "as above")]
pub(crate) struct IndexRow {
    /// 0 to 1.
    score: Option<f64>,
    /// A low-confidence match: below the relevance threshold, shown because nothing else matches.
    weak: Option<bool>,
    /// Its short ID for this user.
    id: u32,
    /// A summary of at most 20 words; rows with an excerpt do not have it.
    summary: Option<String>,
    /// The best passages instead of a summary, in a reply with many short rows.
    excerpt: Option<Vec<String>>,
    /// The day on which the statement became true. Only replies with many short rows contain this field.
    created: Option<String>,
    /// The owner's name, if the memory belongs to another user.
    shared_by: Option<String>,
    /// The author of the text, if it is not the owner.
    edited_by: Option<String>,
}

/// An answer that has a budget if `max_tokens` is set; otherwise rows in the format of the older API.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "as above")]
pub(crate) enum Answer {
    /// Within a budget.
    Budgeted(Budgeted),
    /// In the older form.
    Matches(super::MatchesView),
}
