//! Erases remaining words of permanently deleted memories.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use serde::Serialize;

use super::purges::{
    COPIES, FILES, FOREIGN, PAGES, Removed, holds_piece, is_foreign, is_free_of, remove_beside, step, take_out,
};
use super::{purges, questions, small_files};
use crate::domain::MemoryUuid;
use crate::store::base::store::Store;
use crate::store::base::transaction::{Change, PATIENCE};
use crate::store::file::error::StoreError;
use crate::store::file::scratch;
use crate::store::rows::codec::{Ask as _, Run as _};

/// How long to wait for readers, which usually finish quickly.
const WAIT_FOR_READERS: Duration = Duration::from_secs(2);
/// `meta` contains this key while the write-ahead log may contain words of a permanently deleted memory.
const UNSCRUBBED: &str = "unscrubbed";
/// `meta` contains this key when all pages were rewritten after a permanent deletion, and only the log must still be
/// truncated.
const REWRITTEN: &str = "rewritten";
/// The report for a file that was deleted as a whole.
const REMOVED: &str = "deleted: it contained the text and could not be rewritten";
/// The report for a user's file.
pub(crate) const THEIRS: &str = "contains the text, but is not one of Tessera's files; change or delete it yourself";
/// The message for an unreadable file that does not contain the deleted text.
const NOT_IN_IT: &str = "could not be rewritten, but its bytes do not contain the text";

/// Traces of permanently deleted memories that remain, and files that were changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Traces {
    /// Another process is reading. As soon as the reader ends, the next write truncates the log.
    pub in_log: bool,
    /// Copies of the store and files of the home directory that still contain words of the deleted memories.
    pub copies: Vec<PathBuf>,
    /// Files that were rewritten without the deleted words.
    pub rewritten: Vec<PathBuf>,
    /// Files that could not be rewritten and were deleted.
    pub removed: Vec<PathBuf>,
}

impl Traces {
    /// Sentences for the user.
    pub fn told(&self) -> Vec<String> {
        let mut told = Vec::new();
        let list =
            |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        if self.in_log {
            told.push(
                "another process is reading the store, so the deleted text stays in the log until the next write"
                    .to_owned(),
            );
        }
        if !self.rewritten.is_empty() {
            told.push(format!("rewritten without the text: {}", list(&self.rewritten)));
        }
        if !self.removed.is_empty() {
            told.push(format!(
                "files deleted as a whole, because the text could not be removed from them: {}",
                list(&self.removed)
            ));
        }
        if !self.copies.is_empty() {
            told.push(format!(
                "older copies may still contain the deleted text; delete them if you no longer need them: {}",
                list(&self.copies)
            ));
        }
        told
    }
}

/// Records, in the transaction of a permanent deletion, that the log must be truncated.
pub(crate) fn note(change: &Change<'_>) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)";
    change.tx.run(sql, (UNSCRUBBED, change.now))?;
    change.tx.run("DELETE FROM meta WHERE key = ?1", [REWRITTEN]).map(drop)
}

fn has(connection: &Connection, key: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM meta WHERE key = ?1")?.exists([key])
}

impl Store {
    /// Reports which copies of permanently deleted memories were rewritten or deleted, and which remain.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn traces(&self, removed: &[MemoryUuid]) -> Result<Traces, StoreError> {
        let in_log = self.is_unscrubbed().map_err(|error| self.failed(error))?;
        let mut traces = Traces { in_log, ..Traces::default() };
        for id in removed {
            for step in self.steps_of(*id).map_err(|error| self.failed(error))? {
                let path = self.home.dir().join(&step.place);
                let paths = match (step.done, step.how.as_str()) {
                    _ if [purges::ROW, PAGES, COPIES, FILES].contains(&step.place.as_str()) => continue,
                    (None, _) => &mut traces.copies,
                    (Some(_), NOT_IN_IT) => continue,
                    (Some(_), REMOVED) => &mut traces.removed,
                    (Some(_), _) => &mut traces.rewritten,
                };
                if !paths.contains(&path) {
                    paths.push(path);
                }
            }
        }
        Ok(traces)
    }

    fn is_unscrubbed(&self) -> rusqlite::Result<bool> {
        has(&self.connection, UNSCRUBBED)
    }

    /// Rewrites all pages once after a permanent deletion, because free pages may still contain moved rows. Deletes the
    /// snapshot, because it contains the deleted words.
    fn rewrite_pages(&mut self, patience: Duration) -> Result<(), StoreError> {
        let purged = |connection: &Connection| -> rusqlite::Result<Option<i64>> {
            let sql = "SELECT value FROM meta WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM meta WHERE key = ?2)";
            connection.maybe(sql, [UNSCRUBBED, REWRITTEN], |row| row.get(0))
        };
        let before = purged(&self.connection).map_err(|error| self.failed(error))?;
        if before.is_none() {
            return Ok(());
        }
        // A permanent deletion from another machine did not check the spool of questions.
        questions::SPOOL.discard(&self.home);
        let path = self.home.snapshot();
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::file(&path, source));
            }
            _ => {}
        }
        if self.waiting_at_most(patience, |connection| connection.execute_batch("VACUUM")).is_err() {
            return Ok(());
        }
        self.write(|change| {
            // Deletions by another process meanwhile are not included.
            if purged(change.tx)? == before {
                change
                    .tx
                    .execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)", (REWRITTEN, change.now))?;
            }
            Ok(())
        })
    }

    /// Continues earlier deletions: pages, the log, copies.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn go_on_removing(&mut self) -> Result<(), StoreError> {
        self.scrub_if_due()?;
        self.clean_copies()?;
        self.note_files_that_went()
    }

    /// Marks a place as done if the user has deleted the file there.
    fn note_files_that_went(&mut self) -> Result<(), StoreError> {
        let mut left = self.places_left().map_err(|error| self.failed(error))?;
        left.retain(|place| !self.home.dir().join(place).exists());
        if left.is_empty() {
            return Ok(());
        }
        self.write(|change| left.iter().try_for_each(|place| purges::all_done(change, place, "was deleted by hand")))
    }

    /// True if copies in the home directory were not checked since the last permanent deletion.
    pub(crate) fn are_copies_left(&self) -> Result<bool, StoreError> {
        Ok(!self.purges_left(COPIES).map_err(|error| self.failed(error))?.is_empty())
    }

    /// After a permanent deletion: copies the log to the database, truncates the log, and deletes the snapshot, which
    /// contains the deleted words. If a reader prevents this, a later write repeats it.
    ///
    /// # Errors
    /// Returns an error if the snapshot cannot be deleted, or the store cannot be written. Then it is repeated later.
    pub(crate) fn scrub(&mut self) -> Result<(), StoreError> {
        self.scrub_within(WAIT_FOR_READERS)
    }

    /// Repeats `scrub` if it is due, without waiting for readers.
    pub(crate) fn scrub_if_due(&mut self) -> Result<(), StoreError> {
        let is_due = self.is_unscrubbed().map_err(|error| self.failed(error))?;
        if is_due { self.scrub_within(Duration::ZERO) } else { Ok(()) }
    }

    fn scrub_within(&mut self, patience: Duration) -> Result<(), StoreError> {
        self.rewrite_pages(patience)?;
        if self.cut_log(patience).map_err(|error| self.failed(error))? {
            self.write(|change| {
                // Unless another process has permanently deleted something since.
                if has(change.tx, REWRITTEN)? {
                    change.tx.execute("DELETE FROM meta WHERE key IN (?1, ?2)", [UNSCRUBBED, REWRITTEN])?;
                    purges::all_done(change, PAGES, "all pages were rewritten, and the log was truncated")?;
                }
                Ok(())
            })?;
        }
        self.clean_copies()?;
        if !self.home.snapshot().exists() && self.live_rows().map_err(|error| self.failed(error))? > 1000 {
            self.rebuild_snapshot()?;
        }
        Ok(())
    }

    /// Erases permanently deleted memories from the copies in the home directory.
    fn clean_copies(&mut self) -> Result<(), StoreError> {
        let left = self.purges_left(COPIES).map_err(|error| self.failed(error))?;
        if left.is_empty() {
            return Ok(());
        }
        let held: Vec<PathBuf> = self.home.copies().into_iter().filter(|path| !is_free_of(path, &left)).collect();
        let mut outcomes = Vec::new();
        for path in held {
            if is_foreign(&path) {
                // It is checked for the words where they are still known.
                outcomes.push((self.in_home(&path), Some(FOREIGN.to_owned())));
                continue;
            }
            let done = take_out(&path, &self.connection, &left);
            remove_beside(&path);
            outcomes.push((self.in_home(&path), done.err().map(|error| error.to_string())));
        }
        self.write(|change| {
            for (id, (place, problem)) in left.iter().flat_map(|id| outcomes.iter().map(move |outcome| (id, outcome))) {
                let how = problem.as_ref().map(|problem| format!("cannot be rewritten: {problem}"));
                step(change, *id, place, how.is_none(), how.as_deref().unwrap_or("was rewritten without it"))?;
            }
            // A file that cannot be rewritten is not tried at every write, but reported by name.
            purges::all_done(change, COPIES, &format!("{} files in the home directory contained it", outcomes.len()))
        })
    }

    /// Removes texts of permanently deleted memories from the small files of the home directory. Copies that contain
    /// such a text and could not be rewritten are deleted.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub(crate) fn clean_files(&mut self, removed: &[MemoryUuid], texts: &[String]) -> Result<(), StoreError> {
        let mut outcomes = Vec::new();
        scratch::sweep(&self.home);
        for path in self.traces(removed)?.copies {
            let Ok(bytes) = fs::read(&path) else { continue };
            outcomes.push(match holds_piece(&bytes, texts) {
                false => (self.in_home(&path), true, NOT_IN_IT.to_owned()),
                true if is_foreign(&path) => (self.in_home(&path), false, format!("contains it, {FOREIGN}")),
                // Only the user may delete the user's own files.
                true if !self.home.is_own_copy(&path) => {
                    (self.in_home(&path), false, "contains the deleted text, and cannot be rewritten".to_owned())
                }
                true if fs::remove_file(&path).is_ok() => (self.in_home(&path), true, REMOVED.to_owned()),
                true => (
                    self.in_home(&path),
                    false,
                    "contains the deleted text, and can be neither rewritten nor deleted".to_owned(),
                ),
            });
        }
        // Spooled records leave their file when they are processed.
        self.fold_deliveries()?;
        let looked_for = Removed::of(texts);
        for path in self.home.small_files() {
            let is_own = self.home.is_own_small_file(&path);
            let done =
                if is_own { small_files::without(&path, &looked_for) } else { small_files::holds(&path, &looked_for) };
            outcomes.extend(match done {
                Ok(false) => None,
                Ok(true) if is_own => Some((self.in_home(&path), true, "was rewritten without it".to_owned())),
                // Only the user may change the user's own files.
                Ok(true) => Some((self.in_home(&path), false, THEIRS.to_owned())),
                Err(error) => Some((self.in_home(&path), false, format!("cannot be read or rewritten: {error}"))),
            });
        }
        self.write(|change| {
            for id in removed {
                for (place, is_done, how) in &outcomes {
                    step(change, *id, place, *is_done, how)?;
                }
                step(change, *id, FILES, true, "checked logs, queued conversation turns and other small files")?;
            }
            Ok(())
        })
    }

    /// The name of a file relative to the home directory.
    pub(crate) fn in_home(&self, path: &Path) -> String {
        path.strip_prefix(self.home.dir()).unwrap_or(path).to_string_lossy().into_owned()
    }

    /// Retries an operation for a limited time while other processes block it.
    fn waiting_at_most<T>(
        &self,
        patience: Duration,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.connection.busy_timeout(patience)?;
        let done = work(&self.connection);
        self.connection.busy_timeout(PATIENCE)?;
        done
    }

    /// True if the log is empty.
    pub(crate) fn cut_log(&self, patience: Duration) -> rusqlite::Result<bool> {
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let cut = |connection: &Connection| connection.query_row(sql, [], |row| row.get::<_, bool>(0)).optional();
        match self.waiting_at_most(patience, cut) {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(false),
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseLocked) => Ok(false),
            other => Ok(other? == Some(false)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Draft, MemoryRef};
    use crate::store::base::config::Actor;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, config_at, named};

    #[test]
    fn pages_are_rewritten_once_however_long_a_reader_keeps_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(config_at(&dir.path().into())).unwrap();
        let gone = store.remember(Draft::new("The zebra lives on birch")).unwrap().memory;
        let reader = Connection::open(store.path()).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM memories").unwrap();
        store.forget(&[MemoryRef::Id(gone.id)], Erase::Hard, &Actor::default()).unwrap();
        store.scrub_within(Duration::from_millis(10)).unwrap();
        let held =
            |store: &Store| (has(&store.connection, UNSCRUBBED).unwrap(), has(&store.connection, REWRITTEN).unwrap());
        assert_eq!(held(&store), (true, true), "the reader keeps the log");
        let path = store.home().write_ahead_log();
        let log = || fs::metadata(&path).unwrap().len();
        let before = log();
        store.scrub_within(Duration::from_millis(10)).unwrap();
        assert_eq!(log(), before, "a second attempt writes nothing");
        drop(reader);
        store.scrub_within(Duration::from_millis(10)).unwrap();
        assert_eq!(held(&store), (false, false));
    }

    #[test]
    fn copies_that_hold_the_words_are_rewritten_and_others_are_left() {
        let mut store = InMemory::new();
        let before = store.home().backups().join("tessera-1.db");
        store.backup(Some(&before)).unwrap();
        let memory = store.said("The zebra lives on birch");
        let with = store.home().backups().join("tessera-2.db");
        store.backup(Some(&with)).unwrap();
        fs::write(store.home().backups().join("tessera-3.db"), "no database").unwrap();
        let broken = store.home().backups().join("tessera-4.db");
        fs::write(&broken, "no database, and it says: The zebra lives on birch").unwrap();
        let queue = store.home().queue();
        fs::create_dir(&queue).unwrap();
        fs::write(queue.join("1.json"), "{\"answer\": \"I noted: The zebra lives on birch\", \"n\": 1}").unwrap();
        fs::write(store.home().hooks_log(), "one\nThe zebra lives on birch, it says\ntwo\n").unwrap();
        store.rebuild_snapshot().unwrap();
        let other = store.said("The okapi stays");
        store.forget(&[named(&memory)], Erase::Hard, &Actor::default()).unwrap();
        let traces = store.traces(&[memory.id]).unwrap();
        assert!(!traces.in_log && traces.copies.is_empty(), "{traces:?}");
        assert_eq!(traces.removed, [broken]);
        assert_eq!(traces.rewritten, [with, store.home().hooks_log(), queue.join("1.json")]);
        assert!(!store.home().snapshot().exists(), "the snapshot had the words");
        assert_eq!(fs::read_to_string(store.home().hooks_log()).unwrap(), "one\ntwo\n");
        let mut files = store.home().copies();
        files.extend(store.home().small_files());
        for file in files {
            let bytes = fs::read(&file).unwrap();
            assert!(!holds_piece(&bytes, &["zebra".to_owned()]), "{}", file.display());
        }
        let purged = store.purged(named(&memory)).unwrap().unwrap();
        assert!(purged.steps.len() >= 7 && purged.steps.iter().all(|step| step.done.is_some()), "{purged:?}");
        assert_eq!(purged.server, None);
        assert_eq!(store.purged(named(&other)).unwrap(), None);
    }

    #[test]
    fn a_log_that_a_reader_holds_is_cut_by_a_later_write() {
        let mut store = InMemory::new();
        store.write(|change| Ok(note(change)?)).unwrap();
        assert!(store.traces(&[]).unwrap().in_log);
        store.said("a later write");
        assert_eq!(store.traces(&[]).unwrap(), Traces::default());
    }
}
