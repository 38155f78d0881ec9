//! The review queue: lines that wait for the user's decision, and fingerprints of earlier decisions.
//!
//! A candidate is not a memory: it has no terms in the index, is not counted, and is never synced or injected. A dropped
//! candidate leaves only its fingerprint.

use rusqlite::{Connection, Row, params};
use serde::Serialize;

use crate::domain::{Candidate, CandidateId, Digest, DomainError, MemoryUuid};
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

/// A line that waits for review, with its ID.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct WaitingLine {
    /// Its ID.
    pub id: CandidateId,
    /// The line.
    #[serde(flatten)]
    pub candidate: Candidate,
}

/// A decision that is not asked for again. Its fingerprint contains the subject, but not its text.
#[derive(Debug, Clone, PartialEq)]
pub enum Decided<'a> {
    /// The line was dropped.
    Line(&'a str),
    /// Both memories stay as they are.
    Pair(MemoryUuid, MemoryUuid),
    /// A memory stays although it was never used.
    Unused(MemoryUuid),
}

impl Store {
    /// Adds a line to the review queue. Returns its ID if it now waits. `None` if an equal line waits already or was
    /// dropped earlier, or if the line contains a credential or a probable secret.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn propose(&mut self, candidate: &Candidate) -> Result<Option<CandidateId>, StoreError> {
        if !is_clean(&candidate.content) || !probable(&candidate.content).is_empty() {
            return Ok(None);
        }
        let digest = Digest::of_line(&self.key()?, &candidate.content);
        let json = serde_json::to_string(candidate).map_err(|error| self.unreadable(&error))?;
        let embedding = self.embedding_key(&candidate.content);
        let embedding =
            embedding.map_or_else(Vec::new, |vector| Embedding::of(std::slice::from_ref(&vector)).into_bytes());
        self.write(|change| {
            if is_decided(change.tx, digest)? {
                return Ok(None);
            }
            let sql = "INSERT OR IGNORE INTO candidates (id, at, candidate, embedding) VALUES (?1, ?2, ?3, ?4)";
            let added = change.tx.run(sql, params![digest.id().as_str(), change.now, json, embedding])?;
            trim(change)?;
            Ok((added > 0).then(|| digest.id()))
        })
    }

    /// The waiting lines, oldest first. A line that this version cannot read is skipped, and stays.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn candidates(&self) -> Result<Vec<WaitingLine>, StoreError> {
        Ok(self.candidates_with_vectors()?.into_iter().map(|(line, _)| line).collect())
    }

    /// Like [`Self::candidates`], with the embeddings that the current encoder made.
    pub(crate) fn candidates_with_vectors(&self) -> Result<Vec<(WaitingLine, Option<Vector>)>, StoreError> {
        let sql = "SELECT id, candidate, embedding FROM candidates WHERE at > ?1 ORDER BY at, id";
        let rows = self.connection.all(sql, [self.now().plus_days(-DAYS_WAITING)], waiting);
        Ok(rows.map_err(|error| self.failed(error))?.into_iter().flatten().collect())
    }

    /// The number of waiting lines.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn count_candidates(&self) -> Result<u32, StoreError> {
        let sql = "SELECT count(*) FROM candidates WHERE at > ?1";
        let count = self.connection.one(sql, [self.now().plus_days(-DAYS_WAITING)], |row| row.get(0));
        count.map_err(|error| self.failed(error))
    }

    /// A waiting line.
    ///
    /// # Errors
    /// Returns an error if no line has the ID, or the store cannot be read.
    pub fn candidate(&self, id: &CandidateId) -> Result<Candidate, StoreError> {
        let found = self.candidates()?.into_iter().find(|line| line.id == *id);
        Ok(found.ok_or_else(|| none_waits(id))?.candidate)
    }

    /// Removes a line that was accepted, so it no longer waits. Returns false if another process removed it.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn accepted(&mut self, id: &CandidateId) -> Result<bool, StoreError> {
        self.write(|change| Ok(change.tx.run("DELETE FROM candidates WHERE id = ?1", [id.as_str()])? > 0))
    }

    /// Records a decision. A dropped line is deleted in the same transaction.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn decide(&mut self, decided: &Decided<'_>) -> Result<(), StoreError> {
        let digest = decided.digest(&self.key()?);
        self.write(|change| {
            if matches!(decided, Decided::Line(_)) {
                change.tx.run("DELETE FROM candidates WHERE id = ?1", [digest.id().as_str()])?;
            }
            let sql = "INSERT OR IGNORE INTO reviewed (digest, at) VALUES (?1, ?2)";
            change.tx.run(sql, params![digest.as_bytes(), change.now])?;
            Ok(())
        })
    }

    /// True if the user already made this decision.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn is_decided(&self, decided: &Decided<'_>) -> Result<bool, StoreError> {
        let digest = decided.digest(&self.key()?);
        is_decided(&self.connection, digest).map_err(|error| self.failed(error))
    }

    /// Deletes the waiting lines that the user retracted. Returns their number.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn retract(&mut self, is_retracted: impl Fn(&Candidate) -> bool) -> Result<usize, StoreError> {
        let lines: Vec<WaitingLine> =
            self.candidates()?.into_iter().filter(|line| is_retracted(&line.candidate)).collect();
        for line in &lines {
            self.accepted(&line.id)?;
        }
        Ok(lines.len())
    }

    /// Removes the waiting line with a text that was stored as a memory in another way.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn stored_otherwise(&mut self, text: &str) -> Result<(), StoreError> {
        if self.count_candidates()? > 0 {
            let id = Digest::of_line(&self.key()?, text).id();
            self.accepted(&id)?;
        }
        Ok(())
    }

    /// The key of the fingerprints of this store.
    fn key(&self) -> Result<Vec<u8>, StoreError> {
        let sql = "SELECT CAST(value AS BLOB) FROM meta WHERE key = 'store_id'";
        self.connection.one(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))
    }

    fn unreadable(&self, error: &serde_json::Error) -> StoreError {
        self.failed(rusqlite::Error::ToSqlConversionFailure(error.to_string().into()))
    }
}

impl Decided<'_> {
    fn digest(&self, store: &[u8]) -> Digest {
        match self {
            Self::Line(text) => Digest::of_line(store, text),
            Self::Pair(one, other) => Digest::of(store, "pair", &format!("{} {}", one.min(other), one.max(other))),
            Self::Unused(memory) => Digest::of(store, "unused", &memory.to_string()),
        }
    }
}

fn is_decided(connection: &Connection, digest: Digest) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM reviewed WHERE digest = ?1")?.exists([digest.as_bytes()])
}

/// Deletes lines that waited too long, and the oldest of too many.
fn trim(change: &Change<'_>) -> Result<(), StoreError> {
    let sql = "DELETE FROM candidates WHERE at <= ?1
               OR id NOT IN (SELECT id FROM candidates ORDER BY at DESC, id LIMIT ?2)";
    change.tx.run(sql, params![change.now.plus_days(-DAYS_WAITING), MOST_WAITING])?;
    Ok(())
}

fn waiting(row: &Row<'_>) -> rusqlite::Result<Option<(WaitingLine, Option<Vector>)>> {
    let (id, candidate, embedding): (String, String, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (Ok(id), Ok(candidate)) = (id.parse(), serde_json::from_str(&candidate)) else { return Ok(None) };
    let vector = Embedding::vectors(&embedding).next().and_then(Vector::of_bytes);
    Ok(Some((WaitingLine { id, candidate }, vector)))
}

fn none_waits(id: &CandidateId) -> StoreError {
    let problem = format!("{id} does not wait for review");
    DomainError::invalid("id", problem, "`tessera review` lists the lines that wait").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Scope;
    use crate::store::open::in_memory::InMemory;

    fn line(content: &str) -> Candidate {
        Candidate::new(content, Scope::Global, "2026-11-20".parse().unwrap())
    }

    fn texts(store: &InMemory) -> Vec<String> {
        store.candidates().unwrap().into_iter().map(|line| line.candidate.content).collect()
    }

    #[test]
    fn a_line_waits_once_until_it_is_accepted() {
        let mut store = InMemory::new();
        let id = store.propose(&line("We deploy on Fridays")).unwrap().unwrap();
        assert_eq!(store.propose(&line("we  deploy on Fridays.")).unwrap(), None);
        assert_eq!(store.candidate(&id).unwrap(), line("We deploy on Fridays"));
        assert_eq!(store.count_candidates().unwrap(), 1);
        assert!(store.accepted(&id).unwrap());
        assert!(!store.accepted(&id).unwrap(), "another process was faster");
        let problem = store.candidate(&id).unwrap_err().to_string();
        assert!(problem.contains(id.as_str()) && problem.contains("tessera review"), "{problem}");
    }

    #[test]
    fn a_dropped_line_leaves_only_a_fingerprint_and_is_not_proposed_again() {
        let mut store = InMemory::new();
        store.propose(&line("The intern is slow")).unwrap().unwrap();
        store.decide(&Decided::Line("The intern is slow")).unwrap();
        assert_eq!(store.propose(&line("the intern is SLOW!")).unwrap(), None);
        assert_eq!(store.count_candidates().unwrap(), 0);
        assert!(store.is_decided(&Decided::Line("The intern is slow")).unwrap());
        assert_eq!(store.one::<Vec<u8>>("SELECT digest FROM reviewed").len(), 16);
        assert!(store.propose(&line("The intern is fast")).unwrap().is_some());
    }

    #[test]
    fn decisions_about_memories_do_not_depend_on_their_order() {
        let mut store = InMemory::new();
        let [one, other] = ["a", "b"].map(MemoryUuid::from_key);
        store.decide(&Decided::Pair(one, other)).unwrap();
        assert!(store.is_decided(&Decided::Pair(other, one)).unwrap());
        assert!(!store.is_decided(&Decided::Unused(one)).unwrap());
    }

    #[test]
    fn a_secret_never_waits() {
        let mut store = InMemory::new();
        for secret in ["the password for staging is hunter2!X9", &format!("use ghp_{}", "a1B2".repeat(9))] {
            assert_eq!(store.propose(&line(secret)).unwrap(), None, "{secret}");
        }
    }

    #[test]
    fn old_lines_and_the_oldest_of_too_many_are_deleted() {
        let mut store = InMemory::new();
        store.propose(&line("An old rule")).unwrap();
        store.pass_days(DAYS_WAITING);
        assert_eq!(texts(&store), [""; 0]);
        store.propose(&line("A new rule")).unwrap();
        assert_eq!(store.one::<u32>("SELECT count(*) FROM candidates"), 1);
        store.run(
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)
             INSERT INTO candidates (id, at, candidate, embedding)
             SELECT 'x' || i, (SELECT at FROM candidates) + i, '{\"unknown\":1}', x'' FROM n",
        );
        store.pass_days(1);
        store.propose(&line("The newest rule")).unwrap();
        assert_eq!(store.one::<u32>("SELECT count(*) FROM candidates"), MOST_WAITING);
        assert_eq!(texts(&store), ["The newest rule"], "unreadable lines are skipped");
    }

    #[test]
    fn what_the_user_retracts_or_stores_in_another_way_no_longer_waits() {
        let mut store = InMemory::new();
        for text in ["One rule", "Another rule", "A third rule"] {
            store.propose(&line(text)).unwrap();
        }
        assert_eq!(store.retract(|line| line.content.starts_with("One")).unwrap(), 1);
        store.stored_otherwise("another rule").unwrap();
        store.stored_otherwise("an unknown rule").unwrap();
        assert_eq!(texts(&store), ["A third rule"]);
    }
}
