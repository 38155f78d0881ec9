//! Replaces the local state with the server's complete content.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::params;

use super::arrival::{Held, applied, carry_out, settle_paths, take};
use super::checkpoints::note_checkpoint;
use super::embeddings::believe;
use super::equal::{Among, adopt};
use super::hidden::{self, Learned};
use crate::domain::MemoryUuid;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::sync::{Arrival, BaseVersion, Checkpoint, SentEmbedding};

/// The server's content for a user, or a page of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The server's epoch.
    pub epoch: u64,
    /// The position up to which the earlier state is still valid.
    pub restored_seq: u64,
    /// The checkpoint of the head.
    pub checkpoint: Option<Checkpoint>,
    /// The cursor to continue from.
    pub head: u64,
    /// All rows.
    pub rows: Vec<BaseVersion>,
    /// The embeddings of the rows, if the server has them.
    pub embeddings: BTreeMap<MemoryUuid, SentEmbedding>,
}

/// A running replacement. Pages are applied as they arrive, so that others can use the store during the replacement.
#[derive(Debug, Default)]
pub struct Anew {
    there: BTreeSet<MemoryUuid>,
    purged: bool,
}

impl Anew {
    /// Applies a page in steps.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. In case of an error, everything is downloaded again.
    pub fn take(&mut self, store: &mut Store, page: &Whole) -> Result<(), StoreError> {
        let Some(server) = store.server()? else { return Ok(()) };
        let is_first = server.epoch == 0;
        for rows in page.rows.chunks(STEP) {
            self.purged |= store.write(|change| {
                let mut purged = false;
                for base_version in rows {
                    let is_equal = is_first && adopt(change, base_version, Among::UnsentFile)?;
                    let id = base_version.row.memory;
                    purged |= restore(change, id, Some(base_version.clone()), is_equal, page, &server.user)?;
                    if let Some(sent) = page.embeddings.get(&id) {
                        believe(change, id, &Arrival::Row(Box::new(base_version.clone())), Some(sent))?;
                    }
                }
                Ok(purged)
            })?;
        }
        self.there.extend(page.rows.iter().map(|base_version| base_version.row.memory));
        Ok(())
    }

    /// Ends the replacement after all rows have arrived; memories that the server lacks are kept. `whole` is the
    /// server's position when the download began.
    ///
    /// # Errors
    /// Returns the same errors as [`Anew::take`].
    pub fn end(self, store: &mut Store, whole: &Whole) -> Result<(), StoreError> {
        let Self { there, mut purged } = self;
        let Some(server) = store.server()? else { return Ok(()) };
        let mut lacking = store.told_of().map_err(|error| store.failed(error))?;
        lacking.retain(|id| !there.contains(id));
        for ids in lacking.chunks(STEP) {
            purged |= store.write(|change| {
                let mut purged = false;
                for id in ids {
                    purged |= restore(change, *id, None, false, whole, &server.user)?;
                }
                Ok(purged)
            })?;
        }
        store.write(|change| {
            settle_paths(change, there.iter().chain(&lacking).copied())?;
            let sql = "UPDATE server SET epoch = ?1, cursor = ?2, is_whole = 1";
            change.tx.execute(sql, params![whole.epoch, whole.head])?;
            // The server may have lost secrets too; it reports those that it still has.
            change.tx.execute("UPDATE secrets SET told = 0", [])?;
            // Later positions belong to a lost history.
            let common = i64::try_from(whole.restored_seq).unwrap_or(i64::MAX);
            change.tx.execute("DELETE FROM checkpoints WHERE seq > ?1", [common])?;
            note_checkpoint(change, whole.checkpoint)
        })?;
        store.after_news(purged)
    }
}

impl Store {
    /// Replaces the local state with the server's content, if the whole content fits on one page. Memories that the
    /// server does not have are kept. The replacement uses several transactions. If it is interrupted, it begins again.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. In case of an error, everything is downloaded again.
    pub fn begin_anew(&mut self, whole: &Whole) -> Result<(), StoreError> {
        let mut anew = Anew::default();
        anew.take(self, whole)?;
        anew.end(self, whole)
    }

    /// Memories that were sent to a server, or came from it.
    fn told_of(&self) -> rusqlite::Result<Vec<MemoryUuid>> {
        let mut statement = self.connection.prepare("SELECT memory FROM sync_states")?;
        let ids = statement.query_map([], |row| row.get(0))?;
        ids.collect()
    }
}

/// Memories per step of [`Anew`].
const STEP: usize = 100;

/// Applies the server's row for a memory, or the fact that the server has no row for it. `is_equal` is true if the row
/// has the same content as a local memory. True if something was permanently deleted.
fn restore(
    change: &Change<'_>,
    id: MemoryUuid,
    row: Option<BaseVersion>,
    is_equal: bool,
    whole: &Whole,
    user: &str,
) -> Result<bool, StoreError> {
    if Held::of(change, id)?.is_none() {
        return row.map_or(Ok(false), |base_version| take(change, id, Arrival::Row(Box::new(base_version))));
    }
    let (mut row, mut learned, mut is_cleaned) = (row, Learned::Nothing, false);
    if let Some(row) = &mut row {
        learned = hidden::learn(change, row)?;
        is_cleaned = hidden::apply(change, row)?;
    }
    let Some(mut held) = Held::of(change, id)? else { return Ok(false) };
    if let (true, Some(base_version)) = (is_equal, &row) {
        held.local.agree_with(base_version);
    }
    let mut fresh = || MemoryUuid::generate(change.now);
    let settled = held.local.restore(row, whole.restored_seq, user, &mut fresh);
    let purged = carry_out(change, id, Some(&held.known), held.mark, &held.local, settled)?;
    Ok(applied(change, id, learned, is_cleaned)? || purged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{MemoryRef, Permission, Tag};
    use crate::store::open::in_memory::{InMemory, base_version, by_bob};
    use crate::store::sync::server::Upload;
    use crate::sync::{Action, State};

    fn whole(rows: Vec<BaseVersion>) -> Whole {
        Whole {
            epoch: 3,
            restored_seq: 0,
            checkpoint: Some(Checkpoint { seq: 9, stamp: 1 }),
            head: 9,
            rows,
            embeddings: BTreeMap::new(),
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

    /// The texts that are not deleted.
    fn texts(store: &InMemory) -> String {
        store.one("SELECT group_concat(content, '|') FROM (SELECT content FROM memories WHERE deleted IS NULL AND purged = 0 ORDER BY content)")
    }

    fn tagged(text: &str, seq: u64, tag: &str) -> BaseVersion {
        let mut base_version = base_version(text, seq, None);
        if let State::Live(document) = &mut base_version.row.state {
            document.tags.insert(tag.to_owned().try_into().unwrap());
            document.details.importance = 0.9.try_into().unwrap();
        }
        base_version
    }

    fn ids(store: &InMemory) -> BTreeSet<MemoryUuid> {
        let mut statement = store.connection.prepare("SELECT id FROM memories WHERE purged = 0").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn what_both_hold_becomes_one_and_what_the_server_lacks_is_told() {
        let mut store = joined(Upload::All);
        let (same, theirs) =
            (base_version("Deploy on Monday", 1, None), base_version("new", 2, Some(by_bob(Permission::Read))));
        store.begin_anew(&whole(vec![same.clone(), theirs.clone()])).unwrap();
        let held = ids(&store);
        assert!(held.len() == 3 && held.contains(&same.row.memory) && held.contains(&theirs.row.memory));
        let ops = store.ops(9).unwrap();
        assert_eq!(ops.len(), 1, "of the cache: {ops:?}");
        let server = store.server().unwrap().unwrap();
        assert!(server.is_whole && (server.epoch, server.cursor) == (3, 9));
        assert_eq!(store.checkpoints().unwrap(), [Checkpoint { seq: 9, stamp: 1 }]);
    }

    #[test]
    fn what_is_written_while_pages_come_is_told_and_what_no_page_has_is_let_go() {
        let mut store = joined(Upload::All);
        let theirs = |text: &str, seq| base_version(text, seq, Some(by_bob(Permission::Read)));
        let (first, second, gone) = (theirs("first", 1), theirs("second", 2), theirs("no more", 3));
        store.begin_anew(&whole(vec![gone.clone()])).unwrap();
        store.must_begin_anew().unwrap();
        let mut anew = Anew::default();
        anew.take(&mut store, &whole(vec![first])).unwrap();
        assert_eq!(texts(&store), "Deploy on Monday|The cache lives on birch|first|no more");
        assert!(!store.server().unwrap().unwrap().is_whole, "an interrupted full download starts from the beginning");
        store.said("said between");
        let last = whole(vec![second]);
        anew.take(&mut store, &last).unwrap();
        anew.end(&mut store, &last).unwrap();
        assert_eq!(texts(&store), "Deploy on Monday|The cache lives on birch|first|said between|second");
        assert_eq!(store.ops(9).unwrap().len(), 3);
        assert!(store.server().unwrap().unwrap().is_whole);
    }

    #[test]
    fn what_is_to_stay_here_is_neither_told_nor_taken_for_the_servers() {
        let mut store = joined(Upload::Nothing);
        let same = base_version("Deploy on Monday", 1, None);
        store.begin_anew(&whole(vec![same.clone()])).unwrap();
        assert_eq!(ids(&store).len(), 3, "a local memory keeps its own UUID");
        assert!(store.ops(9).unwrap().is_empty());
    }

    #[test]
    fn what_both_hold_has_the_servers_details_and_the_tags_of_both() {
        let mut store = joined(Upload::All);
        store.run("UPDATE memories SET tags = '[\"here\"]' WHERE content = 'Deploy on Monday'");
        let there = tagged("Deploy on Monday", 1, "there");
        store.begin_anew(&whole(vec![there.clone()])).unwrap();
        let held = store.get(MemoryRef::Id(there.row.memory)).unwrap().unwrap();
        assert_eq!(held.importance, 0.9.try_into().unwrap());
        let tags: Vec<&str> = held.tags.iter().map(Tag::as_str).collect();
        assert_eq!(tags, ["here", "there"]);
        let ops = store.ops(9).unwrap();
        let op = ops.iter().find(|op| op.memory == there.row.memory).unwrap();
        let Action::Edit(edit) = &op.action else { panic!("{op:?}") };
        assert!(edit.content.is_none() && edit.details.is_none() && edit.tags_added.len() == 1, "{edit:?}");
    }

    #[test]
    fn a_store_that_joined_by_itself_tells_only_what_the_server_has_word_for_word() {
        let mut store = joined(Upload::Known);
        assert_eq!(store.sync_status().unwrap().undecided, 2);
        let same = tagged("Deploy on Monday", 1, "there");
        store.begin_anew(&whole(vec![same.clone()])).unwrap();
        assert!(ids(&store).contains(&same.row.memory) && ids(&store).len() == 2);
        assert!(store.ops(9).unwrap().is_empty(), "the rest stays");
        assert_eq!(store.sync_status().unwrap().undecided, 1);
        // Another machine has sent the same meanwhile.
        let later = base_version("The cache lives on birch", 10, None);
        store.write(|change| take(change, later.row.memory, Arrival::Row(Box::new(later.clone())))).unwrap();
        assert_eq!((ids(&store).len(), store.sync_status().unwrap().undecided), (2, 0));
        assert!(ids(&store).contains(&later.row.memory));
    }

    #[test]
    fn what_was_kept_is_sent_once_somebody_says_so_and_is_not_there_twice() {
        for upload in [Upload::Known, Upload::Nothing] {
            let mut store = joined(upload);
            store.run("UPDATE memories SET tags = '[\"here\"]' WHERE content = 'Deploy on Monday'");
            store.begin_anew(&whole(Vec::new())).unwrap();
            let same = tagged("Deploy on Monday", 10, "there");
            store.write(|change| take(change, same.row.memory, Arrival::Row(Box::new(same.clone())))).unwrap();
            store.said("said later");
            assert_eq!(store.ops(9).unwrap().len(), if upload == Upload::Known { 2 } else { 1 }, "{upload:?}");
            assert_eq!(store.send_kept().unwrap(), 1, "{upload:?}: the cache");
            assert_eq!(texts(&store), "Deploy on Monday|The cache lives on birch|said later");
            let held = store.get(MemoryRef::Id(same.row.memory)).unwrap().unwrap();
            assert_eq!(held.tags.len(), 2, "{upload:?}");
            assert_eq!(store.ops(9).unwrap().len(), 3, "{upload:?}: the cache, what was said later, and a tag");
            assert_eq!(store.sync_status().unwrap().private, 0);
            assert_eq!(store.send_kept().unwrap(), 0);
        }
    }

    #[test]
    fn what_others_shared_and_is_not_there_any_more_goes() {
        let mut store = joined(Upload::All);
        let theirs = base_version("new", 2, Some(by_bob(Permission::Read)));
        store.begin_anew(&whole(vec![theirs.clone()])).unwrap();
        let later = Whole { epoch: 4, restored_seq: 9, ..whole(Vec::new()) };
        store.begin_anew(&later).unwrap();
        assert!(!ids(&store).contains(&theirs.row.memory));
        assert_eq!(ids(&store).len(), 2);
    }
}
