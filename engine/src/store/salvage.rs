//! Salvage: what can be read of a damaged database is carried into a new one; the damaged file is kept.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde::Serialize;

use super::error::StoreError;
use super::{Store, StoreConfig, files, row};
use crate::domain::{Draft, Memory};

/// What a salvage kept and lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Salvage {
    /// Where the damaged files are now.
    pub set_aside: PathBuf,
    /// Memories carried over.
    pub kept: u64,
    /// Handles that could not be read.
    pub lost: u64,
}

/// Rows in a row that cannot be read before the rest is given up.
const MOST_UNREADABLE: u32 = 10_000;

/// Sets a damaged store aside and begins a new one with every memory that can still be read.
///
/// # Errors
/// When the damaged files cannot be moved or the new store not be written; nothing is removed.
pub(super) fn salvage(config: StoreConfig) -> Result<(Store, Salvage), StoreError> {
    let home = config.home.clone();
    let lock = files::lock(&home)?;
    let stamp = config.clock.now().to_string().replace(':', "-");
    let aside = home.join(format!("corrupt-{stamp}"));
    files::make_private_dir(&aside).map_err(|source| StoreError::file(&aside, source))?;
    for name in [files::DATABASE, "tessera.db-wal", "tessera.db-shm", files::SNAPSHOT, files::MARKER] {
        let from = home.join(name);
        if from.exists() {
            fs::rename(&from, aside.join(name)).map_err(|source| StoreError::file(&from, source))?;
        }
    }
    drop(lock);
    let mut store = Store::open(config)?;
    let (memories, lost) = readable_memories(&aside.join(files::DATABASE));
    let kept = memories.len() as u64;
    for memory in memories {
        store.write(|change| super::transfer::adopt(change, &memory).map(drop))?;
    }
    store.rebuild_snapshot()?;
    Ok((store, Salvage { set_aside: aside, kept, lost }))
}

/// Walks the rows by handle; a handle that cannot be read is skipped.
fn readable_memories(path: &Path) -> (Vec<Memory>, u64) {
    let Ok(connection) =
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
    else {
        return (Vec::new(), 0);
    };
    let sql = format!("SELECT {} FROM memories NOT INDEXED WHERE handle = ?1 AND purged = 0", row::MEMORY);
    let (mut memories, mut lost, mut unreadable, mut handle) = (Vec::new(), 0, 0, 1_u32);
    let highest: u32 = connection
        .query_row("SELECT value FROM meta WHERE key = 'handle'", [], |row| row.get(0))
        .or_else(|_| connection.query_row("SELECT max(handle) FROM memories NOT INDEXED", [], |row| row.get(0)))
        .unwrap_or(1_000_000);
    while handle <= highest && unreadable < MOST_UNREADABLE {
        let read = connection.prepare_cached(&sql).and_then(|mut statement| statement.query_row([handle], row::memory));
        match read {
            Ok(memory) => {
                memories.push(memory);
                unreadable = 0;
            }
            Err(rusqlite::Error::QueryReturnedNoRows) => {}
            Err(_) => {
                lost += 1;
                unreadable += 1;
            }
        }
        handle += 1;
    }
    (memories, lost)
}

/// A draft that makes a memory again as it was.
pub(super) fn draft_of(memory: &Memory) -> Draft {
    Draft {
        id: Some(memory.id),
        content: memory.content.clone(),
        category: Some(memory.category.clone()),
        kind: Some(memory.kind),
        importance: Some(memory.importance),
        tags: memory.tags.clone(),
        keywords: memory.keywords.clone(),
        entities: memory.entities.clone(),
        scope: memory.scope.clone(),
        created: Some(memory.created),
        expires: memory.expires,
        vouched: memory.vouched,
        origin: memory.origin.clone(),
        session: memory.session.clone(),
        cwd: memory.cwd.clone(),
        client: memory.client.clone(),
        links: Vec::new(),
    }
}
