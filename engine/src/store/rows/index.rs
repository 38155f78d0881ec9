//! A row for the index.

use rusqlite::Row;
use rusqlite::types::{FromSqlResult, ValueRef};

use super::codec::{FromCell, Reader, read_columns};
use crate::domain::{Origin, Timestamp, Trust};
use crate::index::{Facts, Features, Flags, IndexRow};

/// The columns that the index reads.
pub(crate) struct Indexed {
    short_id: u32,
    created: Timestamp,
    last_accessed: Option<Timestamp>,
    expires: Option<Timestamp>,
    access_count: u32,
    importance: u8,
    length: u16,
    is_instruction: bool,
    trust: Trust,
    origin: IsCaptured,
    successor: Option<u32>,
    newer: Option<u32>,
    scope: String,
    forward: Vec<u8>,
    embedding: Vec<u8>,
}

read_columns! {
    /// The columns that the index reads. A deleted row has an empty blob.
    IndexColumns of Indexed {
        "short_id" => short_id,
        "created" => created,
        "last_accessed" => last_accessed,
        "expires" => expires,
        "access_count" => access_count,
        "importance" => importance,
        "length" => length,
        "is_instruction" => is_instruction,
        "trust" => trust,
        "origin" => origin,
        "superseded_by" => successor,
        "newer" => newer,
        "scope" => scope,
        "forward" => forward,
        "embedding" => embedding,
    }
}

/// True for a turn of a captured conversation. An unreadable origin counts as false, so that recall does not fail.
pub(crate) struct IsCaptured(bool);

impl FromCell for IsCaptured {
    fn from_cell(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self(value.as_str()?.parse().is_ok_and(|origin: Origin| origin.is_captured())))
    }
}

/// Reads the columns [`IndexColumns`].
pub(crate) fn index_row(row: &Row<'_>) -> rusqlite::Result<IndexRow> {
    read_index_row(&mut Reader::new(row))
}

/// Reads an index row from the next columns.
pub(crate) fn read_index_row(from: &mut Reader<'_, '_>) -> rusqlite::Result<IndexRow> {
    let row = IndexColumns::read(from)?;
    let facts = Facts {
        short_id: row.short_id,
        created: row.created,
        last_accessed: row.last_accessed,
        expires: row.expires,
        access_count: row.access_count,
        importance: row.importance,
        length: row.length,
        is_captured: row.origin.0,
        flags: Flags::default()
            .with(Flags::INSTRUCTION, row.is_instruction)
            .with(Flags::FOREIGN, row.trust == Trust::Foreign)
            .with(Flags::SUPERSEDED, row.successor.is_some())
            .with(Flags::UPDATED, row.newer.is_some()),
    };
    let (scope, successor) = (row.scope, row.successor.or(row.newer));
    Ok(IndexRow { features: Features::of(&facts), scope, successor, blob: row.forward, embedding: row.embedding })
}
