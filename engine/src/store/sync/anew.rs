//! Beginning anew from all that a server holds.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension, params};

use super::arrival::{Held, carry_out, settle_paths, take};
use super::marks::note_mark;
use super::meanings::believe;
use crate::compose::{Beside, memory_of};
use crate::domain::MemoryId;
use crate::index::Analysis;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::identity;
use crate::store::file::error::StoreError;
use crate::store::rows::memory as row;
use crate::sync::{Arrival, Mark, SentMeaning, Shadow};

/// Everything that a server holds for a user.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The server's epoch.
    pub epoch: u64,
    /// How far what was known before is surely still known.
    pub restored_seq: u64,
    /// The mark of the head.
    pub mark: Option<Mark>,
    /// The cursor to go on from.
    pub head: u64,
    /// All rows.
    pub rows: Vec<Shadow>,
    /// What their texts mean, where the server knows that.
    pub meanings: BTreeMap<MemoryId, SentMeaning>,
}

impl Store {
    /// Begins anew from all that the server holds, and keeps what it lacks. Works in steps, so that others can write
    /// in between; one that ends early is begun again.
    ///
    /// # Errors
    /// When the store cannot be written; it is fetched again then.
    pub fn begin_anew(&mut self, whole: &Whole) -> Result<(), StoreError> {
        let Some(server) = self.server()? else { return Ok(()) };
        let is_first = server.epoch == 0;
        let mut purged = false;
        for rows in whole.rows.chunks(STEP) {
            purged |= self.write(|change| {
                let mut purged = false;
                for shadow in rows {
                    if is_first {
                        adopt_equal(change, shadow)?;
                    }
                    let id = shadow.row.memory;
                    purged |= restore(change, id, Some(shadow.clone()), whole, &server.user)?;
                    if let Some(sent) = whole.meanings.get(&id) {
                        believe(change, id, &Arrival::Row(Box::new(shadow.clone())), Some(sent))?;
                    }
                }
                Ok(purged)
            })?;
        }
        let there: BTreeSet<MemoryId> = whole.rows.iter().map(|shadow| shadow.row.memory).collect();
        let mut lacking = self.told_of().map_err(|error| self.failed(error))?;
        lacking.retain(|id| !there.contains(id));
        for ids in lacking.chunks(STEP) {
            purged |= self.write(|change| {
                let mut purged = false;
                for id in ids {
                    purged |= restore(change, *id, None, whole, &server.user)?;
                }
                Ok(purged)
            })?;
        }
        self.write(|change| {
            settle_paths(change, there.iter().chain(&lacking).copied())?;
            let sql = "UPDATE server SET epoch = ?1, cursor = ?2, is_whole = 1";
            change.tx.execute(sql, params![whole.epoch, whole.head])?;
            // What it had of secrets may be lost too: it says so where it has them still.
            change.tx.execute("UPDATE secrets SET told = 0", [])?;
            // What comes after is of a history that was lost.
            let common = i64::try_from(whole.restored_seq).unwrap_or(i64::MAX);
            change.tx.execute("DELETE FROM marks WHERE seq > ?1", [common])?;
            note_mark(change, whole.mark)
        })?;
        self.after_news(purged)
    }

    /// Memories that a server was told of, or that came from it.
    fn told_of(&self) -> rusqlite::Result<Vec<MemoryId>> {
        let mut statement = self.connection.prepare("SELECT memory FROM trails")?;
        let ids = statement.query_map([], |row| row.get(0))?;
        ids.collect()
    }
}

/// Memories of a step of [`Store::begin_anew`].
const STEP: usize = 100;

/// Takes a row of a snapshot, or its absence. True when something was removed for good.
fn restore(
    change: &Change<'_>,
    id: MemoryId,
    row: Option<Shadow>,
    whole: &Whole,
    user: &str,
) -> Result<bool, StoreError> {
    let Some(mut held) = Held::of(change, id)? else {
        return row.map_or(Ok(false), |shadow| take(change, id, Arrival::Row(Box::new(shadow))));
    };
    let mut fresh = || MemoryId::generate(change.now);
    let settled = held.local.restore(row, whole.restored_seq, user, &mut fresh);
    carry_out(change, id, Some(&held.known), held.mark, &held.local, settled)
}

/// A memory that says what one of the user's own on the server says, and that no server was ever told of, is the
/// same memory: it takes its id. One with secrets does not: they are sealed for the id it has.
fn adopt_equal(change: &Change<'_>, shadow: &Shadow) -> Result<(), StoreError> {
    let (Some(document), true) = (shadow.row.state.live(), shadow.is_own()) else { return Ok(()) };
    let id = shadow.row.memory;
    // A file is known by its path: whether it is there already is seen when it is taken.
    if document.details.file.is_some() || row::remains(change.tx, id)?.is_some() {
        return Ok(());
    }
    let signature = Analysis::of(&memory_of(document, Beside::of(id))).signature;
    let sql = "SELECT id FROM memories WHERE signature = ?1 AND content = ?2 AND scope = ?3 AND deleted IS NULL
                   AND shared_by IS NULL AND conflict_of IS NULL AND superseded_by IS NULL AND file IS NULL
                   AND id NOT IN (SELECT memory FROM trails) AND id NOT IN (SELECT memory FROM private)
                   AND id NOT IN (SELECT memory FROM secrets)
               ORDER BY handle LIMIT 1";
    let wanted = params![signature.cast_signed(), document.content.as_str(), document.details.scope.as_str()];
    let found: Option<MemoryId> = change.tx.prepare_cached(sql)?.query_row(wanted, |row| row.get(0)).optional()?;
    found.map_or(Ok(()), |known| identity::rename(change, known, id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Permission;
    use crate::store::open::in_memory::{InMemory, by_bob, shadow};
    use crate::store::sync::server::Upload;

    fn whole(rows: Vec<Shadow>) -> Whole {
        Whole {
            epoch: 3,
            restored_seq: 0,
            mark: Some(Mark { seq: 9, stamp: 1 }),
            head: 9,
            rows,
            meanings: BTreeMap::new(),
        }
    }

    fn joined(upload: Upload) -> InMemory {
        let mut store = InMemory::new();
        for text in ["Deploy on Monday", "The cache lives on birch"] {
            store.said(text);
        }
        store.join("https://t.example", "ada", upload).unwrap();
        store
    }

    fn ids(store: &InMemory) -> BTreeSet<MemoryId> {
        let mut statement = store.connection.prepare("SELECT id FROM memories WHERE purged = 0").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn what_both_hold_becomes_one_and_what_the_server_lacks_is_told() {
        let mut store = joined(Upload::All);
        let (same, theirs) = (shadow("Deploy on Monday", 1, None), shadow("new", 2, Some(by_bob(Permission::Read))));
        store.begin_anew(&whole(vec![same.clone(), theirs.clone()])).unwrap();
        let held = ids(&store);
        assert!(held.len() == 3 && held.contains(&same.row.memory) && held.contains(&theirs.row.memory));
        let ops = store.ops(9).unwrap();
        assert_eq!(ops.len(), 1, "of the cache: {ops:?}");
        let server = store.server().unwrap().unwrap();
        assert!(server.is_whole && (server.epoch, server.cursor) == (3, 9));
        assert_eq!(store.marks().unwrap(), [Mark { seq: 9, stamp: 1 }]);
    }

    #[test]
    fn what_is_to_stay_here_is_neither_told_nor_taken_for_the_servers() {
        let mut store = joined(Upload::Nothing);
        let same = shadow("Deploy on Monday", 1, None);
        store.begin_anew(&whole(vec![same.clone()])).unwrap();
        assert_eq!(ids(&store).len(), 3, "the private text keeps its own identity");
        assert!(store.ops(9).unwrap().is_empty());
    }

    #[test]
    fn what_others_shared_and_is_not_there_any_more_goes() {
        let mut store = joined(Upload::All);
        let theirs = shadow("new", 2, Some(by_bob(Permission::Read)));
        store.begin_anew(&whole(vec![theirs.clone()])).unwrap();
        let later = Whole { epoch: 4, restored_seq: 9, ..whole(Vec::new()) };
        store.begin_anew(&later).unwrap();
        assert!(!ids(&store).contains(&theirs.row.memory));
        assert_eq!(ids(&store).len(), 2);
    }
}
