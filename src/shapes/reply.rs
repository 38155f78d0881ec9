//! Replies within a token budget. The engine builds them as text, because each line's tokens are counted; these types
//! describe them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Map, Value};
use tessera_engine::pack::UnreviewedLine;
use tessera_engine::score::ScoreParts;

/// The output of `tessera recall`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes JSON that the engine builds")]
pub(crate) struct RecallReply {
    /// The question, without credentials.
    query: String,
    /// Names in the question that are read as other spellings.
    read_as: Option<BTreeMap<String, Vec<String>>>,
    /// Lines of the review queue that match, at most three; absent if there are none.
    unreviewed: Option<Vec<UnreviewedLine>>,
    /// The number of matches on all pages.
    total_count: u32,
    /// If nothing matches: the number of low-confidence matches that are not shown.
    near: Option<u32>,
    /// True for a question about many memories: the rows are short and in order of time.
    breadth: Option<bool>,
    /// The maximum number of rows of a page, if more were requested.
    limit: Option<u32>,
    /// True if there is another page.
    has_more: bool,
    /// The value of `--cursor` for the next page.
    next_cursor: Option<String>,
    /// The tokenizer that counted the tokens.
    unit: String,
    /// The exact number of tokens of the whole reply.
    tokens_used: u32,
    /// The best matches in full, best first.
    details: Vec<RecallRow>,
    /// Further matches as summaries, best first.
    index: Vec<RecallRow>,
}

/// A memory in a reply.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes JSON that the engine builds")]
pub(crate) struct RecallRow {
    /// The ID.
    id: u32,
    /// The score, 0 to 1.
    score: Option<f64>,
    /// With `--explain`: the parts of the score.
    parts: Option<ScoreParts>,
    /// With `--explain`: the superseded memory that matched.
    redirected_from: Option<u32>,
    /// The ID of a newer memory that updates this one.
    older: Option<u32>,
    /// True for a low-confidence match.
    weak: Option<bool>,
    /// The text; in `details`.
    content: Option<String>,
    /// The best passages of a long text, instead of `content`.
    excerpt: Option<Vec<String>>,
    /// The summary; in `index`, and with `--full`.
    summary: Option<String>,
    /// The date of creation in UTC; with `--full` also the time.
    created: Option<String>,
    /// The user who shares the memory.
    shared_by: Option<String>,
    /// The author of the text, if the owner did not write it.
    edited_by: Option<String>,
    /// The file that contains the memory.
    file: Option<String>,
    /// The heading above the memory in its file.
    heading: Option<String>,
    /// With `--full`: all other fields of the memory.
    #[schemars(flatten)]
    full: Map<String, Value>,
}

/// The output of `tessera note` and `tessera graph`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes JSON that the service layer builds")]
pub(crate) struct NotesPage {
    /// The tokenizer that counted the tokens.
    unit: String,
    /// The exact number of tokens of the whole reply.
    tokens_used: u32,
    /// The list of results, notes or lines, and the fields of a page; they differ by command.
    #[schemars(flatten)]
    fields: Map<String, Value>,
}
