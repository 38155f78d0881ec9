//! Between SQL rows and the engine's values.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow};
use uuid::Uuid;

pub(crate) use super::codec::{DERIVED, MEMORY, known, memory, parsed};
use crate::compose::Known;
use crate::domain::{Handle, Link, LinkKind, Memory, MemoryId, MemoryRef, Timestamp, Trust};
use crate::index::{Facts, Features, Flags, IndexRow};
use crate::pack::Row;

/// Marks of rows in `purged`: the memory is there, was removed for good, or may not be seen any more.
pub(crate) const HERE: u8 = 0;
pub(crate) const PURGED: u8 = 1;
pub(crate) const GONE: u8 = 2;

/// Columns of an index row, in the order [`index_row`] reads them.
pub(crate) const INDEX: &str = "handle, created, last_accessed, expires, access_count, importance, length, standing, trust, \
     superseded_by, scope, forward, origin";

/// What holds of a memory that nothing replaces: its successors are forgotten or over at the time `?2`. As recall
/// does, it follows the chain to where a memory is forgotten.
pub(crate) const HOLDS: &str = "(superseded_by IS NULL OR NOT EXISTS (
     WITH RECURSIVE chain(handle) AS (
         SELECT memories.superseded_by
         UNION SELECT next.superseded_by FROM chain JOIN memories AS next USING (handle) WHERE next.deleted IS NULL)
     SELECT 1 FROM chain JOIN memories AS newer USING (handle)
     WHERE newer.deleted IS NULL AND (newer.expires IS NULL OR newer.expires > ?2)))";

impl ToSql for MemoryId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(self.as_bytes())))
    }
}

impl FromSql for MemoryId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let uuid = Uuid::from_slice(value.as_blob()?).map_err(|error| FromSqlError::Other(Box::new(error)))?;
        Ok(Self::from_uuid(uuid))
    }
}

impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_micros().into())
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self::from_micros(value.as_i64()?))
    }
}

impl ToSql for Handle {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.get().into())
    }
}

impl FromSql for Handle {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = u32::column_result(value)?;
        Self::try_from(number).map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A memory with whatever is left of it, and its mark: see [`GONE`].
pub(crate) fn remains(connection: &Connection, id: MemoryId) -> rusqlite::Result<Option<(Known, u8)>> {
    let sql = format!("SELECT {MEMORY}, {DERIVED} FROM memories WHERE id = ?1");
    let read = |row: &SqlRow<'_>| Ok((known(row)?, row.get("purged")?));
    let Some((mut known, mark)) = connection.prepare_cached(&sql)?.query_row([id], read).optional()? else {
        return Ok(None);
    };
    known.memory.links = links_of(connection, id)?;
    Ok(Some((known, mark)))
}

/// True when there is a row of a memory, whatever is left of it.
pub(crate) fn is_there(connection: &Connection, id: MemoryId) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM memories WHERE id = ?1")?.exists([id])
}

/// A live memory by handle, with its costs, for the packer.
pub(crate) fn packed(connection: &Connection, handle: Handle) -> rusqlite::Result<Option<Row>> {
    let sql = format!("SELECT {MEMORY}, {DERIVED} FROM memories WHERE handle = ?1 AND deleted IS NULL");
    let mut statement = connection.prepare_cached(&sql)?;
    let known = statement.query_row([handle], known).optional()?;
    Ok(known.map(|Known { memory, costs, signature, .. }| Row { memory, costs: costs.unwrap_or_default(), signature }))
}

/// A memory by either name, deleted ones included, purged ones not.
pub(crate) fn find(connection: &Connection, reference: MemoryRef) -> rusqlite::Result<Option<Memory>> {
    let Some(mut memory) = named(connection, MEMORY, reference, memory)? else { return Ok(None) };
    memory.links = links_of(connection, memory.id)?;
    Ok(Some(memory))
}

/// The same with what was derived from it.
pub(crate) fn find_known(connection: &Connection, reference: MemoryRef) -> rusqlite::Result<Option<Known>> {
    let Some(mut known) = named(connection, &format!("{MEMORY}, {DERIVED}"), reference, known)? else {
        return Ok(None);
    };
    known.memory.links = links_of(connection, known.memory.id)?;
    Ok(Some(known))
}

fn named<T>(
    connection: &Connection,
    columns: &str,
    reference: MemoryRef,
    read: impl FnOnce(&SqlRow<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    let select = |column: &str| format!("SELECT {columns} FROM memories WHERE {column} = ?1 AND purged = 0");
    match reference {
        MemoryRef::Handle(handle) => connection.prepare_cached(&select("handle"))?.query_row([handle], read),
        MemoryRef::Id(id) => connection.prepare_cached(&select("id"))?.query_row([id], read),
    }
    .optional()
}

pub(crate) fn links_of(connection: &Connection, id: MemoryId) -> rusqlite::Result<Vec<Link>> {
    let mut statement =
        connection.prepare_cached("SELECT type, target FROM links WHERE source = ?1 ORDER BY type, target")?;
    let links = statement.query_map([id], |row| Ok(Link { kind: parsed::<LinkKind>(row, 0)?, to: row.get(1)? }))?;
    links.collect()
}

/// A row as the index sees it. A deleted row has an empty blob.
pub(crate) fn index_row(row: &SqlRow<'_>) -> rusqlite::Result<IndexRow> {
    let successor: Option<u32> = row.get(9)?;
    let facts = Facts {
        handle: row.get(0)?,
        created: row.get(1)?,
        last_accessed: row.get(2)?,
        expires: row.get(3)?,
        access_count: row.get(4)?,
        importance: row.get(5)?,
        length: row.get(6)?,
        is_captured: row.get_ref(12)?.as_str()? == "conversation",
        flags: Flags::default()
            .with(Flags::STANDING, row.get(7)?)
            .with(Flags::FOREIGN, row.get_ref(8)?.as_str()? == Trust::Foreign.as_str())
            .with(Flags::SUPERSEDED, successor.is_some()),
    };
    Ok(IndexRow { features: Features::of(&facts), scope: row.get(10)?, successor, blob: row.get(11)? })
}
