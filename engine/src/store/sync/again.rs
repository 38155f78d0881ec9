//! A folder that is told of again: files that went out of recall with it, or while nobody was told, and that the server has.

use rusqlite::params;

use super::arrival::{Held, carry_out, settle_paths};
use crate::domain::MemoryId;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::ask::Ask as _;
use crate::sync::Settled;

impl Store {
    /// Has files of a folder that are gone here and that no server was told to be gone be as the server has them: they are
    /// to be written again. Whoever asks has taken what stands in the folder before.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn bring_back_untold(&mut self, folder: &str) -> Result<usize, StoreError> {
        self.write(|change| {
            let sql = "SELECT id FROM memories JOIN private ON private.memory = id AND why = 'file'
                       JOIN trails ON trails.memory = id
                       WHERE file >= ?1 AND file < ?2 AND whole = 1 AND purged = 0 AND deleted IS NOT NULL
                           AND shared_by IS NULL AND id NOT IN (SELECT memory FROM files)";
            let within = params![format!("/{folder}/"), format!("/{folder}0")];
            let ids: Vec<MemoryId> = change.tx.all(sql, within, |row| row.get(0))?;
            let mut back = Vec::new();
            for id in ids {
                let Some(mut held) = Held::of(change, id)? else { continue };
                if held.local.bring_back() {
                    let settled = Settled { stays: true, kept: Vec::new() };
                    carry_out(change, id, Some(&held.known), held.mark, &held.local, settled)?;
                    back.push(id);
                }
            }
            settle_paths(change, back.iter().copied())?;
            Ok(back.len())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::arrival::answer_one;
    use super::*;
    use crate::domain::MemoryRef;
    use crate::store::base::config::Actor;
    use crate::store::open::in_memory::{InMemory, shadow};
    use crate::sync::{Answer, Row, Shadow, State};

    /// A file that is told of while its folder is let go of: the answer comes afterwards.
    fn let_go_while_told() -> (InMemory, MemoryId) {
        let mut store = InMemory::new();
        let id = store.file("/memories/a.md", "- told\n");
        let op = store.ops(9).unwrap().pop().unwrap();
        let document =
            store.write(|change| Ok(Held::of(change, id)?.unwrap().local.state.document().cloned())).unwrap();
        store.forget_folder("memories", &Actor::default()).unwrap();
        let sent = shadow("x", 1, None);
        let row = Row { memory: id, state: State::Live(document.unwrap()), ..sent.row };
        let row = Some(Shadow { row, ..sent });
        let answer = Answer { op_id: op.op_id, memory: id, refused: None, row, copy: None };
        store.write(|change| answer_one(change, &answer)).unwrap();
        (store, id)
    }

    #[test]
    fn an_answer_that_comes_after_a_folder_was_let_go_of_has_no_file_deleted() {
        let (mut store, id) = let_go_while_told();
        assert!(store.get(MemoryRef::Id(id)).unwrap().unwrap().deleted.is_some());
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 0);
        assert!(store.ops(9).unwrap().is_empty());
    }

    #[test]
    fn what_the_server_has_comes_back_and_is_no_news_to_it() {
        let (mut store, id) = let_go_while_told();
        assert_eq!(store.bring_back_untold("other").unwrap(), 0);
        assert_eq!(store.bring_back_untold("memories").unwrap(), 1);
        assert_eq!(store.bring_back_untold("memories").unwrap(), 0, "it is there");
        assert!(store.get(MemoryRef::Id(id)).unwrap().unwrap().deleted.is_none());
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 0);
    }
}
