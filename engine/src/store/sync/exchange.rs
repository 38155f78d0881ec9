//! One sync with a server: changes are sent, answers and pages are applied.

use std::collections::BTreeSet;

use rusqlite::params;

use super::arrival::{Held, answer_one, save, settle_paths, take};
use super::checkpoints::{Position, note_checkpoint, position};
use super::embeddings::believe;
use super::invitations;
use crate::domain::MemoryUuid;
use crate::screen::{KnownValues, dropped};
use crate::store::base::store::Store;
use crate::store::change::clean;
use crate::store::change::hidden_files::Tried;
use crate::store::file::error::StoreError;
use crate::sync::{Op, Page, Pushed};

impl Store {
    /// The next changes to send, oldest first. Unanswered changes are sent again unchanged.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn ops(&mut self, most: usize) -> Result<Vec<Op>, StoreError> {
        self.ops_without(&BTreeSet::new(), most)
    }

    /// Like [`Store::ops`], but omits changes of the memories in `skipped`. Changes that the server failed to process
    /// come last.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn ops_without(&mut self, skipped: &BTreeSet<MemoryUuid>, most: usize) -> Result<Vec<Op>, StoreError> {
        let waiting = "SELECT EXISTS (SELECT 1 FROM outbox WHERE refused IS NULL)";
        if !self.connection.query_row(waiting, [], |row| row.get(0)).map_err(|error| self.failed(error))? {
            return Ok(Vec::new());
        }
        self.write(|change| {
            let mut statement = change
                .tx
                .prepare_cached("SELECT memory FROM outbox WHERE refused IS NULL ORDER BY failing IS NOT NULL, n")?;
            let mut waiting = statement.query([])?;
            let mut ops = Vec::new();
            while ops.len() < most {
                let Some(next) = waiting.next()? else { break };
                let id: MemoryUuid = next.get(0)?;
                if skipped.contains(&id) {
                    continue;
                }
                // An old row may contain a credential, which is removed before it is sent.
                clean::memory(change, id, &KnownValues::default())?;
                let op = match Held::of(change, id)? {
                    Some(mut held) => {
                        let at = held.known.memory.updated.min(change.now);
                        let op = held.local.op(MemoryUuid::generate(change.now), at);
                        save(change, id, &held.local)?;
                        op
                    }
                    None => None,
                };
                match op {
                    Some(op) => ops.push(op),
                    None => drop(change.tx.execute("DELETE FROM outbox WHERE memory = ?1", [id])?),
                }
            }
            Ok(ops)
        })
    }

    /// Applies the server's answers, if the epoch has not changed.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. In case of an error, the changes are sent again.
    pub fn answered(&mut self, epoch: u64, pushed: &Pushed) -> Result<(), StoreError> {
        let purged = self.write(|change| {
            if position(change)?.is_none_or(|position| position.epoch != epoch) {
                return Ok(false);
            }
            let mut purged = false;
            let mut processed = change.tx.prepare_cached("UPDATE outbox SET failing = NULL WHERE memory = ?1")?;
            for answer in &pushed.answers {
                purged |= answer_one(change, answer)?;
                processed.execute([answer.memory])?;
            }
            note_checkpoint(change, pushed.checkpoint)?;
            Ok(purged)
        })?;
        self.after_news(purged)
    }

    /// Records that the server rejected a change.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn set_aside(&mut self, memory: MemoryUuid, why: &str) -> Result<(), StoreError> {
        self.write(|change| {
            if let Some(mut held) = Held::of(change, memory)? {
                held.local.take_back();
                save(change, memory, &held.local)?;
            }
            change.tx.execute("UPDATE outbox SET refused = ?2 WHERE memory = ?1", params![memory, dropped(why)])?;
            Ok(())
        })
    }

    /// Records that the server failed to process a change. The change is sent again with each sync, after the other
    /// changes.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn note_failing(&mut self, memory: MemoryUuid, why: &str) -> Result<(), StoreError> {
        self.write(|change| {
            change.tx.execute("UPDATE outbox SET failing = ?2 WHERE memory = ?1", params![memory, dropped(why)])?;
            Ok(())
        })
    }

    /// Applies a page of changes and moves the cursor. A page that does not begin at the cursor is outdated and
    /// ignored. A page without changes writes nothing.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. In case of an error, the page is downloaded again.
    pub fn arrived(&mut self, epoch: u64, after: u64, page: &Page) -> Result<(), StoreError> {
        if page.news.is_empty() && !self.has_news_beside(page)? {
            return Ok(());
        }
        let purged = self.write(|change| {
            let expected = Position { epoch, cursor: after };
            if position(change)? != Some(expected) {
                return Ok(false);
            }
            let mut purged = false;
            for news in &page.news {
                purged |= take(change, news.memory, news.arrival.clone())?;
                believe(change, news.memory, &news.arrival, page.embeddings.get(&news.memory))?;
            }
            settle_paths(change, page.news.iter().map(|news| news.memory))?;
            change.tx.execute("UPDATE server SET cursor = ?1", [page.next])?;
            note_checkpoint(change, page.checkpoint)?;
            if let Some(open) = &page.invitations {
                invitations::keep(change, open)?;
            }
            Ok(purged)
        })?;
        self.after_news(purged)
    }

    /// True if a page without changes has a new checkpoint, or if its invitations differ from the stored ones.
    fn has_news_beside(&self, page: &Page) -> Result<bool, StoreError> {
        let checkpoints = self.checkpoints()?;
        if page.checkpoint.is_some_and(|checkpoint| checkpoints.first() != Some(&checkpoint)) {
            return Ok(true);
        }
        let Some(mut invitations) = page.invitations.clone() else { return Ok(false) };
        invitations.sort_unstable();
        Ok(self.invitations()? != invitations)
    }

    pub(in crate::store) fn after_news(&mut self, purged: bool) -> Result<(), StoreError> {
        if purged {
            self.go_on_hiding(Tried::NotYet)?;
            self.scrub()?;
        }
        self.maintain();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::{MemoryRef, Permission};
    use crate::store::files::folders::{FileStamp, Folder, SeenFile};
    use crate::store::open::in_memory::{InMemory, base_version};
    use crate::store::sync::anew::Whole;
    use crate::store::sync::server::Upload;
    use crate::sync::{Answer, Arrival, BaseVersion, Checkpoint, Invitation, News, Refusal};

    /// A store that belongs to a server, at epoch 1 and cursor 0.
    fn joined() -> InMemory {
        let mut store = InMemory::new();
        store.join("https://t.example", "ada", Upload::All).unwrap();
        let whole = Whole {
            epoch: 1,
            restored_seq: 0,
            checkpoint: None,
            head: 0,
            rows: Vec::new(),
            embeddings: BTreeMap::new(),
        };
        store.begin_anew(&whole).unwrap();
        store
    }

    fn answer(op: &Op, refused: Option<Refusal>) -> Pushed {
        let crate::sync::Action::Create(document) = &op.action else { panic!("it is new") };
        let mut taken = base_version("x", 1, None);
        taken.row.memory = op.memory;
        taken.row.state = crate::sync::State::Live(document.clone());
        let row = if refused.is_none() { Some(taken) } else { None };
        Pushed {
            answers: vec![Answer { op_id: op.op_id, memory: op.memory, refused, row, copy: None }],
            checkpoint: None,
        }
    }

    fn page(news: &[&BaseVersion], next: u64) -> Page {
        let news = news.iter().map(|base_version| News {
            memory: base_version.row.memory,
            arrival: Arrival::Row(Box::new((*base_version).clone())),
        });
        Page {
            news: news.collect(),
            next,
            more: false,
            checkpoint: None,
            invitations: Some(Vec::new()),
            embeddings: BTreeMap::new(),
            keeps_secrets: false,
        }
    }

    #[test]
    fn an_op_is_sent_in_the_same_words_until_it_is_answered() {
        let mut store = joined();
        for text in ["one", "two"] {
            store.said(text);
        }
        let ops = store.ops(1).unwrap();
        assert_eq!(ops.len(), 1);
        assert_eq!(store.ops(1).unwrap(), ops);
        store.answered(2, &answer(&ops[0], None)).unwrap();
        assert_eq!(store.ops(1).unwrap(), ops, "the client ignores an answer from another epoch");
        store.answered(1, &answer(&ops[0], None)).unwrap();
        let rest = store.ops(9).unwrap();
        assert!(rest.len() == 1 && rest[0].memory != ops[0].memory);
        assert_eq!(store.sync_status().unwrap().waiting, 1);
    }

    #[test]
    fn what_a_server_does_not_take_is_set_aside_until_somebody_tries_again() {
        let mut store = joined();
        store.said("one");
        let op = store.ops(9).unwrap().remove(0);
        store.answered(1, &answer(&op, Some(Refusal::Invalid))).unwrap();
        assert!(store.ops(9).unwrap().is_empty());
        store.said("two");
        let two = store.ops(9).unwrap().remove(0);
        store.set_aside(two.memory, "it is too large").unwrap();
        let refused = store.refused_changes().unwrap();
        assert_eq!(refused.iter().map(|change| change.short_id.get()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(refused[1].why, "it is too large");
        assert_eq!(store.retry_refused().unwrap(), 2);
        let again = store.ops(9).unwrap();
        assert!(again.len() == 2 && again[1].op_id != two.op_id, "rejected changes are sent again on request");
    }

    #[test]
    fn a_change_that_the_server_fails_to_process_is_sent_last_until_it_is_answered() {
        let mut store = joined();
        for text in ["one", "two"] {
            store.said(text);
        }
        let ops = store.ops(9).unwrap();
        let failing = ops[0].memory;
        assert_eq!(store.ops_without(&[failing].into(), 9).unwrap(), ops[1..]);
        store.note_failing(failing, "the server failed").unwrap();
        assert_eq!(store.ops(9).unwrap(), [ops[1].clone(), ops[0].clone()]);
        let status = store.sync_status().unwrap();
        assert_eq!((status.waiting, status.failing, status.refused), (2, 1, 0));
        assert_eq!(store.failing_changes().unwrap()[0].why, "the server failed");
        store.answered(1, &answer(&ops[0], None)).unwrap();
        assert_eq!(store.sync_status().unwrap().failing, 0);
    }

    #[test]
    fn a_page_is_taken_once_and_in_its_order() {
        let mut store = joined();
        let (one, two) = (base_version("one", 1, None), base_version("two", 2, None));
        store.arrived(1, 1, &page(&[&two], 2)).unwrap();
        assert_eq!(
            store.one::<u32>("SELECT count(*) FROM memories"),
            0,
            "the client ignores a page that does not begin at its cursor"
        );
        for _ in 0..2 {
            store.arrived(1, 0, &page(&[&one], 1)).unwrap();
        }
        store.arrived(1, 1, &page(&[&two], 2)).unwrap();
        assert_eq!(store.server().unwrap().unwrap().cursor, 2);
        assert_eq!(store.one::<u32>("SELECT count(*) FROM memories"), 2);
    }

    #[test]
    fn what_a_note_told_of_is_no_part_of_it_any_more_once_the_server_sends_the_memory() {
        let mut store = joined();
        let sent = base_version("one", 1, None);
        let named = MemoryRef::Id(sent.row.memory);
        let name = "notes".to_owned();
        let folder = Folder { name, is_writable: false, is_told: false, ..Folder::memories("/notes".into()) };
        store.put_folder(&folder).unwrap();
        let text = format!("---\ntype: memory\nid: \"{}\"\n---\n\none\n", sent.row.memory);
        let stamp = FileStamp { size: 1, modified: 0, inode: 1, hash: 7 };
        store.take_files(&[SeenFile { path: "/notes/a.md".parse().unwrap(), stamp, text }]).unwrap();
        assert!(store.get(named).unwrap().unwrap().is_part_of_file());
        store.arrived(1, 0, &page(&[&sent], 1)).unwrap();
        let memory = store.get(named).unwrap().unwrap();
        assert_eq!((memory.content.as_str(), memory.file), ("one", None));
        assert_eq!(store.one::<u32>("SELECT count(*) FROM parts"), 0);
    }

    #[test]
    fn marks_and_offers_come_with_a_page_that_has_no_news_and_one_without_any_writes_nothing() {
        let mut store = joined();
        let checkpoint = Checkpoint { seq: 1, stamp: 7 };
        let tag = "ci".to_owned().try_into().unwrap();
        let invitation = Invitation { owner: "bob".into(), tag, permission: Permission::Read };
        let news = Page { checkpoint: Some(checkpoint), invitations: Some(vec![invitation.clone()]), ..page(&[], 1) };
        store.arrived(1, 0, &news).unwrap();
        assert_eq!((store.checkpoints().unwrap(), store.invitations().unwrap()), (vec![checkpoint], vec![invitation]));
        let before = store.connection.total_changes();
        store.arrived(1, 1, &news).unwrap();
        assert_eq!(store.connection.total_changes(), before, "nothing new");
        store.arrived(1, 1, &Page { checkpoint: Some(checkpoint), ..page(&[], 1) }).unwrap();
        assert!(store.invitations().unwrap().is_empty(), "an answered invitation is no longer open");
    }
}
