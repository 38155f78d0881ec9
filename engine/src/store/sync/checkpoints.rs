//! What the store knows about the server's history: its position and the checkpoints.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::sync::Checkpoint;

/// The position of a machine in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) epoch: u64,
    pub(crate) cursor: u64,
}

pub(crate) fn position(change: &Change<'_>) -> Result<Option<Position>, StoreError> {
    let read = |row: &Row<'_>| Ok(Position { epoch: row.get(0)?, cursor: row.get(1)? });
    Ok(change.tx.query_row("SELECT epoch, cursor FROM server WHERE is_whole = 1", [], read).optional()?)
}

impl Store {
    /// The checkpoints that the store received from the server, newest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn checkpoints(&self) -> Result<Vec<Checkpoint>, StoreError> {
        checkpoints(&self.connection).map_err(|error| self.failed(error))
    }
}

fn checkpoints(connection: &Connection) -> rusqlite::Result<Vec<Checkpoint>> {
    connection.all("SELECT seq, stamp FROM checkpoints ORDER BY seq DESC", [], |row| {
        Ok(Checkpoint { seq: row.get(0)?, stamp: row.get(1)? })
    })
}

/// Stores a checkpoint, and deletes older ones that are no longer useful.
pub(crate) fn note_checkpoint(change: &Change<'_>, checkpoint: Option<Checkpoint>) -> Result<(), StoreError> {
    let Some(checkpoint) = checkpoint else { return Ok(()) };
    change.tx.run("INSERT OR REPLACE INTO checkpoints VALUES (?1, ?2)", params![checkpoint.seq, checkpoint.stamp])?;
    let all = checkpoints(change.tx)?;
    let kept = Checkpoint::thinned(all.clone());
    for old in all.iter().filter(|checkpoint| !kept.contains(checkpoint)) {
        change.tx.run("DELETE FROM checkpoints WHERE seq = ?1", [old.seq])?;
    }
    Ok(())
}
