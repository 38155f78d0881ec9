//! Writing a row: what somebody gave, and what derives from it where that changed.

use std::sync::LazyLock;

use rusqlite::params_from_iter;

use super::context;
use crate::domain::Memory;
use crate::index::Analysis;
use crate::pack::LineCosts;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{self, ToCell, Values};
use crate::store::rows::columns::{Analysed, AnalysisColumns, CostColumns, Fields};
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

/// A row is made, with all its columns.
static INSERT: LazyLock<String> =
    LazyLock::new(|| codec::insert(&[Fields::NAMES, AnalysisColumns::NAMES, CostColumns::NAMES]));
/// All columns are written again: the text is another one.
static UPDATE: LazyLock<String> =
    LazyLock::new(|| codec::update(&[Fields::NAMES, AnalysisColumns::NAMES, CostColumns::NAMES]));
/// The text is the same and its lines cost what they did; its terms, which a deleted row has not, come back.
static UPDATE_ANALYSIS: LazyLock<String> = LazyLock::new(|| codec::update(&[Fields::NAMES, AnalysisColumns::NAMES]));
/// Nothing is written of what derives from the text.
static UPDATE_FIELDS: LazyLock<String> = LazyLock::new(|| codec::update(&[Fields::NAMES]));

/// Writes every column of a memory, derived ones too. Returns the tokens of its full line.
pub(crate) fn write_row(
    change: &Change<'_>,
    memory: &Memory,
    analysis: &Analysis,
    written: Written,
) -> Result<u32, StoreError> {
    let costs = LineCosts::measure(memory, &O200k);
    let analysed = Analysed::of(memory, analysis);
    let mut values = fields(memory)?;
    AnalysisColumns::write(&analysed, &mut values)?;
    CostColumns::write(&costs, &mut values)?;
    execute(change, if written == Written::New { &INSERT } else { &UPDATE }, values)?;
    context::refresh_around(change, memory)?;
    Ok(costs.detail)
}

/// Writes a memory over what it was before. Its terms and the costs of its lines are made anew only where something
/// changed that they are made from. Returns the tokens of its full line.
pub(crate) fn write_over(change: &Change<'_>, before: &Memory, memory: &Memory) -> Result<u32, StoreError> {
    if !derive_the_same(before, memory) {
        return write_row(change, memory, &Analysis::of(memory), Written::Again);
    }
    let is_shown_again = before.deleted.is_some() && memory.deleted.is_none();
    if is_shown_again {
        let analysed = Analysed::of(memory, &Analysis::of(memory));
        let mut values = fields(memory)?;
        AnalysisColumns::write(&analysed, &mut values)?;
        execute(change, &UPDATE_ANALYSIS, values)?;
    } else {
        execute(change, &UPDATE_FIELDS, fields(memory)?)?;
    }
    if memory.deleted.is_some() {
        let sql = "UPDATE memories SET forward = x'' WHERE handle = ?1";
        change.tx.prepare_cached(sql)?.execute([memory.handle])?;
    }
    context::refresh_around(change, memory)?;
    kept_tokens(change, memory)
}

/// True when all is equal of two states of a memory that its terms and its lines are made from.
pub(crate) fn derive_the_same(one: &Memory, other: &Memory) -> bool {
    // What is left of a memory when everything is taken away that no term and no line is made from.
    let derived_from = |memory: &Memory| Memory {
        updated: one.updated,
        last_accessed: one.last_accessed,
        access_count: one.access_count,
        expires: one.expires,
        origin: one.origin.clone(),
        trust: one.trust,
        vouched: one.vouched,
        session: one.session.clone(),
        cwd: one.cwd.clone(),
        client: one.client.clone(),
        sensitive: one.sensitive,
        rev: one.rev,
        conflict_of: one.conflict_of,
        links: one.links.clone(),
        ..memory.clone()
    };
    derived_from(one) == derived_from(other)
}

fn fields(memory: &Memory) -> rusqlite::Result<Values<'_>> {
    let mut values = vec![memory.handle.to_cell()?];
    Fields::write(memory, &mut values)?;
    Ok(values)
}

fn execute(change: &Change<'_>, sql: &str, values: Values<'_>) -> rusqlite::Result<()> {
    change.tx.prepare_cached(sql)?.execute(params_from_iter(values)).map(drop)
}

fn kept_tokens(change: &Change<'_>, memory: &Memory) -> Result<u32, StoreError> {
    let sql = "SELECT detail_tokens FROM memories WHERE handle = ?1";
    Ok(change.tx.prepare_cached(sql)?.query_row([memory.handle], |row| row.get(0))?)
}
