//! Writing a row: every column of a memory, derived ones too, and its outbox's word beside it.

use rusqlite::params;

use super::context;
use crate::domain::{Memory, Trust};
use crate::index::Analysis;
use crate::pack::{LineCosts, Passage};
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// A memory that was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// As it is now.
    pub memory: Memory,
    /// What its full line costs a reply, in o200k_base tokens.
    pub tokens: u32,
    /// True when the very same text was there already: it was kept, and counted as used.
    pub existed: bool,
}

/// Whether a row is made or made anew.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    New,
    Again,
}

/// Writes every column of a memory, derived ones too. Returns the tokens of its full line.
pub(crate) fn write_row(
    change: &Change<'_>,
    memory: &Memory,
    analysis: &Analysis,
    written: Written,
) -> Result<u32, StoreError> {
    const COLUMNS: &str = "id, content, summary, category, type, importance, tags, keywords, entities, scope, created, updated, \
         last_accessed, access_count, expires, origin, trust, session, cwd, client, sensitive, rev, deleted, standing, length, \
         signature, forward, detail_tokens, index_tokens, json_detail_tokens, json_index_tokens, passages, shared_by, \
         share_permission, conflict_of, edited_by, vouched, attribution_tokens";
    let places: Vec<String> = (2..=39).map(|n| format!("?{n}")).collect();
    let places = places.join(", ");
    let sql = match written {
        Written::New => format!("INSERT INTO memories (handle, {COLUMNS}) VALUES (?1, {places})"),
        Written::Again => format!("UPDATE memories SET ({COLUMNS}) = ({places}) WHERE handle = ?1"),
    };
    let costs = LineCosts::measure(memory, &O200k);
    let forward = if memory.deleted.is_some() { Vec::new() } else { analysis.doc.encode() };
    change.tx.prepare_cached(&sql)?.execute(params![
        memory.handle,
        memory.id,
        memory.content,
        memory.summary,
        memory.category.as_str(),
        memory.kind.as_str(),
        memory.importance.percent(),
        row::json(&memory.tags),
        row::json(&memory.keywords),
        row::json(&memory.entities),
        memory.scope.as_str(),
        memory.created,
        memory.updated,
        memory.last_accessed,
        memory.access_count,
        memory.expires,
        memory.origin.to_string(),
        memory.trust.as_str(),
        memory.session,
        memory.cwd,
        memory.client,
        memory.sensitive,
        memory.rev,
        memory.deleted,
        analysis.is_standing,
        analysis.doc.length,
        analysis.signature.cast_signed(),
        forward,
        costs.detail,
        costs.index,
        costs.json_detail,
        costs.json_index,
        Passage::encode_all(&costs.passages),
        memory.share.as_ref().map(|share| &share.by),
        memory.share.as_ref().map(|share| share.permission.as_str()),
        memory.conflict_of,
        memory.edited_by,
        memory.vouched.map(Trust::as_str),
        costs.attribution,
    ])?;
    context::refresh_around(change, memory)?;
    Ok(costs.detail)
}
