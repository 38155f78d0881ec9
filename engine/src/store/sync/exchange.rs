//! One exchange with a server: ops go out, answers and pages come in.

use rusqlite::params;

use super::arrival::{Held, answer_one, save, take};
use super::marks::{Position, note_mark, position};
use super::offers;
use crate::domain::MemoryId;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::sync::{Op, Page, Pushed};

impl Store {
    /// What to send now, oldest first: the changes that were sent and not answered are the same as before.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn ops(&mut self, most: usize) -> Result<Vec<Op>, StoreError> {
        let waiting = "SELECT EXISTS (SELECT 1 FROM outbox WHERE refused IS NULL)";
        if !self.connection.query_row(waiting, [], |row| row.get(0)).map_err(|error| self.failed(error))? {
            return Ok(Vec::new());
        }
        self.write(|change| {
            let mut statement =
                change.tx.prepare_cached("SELECT memory FROM outbox WHERE refused IS NULL ORDER BY n")?;
            let mut waiting = statement.query([])?;
            let mut ops = Vec::new();
            while ops.len() < most {
                let Some(next) = waiting.next()? else { break };
                let id: MemoryId = next.get(0)?;
                let op = match Held::of(change, id)? {
                    Some(mut held) => {
                        let op = held.local.op(MemoryId::generate(change.now), change.now);
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

    /// Takes the answers to ops of an epoch.
    ///
    /// # Errors
    /// When the store cannot be written; the ops are sent again then.
    pub fn answered(&mut self, epoch: u64, pushed: &Pushed) -> Result<(), StoreError> {
        let purged = self.write(|change| {
            if position(change)?.is_none_or(|position| position.epoch != epoch) {
                return Ok(false);
            }
            let mut purged = false;
            for answer in &pushed.answers {
                purged |= answer_one(change, answer)?;
            }
            note_mark(change, pushed.mark)?;
            Ok(purged)
        })?;
        self.after_news(purged)
    }

    /// Sets a change aside that the server will not take, whatever is done about it there.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn set_aside(&mut self, memory: MemoryId, why: &str) -> Result<(), StoreError> {
        self.write(|change| {
            if let Some(mut held) = Held::of(change, memory)? {
                held.local.take_back();
                save(change, memory, &held.local)?;
            }
            change.tx.execute("UPDATE outbox SET refused = ?2 WHERE memory = ?1", params![memory, why])?;
            Ok(())
        })
    }

    /// Takes a page of changes, and moves the cursor with it. A page that does not begin at the cursor is
    /// old: it is left. One that tells nothing new writes nothing.
    ///
    /// # Errors
    /// When the store cannot be written; the page is fetched again then.
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
            }
            change.tx.execute("UPDATE server SET cursor = ?1", [page.next])?;
            note_mark(change, page.mark)?;
            offers::keep(change, &page.offers)?;
            Ok(purged)
        })?;
        self.after_news(purged)
    }

    /// True when a page has a mark that is new, offers that are not known, or lacks some that are.
    fn has_news_beside(&self, page: &Page) -> Result<bool, StoreError> {
        let mut offers = page.offers.clone();
        offers.sort_unstable();
        let marks = self.marks()?;
        let is_marked = page.mark.is_none_or(|mark| marks.first() == Some(&mark));
        Ok(!is_marked || self.offers()? != offers)
    }

    pub(in crate::store) fn after_news(&mut self, purged: bool) -> Result<(), StoreError> {
        if purged {
            self.scrub()?;
        }
        self.maintain();
        Ok(())
    }
}
