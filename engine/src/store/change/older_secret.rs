//! Rows of an older system that became a secret there, or hold one: what is sealed for that, and how much would be.

use super::older_row::{OlderRow, is_sealed};
use super::update::rewrite;
use super::write::set_aside;
use crate::compose;
use crate::domain::{Draft, LinkKind, Memory, MemoryId, MemoryRef, Origin, Patch, Timestamp};
use crate::screen::screened;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::ask::Ask as _;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// What seals a memory as it is, and changes nothing else of it.
pub(crate) fn sealing(of: &OlderRow, memory: &Memory) -> Patch {
    let sensitive = of.draft.sensitive.clone();
    Patch { content: Some(memory.content.clone()), sensitive, ..Patch::default() }
}

/// Seals what else an earlier import stored of the row: texts beside its memory.
pub(crate) fn seal_besides(
    change: &Change<'_>,
    of: &OlderRow,
    memory: MemoryId,
    actor: &Actor,
) -> Result<(), StoreError> {
    let beside: Vec<MemoryId> = {
        let sql = "SELECT source FROM links WHERE target = ?1 AND type = ?2";
        change.tx.all(sql, (memory, LinkKind::SeeAlso.as_str()), |row| row.get(0))?
    };
    for id in beside {
        let Some(known) = row::find_known(change.tx, MemoryRef::Id(id))? else { continue };
        let is_of_row = known.memory.origin == Origin::Import && known.memory.client == of.draft.client;
        if is_of_row && known.memory.deleted.is_none() && !is_sealed(&known.memory) {
            rewrite(change, &known, &sealing(of, &known.memory), actor)?;
        }
    }
    Ok(())
}

impl Store {
    /// How many credentials would be taken out of a row beside those that its memory has taken out already. Nothing is
    /// sealed for that, and no key is made.
    pub(crate) fn would_set_aside(
        &self,
        of: &OlderRow,
        before: Option<&Memory>,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut keeper = self.secrets.counter(&self.connection);
        let draft = screened(Draft { id: Some(of.id()), ..of.draft.clone() }, of.id(), &mut keeper)?;
        if !keeper.was_asked() {
            return Ok(0);
        }
        let composed = compose::imported(&draft, of.stamps, now, &O200k)?;
        Ok(set_aside(&composed, before).len() as u64)
    }
}
