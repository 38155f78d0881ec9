//! Rows that wait for their vectors: they are made after the commit, and never before somebody is told that it is done.
//!
//! A row waits while it has none, or has those of an older encoder. Vectors are found out of any transaction and kept
//! only where the row is still the one they were made of, so that whatever ends a process loses nothing but time. Whoever
//! works off many holds a lock; whoever makes those of what it just wrote does not wait for it.

use std::fs::File;

use rusqlite::params;

use super::store::Store;
use crate::domain::ShortId;
use crate::meaning::{ENCODER_VERSION, Encoder, Meaning, Vector, embeddings_about, passages_of};
use crate::recall::is_semantic_query;
use crate::store::file::error::StoreError;
use crate::store::file::private;
use crate::store::rows::codec::{Ask as _, Run as _};

/// Rows of one step, at most, and passages after which it takes no more rows.
const STEP: usize = 64;
const PASSAGES: usize = 32;

/// Which encoder's vectors the rows up to [`LEFT`] were looked through for.
const FOR: &str = "meaning";
/// The rev up to which rows may have vectors of an older encoder; 0 where none has.
const LEFT: &str = "meaning_left";

/// How far the vectors of a store are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meanings {
    /// Live memories that have their vectors.
    pub made: u64,
    /// Live memories that wait for them: found by their words meanwhile.
    pub waiting: u64,
    /// Live memories with vectors of a newer program's encoder: found by their words here.
    pub later: u64,
}

/// The right to work off the rows that wait, of one process at a time; it ends with the process.
#[derive(Debug)]
pub struct EmbeddingTurn {
    _lock: File,
}

struct Waiting {
    short_id: ShortId,
    rev: u64,
    content: String,
    /// What it stands below, where a file says it.
    about: String,
}

/// What a part of a file stands below: its note, and the heading above it. Short observations leave out what they are of.
const ABOUT: &str =
    "coalesce((SELECT substr(files.title, 1, 80) || iif(heading IS NULL, '', ', ' || heading) FROM parts
                         JOIN files ON files.memory = parts.file WHERE parts.memory = memories.id), '')";

/// Notes of a store that is made now that no row has vectors of an older encoder.
pub(crate) fn note_new(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    note_left(connection, 0)
}

fn note_left(connection: &rusqlite::Connection, left: u64) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2), (?3, ?4)";
    connection.run(sql, params![FOR, ENCODER_VERSION, LEFT, left]).map(drop)
}

impl Store {
    /// True where the leg of meaning is switched on.
    pub fn has_embedding(&self) -> bool {
        self.meaning
    }

    /// What a question means; `None` where the leg is switched off or there is no question. The last one is kept.
    pub(in crate::store) fn meant(&mut self, question: &str) -> Option<Vector> {
        if !self.meaning || !is_semantic_query(question, &self.weights) {
            return None;
        }
        match &self.encoded.question {
            Some((known, vector)) if known == question => Some(vector.clone()),
            _ => {
                let vector = Encoder::shared().question(question);
                self.encoded.question = Some((question.to_owned(), vector.clone()));
                Some(vector)
            }
        }
    }

    /// What a text means that is in a row or about to be, by its first passage, for a comparison before its vectors are
    /// kept. Nothing is encoded twice of a text of one passage.
    pub(in crate::store) fn meant_by(&mut self, content: &str) -> Option<Vector> {
        let passages = passages_of(content);
        let first = passages.first().filter(|_| self.meaning)?;
        let vector = Encoder::shared().passages(&[first]).pop()?;
        if passages.len() == 1 {
            self.encoded.row = Some((content.to_owned(), Meaning::of(std::slice::from_ref(&vector)).into_bytes()));
        }
        Some(vector)
    }

    /// How far the vectors are.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn meanings(&self) -> Result<Meanings, StoreError> {
        // The first byte is the version of the encoder.
        let sql = "SELECT count(*) FILTER (WHERE meaning >= ?1 AND meaning < ?2), count(*) FILTER (WHERE meaning < ?1),
                       count(*) FILTER (WHERE meaning >= ?2) FROM memories WHERE deleted IS NULL AND whole = 0";
        let read =
            |row: &rusqlite::Row<'_>| Ok(Meanings { made: row.get(0)?, waiting: row.get(1)?, later: row.get(2)? });
        self.connection
            .query_row(sql, [[ENCODER_VERSION], [ENCODER_VERSION + 1]], read)
            .map_err(|error| self.failed(error))
    }

    /// The right to work off what waits; `None` while another process has it, or where the leg is switched off.
    ///
    /// # Errors
    /// When the lock cannot be made.
    pub fn embedding_turn(&self) -> Result<Option<EmbeddingTurn>, StoreError> {
        if !self.meaning {
            return Ok(None);
        }
        let path = self.home.meaning_lock();
        let lock = private::try_lock(&path).map_err(|source| StoreError::file(&path, source))?;
        Ok(lock.map(|lock| EmbeddingTurn { _lock: lock }))
    }

    /// Finds out what some rows mean that wait for it, the newest first. True when there may be more.
    ///
    /// # Errors
    /// When the store cannot be read or written; it is tried again later.
    pub fn embed_some(&mut self) -> Result<bool, StoreError> {
        self.embed_while(|| true).map(|done| done > 0)
    }

    /// The same as long as `pause`, called every few hundredths of a second, gives `true`. Gives how many rows have their
    /// vectors now that had none: 0 where none waits, or there was no time for one.
    ///
    /// # Errors
    /// As [`Store::embed_some`].
    pub fn embed_while(&mut self, pause: impl FnMut() -> bool) -> Result<u64, StoreError> {
        self.embed(STEP, pause)
    }

    /// The same for the row that was written last, or another one if that one does not wait.
    ///
    /// # Errors
    /// As [`Store::embed_some`].
    pub fn embed_newest(&mut self, pause: impl FnMut() -> bool) -> Result<u64, StoreError> {
        self.embed(1, pause)
    }

    fn embed(&mut self, most: usize, pause: impl FnMut() -> bool) -> Result<u64, StoreError> {
        if !self.meaning {
            return Ok(0);
        }
        let (waiting, next) = self.some_waiting(most).map_err(|error| self.failed(error))?;
        let contents: Vec<(&str, &str)> = waiting.iter().map(|row| (&*row.about, &*row.content)).collect();
        let made = match self.encoded.row.take() {
            Some((content, meaning)) if contents == [("", content.as_str())] => vec![meaning],
            _ => {
                let meanings = embeddings_about(Encoder::shared(), &contents, pause);
                meanings.into_iter().map(Meaning::into_bytes).collect()
            }
        };
        let is_all = made.len() == waiting.len();
        if waiting.is_empty() && next.is_none() {
            return Ok(0);
        }
        self.write(|change| {
            for (row, meaning) in waiting.iter().zip(&made) {
                // A rev of its own: every reader is to see it. No server is told, and no history is made of it.
                let sql =
                    "UPDATE memories SET meaning = ?2, rev = ?3 WHERE short_id = ?1 AND rev = ?4 AND deleted IS NULL";
                let rev = change.next_rev()?;
                change.tx.run(sql, params![row.short_id, meaning, rev, row.rev])?;
            }
            if let Some(left) = next.filter(|_| is_all) {
                note_left(change.tx, left)?;
            }
            Ok(())
        })?;
        if next == Some(0) && is_all {
            self.index.forget_outdated();
        }
        Ok(made.len() as u64)
    }

    /// Some rows that wait, the newest first: those that have no vectors, and after them those with vectors of an older
    /// encoder. With the latter, the rev up to which there may be more of them.
    fn some_waiting(&self, most: usize) -> rusqlite::Result<(Vec<Waiting>, Option<u64>)> {
        let fresh = format!(
            "SELECT short_id, rev, content, {ABOUT} FROM memories WHERE meaning = x'' AND deleted IS NULL AND whole = 0
                     ORDER BY rev DESC LIMIT ?1"
        );
        let (rows, _) = self.taken(&fresh, params![most as u64], most)?;
        let left = self.left_to_encode()?;
        if !rows.is_empty() || left == 0 {
            return Ok((rows, None));
        }
        let outdated = format!(
            "SELECT short_id, rev, content, {ABOUT} FROM memories WHERE rev <= ?2 AND meaning < ?3 AND deleted IS NULL AND whole = 0
                        ORDER BY rev DESC LIMIT ?1"
        );
        let (rows, is_more) = self.taken(&outdated, params![most as u64, left, [ENCODER_VERSION]], most)?;
        let next = rows.last().filter(|_| is_more).map_or(0, |last| last.rev.saturating_sub(1));
        Ok((rows, Some(next)))
    }

    /// The first rows of a query that make a step, and whether there may be more.
    fn taken(&self, sql: &str, params: impl rusqlite::Params, most: usize) -> rusqlite::Result<(Vec<Waiting>, bool)> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let (mut taken, mut passages) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let row = Waiting { short_id: row.get(0)?, rev: row.get(1)?, content: row.get(2)?, about: row.get(3)? };
            passages += passages_of(&row.content).len();
            taken.push(row);
            if passages >= PASSAGES {
                return Ok((taken, true));
            }
        }
        let is_more = taken.len() == most;
        Ok((taken, is_more))
    }

    /// The rev up to which rows may have vectors of an older encoder, as far as is noted or was seen.
    fn left_to_encode(&self) -> rusqlite::Result<u64> {
        let sql = "SELECT (SELECT value FROM meta WHERE key = 'rev'), (SELECT value FROM meta WHERE key = ?1),
                       (SELECT value FROM meta WHERE key = ?2)";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (rev, of, left): (u64, Option<u8>, Option<u64>) = self.connection.one(sql, [FOR, LEFT], read)?;
        let noted = if of == Some(ENCODER_VERSION) { left.unwrap_or(rev) } else { rev };
        Ok(noted.max(self.index.outdated_to()))
    }

    /// Lets memories wait whose vectors cannot be true.
    ///
    /// # Errors
    /// When the store cannot be read or written.
    pub(crate) fn give_up_meanings(&mut self, damaged: &[ShortId]) -> Result<(), StoreError> {
        self.write(|change| {
            for short_id in damaged {
                let sql = "UPDATE memories SET meaning = x'', rev = ?2 WHERE short_id = ?1 AND deleted IS NULL";
                change.tx.run(sql, params![short_id, change.next_rev()?])?;
            }
            Ok(())
        })
    }

    /// Live memories whose vectors cannot be true.
    pub(crate) fn damaged_meanings(&self) -> rusqlite::Result<Vec<ShortId>> {
        let sql = "SELECT short_id, content, meaning FROM memories WHERE deleted IS NULL AND meaning <> x''";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut damaged = Vec::new();
        while let Some(row) = rows.next()? {
            let (content, meaning) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_blob()?);
            if !Meaning::is_whole(meaning, passages_of(content).len()) {
                damaged.push(row.get(0)?);
            }
        }
        Ok(damaged)
    }
}
