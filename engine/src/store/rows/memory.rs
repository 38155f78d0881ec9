//! Finds the row of a memory by ID or UUID. Reads the memory with its links or with its token counts.

use rusqlite::{Connection, OptionalExtension, Row as SqlRow};

use super::codec::{Reader, sql};
use super::columns::{CostColumns, KNOWN, MEMORY, read_known, read_memory};
use crate::compose::Known;
use crate::domain::{Link, Memory, MemoryRef, MemoryUuid, ShortId};
use crate::pack::{LineCosts, Row};
use crate::store::rows::codec::Ask as _;
use crate::text::O200k;

/// The values of `purged`: the memory exists, was permanently deleted, or was withdrawn by its owner.
pub(crate) const HERE: u8 = 0;
pub(crate) const PURGED: u8 = 1;
pub(crate) const GONE: u8 = 2;

/// The condition for a memory without an effective successor: all its successors are deleted or expired at the time
/// `?2`. The condition follows the chain of successors as recall does, and ends at a deleted memory.
pub(crate) const HOLDS: &str = "(superseded_by IS NULL OR NOT EXISTS (
     WITH RECURSIVE chain(short_id) AS (
         SELECT memories.superseded_by
         UNION SELECT next.superseded_by FROM chain JOIN memories AS next USING (short_id) WHERE next.deleted IS NULL)
     SELECT 1 FROM chain JOIN memories AS newer USING (short_id)
     WHERE newer.deleted IS NULL AND (newer.expires IS NULL OR newer.expires > ?2)))";

/// Reads the columns [`MEMORY`]: a memory without its links.
pub(crate) fn memory(row: &SqlRow<'_>) -> rusqlite::Result<Memory> {
    read_memory(&mut Reader::new(row))
}

/// Returns what remains of a memory in the store, even after a permanent deletion, and the value of `purged`; see
/// [`GONE`].
pub(crate) fn remains(connection: &Connection, id: MemoryUuid) -> rusqlite::Result<Option<(Known, u8)>> {
    let sql = sql!("SELECT ", KNOWN, ", purged FROM memories WHERE id = ?1");
    let read = |row: &SqlRow<'_>| {
        let mut from = Reader::new(row);
        Ok((read_known(&mut from)?, from.take()?))
    };
    let Some((mut known, mark)) = connection.maybe(sql, [id], read)? else {
        return Ok(None);
    };
    known.memory.links = links_of(connection, id)?;
    Ok(Some((known, mark)))
}

/// True if a memory has a row, even a deleted one.
pub(crate) fn is_there(connection: &Connection, id: MemoryUuid) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM memories WHERE id = ?1")?.exists([id])
}

/// A live memory by ID with its token counts, for the packer.
pub(crate) fn packed(connection: &Connection, short_id: ShortId) -> rusqlite::Result<Option<Row>> {
    let sql = sql!(
        "SELECT ",
        MEMORY,
        ", ",
        CostColumns::LIST,
        // The embedding is only needed for a text that can be cut.
        ", signature, iif(length(passages) > 0, embedding, x'') FROM memories WHERE short_id = ?1 AND deleted IS NULL"
    );
    let read = |row: &SqlRow<'_>| {
        let mut from = Reader::new(row);
        let (memory, costs) = (read_memory(&mut from)?, CostColumns::read(&mut from)?);
        let signature = from.take::<i64>()?.cast_unsigned();
        // A whole file is shown only on request, so its lines are counted then.
        let costs = if memory.is_whole_file() { LineCosts::measure(&memory, &O200k) } else { costs };
        Ok(Row { memory, costs, signature, embedding: from.take()? })
    };
    connection.maybe(sql, [short_id], read)
}

/// Returns a memory by ID or UUID. Finds deleted memories too, but not permanently deleted ones.
pub(crate) fn find(connection: &Connection, reference: MemoryRef) -> rusqlite::Result<Option<Memory>> {
    const BY_SHORT_ID: &str = sql!("SELECT ", MEMORY, " FROM memories WHERE short_id = ?1 AND purged = 0");
    const BY_ID: &str = sql!("SELECT ", MEMORY, " FROM memories WHERE id = ?1 AND purged = 0");
    let found = match reference {
        MemoryRef::ShortId(short_id) => connection.one(BY_SHORT_ID, [short_id], memory),
        MemoryRef::Id(id) => connection.one(BY_ID, [id], memory),
    };
    let Some(mut memory) = found.optional()? else { return Ok(None) };
    memory.links = links_of(connection, memory.id)?;
    Ok(Some(memory))
}

/// The same memory with its derived data.
pub(crate) fn find_known(connection: &Connection, reference: MemoryRef) -> rusqlite::Result<Option<Known>> {
    const BY_SHORT_ID: &str = sql!("SELECT ", KNOWN, " FROM memories WHERE short_id = ?1 AND purged = 0");
    const BY_ID: &str = sql!("SELECT ", KNOWN, " FROM memories WHERE id = ?1 AND purged = 0");
    let read = |row: &SqlRow<'_>| read_known(&mut Reader::new(row));
    let found = match reference {
        MemoryRef::ShortId(short_id) => connection.one(BY_SHORT_ID, [short_id], read),
        MemoryRef::Id(id) => connection.one(BY_ID, [id], read),
    };
    let Some(mut known) = found.optional()? else { return Ok(None) };
    known.memory.links = links_of(connection, known.memory.id)?;
    Ok(Some(known))
}

/// The links of a memory to others.
pub(crate) fn links_of(connection: &Connection, id: MemoryUuid) -> rusqlite::Result<Vec<Link>> {
    let sql = "SELECT type, target FROM links WHERE source = ?1 ORDER BY type, target";
    connection.all(sql, [id], |row| {
        let mut from = Reader::new(row);
        Ok(Link { kind: from.take()?, to: from.take()? })
    })
}
