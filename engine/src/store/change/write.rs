//! Writes the rows of memories whose derived data was computed.
//!
//! Also replaces the UUID of a memory with the server's, and adds changed memories to the outbox for the team server.

use std::sync::LazyLock;

use rusqlite::{params, params_from_iter};

use super::secrets;
use crate::compose::Composed;
use crate::domain::{Memory, MemoryUuid};
use crate::screen::{Place, places};
use crate::store::base::context;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{self, Run as _, ToCell};
use crate::store::rows::columns::{Analysed, AnalysisColumns, CostColumns, Fields};

/// A stored memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Its present state.
    pub memory: Memory,
    /// The number of o200k_base tokens of the memory's full line in a reply.
    pub tokens: u32,
    /// True if the same text already existed. If the text already existed, the memory was kept and counted as used.
    pub existed: bool,
    /// Fields of the request that were ignored, because a memory with the same text existed.
    pub kept: Vec<&'static str>,
    /// The names of secrets that this write removed from the text.
    pub aside: Vec<Place>,
}

/// Secrets that a write added to a memory.
pub(crate) fn set_aside(composed: &Composed, before: Option<&Memory>) -> Vec<Place> {
    let before: Vec<Place> = before.map_or_else(Vec::new, places_of);
    let mut aside = places_of(composed.memory());
    // A name that somebody typed is not a removed secret.
    let is_new = |place: &Place| {
        place.name.as_ref().is_none_or(|name| composed.secrets().iter().any(|secret| secret.name == *name))
    };
    aside.retain(|place| !before.contains(place) && is_new(place));
    for secret in composed.secrets() {
        if !aside.iter().any(|place| place.name.as_ref() == Some(&secret.name)) {
            aside.push(Place { name: Some(secret.name.clone()), kind: secret.kind.clone() });
        }
    }
    aside
}

/// The names of secrets in a memory's text, without duplicates.
pub(crate) fn places_of(memory: &Memory) -> Vec<Place> {
    let mut named = Vec::new();
    for (_, place) in places(&memory.content) {
        if !named.contains(&place) {
            named.push(place);
        }
    }
    named
}

/// Whether a row is inserted or updated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    New,
    Again,
}

/// Inserts a row with all its columns.
static INSERT: LazyLock<String> =
    LazyLock::new(|| codec::insert(&[Fields::NAMES, AnalysisColumns::NAMES, CostColumns::NAMES]));
/// Updates all columns, because the text changed.
static UPDATE: LazyLock<String> =
    LazyLock::new(|| codec::update(&[Fields::NAMES, AnalysisColumns::NAMES, CostColumns::NAMES]));
/// Also updates the columns of the analysis. A deleted row has no analysis, so they may have changed. The token counts
/// stay.
static UPDATE_ANALYSIS: LazyLock<String> = LazyLock::new(|| codec::update(&[Fields::NAMES, AnalysisColumns::NAMES]));
/// Updates only fields, and not the data that is derived from the text.
static UPDATE_FIELDS: LazyLock<String> = LazyLock::new(|| codec::update(&[Fields::NAMES]));

/// Writes a memory, with the derived data that changed. For a turn of a conversation, its context and its neighbours'
/// contexts are updated too.
pub(crate) fn write_row(change: &Change<'_>, composed: &Composed, written: Written) -> Result<(), StoreError> {
    let sql = match (written, composed.has_new_terms(), composed.has_new_costs()) {
        (Written::New, ..) => &INSERT,
        (Written::Again, _, true) => &UPDATE,
        (Written::Again, true, false) => &UPDATE_ANALYSIS,
        (Written::Again, false, false) => &UPDATE_FIELDS,
    };
    let memory = composed.memory();
    let analysed;
    let mut values = vec![memory.short_id.to_cell()?];
    Fields::write(memory, &mut values)?;
    if written == Written::New || composed.has_new_terms() || composed.has_new_costs() {
        analysed = Analysed::of(composed);
        AnalysisColumns::write(&analysed, &mut values)?;
    }
    if written == Written::New || composed.has_new_costs() {
        CostColumns::write(composed.costs(), &mut values)?;
    }
    change.tx.run(sql, params_from_iter(values))?;
    secrets::write(change, composed)?;
    context::refresh_around(change, memory)
}

/// Gives a memory an unused UUID, and changes all references to it in this store. The module `files` changes the
/// references in the tables about files.
pub(crate) fn rename(change: &Change<'_>, before: MemoryUuid, now: MemoryUuid) -> Result<(), StoreError> {
    for sql in [
        "UPDATE memories SET id = ?2 WHERE id = ?1",
        "UPDATE memories SET conflict_of = ?2 WHERE conflict_of = ?1",
        "UPDATE history SET memory = ?2 WHERE memory = ?1",
        "UPDATE OR REPLACE links SET source = ?2 WHERE source = ?1",
        "UPDATE OR REPLACE links SET target = ?2 WHERE target = ?1",
        "UPDATE OR REPLACE outbox SET memory = ?2 WHERE memory = ?1",
    ] {
        change.tx.run(sql, params![before, now])?;
    }
    Ok(())
}

/// Queues a memory for the team server, unless it is to stay on this machine. A store without a server has no queue:
/// joining a server queues all memories.
pub(crate) fn tell(change: &Change<'_>, memory: MemoryUuid) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO outbox (memory) SELECT ?1 WHERE EXISTS (SELECT 1 FROM server)
               AND NOT EXISTS (SELECT 1 FROM private WHERE memory = ?1)
               AND NOT EXISTS (SELECT 1 FROM memories WHERE id = ?1 AND file IS NOT NULL AND is_file = 0
                               AND shared_by IS NULL)";
    change.tx.run(sql, [memory])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::domain::{Memory, Patch, Timestamp};
    use crate::store::base::config::Actor;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    /// The token count and terms of the row.
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
        // An impossible count shows whether it was computed again.
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
