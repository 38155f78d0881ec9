//! Rows that an older program analysed. Each read analyses such rows again, so recall finds them immediately. Processes
//! that write or are idle rewrite a few of these rows at a time, newest first. An interruption loses nothing.

use std::sync::LazyLock;

use rusqlite::{params, params_from_iter};

use super::context::refresh_around;
use super::store::Store;
use super::transaction::Change;
use crate::compose::{Composed, Known, reanalysed};
use crate::domain::Origin;
use crate::index::{CURRENT_HEAD, Freshness};
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{self, Ask as _, Reader, Run as _, ToCell, sql};
use crate::store::rows::columns::{Analysed, AnalysisColumns, CostColumns, KNOWN, read_known};
use crate::text::O200k;

/// Rows per transaction.
const STEP: usize = 200;

/// The key in `meta`. Its value is the beginning of all blobs that this version writes. The progress in [`LEFT`] is
/// valid only for blobs that begin with these bytes.
const FOR: &str = "analysis";
/// The rev up to which rows may be from an older program; 0 if there are none.
const LEFT: &str = "analysis_left";

/// Writes the derived data of a row, unless the row has changed since it was read. The last parameter is the rev that
/// the row had when it was read.
static REDERIVE: LazyLock<String> = LazyLock::new(|| {
    let groups = [AnalysisColumns::NAMES, CostColumns::NAMES, &["rev"]];
    format!("{} AND rev = ?{} AND deleted IS NULL", codec::update(&groups), groups.concat().len() + 2)
});

/// Marks a new store as one without rows from an older version.
pub(crate) fn note_new(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2), (?3, 0)";
    connection.execute(sql, params![FOR, CURRENT_HEAD, LEFT]).map(drop)
}

impl Store {
    /// Rewrites some rows that an older program wrote. True if there may be more.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written. If this fails, Tessera tries again after a later write.
    pub fn reanalyse_some(&mut self) -> Result<bool, StoreError> {
        let left = self.left_to_analyse().map_err(|error| self.failed(error))?;
        if left == 0 {
            return Ok(false);
        }
        let found = self.of_another_program(left).map_err(|error| self.failed(error))?;
        let next =
            if found.len() < STEP { 0 } else { found.last().map_or(0, |last| last.memory.rev.saturating_sub(1)) };
        // Rows of a newer program stay unchanged.
        let older = found.iter().filter(|known| Freshness::of(&known.forward) == Freshness::Older);
        let remade: Vec<Composed> = older.map(|known| reanalysed(known, &O200k)).collect();
        self.write(|change| {
            remade.iter().try_for_each(|composed| rederive(change, composed))?;
            let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2), (?3, ?4)";
            change.tx.execute(sql, params![FOR, CURRENT_HEAD, LEFT, next])?;
            Ok(())
        })?;
        self.index.forget_stale();
        Ok(next > 0)
    }

    /// The rev up to which an older version may have written rows.
    fn left_to_analyse(&self) -> rusqlite::Result<u64> {
        let sql = "SELECT (SELECT value FROM meta WHERE key = 'rev'), (SELECT value FROM meta WHERE key = ?1),
                       (SELECT value FROM meta WHERE key = ?2)";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (rev, of, left): (u64, Option<Vec<u8>>, Option<u64>) = self.connection.one(sql, [FOR, LEFT], read)?;
        let noted = if of.as_deref() == Some(&CURRENT_HEAD[..]) { left.unwrap_or(rev) } else { rev };
        Ok(noted.max(self.index.stale_to()))
    }

    /// Returns some rows up to a rev that another version analysed, newest first.
    fn of_another_program(&self, left: u64) -> rusqlite::Result<Vec<Known>> {
        const SQL: &str = sql!(
            "SELECT ",
            KNOWN,
            " FROM memories WHERE rev <= ?1 AND deleted IS NULL AND is_file = 0
             AND substr(forward, 1, length(?2)) IS NOT ?2 ORDER BY rev DESC LIMIT ?3"
        );
        self.connection.all(SQL, params![left, CURRENT_HEAD, STEP], |row| read_known(&mut Reader::new(row)))
    }
}

/// Writes the derived data of a row, unless the row has changed meanwhile. A turn of a conversation gets a new rev,
/// because its context field is restored and all readers must see it.
fn rederive(change: &Change<'_>, composed: &Composed) -> Result<(), StoreError> {
    let memory = composed.memory();
    let is_turn = memory.origin == Origin::Conversation && memory.session.is_some();
    let rev = if is_turn { change.next_rev()? } else { memory.rev };
    let placed = composed.placed(memory.short_id, rev);
    let analysed = Analysed::of(&placed);
    let mut values = vec![memory.short_id.to_cell()?];
    AnalysisColumns::write(&analysed, &mut values)?;
    CostColumns::write(placed.costs(), &mut values)?;
    values.extend([rev.to_cell()?, memory.rev.to_cell()?]);
    if change.tx.run(&REDERIVE, params_from_iter(values))? == 0 {
        return Ok(());
    }
    refresh_around(change, placed.memory())
}
