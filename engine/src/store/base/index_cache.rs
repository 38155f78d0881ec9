//! The index in a process: the memory-mapped snapshot, and the rows changed since.

use std::path::Path;

use memmap2::Mmap;
use rusqlite::Connection;

use super::config::Usage;
use crate::embedding::{Embedding, Made};
use crate::index::{ForwardDoc, Freshness, Identity, IndexRow, IndexView, Mask, Snapshot, Tail};
use crate::store::file::home::Home;
use crate::store::file::snapshot::{self, Version};
use crate::store::rows::codec::{Ask as _, Reader, Run as _, sql};
use crate::store::rows::columns::MEMORY;
use crate::store::rows::index::{IndexColumns, index_row, read_index_row};
use crate::store::rows::memory as row;

/// The snapshot is rebuilt if the number of changed rows exceeds this number, and also a hundredth of the snapshot's
/// rows. Every process reads the changed rows at its start, about 5 µs for each. A rebuild takes about 7 µs for each row
/// of the store.
const REBUILD_AT_ROWS: usize = 250;

pub(crate) struct IndexCache {
    usage: Usage,
    snapshot: Option<Snapshot<Mmap>>,
    version: Option<Version>,
    tail: Tail,
    mask: Mask,
    seen: u64,
    generation: u64,
    /// The highest rev of a row that an older program wrote.
    stale_to: u64,
    /// The highest rev of a row whose embedding an older encoder computed.
    outdated_to: u64,
}

impl IndexCache {
    pub(crate) fn new(usage: Usage) -> Self {
        Self {
            usage,
            snapshot: None,
            version: None,
            tail: new_tail(usage),
            mask: Mask::default(),
            seen: 0,
            generation: 0,
            stale_to: 0,
            outdated_to: 0,
        }
    }

    pub(crate) fn view(&self) -> IndexView<'_, Mmap> {
        IndexView::new(self.snapshot.as_ref(), &self.tail, &self.mask)
    }

    /// Reads the changes since the last call.
    pub(crate) fn refresh(&mut self, connection: &Connection, home: &Home) -> rusqlite::Result<()> {
        let path = home.snapshot();
        let version = snapshot::version(&path);
        let is_first = self.generation == 0;
        let rev: u64 = connection.one("SELECT value FROM meta WHERE key = 'rev'", [], |row| row.get(0))?;
        if is_first || version != self.version || rev < self.seen {
            self.snapshot = load(connection, &path, (version, rev))?;
            self.version = version;
            self.tail = new_tail(self.usage);
            self.seen = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.identity().rev);
        } else if rev == self.seen {
            return Ok(());
        }
        self.read_tail(connection)?;
        // Revs are assigned and committed in the same order, so everything up to `rev` has been read.
        self.seen = self.seen.max(rev);
        self.generation += 1;
        self.mask = Mask::of(self.snapshot.as_ref(), &self.tail);
        Ok(())
    }

    fn read_tail(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let sql = sql!("SELECT ", IndexColumns::LIST, ", rev FROM memories WHERE rev > ?1 ORDER BY rev");
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([self.seen])?;
        while let Some(sql_row) = rows.next()? {
            let mut from = Reader::new(sql_row);
            let index_row = read_index_row(&mut from)?;
            self.seen = from.take()?;
            if index_row.is_live() && Freshness::of(&index_row.blob) == Freshness::Older {
                self.stale_to = self.seen;
            }
            if index_row.is_live()
                && !index_row.embedding.is_empty()
                && Embedding::made(&index_row.embedding) == Made::Waits
            {
                self.outdated_to = self.seen;
            }
            self.tail.push(readable(connection, index_row)?);
        }
        Ok(())
    }

    pub(crate) fn tail_len(&self) -> u64 {
        self.tail.len() as u64
    }

    /// The highest rev of a row that an older program wrote; 0 if there is none.
    pub(crate) fn stale_to(&self) -> u64 {
        self.stale_to
    }

    /// The highest rev of a row whose embedding an older encoder computed; 0 if there is none.
    pub(crate) fn outdated_to(&self) -> u64 {
        self.outdated_to
    }

    /// Resets the marker after the embeddings up to it have been recomputed.
    pub(crate) fn forget_outdated(&mut self) {
        self.outdated_to = 0;
    }

    /// Resets the marker after the rows up to it were rewritten.
    pub(crate) fn forget_stale(&mut self) {
        self.stale_to = 0;
    }

    pub(crate) fn is_rebuild_due(&self) -> bool {
        let rows = self.snapshot.as_ref().map_or(0, |snapshot| snapshot.rows() as usize);
        self.tail.pushed() > REBUILD_AT_ROWS.max(rows / 100)
    }
}

fn new_tail(usage: Usage) -> Tail {
    if usage == Usage::Serve { Tail::inverted() } else { Tail::scanned() }
}

/// The key in `meta` of the mark of the snapshot's file that is known to be complete.
const CHECKED: &str = "snapshot";

/// True if the snapshot's file is known to be complete, so that its checksum need not be computed.
fn is_known(connection: &Connection, version: Option<Version>) -> rusqlite::Result<bool> {
    let Some(mark) = version.and_then(|version| version.mark()) else { return Ok(false) };
    let checked: Option<String> =
        connection.maybe("SELECT value FROM meta WHERE key = ?1", [CHECKED], |row| row.get(0))?;
    Ok(checked.is_some_and(|checked| checked == mark))
}

/// Records that the snapshot's file is complete.
pub(crate) fn note_known(connection: &Connection, version: Option<Version>) -> rusqlite::Result<()> {
    let Some(mark) = version.and_then(|version| version.mark()) else { return Ok(()) };
    connection.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", (CHECKED, mark)).map(drop)
}

/// A snapshot of this store, built at a point that is still part of its history.
fn load(
    connection: &Connection,
    path: &Path,
    (version, rev): (Option<Version>, u64),
) -> rusqlite::Result<Option<Snapshot<Mmap>>> {
    let snapshot = match snapshot::map(path, is_known(connection, version)?) {
        Ok(snapshot) => snapshot,
        Err(error) => {
            tracing::debug!(error = %error, "no snapshot");
            return Ok(None);
        }
    };
    Ok(is_of(connection, snapshot.identity(), rev)?.then_some(snapshot))
}

/// True if a snapshot was built from this store, which is now at `rev`.
fn is_of(connection: &Connection, claimed: Identity, rev: u64) -> rusqlite::Result<bool> {
    Ok(claimed.rev <= rev && identity_at(connection, claimed.rev)? == claimed)
}

/// The number of changed rows that are not in the snapshot in a file.
pub(crate) fn tail_rows(connection: &Connection, path: &Path) -> rusqlite::Result<u64> {
    let rev = connection.one("SELECT value FROM meta WHERE key = 'rev'", [], |row| row.get(0))?;
    let ours = match snapshot::identity(path) {
        Ok(claimed) if is_of(connection, claimed, rev)? => claimed.rev,
        _ => 0,
    };
    connection.one("SELECT count(*) FROM memories WHERE rev > ?1", [ours], |row| row.get(0))
}

/// The identity of a snapshot that is built at `rev`.
fn identity_at(connection: &Connection, rev: u64) -> rusqlite::Result<Identity> {
    let store = connection.query_row("SELECT value FROM meta WHERE key = 'store_id'", [], |row| row.get(0))?;
    let sql = "SELECT op_id FROM history WHERE rev <= ?1 ORDER BY rev DESC LIMIT 1";
    let stamp: Option<[u8; 16]> = connection.maybe(sql, [rev], |row| row.get(0))?;
    Ok(Identity { store, rev, stamp: stamp.unwrap_or_default() })
}

/// If another version of the analyzer wrote the row's terms, analyses the text again. The words of neighbours are then
/// missing.
fn readable(connection: &Connection, mut index_row: IndexRow) -> rusqlite::Result<IndexRow> {
    if index_row.is_live() && !Freshness::of(&index_row.blob).is_current() {
        let sql = sql!("SELECT ", MEMORY, " FROM memories WHERE short_id = ?1");
        let memory = connection.one(sql, [index_row.features.short_id], row::memory)?;
        let doc = ForwardDoc::analyze(&memory);
        index_row.features.length = doc.length;
        index_row.blob = doc.encode_into(&index_row.blob);
    }
    Ok(index_row)
}

/// Builds a snapshot of the store's current content, and returns its bytes.
pub(crate) fn snapshot_bytes(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    let tx = connection.unchecked_transaction()?;
    let rev: u64 = tx.query_row("SELECT value FROM meta WHERE key = 'rev'", [], |row| row.get(0))?;
    let identity = identity_at(&tx, rev)?;
    let sql =
        sql!("SELECT ", IndexColumns::LIST, " FROM memories WHERE deleted IS NULL AND is_file = 0 ORDER BY short_id");
    let mut statement = tx.prepare(sql)?;
    let rows: rusqlite::Result<Vec<IndexRow>> =
        statement.query_map([], index_row)?.map(|index_row| readable(&tx, index_row?)).collect();
    Ok(Snapshot::build(identity, &rows?))
}

#[cfg(test)]
mod tests {
    use crate::domain::Patch;
    use crate::store::base::config::{Actor, Usage};
    use crate::store::base::index_cache::IndexCache;
    use crate::store::change::erase::Erase;
    use crate::store::file::snapshot;
    use crate::store::open::in_memory::{InMemory, named};

    fn rows(store: &InMemory, cache: &mut IndexCache) -> u32 {
        cache.refresh(&store.connection, store.home()).unwrap();
        cache.view().rows()
    }

    #[test]
    fn what_changed_since_the_snapshot_is_seen_and_masks_it() {
        let mut store = InMemory::new();
        let (one, two) = (store.said("The cache lives on birch"), store.said("The proxy is nginx"));
        store.rebuild_snapshot().unwrap();
        let mut cache = IndexCache::new(Usage::Serve);
        assert_eq!((rows(&store, &mut cache), cache.tail_len()), (2, 0));
        store.forget(&[named(&two)], Erase::Soft, &Actor::default()).unwrap();
        let text = Patch { content: Some("The cache lives on oak".into()), ..Patch::default() };
        store.update(named(&one), &text, &Actor::default()).unwrap();
        assert_eq!((rows(&store, &mut cache), cache.tail_len()), (1, 2));
        assert_eq!(store.recalled("where does the cache live?"), ["The cache lives on oak"]);
        store.rebuild_snapshot().unwrap();
        assert_eq!((rows(&store, &mut cache), cache.tail_len()), (1, 0), "a new snapshot is taken");
    }

    #[test]
    fn a_snapshot_of_another_store_or_a_damaged_one_is_not_believed() {
        let (mut store, mut other) = (InMemory::new(), InMemory::new());
        store.said("ours");
        for text in ["theirs", "theirs too"] {
            other.said(text);
        }
        other.rebuild_snapshot().unwrap();
        std::fs::copy(other.home().snapshot(), store.home().snapshot()).unwrap();
        assert_eq!(rows(&store, &mut IndexCache::new(Usage::ReadOnce)), 1);
        snapshot::write(&store.home().snapshot(), b"no snapshot").unwrap();
        assert_eq!(rows(&store, &mut IndexCache::new(Usage::ReadOnce)), 1);
    }

    #[test]
    fn a_row_of_another_analyzer_is_found_all_the_same() {
        let mut store = InMemory::new();
        store.said("The cache lives on birch");
        store.run("UPDATE memories SET forward = x'FE0000', rev = (SELECT value + 1 FROM meta WHERE key = 'rev')");
        store.run("UPDATE meta SET value = value + 1 WHERE key = 'rev'");
        assert_eq!(store.recalled("where does the cache live?").len(), 1);
        store.rebuild_snapshot().unwrap();
        assert_eq!(store.recalled("where does the cache live?").len(), 1);
    }
}
