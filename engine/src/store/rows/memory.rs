//! Between SQL rows and the engine's values.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row as SqlRow};
use uuid::Uuid;

use crate::domain::{Handle, Importance, Link, LinkKind, Memory, MemoryId, MemoryRef, Share, Timestamp, Trust};
use crate::index::{Facts, Features, Flags, IndexRow};
use crate::pack::{LineCosts, Passage, Row};

/// Columns of a memory, in the order [`memory`] reads them.
pub(crate) const MEMORY: &str = "handle, id, content, summary, category, type, importance, tags, keywords, entities, scope, \
     created, updated, last_accessed, access_count, expires, origin, trust, session, cwd, client, sensitive, rev, deleted, shared_by, \
     share_permission, conflict_of, edited_by, vouched";

/// Marks of rows in `purged`: the memory is there, was removed for good, or may not be seen any more.
pub(crate) const HERE: u8 = 0;
pub(crate) const PURGED: u8 = 1;
pub(crate) const GONE: u8 = 2;

/// Columns of its costs, after [`MEMORY`].
const COSTS: &str = "detail_tokens, index_tokens, json_detail_tokens, json_index_tokens, passages, signature, \
     attribution_tokens";

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

/// A text column that a type parses.
pub(crate) fn parsed<T>(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err = crate::domain::DomainError>,
{
    row.get_ref(column)?.as_str()?.parse().map_err(unreadable(column))
}

fn unreadable(column: usize) -> impl Fn(crate::domain::DomainError) -> rusqlite::Error {
    move |error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

fn listed<T: serde::de::DeserializeOwned>(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Vec<T>> {
    let text = row.get_ref(column)?.as_str()?;
    if text == "[]" {
        return Ok(Vec::new());
    }
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// A JSON array column.
pub(crate) fn json<T: serde::Serialize>(list: &[T]) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".into())
}

/// A memory without its links.
pub(crate) fn memory(row: &SqlRow<'_>) -> rusqlite::Result<Memory> {
    let trust = match row.get_ref(17)?.as_str()? {
        "user" => Trust::User,
        "model" => Trust::Model,
        _ => Trust::Foreign,
    };
    Ok(Memory {
        handle: row.get(0)?,
        id: row.get(1)?,
        content: row.get(2)?,
        summary: row.get(3)?,
        category: parsed(row, 4)?,
        kind: parsed(row, 5)?,
        importance: Importance::from_percent(row.get(6)?),
        tags: listed(row, 7)?,
        keywords: listed(row, 8)?,
        entities: listed(row, 9)?,
        scope: parsed(row, 10)?,
        created: row.get(11)?,
        updated: row.get(12)?,
        last_accessed: row.get(13)?,
        access_count: row.get(14)?,
        expires: row.get(15)?,
        origin: parsed(row, 16)?,
        trust,
        session: row.get(18)?,
        cwd: row.get(19)?,
        client: row.get(20)?,
        sensitive: row.get(21)?,
        rev: row.get(22)?,
        deleted: row.get(23)?,
        share: share(row)?,
        conflict_of: row.get(26)?,
        edited_by: row.get(27)?,
        vouched: row.get_ref(28)?.as_str_or_null()?.map(str::parse).transpose().map_err(unreadable(28))?,
        links: Vec::new(),
    })
}

fn share(row: &SqlRow<'_>) -> rusqlite::Result<Option<Share>> {
    let by: Option<String> = row.get(24)?;
    by.map(|by| Ok(Share { by, permission: parsed(row, 25)? })).transpose()
}

/// A memory with whatever is left of it, and its mark: see [`GONE`].
pub(crate) fn remains(connection: &Connection, id: MemoryId) -> rusqlite::Result<Option<(Memory, u8)>> {
    let sql = format!("SELECT {MEMORY}, purged FROM memories WHERE id = ?1");
    let read = |row: &SqlRow<'_>| Ok((memory(row)?, row.get(29)?));
    let Some((mut memory, mark)) = connection.prepare_cached(&sql)?.query_row([id], read).optional()? else {
        return Ok(None);
    };
    memory.links = links_of(connection, id)?;
    Ok(Some((memory, mark)))
}

/// A live memory by handle, with its costs, for the packer.
pub(crate) fn packed(connection: &Connection, handle: Handle) -> rusqlite::Result<Option<Row>> {
    let sql = format!("SELECT {MEMORY}, {COSTS} FROM memories WHERE handle = ?1 AND deleted IS NULL");
    let mut statement = connection.prepare_cached(&sql)?;
    statement
        .query_row([handle], |row| {
            let costs = LineCosts {
                detail: row.get(29)?,
                index: row.get(30)?,
                json_detail: row.get(31)?,
                json_index: row.get(32)?,
                passages: Passage::decode_all(row.get_ref(33)?.as_blob()?),
                attribution: row.get(35)?,
            };
            let signature: i64 = row.get(34)?;
            Ok(Row { memory: memory(row)?, costs, signature: signature.cast_unsigned() })
        })
        .optional()
}

/// A memory by either name, deleted ones included, purged ones not.
pub(crate) fn find(connection: &Connection, reference: MemoryRef) -> rusqlite::Result<Option<Memory>> {
    let select = |column: &str| format!("SELECT {MEMORY} FROM memories WHERE {column} = ?1 AND purged = 0");
    let found = match reference {
        MemoryRef::Handle(handle) => connection.prepare_cached(&select("handle"))?.query_row([handle], memory),
        MemoryRef::Id(id) => connection.prepare_cached(&select("id"))?.query_row([id], memory),
    };
    let Some(mut memory) = found.optional()? else { return Ok(None) };
    memory.links = links_of(connection, memory.id)?;
    Ok(Some(memory))
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
