//! Writing a row: what was composed, and nothing else.

use rusqlite::params_from_iter;

use crate::compose::Composed;
use crate::domain::Memory;
use crate::store::base::context;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec;

/// A memory that was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// As it is now.
    pub memory: Memory,
    /// What its full line costs a reply, in o200k_base tokens.
    pub tokens: u32,
    /// True when the very same text was there already: it was kept, and counted as used.
    pub existed: bool,
}

/// Whether a row is made or made anew.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    New,
    Again,
}

/// Writes every column of a memory at its place, and gives its turn of a conversation the words around it.
pub(crate) fn write_row(change: &Change<'_>, composed: &Composed, written: Written) -> Result<(), StoreError> {
    let (sql, values) = match written {
        Written::New => codec::insert(composed),
        Written::Again => codec::replace(composed),
    };
    change.tx.prepare_cached(sql)?.execute(params_from_iter(values))?;
    context::refresh_around(change, composed.memory())
}
