//! The table of texts that a person declared not to be secrets.

use rusqlite::{Connection, params};

use super::transaction::Change;
use crate::screen::ProbableSecrets;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::Run as _;

/// The probable secrets without the allowed ones.
pub(crate) fn excepted(connection: &Connection, probable: ProbableSecrets) -> rusqlite::Result<ProbableSecrets> {
    if probable.is_empty() {
        return Ok(probable);
    }
    let mut statement = connection.prepare_cached("SELECT 1 FROM allowed_texts WHERE value = ?1")?;
    let mut allowed = Vec::new();
    for value in probable.values() {
        if statement.exists([value])? {
            allowed.push(value.to_owned());
        }
    }
    Ok(probable.without(|value| allowed.iter().any(|allowed| allowed == value)))
}

/// Records an allowed text.
pub(crate) fn allow(change: &Change<'_>, text: &str) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO allowed_texts (value, at) VALUES (?1, ?2)";
    Ok(change.tx.run(sql, params![text, change.now]).map(drop)?)
}

/// Forgets allowed texts that contain a hidden text, or are a part of it.
pub(crate) fn disallow(connection: &Connection, text: &str) -> rusqlite::Result<()> {
    let sql = "DELETE FROM allowed_texts WHERE instr(value, ?1) > 0 OR instr(?1, value) > 0";
    connection.execute(sql, [text]).map(drop)
}
