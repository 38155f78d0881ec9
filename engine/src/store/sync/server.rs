//! The store between its user and a team server: what is to be sent is taken from it, what comes is put
//! into it, each in one transaction with the cursor that stands for it. What to make of news is decided by
//! [`crate::sync`].

use rusqlite::OptionalExtension;
use serde::Serialize;

use crate::domain::{Handle, Memory, MemoryId, Timestamp};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::change::erase::purge;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Reader, read_columns, sql};
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;

/// The server that a store belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerState {
    /// Its address.
    pub url: String,
    /// Who this store's user is there.
    pub user: String,
    /// The epoch that the cursor belongs to.
    pub epoch: u64,
    /// How far the changes there are known.
    pub cursor: u64,
    /// False while everything is to be fetched anew.
    pub is_whole: bool,
    /// When it last answered.
    pub reached: Option<Timestamp>,
    /// Why it has not since.
    pub problem: Option<String>,
}

/// What of the memories that are here already a server is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upload {
    /// All of them.
    All,
    /// None: they stay on this machine.
    Nothing,
}

/// How things stand between a store and its server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SyncStatus {
    /// The server, if there is one.
    pub server: Option<ServerState>,
    /// Memories with changes that the server has not taken yet.
    pub waiting: u64,
    /// Memories with changes that it will not take.
    pub refused: u64,
    /// Texts of conflicts that somebody should look at.
    pub conflicts: u64,
    /// Memories of other users.
    pub shared_with_me: u64,
    /// Memories that stay on this machine.
    pub private: u64,
}

/// A change that the server will not take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedChange {
    /// The memory.
    pub handle: Handle,
    /// Its identity.
    pub id: MemoryId,
    /// What it says, in short.
    pub summary: String,
    /// Why it was refused.
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
    /// A refused change.
    RefusedColumns of RefusedChange {
        "handle" => handle,
        "id" => id,
        "summary" => summary,
        "refused" => why,
    }
}

impl Store {
    /// The server that this store belongs to.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn server(&self) -> Result<Option<ServerState>, StoreError> {
        let sql = sql!("SELECT ", ServerColumns::LIST, " FROM server");
        let read = |row: &rusqlite::Row<'_>| ServerColumns::read(&mut Reader::new(row));
        self.connection.query_row(sql, [], read).optional().map_err(|error| self.failed(error))
    }

    /// Makes a server this store's own. Joining it again changes nothing.
    ///
    /// # Errors
    /// When it belongs to another one, or to another user there.
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
            if upload == Upload::Nothing {
                change.tx.execute("INSERT OR IGNORE INTO private SELECT id FROM memories WHERE purged = 0", [])?;
                change.tx.execute("DELETE FROM outbox", [])?;
            }
            Ok(())
        })
    }

    /// Leaves the server: the user's own memories stay here, other users' go.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn leave(&mut self) -> Result<(), StoreError> {
        self.write(|change| {
            let sql = sql!("SELECT ", MEMORY, " FROM memories WHERE shared_by IS NOT NULL AND purged = 0");
            let mut statement = change.tx.prepare(sql)?;
            let theirs: Vec<Memory> = statement.query_map([], row::memory)?.collect::<Result<_, _>>()?;
            for memory in theirs {
                purge(change, &memory, row::GONE, &Actor::default())?;
            }
            change.tx.execute_batch(
                "DELETE FROM trails; DELETE FROM private; DELETE FROM outbox; DELETE FROM server; DELETE FROM marks;
                 DELETE FROM offers;
                 INSERT INTO outbox (memory) SELECT id FROM memories WHERE purged = 0 ORDER BY handle;",
            )?;
            Ok(())
        })?;
        self.scrub()
    }

    /// How things stand.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sync_status(&self) -> Result<SyncStatus, StoreError> {
        let server = self.server()?;
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error));
        Ok(SyncStatus {
            waiting: one("SELECT count(*) FROM outbox WHERE refused IS NULL")?,
            refused: one("SELECT count(*) FROM outbox WHERE refused IS NOT NULL")?,
            conflicts: one("SELECT count(*) FROM memories WHERE conflict_of IS NOT NULL AND deleted IS NULL")?,
            shared_with_me: one("SELECT count(*) FROM memories WHERE shared_by IS NOT NULL AND deleted IS NULL")?,
            private: one("SELECT count(*) FROM private JOIN memories ON id = memory WHERE deleted IS NULL")?,
            server,
        })
    }

    /// The changes that the server will not take, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn refused_changes(&self) -> Result<Vec<RefusedChange>, StoreError> {
        let read = || -> rusqlite::Result<Vec<RefusedChange>> {
            let sql = sql!(
                "SELECT ",
                RefusedColumns::LIST,
                " FROM outbox JOIN memories ON id = memory WHERE refused IS NOT NULL ORDER BY n"
            );
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| RefusedColumns::read(&mut Reader::new(row)))?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// Lets the changes that were refused be sent once more. Gives how many.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn retry_refused(&mut self) -> Result<usize, StoreError> {
        self.write(|change| Ok(change.tx.execute("UPDATE outbox SET refused = NULL WHERE refused IS NOT NULL", [])?))
    }

    /// Notes that everything is to be fetched anew.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn must_begin_anew(&mut self) -> Result<(), StoreError> {
        self.write(|change| {
            change.tx.execute("UPDATE server SET is_whole = 0", [])?;
            Ok(())
        })
    }

    /// Notes that the server answered, or why it did not.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn note_server(&mut self, problem: Option<&str>) -> Result<(), StoreError> {
        self.write(|change| {
            match problem {
                None => change.tx.execute("UPDATE server SET reached = ?1, problem = NULL", [change.now])?,
                Some(problem) => change.tx.execute("UPDATE server SET problem = ?1", [problem])?,
            };
            Ok(())
        })
    }
}
