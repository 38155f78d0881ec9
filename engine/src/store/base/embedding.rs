//! Computes embeddings for rows without them. This happens after the commit, and after the caller has its answer.
//!
//! A row waits if it has no embedding, or if an older encoder computed its embedding. Embeddings are computed outside
//! of a transaction, and stored only if the row has not changed since. So no data is lost if a process is killed before
//! it ends. A process that computes many embeddings holds a lock. A process that computes only the embeddings of its
//! own writes does not wait for this lock.

use std::cmp::Ordering;
use std::fs::File;

use rusqlite::params;

use super::store::Store;
use crate::domain::ShortId;
use crate::embedding::{ENCODER_VERSION, Embedding, Encoder, Vector, as_read, embeddings_about, passages_of};
use crate::recall::is_semantic_query;
use crate::store::base::ahead::Ahead;
use crate::store::file::error::StoreError;
use crate::store::file::private;
use crate::store::rows::codec::{Ask as _, Run as _};

/// The maximum number of rows in one step on one thread.
const STEP: usize = 64;
/// A step ends when it has one passage for every two rows that it may have.
const ROWS_PER_PASSAGE: usize = 2;

/// The key in `meta` for the encoder version to which the progress in [`LEFT`] belongs.
const FOR: &str = "embedding";
/// The rev up to which rows may have embeddings from an older encoder; 0 if there is no such row.
const LEFT: &str = "embedding_left";

/// The state of a store's embeddings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbeddingCounts {
    /// Live memories with an embedding.
    pub made: u64,
    /// Live memories without an embedding. Until they have one, only their words find them.
    pub waiting: u64,
    /// Live memories with an embedding from a newer encoder. This version finds them only by their words.
    pub later: u64,
}

/// The lock for computing missing embeddings. It ends with the process.
#[derive(Debug)]
pub struct EmbeddingTurn {
    _lock: File,
}

struct Waiting {
    short_id: ShortId,
    rev: u64,
    content: String,
    /// The headings of the memory, if it is in a file.
    about: String,
}

/// The headings of a section: the title of its file and the heading above it. Short observations need the headings,
/// because they often do not contain their subject.
const ABOUT: &str =
    "coalesce((SELECT substr(files.title, 1, 80) || iif(heading IS NULL, '', ', ' || heading) FROM parts
                         JOIN files ON files.memory = parts.file WHERE parts.memory = memories.id), '')";

/// Marks a new store as one without embeddings from an older encoder.
pub(crate) fn note_new(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    note_left(connection, 0)
}

fn note_left(connection: &rusqlite::Connection, left: u64) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2), (?3, ?4)";
    connection.run(sql, params![FOR, ENCODER_VERSION, LEFT, left]).map(drop)
}

impl Store {
    /// True if semantic search is on.
    pub fn has_embedding(&self) -> bool {
        self.embedding
    }

    /// Uses a text that is being encoded, for the next question or memory with this text.
    pub fn expect(&mut self, ahead: Option<Ahead>) {
        self.encoded.ahead = ahead;
    }

    /// The embedding of a question; `None` if semantic search is off or there is no question. The last one is cached.
    pub(in crate::store) fn meant(&mut self, question: &str) -> Option<Vector> {
        if !self.embedding || !is_semantic_query(question, &self.weights) {
            return None;
        }
        match &self.encoded.question {
            Some((known, vector)) if known == question => Some(vector.clone()),
            _ => {
                let ahead = self.encoded.ahead.take().and_then(|ahead| ahead.of_question(question));
                let vector = ahead.unwrap_or_else(|| Encoder::shared().question_in_parallel(question));
                self.encoded.question = Some((question.to_owned(), vector.clone()));
                Some(vector)
            }
        }
    }

    /// The embedding of the first passage of a text, before its row is written. The last one is cached. A text with one
    /// passage is not encoded again for its row.
    pub(in crate::store) fn embedding_key(&mut self, content: &str) -> Option<Vector> {
        if let Some((_, vector)) = self.encoded.key.as_ref().filter(|(known, _)| known == content) {
            return Some(vector.clone());
        }
        let passages = passages_of(content);
        let first = passages.first().filter(|_| self.embedding)?;
        let ahead = self.encoded.ahead.take().and_then(|ahead| ahead.of_passage(first));
        let vector = ahead.unwrap_or_else(|| Encoder::shared().passage_in_parallel(&as_read(first)));
        if passages.len() == 1 {
            self.encoded.row = Some((content.to_owned(), Embedding::of(std::slice::from_ref(&vector)).into_bytes()));
        }
        self.encoded.key = Some((content.to_owned(), vector.clone()));
        Some(vector)
    }

    /// Uses the stored embeddings of a text without a heading instead of encoding it, if the current encoder made them.
    pub(in crate::store) fn know_embedding(&mut self, content: &str, stored: &[u8]) {
        if let Some(vector) = Embedding::vectors(stored).next().and_then(Vector::of_bytes) {
            self.encoded.key = Some((content.to_owned(), vector));
        }
    }

    /// The state of the embeddings.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn embeddings(&self) -> Result<EmbeddingCounts, StoreError> {
        // The first byte is the version of the encoder; a text that waits has none.
        let sql = "SELECT value, max(n, 0) FROM counts WHERE kind = 'encoder'";
        let counts: rusqlite::Result<Vec<(String, u64)>> =
            self.connection.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
        let mut embeddings = EmbeddingCounts::default();
        for (version, count) in counts.map_err(|error| self.failed(error))? {
            let version = u8::from_str_radix(&version, 16).unwrap_or(0);
            *match version.cmp(&ENCODER_VERSION) {
                Ordering::Equal => &mut embeddings.made,
                Ordering::Less => &mut embeddings.waiting,
                Ordering::Greater => &mut embeddings.later,
            } += count;
        }
        Ok(embeddings)
    }

    /// Takes the lock for computing missing embeddings; `None` if another process has it, or semantic search is off.
    ///
    /// # Errors
    /// Returns an error if the lock file cannot be created.
    pub fn embedding_turn(&self) -> Result<Option<EmbeddingTurn>, StoreError> {
        if !self.embedding {
            return Ok(None);
        }
        let path = self.home.embedding_lock();
        let lock = private::try_lock(&path).map_err(|source| StoreError::file(&path, source))?;
        Ok(lock.map(|lock| EmbeddingTurn { _lock: lock }))
    }

    /// Computes the embeddings of some waiting rows, newest first. True if there may be more.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written. The work is tried again later.
    pub fn embed_some(&mut self) -> Result<bool, StoreError> {
        self.embed_while(1, || true).map(|done| done > 0)
    }

    /// Computes embeddings on several threads as long as `pause` returns `true`. The function `pause` is called every
    /// few hundredths of a second. Returns the number of rows that got an embedding: 0 if none waits, or there was no time.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::embed_some`].
    pub fn embed_while(&mut self, threads: usize, pause: impl FnMut() -> bool) -> Result<u64, StoreError> {
        self.embed(STEP * threads.max(1), threads, pause)
    }

    /// Computes one embedding: for the last written row if its embedding is missing, otherwise for another row.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::embed_some`].
    pub fn embed_newest(&mut self, pause: impl FnMut() -> bool) -> Result<u64, StoreError> {
        self.embed(1, 1, pause)
    }

    fn embed(&mut self, most: usize, threads: usize, pause: impl FnMut() -> bool) -> Result<u64, StoreError> {
        if !self.embedding {
            return Ok(0);
        }
        let (waiting, next) = self.some_waiting(most).map_err(|error| self.failed(error))?;
        let contents: Vec<(&str, &str)> = waiting.iter().map(|row| (&*row.about, &*row.content)).collect();
        let made = match self.encoded.row.take() {
            Some((content, embedding)) if contents == [("", content.as_str())] => vec![embedding],
            _ => {
                let embeddings = embeddings_about(Encoder::shared(), &contents, threads, pause);
                embeddings.into_iter().map(Embedding::into_bytes).collect()
            }
        };
        let is_all = made.len() == waiting.len();
        if waiting.is_empty() && next.is_none() {
            return Ok(0);
        }
        self.write(|change| {
            for (row, embedding) in waiting.iter().zip(&made) {
                // The row gets a new rev, so that all readers see the embedding. It is neither synced nor recorded in
                // the history.
                let sql =
                    "UPDATE memories SET embedding = ?2, rev = ?3 WHERE short_id = ?1 AND rev = ?4 AND deleted IS NULL";
                let rev = change.next_rev()?;
                change.tx.run(sql, params![row.short_id, embedding, rev, row.rev])?;
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

    /// Returns some waiting rows, newest first. Rows without an embedding come before rows with an embedding from an
    /// older encoder. Also returns the rev up to which there may be more rows of the second kind.
    fn some_waiting(&self, most: usize) -> rusqlite::Result<(Vec<Waiting>, Option<u64>)> {
        let fresh = format!(
            "SELECT short_id, rev, content, {ABOUT} FROM memories WHERE embedding = x'' AND deleted IS NULL AND is_file = 0
                     ORDER BY rev DESC LIMIT ?1"
        );
        let (rows, _) = self.taken(&fresh, params![most as u64], most)?;
        let left = self.left_to_encode()?;
        if !rows.is_empty() || left == 0 {
            return Ok((rows, None));
        }
        let outdated = format!(
            "SELECT short_id, rev, content, {ABOUT} FROM memories WHERE rev <= ?2 AND embedding < ?3 AND deleted IS NULL AND is_file = 0
                        ORDER BY rev DESC LIMIT ?1"
        );
        let (rows, is_more) = self.taken(&outdated, params![most as u64, left, [ENCODER_VERSION]], most)?;
        let next = rows.last().filter(|_| is_more).map_or(0, |last| last.rev.saturating_sub(1));
        Ok((rows, Some(next)))
    }

    /// Returns the rows of a query that fit into one step, and whether there may be more.
    fn taken(&self, sql: &str, params: impl rusqlite::Params, most: usize) -> rusqlite::Result<(Vec<Waiting>, bool)> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let (mut taken, mut passages) = (Vec::new(), 0);
        while let Some(row) = rows.next()? {
            let row = Waiting { short_id: row.get(0)?, rev: row.get(1)?, content: row.get(2)?, about: row.get(3)? };
            passages += passages_of(&row.content).len();
            taken.push(row);
            if passages * ROWS_PER_PASSAGE >= most {
                return Ok((taken, true));
            }
        }
        let is_more = taken.len() == most;
        Ok((taken, is_more))
    }

    /// The rev up to which rows may have embeddings from an older encoder, according to the store and the index.
    fn left_to_encode(&self) -> rusqlite::Result<u64> {
        let sql = "SELECT (SELECT value FROM meta WHERE key = 'rev'), (SELECT value FROM meta WHERE key = ?1),
                       (SELECT value FROM meta WHERE key = ?2)";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let (rev, of, left): (u64, Option<u8>, Option<u64>) = self.connection.one(sql, [FOR, LEFT], read)?;
        let noted = if of == Some(ENCODER_VERSION) { left.unwrap_or(rev) } else { rev };
        Ok(noted.max(self.index.outdated_to()))
    }

    /// Removes invalid embeddings, so that they are computed again.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub(crate) fn give_up_embeddings(&mut self, damaged: &[ShortId]) -> Result<(), StoreError> {
        self.write(|change| {
            for short_id in damaged {
                let sql = "UPDATE memories SET embedding = x'', rev = ?2 WHERE short_id = ?1 AND deleted IS NULL";
                change.tx.run(sql, params![short_id, change.next_rev()?])?;
            }
            Ok(())
        })
    }

    /// Live memories with invalid embeddings.
    pub(crate) fn damaged_embeddings(&self) -> rusqlite::Result<Vec<ShortId>> {
        let sql = "SELECT short_id, content, embedding FROM memories WHERE deleted IS NULL AND embedding <> x''";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut damaged = Vec::new();
        while let Some(row) = rows.next()? {
            let (content, embedding) = (row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_blob()?);
            if !Embedding::is_whole(embedding, passages_of(content).len()) {
                damaged.push(row.get(0)?);
            }
        }
        Ok(damaged)
    }
}
