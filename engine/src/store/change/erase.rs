//! Deletes memories, either permanently or so that they can be restored.

use rusqlite::params;

use super::rights::{refuse_foreign, refuse_part};
use super::write::{Written, tell, write_row};
use super::{links, places, secrets};
use crate::compose::{self, Known};
use crate::domain::{Memory, MemoryRef, MemoryUuid, ShortId};
use crate::store::base::config::Actor;
use crate::store::base::context;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::Operation;
use crate::store::logs::{candidates, history, purges, questions, traces};
use crate::store::rows::codec::Ask as _;
use crate::store::rows::{memory as row, tables};
use crate::text::O200k;

/// The kind of deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erase {
    /// Hides the memory from recall; `restore` can undo it.
    Soft,
    /// Permanent: its text is erased from the database, the index and the history.
    Hard,
}

/// A deleted memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten {
    /// Its UUID.
    pub id: MemoryUuid,
    /// Its ID.
    pub short_id: ShortId,
    /// True if the memory was already deleted.
    pub again: bool,
}

impl Store {
    /// Deletes memories: all of them, or none if one does not exist.
    ///
    /// # Errors
    /// Returns an error if a memory does not exist, or the store cannot be written.
    pub fn forget(
        &mut self,
        references: &[MemoryRef],
        erase: Erase,
        actor: &Actor,
    ) -> Result<Vec<Forgotten>, StoreError> {
        if erase == Erase::Hard {
            // Recorded questions about it are deleted too, including those still in the spool.
            self.fold_questions()?;
            // Afterwards, nobody knows the texts that were hidden in it.
            self.finish_hiding();
        }
        let said = if erase == Erase::Hard { self.said_by(references)? } else { Vec::new() };
        let forgotten: Vec<Forgotten> =
            self.write(|change| references.iter().map(|reference| forget(change, *reference, erase, actor)).collect())?;
        if erase == Erase::Hard {
            self.clean_after(&forgotten, &said);
        }
        self.maintain();
        Ok(forgotten)
    }

    /// After a permanent deletion, removes the remaining text of the memories from other files.
    pub(crate) fn clean_after(&mut self, forgotten: &[Forgotten], said: &[String]) {
        let ids: Vec<MemoryUuid> = forgotten.iter().map(|one| one.id).collect();
        if let Err(error) = self.scrub().and_then(|()| self.clean_files(&ids, said)) {
            // The deletion itself is done. `traces` reports the remaining words, and a later write erases them.
            tracing::debug!(error = %error, "some traces of permanently deleted memories cannot be removed now");
        }
    }

    /// With `Erase::Hard`, removes erased text from the database file, its write-ahead log, the snapshot and copies of
    /// the database, if that is possible now.
    pub(crate) fn scrubbed(&mut self, erase: Erase) {
        if erase == Erase::Hard
            && let Err(error) = self.scrub()
        {
            tracing::debug!(error = %error, "the write-ahead log cannot be truncated now");
        }
        self.maintain();
    }
}

fn forget(change: &Change<'_>, reference: MemoryRef, erase: Erase, actor: &Actor) -> Result<Forgotten, StoreError> {
    let known = change.known(reference)?;
    refuse_foreign(&known.memory, reference)?;
    refuse_part(&known.memory, "contains this section; delete its lines there")?;
    let again = erase == Erase::Soft && known.memory.deleted.is_some();
    match erase {
        Erase::Soft if again => return Ok(Forgotten { id: known.memory.id, short_id: known.memory.short_id, again }),
        Erase::Soft => delete(change, &known, actor)?,
        Erase::Hard => purge(change, &known.memory, row::PURGED, actor)?,
    }
    tell(change, known.memory.id)?;
    Ok(Forgotten { id: known.memory.id, short_id: known.memory.short_id, again })
}

pub(crate) fn delete(change: &Change<'_>, before: &Known, actor: &Actor) -> Result<(), StoreError> {
    let composed = compose::deleted(before, change.now, &O200k).placed(before.memory.short_id, change.next_rev()?);
    write_row(change, &composed, Written::Again)?;
    links::elect_around(change, composed.memory())?;
    history::record(change, composed.memory(), Operation::Delete, actor, None)
}

/// Deletes a memory permanently. An empty row remains. Its column `purged` contains `mark`, the kind of deletion.
pub(crate) fn purge(change: &Change<'_>, before: &Memory, mark: u8, actor: &Actor) -> Result<(), StoreError> {
    let composed = compose::purged(before, change.now).placed(before.short_id, change.next_rev()?);
    let memory = composed.memory();
    write_row(change, &composed, Written::Again)?;
    // Its neighbours in a captured session lose its words from their context. The row itself no longer names its
    // session.
    context::refresh_around(change, &Memory { deleted: memory.deleted, rev: memory.rev, ..before.clone() })?;
    let sql = "UPDATE memories SET purged = ?2, superseded_by = NULL, newer = NULL WHERE short_id = ?1";
    change.tx.execute(sql, params![memory.short_id, mark])?;
    questions::forget_those_about(change, before)?;
    candidates::forget_those_about(change, before)?;
    secrets::remove(change, before.id)?;
    traces::note(change)?;
    purges::note(change, before.id, mark)?;
    places::forget_made(change, before)?;
    purge_parts(change, before, mark, actor)?;
    // The links to the memory are removed with it, and the server must remove them too.
    let sql = "SELECT source FROM links JOIN memories ON memories.id = source WHERE target = ?1 AND shared_by IS NULL";
    let linking: Vec<MemoryUuid> = change.tx.all(sql, [memory.id], |row| row.get(0))?;
    tables::erase_beside(change.tx, memory.id)?;
    linking.into_iter().try_for_each(|source| tell(change, source))?;
    links::elect_without(change, memory)?;
    // The reason is not recorded, because it could repeat the deleted text.
    history::record(change, memory, Operation::Purge, &Actor { reason: None, ..actor.clone() }, None)
}

/// If the memory is a file, also deletes its sections.
fn purge_parts(change: &Change<'_>, before: &Memory, mark: u8, actor: &Actor) -> Result<(), StoreError> {
    if !before.is_whole_file() {
        return Ok(());
    }
    let parts: Vec<MemoryUuid> =
        { change.tx.all("SELECT memory FROM parts WHERE file = ?1", [before.id], |row| row.get(0))? };
    for part in parts {
        if let Some(part) = row::find(change.tx, MemoryRef::Id(part))? {
            purge(change, &part, mark, actor)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Draft;
    use crate::store::open::in_memory::{InMemory, named};

    fn forget(store: &mut InMemory, memory: &Memory, erase: Erase) -> Result<Vec<Forgotten>, StoreError> {
        store.forget(&[named(memory)], erase, &Actor { reason: Some("wrong".into()), ..Actor::default() })
    }

    #[test]
    fn what_is_forgotten_is_not_recalled_and_can_be_restored() {
        let mut store = InMemory::new();
        let memory = store.said("The cache lives on birch");
        forget(&mut store, &memory, Erase::Soft).unwrap();
        assert!(store.recalled("where is the cache?").is_empty());
        assert_eq!(store.now_of(&memory).deleted, Some(store.now()));
        store.restore(named(&memory), None, &Actor::default()).unwrap();
        assert_eq!(store.recalled("where is the cache?").len(), 1);
    }

    #[test]
    fn what_is_removed_for_good_leaves_its_identity_and_no_word() {
        let mut store = InMemory::new();
        let draft = Draft {
            cwd: Some("/w/zebra".into()),
            session: Some("zebra".into()),
            client: Some("zebra".into()),
            tags: vec!["zebra".to_owned().try_into().unwrap()],
            ..Draft::new("The zebra lives on birch")
        };
        let memory = store.remember(draft).unwrap().memory;
        let text = crate::domain::Patch { content: Some("Zebra again".into()), ..crate::domain::Patch::default() };
        store.update(named(&memory), &text, &Actor::default()).unwrap();
        let okapi = crate::domain::Patch { content: Some("Okapi instead".into()), ..crate::domain::Patch::default() };
        store.run("INSERT INTO unanswered_questions (at, scope, words) VALUES (1, 'global', '[\"zebra\"]')");
        store.update(named(&memory), &okapi, &Actor::default()).unwrap();
        forget(&mut store, &memory, Erase::Hard).unwrap();
        assert!(store.get(named(&memory)).unwrap().is_none());
        for table in [
            "memories",
            "history",
            "links",
            "sync_states",
            "trusted_directories",
            "outbox",
            "deliveries",
            "unanswered_questions",
        ] {
            let mut statement = store.connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
            let columns = statement.column_count();
            let mut rows = statement.query([]).unwrap();
            while let Some(row) = rows.next().unwrap() {
                for column in 0..columns {
                    let value = format!("{:?}", row.get_ref(column).unwrap());
                    let bytes = match row.get_ref(column).unwrap() {
                        rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes) => bytes,
                        _ => &[],
                    };
                    let said = String::from_utf8_lossy(bytes).to_lowercase();
                    assert!(!said.contains("zebra") && !said.contains("birch"), "{table}: {value}");
                }
            }
        }
        assert_eq!(store.one::<u8>("SELECT purged FROM memories"), row::PURGED);
        assert_eq!(store.one::<String>("SELECT op FROM history ORDER BY rev DESC LIMIT 1"), "purge");
    }

    #[test]
    fn all_are_forgotten_or_none_and_only_the_owner_forgets() {
        let mut store = InMemory::new();
        let (mine, theirs) = (store.said("mine"), store.said("theirs"));
        store.run("UPDATE memories SET shared_by = 'bob', share_permission = 'write' WHERE content = 'theirs'");
        for erase in [Erase::Soft, Erase::Hard] {
            let refused = store.forget(&[named(&mine), named(&theirs)], erase, &Actor::default());
            assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
            assert_eq!(store.now_of(&mine).deleted, None);
        }
    }
}
