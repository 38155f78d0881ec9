//! Counting lines again: where a program shows lines otherwise than the one that counted them did.
//!
//! Costs are kept with the rows, so that a recall counts nothing. They hold for one form of the lines
//! ([`LineCosts::FORM`]); a store of another form is counted again when it is opened, before anything is shown.

use rusqlite::{Connection, OptionalExtension, ToSql, TransactionBehavior, params, params_from_iter};

use crate::domain::Handle;
use crate::pack::{CUT_TOKENS, LineCosts, may_be_changed};
use crate::store::rows::codec::{self, sql};
use crate::store::rows::columns::{CostColumns, MEMORY};
use crate::store::rows::memory as row;
use crate::text::O200k;

const KEY: &str = "line_form";

/// True when the rows were counted under an older form of the lines. Those of a newer program stay as they are: two programs
/// that run side by side would otherwise count them in turn.
pub(crate) fn is_due(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT value FROM meta WHERE key = ?1";
    let form: Option<u32> = connection.query_row(sql, [KEY], |row| row.get(0)).optional()?;
    Ok(form.is_none_or(|form| form < LineCosts::FORM))
}

/// Counts the rows again whose lines have changed, in one transaction.
pub(crate) fn recount(connection: &mut Connection) -> rusqlite::Result<()> {
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !is_due(&tx)? {
        return Ok(());
    }
    let changed = changed(&tx)?;
    if !changed.is_empty() {
        let select = sql!("SELECT ", MEMORY, " FROM memories WHERE handle = ?1");
        let (mut select, mut update) = (tx.prepare(select)?, tx.prepare(&codec::update(&[CostColumns::NAMES]))?);
        for handle in changed {
            let memory = select.query_row([handle], row::memory)?;
            let costs = LineCosts::measure(&memory, &O200k);
            let mut values = vec![handle.to_sql()?];
            CostColumns::write(&costs, &mut values)?;
            update.execute(params_from_iter(values))?;
        }
    }
    tx.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", params![KEY, LineCosts::FORM])?;
    tx.commit()
}

/// Rows that may be shown otherwise than they were: of other users, with passages, and with characters that are shown
/// otherwise.
fn changed(connection: &Connection) -> rusqlite::Result<Vec<Handle>> {
    let sql =
        "SELECT handle, shared_by IS NOT NULL OR edited_by IS NOT NULL OR detail_tokens >= ?1 AS is_changed, content, summary, category, tags, entities
               FROM memories WHERE purged = 0";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([CUT_TOKENS])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let mut is_changed: bool = row.get("is_changed")?;
        for column in ["content", "summary", "category", "tags", "entities"] {
            is_changed = is_changed || may_be_changed(row.get_ref(column)?.as_str()?);
        }
        if is_changed {
            changed.push(row.get("handle")?);
        }
    }
    Ok(changed)
}
