//! What texts mean, sent along with ops and taken with news, so that a machine need not find out what the server knows.
//! A machine believes its server: it has all texts from there as well.

use rusqlite::{OptionalExtension, params};

use crate::domain::MemoryId;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::sync::{Arrival, Op, SentMeaning, SentOp};

impl Store {
    /// Ops as they are sent: with what their texts mean, where this store knows that. Only what an op says anyway has
    /// something beside it, so that nothing is told of a memory that stays here.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn with_meanings(&self, ops: Vec<Op>) -> Result<Vec<SentOp>, StoreError> {
        let sent = ops.into_iter().map(|op| Ok(SentOp { meaning: self.meaning_beside(&op)?, op }));
        sent.collect::<rusqlite::Result<_>>().map_err(|error| self.failed(error))
    }

    /// The text that an op says may be older than what the row says by now.
    fn meaning_beside(&self, op: &Op) -> rusqlite::Result<Option<SentMeaning>> {
        let Some(text) = op.action.text() else { return Ok(None) };
        let sql = "SELECT meaning FROM memories WHERE id = ?1 AND content = ?2 AND deleted IS NULL";
        let wanted = params![op.memory, text.as_str()];
        let known: Option<Vec<u8>> =
            self.connection.prepare_cached(sql)?.query_row(wanted, |row| row.get(0)).optional()?;
        Ok(known.and_then(|known| SentMeaning::of(&known)))
    }
}

/// Takes what the server found a text to mean, where that text is what the store shows. It is no change of the memory: it
/// leaves no history, and nobody is told of it.
pub(super) fn believe(
    change: &Change<'_>,
    id: MemoryId,
    arrival: &Arrival,
    sent: Option<&SentMeaning>,
) -> Result<(), StoreError> {
    let (Arrival::Row(shadow), Some(sent)) = (arrival, sent) else { return Ok(()) };
    let Some(document) = shadow.row.state.live() else { return Ok(()) };
    let text = document.content.as_str();
    let Some(meaning) = sent.meaning_of(text) else { return Ok(()) };
    let meaning = meaning.into_bytes();
    let sql = "SELECT handle FROM memories WHERE id = ?1 AND content = ?2 AND deleted IS NULL AND meaning <> ?3";
    let wanted = params![id, text, meaning];
    let found: Option<u32> = change.tx.prepare_cached(sql)?.query_row(wanted, |row| row.get(0)).optional()?;
    if let Some(handle) = found {
        let sql = "UPDATE memories SET meaning = ?2, rev = ?3 WHERE handle = ?1";
        change.tx.prepare_cached(sql)?.execute(params![handle, meaning, change.next_rev()?])?;
    }
    Ok(())
}
