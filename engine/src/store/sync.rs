//! The store between its user and a team server: what is to be sent is taken from it, what comes is put
//! into it, each in one transaction with the cursor that stands for it. What to make of news is decided by
//! [`crate::sync`].

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use serde::Serialize;

use super::arrival::{Held, answer_one, carry_out, save, take};
use super::erase::purge;
use super::error::StoreError;
use super::write::Change;
use super::{Actor, Store, row};
use crate::domain::{Handle, Memory, MemoryId, Timestamp};
use crate::index::Analysis;
use crate::sync::{Arrival, Mark, Op, Page, Pushed, Shadow};

/// The server that a store belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServerState {
    /// Its address.
    pub url: String,
    /// Who this store's user is there.
    pub user: String,
    /// The epoch that the cursor belongs to.
    pub epoch: u64,
    /// How far the changes there are known.
    pub cursor: u64,
    /// False while everything is to be fetched anew.
    pub is_whole: bool,
    /// When it last answered.
    pub reached: Option<Timestamp>,
    /// Why it has not since.
    pub problem: Option<String>,
}

/// What of the memories that are here already a server is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Upload {
    /// All of them.
    All,
    /// None: they stay on this machine.
    Nothing,
}

/// How things stand between a store and its server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SyncStatus {
    /// The server, if there is one.
    pub server: Option<ServerState>,
    /// Memories with changes that the server has not taken yet.
    pub waiting: u64,
    /// Memories with changes that it will not take.
    pub refused: u64,
    /// Texts of conflicts that somebody should look at.
    pub conflicts: u64,
    /// Memories of other users.
    pub shared_with_me: u64,
    /// Memories that stay on this machine.
    pub private: u64,
}

/// A change that the server will not take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedChange {
    /// The memory.
    pub handle: Handle,
    /// Its identity.
    pub id: MemoryId,
    /// What it says, in short.
    pub summary: String,
    /// Why it was refused.
    pub why: String,
}

/// Everything that a server holds for a user.
#[derive(Debug, Clone, PartialEq)]
pub struct Whole {
    /// The server's epoch.
    pub epoch: u64,
    /// How far what was known before is surely still known.
    pub restored_seq: u64,
    /// The mark of the head.
    pub mark: Option<Mark>,
    /// The cursor to go on from.
    pub head: u64,
    /// All rows.
    pub rows: Vec<Shadow>,
}

impl Store {
    /// The server that this store belongs to.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn server(&self) -> Result<Option<ServerState>, StoreError> {
        let sql = "SELECT url, user, epoch, cursor, is_whole, reached, problem FROM server";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(ServerState {
                url: row.get(0)?,
                user: row.get(1)?,
                epoch: row.get(2)?,
                cursor: row.get(3)?,
                is_whole: row.get(4)?,
                reached: row.get(5)?,
                problem: row.get(6)?,
            })
        };
        self.connection.query_row(sql, [], read).optional().map_err(|error| self.failed(error))
    }

    /// Makes a server this store's own. Joining it again changes nothing.
    ///
    /// # Errors
    /// When it belongs to another one, or to another user there.
    pub fn join(&mut self, url: &str, user: &str, upload: Upload) -> Result<(), StoreError> {
        if let Some(known) = self.server()? {
            if known.url == url && known.user == user {
                return Ok(());
            }
            return Err(StoreError::OtherServer { url: known.url, user: known.user });
        }
        self.write_numbers(|change| {
            let sql = "INSERT INTO server (only_row, url, user, epoch, cursor, is_whole) VALUES (1, ?1, ?2, 0, 0, 0)";
            change.tx.execute(sql, [url, user])?;
            if upload == Upload::Nothing {
                change.tx.execute("INSERT OR IGNORE INTO private SELECT id FROM memories WHERE purged = 0", [])?;
                change.tx.execute("DELETE FROM outbox", [])?;
            }
            Ok(())
        })
    }

    /// Leaves the server: the user's own memories stay here, other users' go.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn leave(&mut self) -> Result<(), StoreError> {
        self.write(|change| {
            let sql = format!("SELECT {} FROM memories WHERE shared_by IS NOT NULL AND purged = 0", row::MEMORY);
            let mut statement = change.tx.prepare(&sql)?;
            let theirs: Vec<Memory> = statement.query_map([], row::memory)?.collect::<Result<_, _>>()?;
            for memory in theirs {
                purge(change, &memory, row::GONE, &Actor::default())?;
            }
            change.tx.execute_batch(
                "DELETE FROM trails; DELETE FROM private; DELETE FROM outbox; DELETE FROM server; DELETE FROM marks;
                 DELETE FROM offers;
                 INSERT INTO outbox (memory) SELECT id FROM memories WHERE purged = 0 ORDER BY handle;",
            )?;
            Ok(())
        })?;
        self.scrub()
    }

    /// How things stand.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sync_status(&self) -> Result<SyncStatus, StoreError> {
        let server = self.server()?;
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error));
        Ok(SyncStatus {
            waiting: one("SELECT count(*) FROM outbox WHERE refused IS NULL")?,
            refused: one("SELECT count(*) FROM outbox WHERE refused IS NOT NULL")?,
            conflicts: one("SELECT count(*) FROM memories WHERE conflict_of IS NOT NULL AND deleted IS NULL")?,
            shared_with_me: one("SELECT count(*) FROM memories WHERE shared_by IS NOT NULL AND deleted IS NULL")?,
            private: one("SELECT count(*) FROM private JOIN memories ON id = memory WHERE deleted IS NULL")?,
            server,
        })
    }

    /// The changes that the server will not take, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn refused_changes(&self) -> Result<Vec<RefusedChange>, StoreError> {
        let read = || -> rusqlite::Result<Vec<RefusedChange>> {
            let sql = "SELECT handle, id, summary, refused FROM outbox JOIN memories ON id = memory
                       WHERE refused IS NOT NULL ORDER BY n";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(RefusedChange { handle: row.get(0)?, id: row.get(1)?, summary: row.get(2)?, why: row.get(3)? })
            })?;
            rows.collect()
        };
        read().map_err(|error| self.failed(error))
    }

    /// Lets the changes that were refused be sent once more. Gives how many.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn retry_refused(&mut self) -> Result<usize, StoreError> {
        self.write_numbers(|change| {
            Ok(change.tx.execute("UPDATE outbox SET refused = NULL WHERE refused IS NOT NULL", [])?)
        })
    }

    /// What to send now, oldest first: the changes that were sent and not answered are the same as before.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn ops(&mut self, most: usize) -> Result<Vec<Op>, StoreError> {
        let waiting = "SELECT EXISTS (SELECT 1 FROM outbox WHERE refused IS NULL)";
        if !self.connection.query_row(waiting, [], |row| row.get(0)).map_err(|error| self.failed(error))? {
            return Ok(Vec::new());
        }
        self.write_numbers(|change| {
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
        self.write_numbers(|change| {
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
            super::offers::keep(change, &page.offers)?;
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

    /// Marks of the server's history that this machine was given, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn marks(&self) -> Result<Vec<Mark>, StoreError> {
        marks(&self.connection).map_err(|error| self.failed(error))
    }

    /// Begins anew from all that the server holds, and keeps what it lacks. Works in steps, so that others can write
    /// in between; one that ends early is begun again.
    ///
    /// # Errors
    /// When the store cannot be written; it is fetched again then.
    pub fn begin_anew(&mut self, whole: &Whole) -> Result<(), StoreError> {
        let Some(server) = self.server()? else { return Ok(()) };
        let is_first = server.epoch == 0;
        let mut purged = false;
        for rows in whole.rows.chunks(STEP) {
            purged |= self.write(|change| {
                let mut purged = false;
                for shadow in rows {
                    if is_first {
                        adopt_equal(change, shadow)?;
                    }
                    purged |= restore(change, shadow.row.memory, Some(shadow.clone()), whole, &server.user)?;
                }
                Ok(purged)
            })?;
        }
        let there: BTreeSet<MemoryId> = whole.rows.iter().map(|shadow| shadow.row.memory).collect();
        let mut lacking = self.told_of().map_err(|error| self.failed(error))?;
        lacking.retain(|id| !there.contains(id));
        for ids in lacking.chunks(STEP) {
            purged |= self.write(|change| {
                let mut purged = false;
                for id in ids {
                    purged |= restore(change, *id, None, whole, &server.user)?;
                }
                Ok(purged)
            })?;
        }
        self.write_numbers(|change| {
            let sql = "UPDATE server SET epoch = ?1, cursor = ?2, is_whole = 1";
            change.tx.execute(sql, params![whole.epoch, whole.head])?;
            // What comes after is of a history that was lost.
            let common = i64::try_from(whole.restored_seq).unwrap_or(i64::MAX);
            change.tx.execute("DELETE FROM marks WHERE seq > ?1", [common])?;
            note_mark(change, whole.mark)
        })?;
        self.after_news(purged)
    }

    /// Memories that a server was told of, or that came from it.
    fn told_of(&self) -> rusqlite::Result<Vec<MemoryId>> {
        let mut statement = self.connection.prepare("SELECT memory FROM trails")?;
        let ids = statement.query_map([], |row| row.get(0))?;
        ids.collect()
    }

    /// Notes that everything is to be fetched anew.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn must_begin_anew(&mut self) -> Result<(), StoreError> {
        self.write_numbers(|change| {
            change.tx.execute("UPDATE server SET is_whole = 0", [])?;
            Ok(())
        })
    }

    /// Notes that the server answered, or why it did not.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn note_server(&mut self, problem: Option<&str>) -> Result<(), StoreError> {
        self.write_numbers(|change| {
            match problem {
                None => change.tx.execute("UPDATE server SET reached = ?1, problem = NULL", [change.now])?,
                Some(problem) => change.tx.execute("UPDATE server SET problem = ?1", [problem])?,
            };
            Ok(())
        })
    }

    fn after_news(&mut self, purged: bool) -> Result<(), StoreError> {
        if purged {
            self.scrub()?;
        }
        self.maintain();
        Ok(())
    }
}

/// Where a machine stands in the feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    epoch: u64,
    cursor: u64,
}

fn position(change: &Change<'_>) -> Result<Option<Position>, StoreError> {
    let read = |row: &rusqlite::Row<'_>| Ok(Position { epoch: row.get(0)?, cursor: row.get(1)? });
    Ok(change.tx.query_row("SELECT epoch, cursor FROM server WHERE is_whole = 1", [], read).optional()?)
}

/// Memories of a step of [`Store::begin_anew`].
const STEP: usize = 100;

/// Takes a row of a snapshot, or its absence. True when something was removed for good.
fn restore(
    change: &Change<'_>,
    id: MemoryId,
    row: Option<Shadow>,
    whole: &Whole,
    user: &str,
) -> Result<bool, StoreError> {
    let Some(mut held) = Held::of(change, id)? else {
        return row.map_or(Ok(false), |shadow| take(change, id, Arrival::Row(Box::new(shadow))));
    };
    let mut fresh = || MemoryId::generate(change.now);
    let settled = held.local.restore(row, whole.restored_seq, user, &mut fresh);
    carry_out(change, id, Some(&held.memory), held.mark, &held.local, settled)
}

/// A memory that says what one of the user's own on the server says, and that no server was ever told of, is the
/// same memory: it takes its id.
fn adopt_equal(change: &Change<'_>, shadow: &Shadow) -> Result<(), StoreError> {
    let (Some(document), true) = (shadow.row.state.live(), shadow.is_own()) else { return Ok(()) };
    let id = shadow.row.memory;
    if row::remains(change.tx, id)?.is_some() {
        return Ok(());
    }
    let signature = Analysis::of(&document.memory(id, Handle::FIRST, None, None)).signature;
    let sql = "SELECT id FROM memories WHERE signature = ?1 AND content = ?2 AND scope = ?3 AND deleted IS NULL
                   AND shared_by IS NULL AND conflict_of IS NULL AND superseded_by IS NULL
                   AND id NOT IN (SELECT memory FROM trails) AND id NOT IN (SELECT memory FROM private)
               ORDER BY handle LIMIT 1";
    let wanted = params![signature.cast_signed(), document.content.as_str(), document.details.scope.as_str()];
    let found: Option<MemoryId> = change.tx.prepare_cached(sql)?.query_row(wanted, |row| row.get(0)).optional()?;
    let Some(known) = found else { return Ok(()) };
    for sql in [
        "UPDATE memories SET id = ?2 WHERE id = ?1",
        "UPDATE memories SET conflict_of = ?2 WHERE conflict_of = ?1",
        "UPDATE history SET memory = ?2 WHERE memory = ?1",
        "UPDATE OR REPLACE links SET source = ?2 WHERE source = ?1",
        "UPDATE OR REPLACE links SET target = ?2 WHERE target = ?1",
        "UPDATE OR REPLACE outbox SET memory = ?2 WHERE memory = ?1",
    ] {
        change.tx.prepare_cached(sql)?.execute(params![known, id])?;
    }
    Ok(())
}

fn marks(connection: &rusqlite::Connection) -> rusqlite::Result<Vec<Mark>> {
    let mut statement = connection.prepare_cached("SELECT seq, stamp FROM marks ORDER BY seq DESC")?;
    let marks = statement.query_map([], |row| Ok(Mark { seq: row.get(0)?, stamp: row.get(1)? }))?;
    marks.collect()
}

/// Keeps a mark, and of the older ones those that are still of use.
fn note_mark(change: &Change<'_>, mark: Option<Mark>) -> Result<(), StoreError> {
    let Some(mark) = mark else { return Ok(()) };
    change.tx.prepare_cached("INSERT OR REPLACE INTO marks VALUES (?1, ?2)")?.execute(params![mark.seq, mark.stamp])?;
    let all = marks(change.tx)?;
    let kept = Mark::thinned(all.clone());
    for old in all.iter().filter(|mark| !kept.contains(mark)) {
        change.tx.prepare_cached("DELETE FROM marks WHERE seq = ?1")?.execute([old.seq])?;
    }
    Ok(())
}
