//! The connection of a store to its team server. Each batch of changes is taken from the outbox in one transaction.
//! Each page of received changes is applied in one transaction, which also moves the cursor. [`crate::sync`] makes the
//! decisions.

use rusqlite::OptionalExtension;
use serde::Serialize;

use crate::domain::{Memory, MemoryUuid, ShortId, Timestamp};
use crate::screen::dropped;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::erase::purge;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Reader, Run as _, read_columns, sql};
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;

/// The server of a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ServerState {
    /// Its address.
    pub url: String,
    /// The user there.
    pub user: String,
    /// The epoch of the cursor.
    pub epoch: u64,
    /// The position in the server's changes.
    pub cursor: u64,
    /// False while everything must be downloaded again.
    pub is_whole: bool,
    /// When it last answered.
    pub reached: Option<Timestamp>,
    /// Why it has not answered since.
    pub problem: Option<String>,
}

/// Which existing memories are uploaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upload {
    /// All of them.
    All,
    /// No existing memories are uploaded; they stay on this machine.
    Nothing,
    /// Only memories that the server already has word for word. The user was not asked about the other memories, so
    /// they stay on this machine for now.
    Known,
}

/// The state of sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SyncStatus {
    /// The server, if there is one.
    pub server: Option<ServerState>,
    /// Memories with unsent changes.
    pub waiting: u64,
    /// The number of changes that the server failed to process in the last sync.
    pub failing: u64,
    /// Memories whose changes the server rejected.
    pub refused: u64,
    /// Conflict copies.
    pub conflicts: u64,
    /// Memories of other users.
    pub shared_with_me: u64,
    /// Memories that are kept on this machine.
    pub private: u64,
    /// The number of memories for which the user has not decided about the upload yet.
    pub undecided: u64,
}

/// A change that the server rejected or failed to process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct RefusedChange {
    /// The memory's ID.
    #[serde(rename = "id")]
    pub short_id: ShortId,
    /// Its UUID.
    #[serde(rename = "uuid")]
    pub id: MemoryUuid,
    /// Its summary.
    pub summary: String,
    /// The server's reason.
    pub why: String,
}

read_columns! {
    /// The one server.
    ServerColumns of ServerState {
        "url" => url,
        "user" => user,
        "epoch" => epoch,
        "cursor" => cursor,
        "is_whole" => is_whole,
        "reached" => reached,
        "problem" => problem,
    }
}

read_columns! {
    /// A rejected change.
    RefusedColumns of RefusedChange {
        "short_id" => short_id,
        "id" => id,
        "summary" => summary,
        "why" => why,
    }
}

/// If the store has a server, queues all memories of the user for it, except those that are to stay on this machine.
pub(in crate::store) fn queue_all(change: &Change<'_>) -> Result<(), StoreError> {
    let sql = "INSERT OR IGNORE INTO outbox (memory) SELECT id FROM memories WHERE EXISTS (SELECT 1 FROM server) AND shared_by IS NULL
                   AND purged = 0 AND (file IS NULL OR is_file = 1) AND id NOT IN (SELECT memory FROM private) ORDER BY short_id";
    change.tx.run(sql, [])?;
    Ok(())
}

impl Store {
    /// The server of this store.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn server(&self) -> Result<Option<ServerState>, StoreError> {
        let sql = sql!("SELECT ", ServerColumns::LIST, " FROM server");
        let read = |row: &rusqlite::Row<'_>| ServerColumns::read(&mut Reader::new(row));
        self.connection.query_row(sql, [], read).optional().map_err(|error| self.failed(error))
    }

    /// The ID of this store on its server. The ID is derived from random bytes and never changes.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn machine(&self) -> Result<String, StoreError> {
        let sql = "SELECT CAST(value AS BLOB) FROM meta WHERE key = 'store_id'";
        let id: Vec<u8> = self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))?;
        Ok(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&id)))
    }

    /// Joins a server. Repeating it changes nothing.
    ///
    /// # Errors
    /// Returns an error if the store belongs to another server, or to another user there.
    pub fn join(&mut self, url: &str, user: &str, upload: Upload) -> Result<(), StoreError> {
        if let Some(known) = self.server()? {
            if known.url == url && known.user == user {
                return Ok(());
            }
            return Err(StoreError::OtherServer { url: known.url, user: known.user });
        }
        self.write(|change| {
            let sql = "INSERT INTO server (only_row, url, user, epoch, cursor, is_whole) VALUES (1, ?1, ?2, 0, 0, 0)";
            change.tx.execute(sql, [url, user])?;
            let why = match upload {
                Upload::All => return queue_all(change),
                Upload::Nothing => None,
                Upload::Known => Some("undecided"),
            };
            let sql = "INSERT OR IGNORE INTO private (memory, why)
                       SELECT id, ?1 FROM memories WHERE purged = 0 AND (file IS NULL OR is_file = 1)";
            change.tx.execute(sql, [why])?;
            change.tx.execute("DELETE FROM outbox", [])?;
            Ok(())
        })
    }

    /// Leaves the server. The user's own memories stay; other users' memories are removed.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn leave(&mut self) -> Result<(), StoreError> {
        self.write(|change| {
            let sql = sql!("SELECT ", MEMORY, " FROM memories WHERE shared_by IS NOT NULL AND purged = 0");
            let mut statement = change.tx.prepare(sql)?;
            let theirs: Vec<Memory> = statement.query_map([], row::memory)?.collect::<Result<_, _>>()?;
            for memory in theirs {
                purge(change, &memory, row::GONE, &Actor::default())?;
            }
            change.tx.execute_batch(
                "DELETE FROM sync_states; DELETE FROM private WHERE why IS NOT 'file'; DELETE FROM outbox; DELETE FROM server; DELETE FROM checkpoints;
                 DELETE FROM invitations; UPDATE secrets SET told = 0;",
            )?;
            Ok(())
        })?;
        self.scrub()
    }

    /// The state of sync.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn sync_status(&self) -> Result<SyncStatus, StoreError> {
        let server = self.server()?;
        let one = |sql: &str| -> Result<u64, StoreError> {
            self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))
        };
        let refused = one("SELECT count(*) FROM outbox WHERE refused IS NOT NULL")?;
        Ok(SyncStatus {
            // All rows are counted without reading them.
            waiting: one("SELECT count(*) FROM outbox")?.saturating_sub(refused),
            failing: one("SELECT count(*) FROM outbox WHERE refused IS NULL AND failing IS NOT NULL")?,
            refused,
            conflicts: one("SELECT count(*) FROM memories WHERE conflict_of IS NOT NULL AND deleted IS NULL")?,
            shared_with_me: one("SELECT count(*) FROM memories WHERE shared_by IS NOT NULL AND deleted IS NULL")?,
            // The short table comes first.
            private: one("SELECT count(*) FROM private CROSS JOIN memories ON id = memory WHERE deleted IS NULL")?,
            undecided: one(
                "SELECT count(*) FROM private CROSS JOIN memories ON id = memory WHERE deleted IS NULL AND why = 'undecided'",
            )?,
            server,
        })
    }

    /// Changes that the server rejected, oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn refused_changes(&self) -> Result<Vec<RefusedChange>, StoreError> {
        self.changes_with("SELECT n, memory, refused AS why FROM outbox WHERE refused IS NOT NULL")
    }

    /// Changes that the server failed to process in the last sync, oldest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn failing_changes(&self) -> Result<Vec<RefusedChange>, StoreError> {
        self.changes_with("SELECT n, memory, failing AS why FROM outbox WHERE refused IS NULL AND failing IS NOT NULL")
    }

    fn changes_with(&self, reasons: &str) -> Result<Vec<RefusedChange>, StoreError> {
        let read = || -> rusqlite::Result<Vec<RefusedChange>> {
            let list = RefusedColumns::LIST;
            let sql = format!("SELECT {list} FROM ({reasons}) JOIN memories ON id = memory ORDER BY n");
            let mut statement = self.connection.prepare(&sql)?;
            let rows = statement.query_map([], |row| RefusedColumns::read(&mut Reader::new(row)))?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// Queues rejected changes again. Returns their number.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn retry_refused(&mut self) -> Result<usize, StoreError> {
        self.write(|change| Ok(change.tx.execute("UPDATE outbox SET refused = NULL WHERE refused IS NOT NULL", [])?))
    }

    /// Records that everything must be downloaded again.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn must_begin_anew(&mut self) -> Result<(), StoreError> {
        self.write(|change| {
            change.tx.execute("UPDATE server SET is_whole = 0", [])?;
            Ok(())
        })
    }

    /// Records that the server answered, or why it did not.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn note_server(&mut self, problem: Option<&str>) -> Result<(), StoreError> {
        self.write(|change| {
            match problem {
                None => change.tx.execute("UPDATE server SET reached = ?1, problem = NULL", [change.now])?,
                Some(problem) => change.tx.execute("UPDATE server SET problem = ?1", [dropped(problem)])?,
            };
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::Permission;
    use crate::store::open::in_memory::{InMemory, base_version, by_bob};
    use crate::store::sync::anew::Whole;

    const URL: &str = "https://t.example";

    fn joined() -> InMemory {
        let mut store = InMemory::new();
        store.said("mine");
        store.join(URL, "ada", Upload::All).unwrap();
        let rows = vec![base_version("theirs", 1, Some(by_bob(Permission::Read))), base_version("also mine", 2, None)];
        let whole = Whole { epoch: 1, restored_seq: 0, checkpoint: None, head: 2, rows, embeddings: BTreeMap::new() };
        store.begin_anew(&whole).unwrap();
        store
    }

    #[test]
    fn a_store_belongs_to_one_server_and_one_user() {
        let mut store = joined();
        store.join(URL, "ada", Upload::Nothing).unwrap();
        assert_eq!(store.sync_status().unwrap().private, 0, "joining again changes nothing");
        for (url, user) in [(URL, "eve"), ("https://u.example", "ada")] {
            let refused = store.join(url, user, Upload::All);
            assert!(matches!(refused, Err(StoreError::OtherServer { .. })), "{refused:?}");
        }
    }

    #[test]
    fn how_things_stand_is_counted() {
        let mut store = joined();
        store.run("INSERT INTO private (memory) SELECT id FROM memories WHERE content = 'also mine'");
        let SyncStatus { server, waiting, refused, conflicts, shared_with_me, private, .. } =
            store.sync_status().unwrap();
        assert_eq!((waiting, refused, conflicts, shared_with_me, private), (1, 0, 0, 1, 1));
        assert_eq!(server.unwrap().user, "ada");
        store.note_server(Some("no route")).unwrap();
        assert_eq!(store.server().unwrap().unwrap().problem.as_deref(), Some("no route"));
        store.note_server(None).unwrap();
        let server = store.server().unwrap().unwrap();
        assert_eq!((server.problem, server.reached), (None, Some(store.now())));
        store.must_begin_anew().unwrap();
        assert!(!store.server().unwrap().unwrap().is_whole);
    }

    #[test]
    fn who_leaves_keeps_their_own_and_nothing_of_others() {
        let mut store = joined();
        store.leave().unwrap();
        assert_eq!(store.server().unwrap(), None);
        let left = "SELECT group_concat(content) FROM (SELECT content FROM memories WHERE purged = 0 ORDER BY content)";
        assert_eq!(store.one::<String>(left), "also mine,mine");
        assert_eq!(store.one::<u32>("SELECT count(*) FROM memories WHERE content = 'theirs'"), 0);
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 0, "there is no server");
        assert_eq!(store.one::<u32>("SELECT count(*) FROM sync_states"), 0);
        store.join("https://t.example", "ada", Upload::All).unwrap();
        assert_eq!(store.ops(9).unwrap().len(), 2, "another server is told of all");
        store.leave().unwrap();
        store.join("https://u.example", "ada", Upload::Nothing).unwrap();
        assert!(store.ops(9).unwrap().is_empty());
        assert_eq!(store.sync_status().unwrap().private, 2);
    }
}
