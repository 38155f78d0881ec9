//! Compares memories with older ones in the background, if this did not happen when they were stored: memories of an
//! import, and those of an older version.

use rusqlite::Row;

use super::links::add_found;
use super::write::tell;
use crate::domain::{Link, Memory, MemoryRef, ShortId};
use crate::relation::{ComparedWhen, found_links, is_compared};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::{Ask as _, Run as _};

/// The maximum number of memories in one transaction.
const STEP: usize = 32;
/// The reason in the history of a link that a comparison created. Undoing an import ignores such changes.
pub(crate) const REASON: &str = "compared with older memories";

/// Records that a memory was compared with older ones, if it still has the rev that was compared.
const RELATED: &str = "UPDATE memories SET related = 1 WHERE short_id = ?1 AND rev = ?2";

/// Records that a memory was compared with older ones. This is local, so it needs no new rev.
pub(crate) fn note_related(change: &Change<'_>, short_id: ShortId) -> Result<(), StoreError> {
    change.tx.run("UPDATE memories SET related = 1 WHERE short_id = ?1", [short_id])?;
    Ok(())
}

impl Store {
    /// Compares memories as long as `pause` returns `true`, the oldest first. Memories without an embedding wait.
    /// Returns the number of compared memories: 0 if none waits, or there was no time.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written. The work is tried again later.
    pub fn relate_while(&mut self, mut pause: impl FnMut() -> bool) -> Result<u64, StoreError> {
        if !self.has_embedding() {
            return Ok(0);
        }
        let sql = "SELECT short_id, rev, embedding FROM memories
                   WHERE related = 0 AND deleted IS NULL AND is_file = 0 AND embedding <> x''
                   ORDER BY created, short_id LIMIT ?1";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let waiting: Vec<(ShortId, u64, Vec<u8>)> =
            self.connection.all(sql, [STEP as u64], row).map_err(|error| self.failed(error))?;
        let mut compared: Vec<(ShortId, u64, Vec<Link>)> = Vec::new();
        for (short_id, rev, embedding) in waiting.into_iter().take_while(|_| pause()) {
            let updated = match self.get(MemoryRef::ShortId(short_id))?.filter(|memory| memory.rev == rev) {
                Some(memory) => {
                    if is_compared(&memory) {
                        self.know_embedding(&memory.content, &embedding);
                    }
                    self.updated_by(&memory, ComparedWhen::Stored)?
                }
                None => Vec::new(),
            };
            compared.push((short_id, rev, updated));
        }
        self.write(|change| {
            for (short_id, rev, updated) in &compared {
                // If another process changed the memory, the memory is compared again later.
                let is_same = change.tx.run(RELATED, (short_id, rev))? > 0;
                if is_same && !updated.is_empty() {
                    relate(change, *short_id, updated)?;
                }
            }
            Ok(compared.len() as u64)
        })
    }

    /// The links from a memory to the older memories that it probably updates ([`found_links`]).
    pub(in crate::store) fn updated_by(
        &mut self,
        memory: &Memory,
        when: ComparedWhen,
    ) -> Result<Vec<Link>, StoreError> {
        if memory.sensitive || !is_compared(memory) {
            return Ok(Vec::new());
        }
        let compared = self.compare(&memory.content, &memory.scope, Some(memory.id))?;
        let found = found_links(memory, &compared, self.weights.updates_least, when);
        self.encoded.compared = Some((memory.id, compared));
        Ok(found)
    }
}

fn relate(change: &Change<'_>, short_id: ShortId, updated: &[Link]) -> Result<(), StoreError> {
    let reference = MemoryRef::ShortId(short_id);
    let mut memory = change.existing(reference)?;
    memory.rev = change.next_rev()?;
    let links = add_found(change, &memory, updated)?;
    if links.len() > memory.links.len() {
        // Nobody changed the memory, so its time of change stays.
        change.tx.run("UPDATE memories SET rev = ?2 WHERE short_id = ?1", (memory.short_id, memory.rev))?;
        let actor = Actor { reason: Some(REASON.to_owned()), ..Actor::default() };
        history::record(change, &memory, Operation::Link, &actor, None)?;
        tell(change, memory.id)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::domain::{Draft, LinkKind};
    use crate::store::open::in_memory::InMemory;

    const OLD: &str = "The checkout service listens on port 7070";
    const NEW: &str = "The checkout service listens on port 7171";

    #[test]
    fn what_was_not_compared_when_it_was_stored_is_compared_later_and_only_once() {
        let mut store = InMemory::new();
        store.remember_all(&[Draft::new(OLD), Draft::new(NEW)]).unwrap();
        assert_eq!(store.relate_while(|| true).unwrap(), 0, "without embeddings, memories wait");
        while store.embed_some().unwrap() {}
        assert_eq!(store.relate_while(|| true).unwrap(), 2);
        assert_eq!(store.relate_while(|| true).unwrap(), 0);
        assert_eq!(store.recalled("which port does the checkout service use?"), [NEW, OLD]);
        assert_eq!(store.one::<u32>("SELECT newer FROM memories WHERE short_id = 1"), 2);
    }

    #[test]
    fn a_new_memory_comes_before_the_one_that_it_updates_and_undo_restores_the_order() {
        let mut store = InMemory::new();
        let old = store.said(OLD);
        while store.embed_some().unwrap() {}
        let new = store.said(NEW);
        assert_eq!(
            new.links.iter().map(|link| (&link.kind, link.to)).collect::<Vec<_>>(),
            [(&LinkKind::Updates, old.id)]
        );
        while store.embed_some().unwrap() {}
        assert_eq!(store.recalled("which port does the checkout service use?"), [NEW, OLD]);
        let [older, newer] = [&old, &new].map(crate::store::open::in_memory::named);
        store.unlink(newer, &LinkKind::Updates, older, &crate::store::Actor::default()).unwrap();
        assert_eq!(store.relate_while(|| true).unwrap(), 0, "a removed link stays removed");
        assert_eq!(store.one::<Option<u32>>("SELECT newer FROM memories WHERE short_id = 1"), None);
    }
}
