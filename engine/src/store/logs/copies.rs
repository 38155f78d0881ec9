//! Copies of the store: backups, and damaged files that were set aside. Of whatever schema they are, what is removed for
//! good is taken out of them where they stand.

use std::fs;
use std::path::Path;
use std::time::Duration;

use aho_corasick::AhoCorasick;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, params_from_iter};

use crate::domain::MemoryId;
use crate::store::file::home::{Home, is_database};
use crate::store::rows::tables::{columns, erase_beside_in_copy};

/// How long another program is waited for that has a copy open.
const PATIENCE: Duration = Duration::from_secs(2);
/// Columns of a memory that say where it stands in its store, and nothing of what it says.
const OF_ITS_STORE: [&str; 4] = ["id", "handle", "rev", "superseded_by"];
/// Bytes that tell a text: a shorter piece of one may stand anywhere.
const PIECE: usize = 16;

/// The key in a copy's `meta` that stands until every page of the copy was written anew.
const REWRITING: &str = "rewriting";

/// A copy that is open to be changed.
pub(crate) struct Copy {
    pub(crate) connection: Connection,
}

impl Copy {
    /// Opens a copy. What stands in a log beside it is written into it, so that there is one file.
    pub(crate) fn open(path: &Path) -> rusqlite::Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
        connection
            .execute_batch("PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF;")?;
        Ok(Self { connection })
    }

    /// Begins to take something out, and notes so: a copy that is free of it may still have it in pages that are not used.
    pub(crate) fn begin(&self) -> rusqlite::Result<Transaction<'_>> {
        let transaction = self.connection.unchecked_transaction()?;
        transaction.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, 1)", [REWRITING])?;
        Ok(transaction)
    }

    /// Writes every page anew, so that nothing stands any more in those that are not used.
    pub(crate) fn finish(self) -> rusqlite::Result<()> {
        self.connection.execute_batch("VACUUM")?;
        self.connection.execute("DELETE FROM meta WHERE key = ?1", [REWRITING])?;
        self.connection.close().map_err(|(_, error)| error)
    }
}

/// How a database is told that is not one of ours.
pub(crate) const FOREIGN: &str = "is a database, and no store of Tessera: it is left as it is";

/// True for a database that can be read and is no store.
pub(crate) fn is_foreign(path: &Path) -> bool {
    let read = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let sql =
            "SELECT count(*) FROM pragma_table_info('memories') WHERE name IN ('id', 'handle', 'content', 'scope')";
        connection.query_row(sql, [], |row| Ok(row.get::<_, i64>(0)? < 4))
    };
    is_database(path) && read().unwrap_or(false)
}

/// True when a copy can be read and holds nothing of these memories.
pub(crate) fn is_free_of(path: &Path, removed: &[MemoryId]) -> bool {
    let read = || -> rusqlite::Result<bool> {
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        if connection.prepare("SELECT 1 FROM meta WHERE key = ?1")?.exists([REWRITING])? {
            return Ok(false);
        }
        let mut statement = connection.prepare(
            "SELECT EXISTS (SELECT 1 FROM memories WHERE id = ?1 AND purged = 0)
                 OR EXISTS (SELECT 1 FROM history WHERE memory = ?1 AND before IS NOT NULL)",
        )?;
        for id in removed {
            if statement.query_row([id], |row| row.get(0))? {
                return Ok(false);
            }
        }
        Ok(true)
    };
    read().unwrap_or(false)
}

/// Takes memories out of a copy: it shows them as the store itself does, removed for good.
pub(crate) fn take_out(path: &Path, live: &Connection, removed: &[MemoryId]) -> rusqlite::Result<()> {
    let copy = Copy::open(path)?;
    let names: Vec<String> = columns(&copy.connection, "memories")?
        .into_iter()
        .filter(|column| !OF_ITS_STORE.contains(&column.as_str()))
        .collect();
    let set: Vec<String> = names.iter().enumerate().map(|(at, column)| format!("{column} = ?{}", at + 2)).collect();
    let read = live.prepare(&format!("SELECT {} FROM memories WHERE id = ?1 AND purged > 0", names.join(", ")))?;
    let sql = format!("UPDATE memories SET {} WHERE id = ?1", set.join(", "));
    let (mut read, transaction) = (read, copy.begin()?);
    for id in removed {
        let emptied = read
            .query_row([id], |row| (0..names.len()).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<Value>>>());
        let Some(emptied) = emptied.optional()? else { continue };
        // Turns of the same session hold words of their neighbours; whoever opens the copy makes them anew.
        let around = "UPDATE memories SET forward = x'' WHERE deleted IS NULL AND session =
                          (SELECT session FROM memories WHERE id = ?1 AND origin = 'conversation')";
        copy.connection.execute(around, [id])?;
        let values = [Value::Blob(id.as_bytes().to_vec())].into_iter().chain(emptied);
        copy.connection.execute(&sql, params_from_iter(values))?;
        erase_beside_in_copy(&copy.connection, *id)?;
    }
    transaction.commit()?;
    copy.finish()
}

/// The files that stand beside a copy and repeat it. They are made anew where they are needed.
pub(crate) fn remove_beside(path: &Path) {
    let Some(dir) = path.parent() else { return };
    let of_copy = Home::new(dir);
    if of_copy.database() == path {
        // One that is not there is gone.
        let _ = fs::remove_file(of_copy.snapshot());
    }
}

/// True when the bytes of a file hold a piece of one of some texts.
pub(crate) fn holds_piece(bytes: &[u8], texts: &[String]) -> bool {
    // A short text is one piece; of a longer one, what is left at its end is none.
    let pieces = texts
        .iter()
        .map(String::as_bytes)
        .flat_map(|text| text.chunks(PIECE).filter(|piece| piece.len() == PIECE.min(text.len())));
    AhoCorasick::new(pieces).is_ok_and(|pieces| pieces.is_match(bytes))
}
