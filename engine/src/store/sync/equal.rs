//! Memories that say what one of the user's own on the server says: they are that one, whether it is found when the store
//! joins or when the server's comes.

use rusqlite::params;

use crate::compose::{Beside, memory_of};
use crate::domain::MemoryUuid;
use crate::index::Analysis;
use crate::store::base::transaction::Change;
use crate::store::change::write;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _, sql};
use crate::store::rows::memory as row;
use crate::sync::Shadow;

/// Which memories may be one of the server's. What the person said is to stay here never is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// All that no server was told of.
    UnsentFile,
    /// Those that were here before a store joined by itself.
    Undecided,
}

/// A memory that says what one of the user's own on the server says, and that no server was ever told of, is the
/// same memory: it takes its id. One with secrets does not: they are sealed for the id it has.
pub(super) fn adopt(change: &Change<'_>, shadow: &Shadow, among: Among) -> Result<bool, StoreError> {
    let (Some(document), true) = (shadow.row.state.live(), shadow.is_own()) else { return Ok(false) };
    let id = shadow.row.memory;
    // A file is known by its path: whether it is there already is seen when it is taken.
    if document.details.file.is_some() || row::remains(change.tx, id)?.is_some() {
        return Ok(false);
    }
    let sql = sql!(
        "SELECT id FROM memories WHERE signature = ?1 AND content = ?3 AND scope = ?4 AND deleted IS NULL
             AND shared_by IS NULL AND conflict_of IS NULL AND file IS NULL
             AND id NOT IN (SELECT memory FROM trails)
             AND id NOT IN (SELECT memory FROM private WHERE why IS NOT 'undecided')
             AND (?5 OR id IN (SELECT memory FROM private))
             AND id NOT IN (SELECT memory FROM secrets) AND ",
        row::HOLDS,
        " ORDER BY short_id LIMIT 1"
    );
    let signature = Analysis::of(&memory_of(document, Beside::of(id))).signature.cast_signed();
    let (text, scope) = (document.content.as_str(), document.details.scope.as_str());
    let wanted = params![signature, change.now, text, scope, among == Among::UnsentFile];
    let found: Option<MemoryUuid> = change.tx.maybe(sql, wanted, |row| row.get(0))?;
    let Some(known) = found else { return Ok(false) };
    change.tx.run("DELETE FROM private WHERE memory = ?1", [known])?;
    write::rename(change, known, id)?;
    Ok(true)
}
