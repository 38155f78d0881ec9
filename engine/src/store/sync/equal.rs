//! Merges local memories with equal ones on the server. This happens when the store joins a server, and when the
//! server's memory arrives.

use rusqlite::params;

use crate::compose::{Beside, memory_of};
use crate::domain::MemoryUuid;
use crate::index::Analysis;
use crate::store::base::transaction::Change;
use crate::store::change::write;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _, sql};
use crate::store::rows::memory as row;
use crate::sync::BaseVersion;

/// The memories that may be merged. Memories that the user keeps local are never merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// All memories that were never sent.
    UnsentFile,
    /// The memories that already existed when the store automatically joined a server.
    Undecided,
}

/// If a local memory that was never sent equals one of the user's memories on the server, it gets that memory's UUID. A
/// memory with secrets keeps its UUID, because the secrets are encrypted for this UUID.
pub(super) fn adopt(change: &Change<'_>, base_version: &BaseVersion, among: Among) -> Result<bool, StoreError> {
    let (Some(document), true) = (base_version.row.state.live(), base_version.is_own()) else { return Ok(false) };
    let id = base_version.row.memory;
    // A file is recognised by its path when it is applied.
    if document.details.file.is_some() || row::remains(change.tx, id)?.is_some() {
        return Ok(false);
    }
    let sql = sql!(
        "SELECT id FROM memories WHERE signature = ?1 AND content = ?3 AND scope = ?4 AND deleted IS NULL
             AND shared_by IS NULL AND conflict_of IS NULL AND file IS NULL
             AND id NOT IN (SELECT memory FROM sync_states)
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
