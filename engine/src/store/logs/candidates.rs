//! The review queue: lines that wait for the user's decision, and digests of earlier decisions.
//!
//! A candidate is not a memory: it has no terms in the index, is not counted, and is never synced or injected. A dropped
//! candidate leaves only its digest.

use std::time::Duration;

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use crate::domain::{Candidate, CandidateId, Digest, DomainError, Memory, MemoryUuid, Scope, Timestamp};
use crate::embedding::{Embedding, Vector};
use crate::screen::is_clean;
use crate::screen::probable::probable;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};

/// Maximum number of waiting lines. The oldest are deleted first.
const MOST_WAITING: u32 = 200;
/// A line that nobody reviewed is deleted after this number of days.
const DAYS_WAITING: i64 = 90;
/// The kind of a dropped line.
const LINE: &str = "line";
/// The kind of a line that was accepted with another text.
const EDITED: &str = "edited";
/// How long a drop waits for readers, so that it can remove the text from the write-ahead log.
const PATIENCE: Duration = Duration::from_millis(200);

/// A line that waits for review, with its ID.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct WaitingLine {
    /// Its ID.
    pub id: CandidateId,
    /// The line.
    #[serde(flatten)]
    pub candidate: Candidate,
}

/// A proposal about memories that the user declined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Declined {
    /// Both memories stay as they are.
    Pair(MemoryUuid, MemoryUuid),
    /// A memory stays although it was never used.
    Unused(MemoryUuid),
}

/// A row of the table.
struct Stored {
    digest: Digest,
    candidate: Candidate,
    vector: Option<Vector>,
}

impl Store {
    /// Adds a line to the review queue. Returns its ID if it now waits. `None` if an equal line of the scope waits
    /// already or was dropped earlier, or if the line contains a credential or a probable secret.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn propose(&mut self, candidate: &Candidate) -> Result<Option<CandidateId>, StoreError> {
        let is_secret = |text: &String| !is_clean(text) || !probable(text).is_empty();
        if is_secret(&candidate.content) {
            return Ok(None);
        }
        let keywords = candidate.keywords.iter().filter(|word| !is_secret(word)).cloned().collect();
        let candidate = Candidate { keywords, ..candidate.clone() };
        let json = serde_json::to_string(&candidate).expect("a candidate contains only texts and numbers");
        let embedding = self.embedding_key(&candidate.content);
        let embedding =
            embedding.map_or_else(Vec::new, |vector| Embedding::of(std::slice::from_ref(&vector)).into_bytes());
        self.write(|change| {
            let digest = Digest::of_line(&key(change.tx)?, &candidate.scope, &candidate.content);
            if is_decided(change.tx, digest)? {
                return Ok(None);
            }
            delete_old(change)?;
            let sql = "INSERT OR IGNORE INTO candidates (digest, at, expires, candidate, embedding)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            let with = params![digest.as_bytes(), change.now, candidate.expires, json, embedding];
            let added = change.tx.run(sql, with)?;
            delete_surplus(change)?;
            Ok((added > 0).then(|| digest.id()))
        })
    }

    /// The waiting lines, oldest first. Expired lines are left out, and lines that only a newer version can read.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn candidates(&self) -> Result<Vec<WaitingLine>, StoreError> {
        Ok(self.candidates_with_vectors()?.into_iter().map(|(line, _)| line).collect())
    }

    /// Like [`Self::candidates`], with the embeddings that the current encoder made.
    pub(crate) fn candidates_with_vectors(&self) -> Result<Vec<(WaitingLine, Option<Vector>)>, StoreError> {
        let rows = rows(&self.connection, self.now()).map_err(|error| self.failed(error))?;
        let line = |row: Stored| (WaitingLine { id: row.digest.id(), candidate: row.candidate }, row.vector);
        Ok(rows.into_iter().map(line).collect())
    }

    /// The number of waiting lines.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn count_candidates(&self) -> Result<usize, StoreError> {
        if self.has_no_candidate()? { Ok(0) } else { Ok(self.candidates()?.len()) }
    }

    /// True if the table is empty, as it mostly is. Then nothing is parsed.
    fn has_no_candidate(&self) -> Result<bool, StoreError> {
        let is_empty = self.connection.one("SELECT NOT EXISTS (SELECT 1 FROM candidates)", [], |row| row.get(0));
        is_empty.map_err(|error| self.failed(error))
    }

    /// A waiting line.
    ///
    /// # Errors
    /// Returns an error if no line has the ID, or the store cannot be read.
    pub fn candidate(&self, id: &CandidateId) -> Result<Candidate, StoreError> {
        let found = self.candidates()?.into_iter().find(|line| line.id == *id);
        Ok(found.ok_or_else(none_waits)?.candidate)
    }

    /// Drops a line: deletes it, and records its digest, so that it is not proposed again.
    ///
    /// # Errors
    /// Returns an error if no line has the ID, or the store cannot be written.
    pub fn drop_candidate(&mut self, id: &CandidateId) -> Result<(), StoreError> {
        self.write(|change| {
            let digest = take(change, id)?;
            decide(change, LINE, digest)
        })?;
        // The log contains the text until it is truncated. If another process reads now, a later write does it.
        if let Err(error) = self.cut_log(PATIENCE) {
            tracing::debug!(%error, "the write-ahead log cannot be truncated now");
        }
        Ok(())
    }

    /// When lines were dropped, latest first.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn dropped_lately(&self, most: usize) -> Result<Vec<Timestamp>, StoreError> {
        let sql = "SELECT at FROM reviewed WHERE kind = ?1 ORDER BY at DESC LIMIT ?2";
        self.connection.all(sql, params![LINE, most as u64], |row| row.get(0)).map_err(|error| self.failed(error))
    }

    /// True if a line with this text was dropped in the scope, or accepted with another text.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn was_dropped(&self, scope: &Scope, text: &str) -> Result<bool, StoreError> {
        let read = || is_decided(&self.connection, Digest::of_line(&key(&self.connection)?, scope, text));
        read().map_err(|error| self.failed(error))
    }

    /// Forgets that a line was dropped, because the user explicitly asks to remember it.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn allow_candidate(&mut self, scope: &Scope, text: &str) -> Result<(), StoreError> {
        self.write(|change| {
            let digest = Digest::of_line(&key(change.tx)?, scope, text);
            Ok(change.tx.run("DELETE FROM reviewed WHERE digest = ?1", [digest.as_bytes()]).map(drop)?)
        })
    }

    /// Records that the user declined a proposal about memories.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn decline(&mut self, declined: Declined) -> Result<(), StoreError> {
        self.write(|change| decide(change, declined.kind(), declined.digest(&key(change.tx)?)))
    }

    /// True if the user declined this proposal.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn is_declined(&self, declined: Declined) -> Result<bool, StoreError> {
        let read = || is_decided(&self.connection, declined.digest(&key(&self.connection)?));
        read().map_err(|error| self.failed(error))
    }

    /// Deletes the waiting lines that the user retracted.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn retract(&mut self, is_retracted: impl Fn(&Candidate) -> bool) -> Result<(), StoreError> {
        if self.count_candidates()? == 0 {
            return Ok(());
        }
        self.write(|change| Ok(remove(change.tx, &is_retracted)?))
    }

    /// Deletes the waiting line with the text and scope of a memory that was stored.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn remove_candidate_of(&mut self, memory: &Memory) -> Result<(), StoreError> {
        if self.count_candidates()? == 0 {
            return Ok(());
        }
        self.write(|change| {
            let digest = Digest::of_line(&key(change.tx)?, &memory.scope, &memory.content);
            Ok(change.tx.run("DELETE FROM candidates WHERE digest = ?1", [digest.as_bytes()]).map(drop)?)
        })
    }

    /// Deletes expired lines, and those that waited too long.
    pub(crate) fn delete_old_candidates_if_due(&mut self) -> Result<(), StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM candidates WHERE at <= ?1 OR expires <= ?2)";
        let (now, since) = (self.now(), self.now().plus_days(-DAYS_WAITING));
        let is_due = self.connection.one(sql, params![since, now], |row| row.get(0));
        if is_due.map_err(|error| self.failed(error))? { self.write(delete_old) } else { Ok(()) }
    }
}

impl Declined {
    fn kind(self) -> &'static str {
        match self {
            Self::Pair(..) => "pair",
            Self::Unused(_) => "unused",
        }
    }

    fn digest(self, store: &[u8]) -> Digest {
        let subject = match self {
            Self::Pair(one, other) => format!("{} {}", one.min(other), one.max(other)),
            Self::Unused(memory) => memory.to_string(),
        };
        Digest::of(store, self.kind(), &subject)
    }
}

/// Removes a line from the queue in the transaction that stores it as a memory. If the user changed its text, the
/// original text is not proposed again.
pub(crate) fn accept(change: &Change<'_>, id: &CandidateId, memory: &Memory) -> Result<(), StoreError> {
    let digest = take(change, id)?;
    let stored = Digest::of_line(&key(change.tx)?, &memory.scope, &memory.content);
    if digest == stored { Ok(()) } else { decide(change, EDITED, digest) }
}

/// Removes a line in the transaction that decides about it. So two processes never decide about one line.
fn take(change: &Change<'_>, id: &CandidateId) -> Result<Digest, StoreError> {
    let found = rows(change.tx, change.now)?.into_iter().find(|row| row.digest.id() == *id);
    let digest = found.ok_or_else(none_waits)?.digest;
    change.tx.run("DELETE FROM candidates WHERE digest = ?1", [digest.as_bytes()])?;
    Ok(digest)
}

/// Deletes lines that repeat or replace a permanently deleted memory.
pub(crate) fn forget_those_about(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    let text = memory.content.to_lowercase();
    let repeats = |line: &Candidate| line.content.to_lowercase().contains(&text);
    let is_about = |line: &Candidate| line.supersedes == Some(memory.id) || repeats(line);
    Ok(remove(change.tx, &is_about)?)
}

/// Deletes lines with a hidden text, from a store or a copy.
pub(crate) fn forget_those_saying(connection: &Connection, text: &str) -> rusqlite::Result<()> {
    remove(connection, &|line: &Candidate| line.content.contains(text))
}

/// Deletes lines, also expired ones.
fn remove(connection: &Connection, is_removed: &dyn Fn(&Candidate) -> bool) -> rusqlite::Result<()> {
    let all = rows(connection, Timestamp::from_micros(i64::MIN))?;
    for row in all.into_iter().filter(|row| is_removed(&row.candidate)) {
        connection.run("DELETE FROM candidates WHERE digest = ?1", [row.digest.as_bytes()])?;
    }
    Ok(())
}

fn decide(change: &Change<'_>, kind: &str, digest: Digest) -> Result<(), StoreError> {
    let sql = "INSERT OR IGNORE INTO reviewed (digest, kind, at) VALUES (?1, ?2, ?3)";
    Ok(change.tx.run(sql, params![digest.as_bytes(), kind, change.now]).map(drop)?)
}

fn is_decided(connection: &Connection, digest: Digest) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM reviewed WHERE digest = ?1")?.exists([digest.as_bytes()])
}

/// The key of the digests of a store.
fn key(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    connection.one("SELECT CAST(value AS BLOB) FROM meta WHERE key = 'store_id'", [], |row| row.get(0))
}

/// Deletes expired lines, and those that waited too long.
fn delete_old(change: &Change<'_>) -> Result<(), StoreError> {
    let sql = "DELETE FROM candidates WHERE at <= ?1 OR expires <= ?2";
    Ok(change.tx.run(sql, params![change.now.plus_days(-DAYS_WAITING), change.now]).map(drop)?)
}

/// Deletes the oldest of too many lines.
fn delete_surplus(change: &Change<'_>) -> Result<(), StoreError> {
    let sql = "DELETE FROM candidates
               WHERE digest NOT IN (SELECT digest FROM candidates ORDER BY at DESC, digest LIMIT ?1)";
    Ok(change.tx.run(sql, [MOST_WAITING]).map(drop)?)
}

/// The rows that did not wait too long and have not expired, oldest first.
fn rows(connection: &Connection, now: Timestamp) -> rusqlite::Result<Vec<Stored>> {
    let sql = "SELECT digest, candidate, embedding FROM candidates
               WHERE at > ?1 AND (expires IS NULL OR expires > ?2) ORDER BY at, digest";
    let rows = connection.all(sql, params![now.plus_days(-DAYS_WAITING), now], stored)?;
    Ok(rows.into_iter().flatten().collect())
}

fn stored(row: &Row<'_>) -> rusqlite::Result<Option<Stored>> {
    let (digest, candidate, embedding): ([u8; 16], String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let Ok(candidate) = serde_json::from_str(&candidate) else { return Ok(None) };
    let vector = Embedding::vectors(&embedding).next().and_then(Vector::of_bytes);
    Ok(Some(Stored { digest: Digest::from_bytes(digest), candidate, vector }))
}

fn none_waits() -> StoreError {
    DomainError::invalid("id", "no line with this ID waits", "`tessera review` lists the lines that wait").into()
}

#[cfg(test)]
mod tests;
