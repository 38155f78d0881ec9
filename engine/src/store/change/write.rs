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
        deleted: one.deleted,
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

#[cfg(test)]
mod tests {
    use crate::domain::{Memory, Patch, Timestamp};
    use crate::store::base::config::Actor;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    /// What the row has of its lines and terms.
    fn derived(store: &InMemory) -> (u32, usize) {
        (store.one("SELECT detail_tokens FROM memories"), store.one::<Vec<u8>>("SELECT forward FROM memories").len())
    }

    fn changed(store: &mut InMemory, memory: &Memory, patch: &Patch) -> u32 {
        store.update(named(memory), patch, &Actor::default()).unwrap().tokens
    }

    #[test]
    fn lines_are_counted_again_only_where_what_they_say_changed() {
        let mut store = InMemory::new();
        let memory = store.said("The build cache lives on host birch");
        let (counted, terms) = derived(&store);
        // A count that no counter gives shows whether somebody counted.
        store.run("UPDATE memories SET detail_tokens = 7777");
        let end = Timestamp::from_micros(i64::MAX / 2);
        let expires = Patch { expires: Some(Some(end)), ..Patch::default() };
        assert_eq!(changed(&mut store, &memory, &expires), 7777);
        store.forget(&[named(&memory)], Erase::Soft, &Actor::default()).unwrap();
        assert_eq!(derived(&store), (7777, 0), "what is deleted has no terms");
        assert_eq!(store.restore(named(&memory), None, &Actor::default()).unwrap().tokens, 7777);
        assert_eq!(derived(&store), (7777, terms), "and has them again");
        let tagged = Patch { tags: Some(vec!["ci".to_owned().try_into().unwrap()]), ..Patch::default() };
        assert_eq!(changed(&mut store, &memory, &tagged), counted);
        assert!(derived(&store).1 > terms, "a tag is a term");
        let text = Patch { content: Some("It moved to oak".into()), ..Patch::default() };
        assert!(changed(&mut store, &memory, &text) < counted);
        let earlier = store.history(named(&memory)).unwrap()[0].rev;
        assert_eq!(store.restore(named(&memory), Some(earlier), &Actor::default()).unwrap().tokens, counted);
        assert_eq!(store.recalled("which host holds the build cache?"), ["The build cache lives on host birch"]);
    }
}
