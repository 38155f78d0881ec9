//! The doctor checks that the store is undamaged, the index agrees with the texts, and the files are private.

use serde::Serialize;

use super::salvage::{self, Salvage};
use super::secrets::Seen;
use crate::compose;
use crate::domain::{MemoryRef, ShortId};
use crate::embedding::ENCODER_VERSION;
use crate::index::{ForwardDoc, SnapshotError};
use crate::store::base::config::StoreConfig;
use crate::store::base::embedding::EmbeddingCounts;
use crate::store::base::store::Store;
use crate::store::change::hidden_files::Tried;
use crate::store::change::write::{Written, write_row};
use crate::store::file::error::StoreError;
use crate::store::file::{private, scratch, snapshot};
use crate::store::rows::codec::{Ask as _, sql};
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Good.
    Ok,
    /// Works, but needs attention.
    Warning,
    /// Bad.
    Bad,
    /// The check found a problem, and repaired it.
    Mended,
}

/// The name of the check of embeddings.
const MEANING: &str = "embedding";

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Check {
    /// The name of the check.
    pub name: &'static str,
    /// The result.
    pub verdict: Verdict,
    /// The details in words.
    pub detail: String,
}

/// The results of all checks, and of a salvage.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Health {
    /// The checks in order.
    pub checks: Vec<Check>,
    /// The result of the salvage, if a damaged store was replaced.
    pub salvage: Option<Salvage>,
}

impl Health {
    /// True if no check is bad.
    pub fn is_good(&self) -> bool {
        self.checks.iter().all(|check| check.verdict != Verdict::Bad)
    }

    fn add(&mut self, name: &'static str, verdict: Verdict, detail: impl Into<String>) {
        self.checks.push(Check { name, verdict, detail: detail.into() });
    }
}

impl Store {
    /// Checks the store in a home directory. With `repair`, the doctor corrects permissions, rebuilds the index,
    /// removes leftover logs and releases free space. It also salvages the readable memories of a damaged database.
    ///
    /// # Errors
    /// Returns an error if the file is not a store, has a newer schema, is busy, or is completely unreadable.
    pub fn examine(config: StoreConfig, repair: bool) -> Result<Health, StoreError> {
        Self::examine_asking(config, repair, |_| true)
    }

    /// Also asks for a confirmation before a salvage. The callback `agreed` receives a description of the damage that
    /// SQLite cannot repair.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::examine`]; also [`StoreError::Corrupt`] if the database cannot be opened and nobody agreed to a
    /// salvage.
    pub fn examine_asking(
        config: StoreConfig,
        repair: bool,
        agreed: impl FnOnce(&str) -> bool,
    ) -> Result<Health, StoreError> {
        let (mut health, mut repair) = (Health::default(), repair);
        scratch::sweep(&config.home);
        let opened = Self::open(config.clone());
        let damage = match &opened {
            Ok(store) => store.check_database(&mut health, repair)?,
            Err(error @ StoreError::Corrupt { .. }) => Some(error.to_string()),
            Err(_) => None,
        };
        let mut store = match damage {
            Some(damage) if repair && agreed(&damage) => {
                drop(opened);
                let (store, salvage) = salvage::salvage(config)?;
                let verdict = if salvage.lost == Some(0) { Verdict::Mended } else { Verdict::Bad };
                health.add("database", verdict, salvage.to_string());
                health.salvage = Some(salvage);
                store
            }
            Some(damage) => {
                health.add("database", Verdict::Bad, format!("{damage}; `tessera doctor --repair` fixes this"));
                // Nothing is written to a damaged store.
                repair = false;
                opened?
            }
            None => opened?,
        };
        store.check_permissions(&mut health, repair);
        store.check_accesses(&mut health, repair);
        store.check_index(&mut health, repair)?;
        store.check_embeddings(&mut health, repair)?;
        store.check_expired(&mut health)?;
        store.check_traces(&mut health, repair)?;
        store.check_secrets(&mut health)?;
        store.check_sync(&mut health)?;
        store.check_space(&mut health, repair)?;
        Ok(health)
    }

    /// The damage that `integrity_check` finds; `None` if there is none.
    pub(super) fn damage_found(&self) -> Result<Option<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare("PRAGMA integrity_check(5)")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        match read().map_err(|error| self.failed(error)) {
            Ok(lines) if lines.iter().all(|line| line == "ok") => Ok(None),
            Ok(lines) => Ok(Some(lines.join("; "))),
            Err(StoreError::Corrupt { source, .. }) => Ok(Some(source.to_string())),
            // A busy or failing disk does not mean that the database is damaged.
            Err(error) => Err(error),
        }
    }

    /// Returns the damage that only a salvage can repair. Indexes are rebuilt from their tables.
    fn check_database(&self, health: &mut Health, repair: bool) -> Result<Option<String>, StoreError> {
        let Some(damage) = self.damage_found()? else {
            health.add("database", Verdict::Ok, "not damaged");
            return Ok(None);
        };
        if repair && self.connection.execute_batch("REINDEX").is_ok() && self.damage_found()?.is_none() {
            health.add("database", Verdict::Mended, format!("{damage}; the indexes were rebuilt"));
            return Ok(None);
        }
        Ok(Some(damage))
    }

    fn check_permissions(&self, health: &mut Health, repair: bool) {
        let open = self.home.open_to_others();
        if open.is_empty() {
            return health.add("permissions", Verdict::Ok, "only you can read the store");
        }
        let list = open.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        if repair && open.iter().all(|path| private::tighten(path)) {
            return health.add("permissions", Verdict::Mended, list);
        }
        health.add(
            "permissions",
            Verdict::Warning,
            format!("other users can read {list}; `tessera doctor --repair` fixes this"),
        );
    }

    fn check_accesses(&mut self, health: &mut Health, repair: bool) {
        if repair && let Err(error) = self.fold_accesses() {
            return health.add("access log", Verdict::Warning, error.to_string());
        }
        health.add("access log", Verdict::Ok, "up to date");
    }

    /// Analyses every text again, and compares the result with the index.
    fn check_index(&mut self, health: &mut Health, repair: bool) -> Result<(), StoreError> {
        let stale = self.stale_rows().map_err(|error| self.failed(error))?;
        if stale.is_empty() {
            health.add("index", Verdict::Ok, "every text can be found by its words");
        } else if repair {
            self.reindex(&stale)?;
            health.add("index", Verdict::Mended, format!("re-indexed {} rows", stale.len()));
        } else {
            health.add(
                "index",
                Verdict::Bad,
                format!(
                    "{} texts cannot be found by all of their words; `tessera doctor --repair` fixes this",
                    stale.len()
                ),
            );
        }
        self.check_counts(health, repair)?;
        if repair {
            self.rebuild_snapshot()?;
        }
        if let Err(SnapshotError::Damaged) = snapshot::map(&self.home.snapshot(), false) {
            health.add("snapshot", Verdict::Bad, "is damaged; `tessera doctor --repair` fixes this");
            return Ok(());
        }
        self.refresh_index()?;
        let (indexed, live) = (self.index.view().rows(), self.live_rows().map_err(|error| self.failed(error))?);
        let verdict = if u64::from(indexed) == live { Verdict::Ok } else { Verdict::Bad };
        health.add(
            "snapshot",
            verdict,
            format!(
                "contains {indexed} of {live} memories; {} newer changes are read beside it",
                self.index.tail_len()
            ),
        );
        Ok(())
    }

    /// Compares the counts with the rows. With `repair`, the memories are counted again.
    fn check_counts(&mut self, health: &mut Health, repair: bool) -> Result<(), StoreError> {
        let sql = "WITH counted_now AS (SELECT kind, value, count(*) FROM counted GROUP BY 1, 2)
                   SELECT (SELECT count(*) FROM (SELECT * FROM counted_now EXCEPT SELECT * FROM counts))
                        + (SELECT count(*) FROM (SELECT * FROM counts EXCEPT SELECT * FROM counted_now))";
        let wrong: u64 = self.connection.one(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))?;
        if wrong == 0 {
            health.add("counts", Verdict::Ok, "correct");
        } else if repair {
            let again = "DELETE FROM counts;
                         INSERT INTO counts SELECT kind, value, count(*) FROM counted GROUP BY 1, 2;";
            self.write(|change| Ok(change.tx.execute_batch(again)?))?;
            health.add("counts", Verdict::Mended, "counted the memories again");
        } else {
            health.add(
                "counts",
                Verdict::Bad,
                format!("{wrong} counts are wrong; `tessera doctor --repair` fixes this"),
            );
        }
        Ok(())
    }

    /// Finds invalid embeddings. With `repair`, the invalid embeddings are removed and computed again.
    fn check_embeddings(&mut self, health: &mut Health, repair: bool) -> Result<(), StoreError> {
        let damaged = self.damaged_embeddings().map_err(|error| self.failed(error))?;
        if repair {
            self.give_up_embeddings(&damaged)?;
        }
        let detail = self.told_embeddings()?;
        let (verdict, detail) = match (damaged.len(), repair) {
            (0, _) => (Verdict::Ok, detail),
            (some, true) => (Verdict::Mended, format!("{some} were damaged; {detail}")),
            (some, false) => {
                (Verdict::Bad, format!("{some} memories have damaged embeddings; `tessera doctor --repair` fixes this"))
            }
        };
        health.add(MEANING, verdict, detail);
        Ok(())
    }

    /// The result of the check of embeddings, after the missing ones were computed.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn embedding_check(&self) -> Result<Check, StoreError> {
        Ok(Check { name: MEANING, verdict: Verdict::Mended, detail: self.told_embeddings()? })
    }

    fn told_embeddings(&self) -> Result<String, StoreError> {
        let EmbeddingCounts { made, waiting, later } = self.embeddings()?;
        if !self.has_embedding() {
            return Ok(format!("semantic search is off; {made} memories have unused embeddings"));
        }
        let mut told = format!("ready for {made} memories (encoder {ENCODER_VERSION})");
        if waiting > 0 {
            told.push_str(&format!(
                "; {waiting} more are found by their words only, until `tessera doctor --repair` or a client computes their \
                    embeddings"
            ));
        }
        if later > 0 {
            told.push_str(&format!("; {later} have embeddings of a newer version, which are not used"));
        }
        Ok(told)
    }

    fn stale_rows(&self) -> rusqlite::Result<Vec<ShortId>> {
        let sql = sql!("SELECT ", MEMORY, ", forward FROM memories WHERE deleted IS NULL AND is_file = 0");
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut stale = Vec::new();
        while let Some(sql_row) = rows.next()? {
            let memory = row::memory(sql_row)?;
            let kept = ForwardDoc::decode(sql_row.get_ref("forward")?.as_blob()?).map(without_context);
            if kept != Ok(ForwardDoc::analyze(&memory)) {
                stale.push(memory.short_id);
            }
        }
        Ok(stale)
    }

    fn reindex(&mut self, short_ids: &[ShortId]) -> Result<(), StoreError> {
        self.write(|change| {
            for short_id in short_ids {
                let known = change.known(MemoryRef::ShortId(*short_id))?;
                let composed = compose::reanalysed(&known, &O200k).placed(*short_id, change.next_rev()?);
                write_row(change, &composed, Written::Again)?;
            }
            Ok(())
        })
    }

    /// Expired memories are only hidden. No repair changes them.
    fn check_expired(&self, health: &mut Health) -> Result<(), StoreError> {
        let hidden = self.count_expired().map_err(|error| self.failed(error))?;
        let detail = match hidden {
            0 => "no expired memories".into(),
            hidden => {
                format!("{hidden} expired; `tessera list --expired` lists them, and `tessera restore ID` restores one")
            }
        };
        health.add("expired", Verdict::Ok, detail);
        Ok(())
    }

    /// Checks whether words of permanently deleted memories remain.
    fn check_traces(&mut self, health: &mut Health, repair: bool) -> Result<(), StoreError> {
        if repair && let Err(error) = self.go_on_removing().and_then(|()| self.go_on_hiding(Tried::Again)) {
            tracing::debug!(error = %error, "a permanent deletion could not be completed");
        }
        if self.hidden_left()? > 0 {
            let detail =
                "backups or other files may contain texts that you have hidden; `tessera doctor --repair` fixes this";
            health.add("hidden", Verdict::Warning, detail);
        }
        if self.are_copies_left()? {
            let detail = "backups and other copies may contain permanently deleted memories; `tessera doctor --repair` fixes this";
            health.add("removed", Verdict::Warning, detail);
        } else if self.traces(&[])?.in_log {
            let detail = "a file of the database still contains words of permanently deleted memories; close the \
                programs that read the store, then run `tessera doctor --repair`";
            health.add("removed", Verdict::Warning, detail);
        } else {
            health.add("removed", Verdict::Ok, "no traces of permanently deleted memories");
        }
        Ok(())
    }

    fn check_secrets(&self, health: &mut Health) -> Result<(), StoreError> {
        let (verdict, told) = match self.secrets_seen()? {
            Seen::Open(told) => (Verdict::Ok, told),
            Seen::Unfinished(told) => (Verdict::Warning, told),
            Seen::Closed(told) => (Verdict::Bad, told),
        };
        health.add("secrets", verdict, told);
        Ok(())
    }

    fn check_sync(&self, health: &mut Health) -> Result<(), StoreError> {
        let status = self.sync_status()?;
        let Some(server) = status.server else { return Ok(()) };
        let (verdict, detail) = match (status.refused, server.problem) {
            (0, None) => (Verdict::Ok, format!("{} at {}, {} unsent changes", server.user, server.url, status.waiting)),
            (0, Some(problem)) => (Verdict::Warning, format!("{} unsent changes: {problem}", status.waiting)),
            (refused, _) => {
                (Verdict::Warning, format!("the server rejected {refused} changes; `tessera sync dead` lists them"))
            }
        };
        health.add("sync", verdict, detail);
        Ok(())
    }

    fn check_space(&mut self, health: &mut Health, repair: bool) -> Result<(), StoreError> {
        let one = |sql: &str| {
            self.connection.query_row(sql, [], |row| row.get::<_, u64>(0)).map_err(|error| self.failed(error))
        };
        let (free, pages) = (one("PRAGMA freelist_count")?, one("PRAGMA page_count")?.max(1));
        if repair && free * 5 > pages {
            self.connection.execute_batch("VACUUM").map_err(|error| self.failed(error))?;
            health.add("space", Verdict::Mended, format!("released {free} of {pages} blocks"));
        } else {
            health.add("space", Verdict::Ok, format!("{free} of {pages} blocks are unused"));
        }
        Ok(())
    }
}

fn without_context(mut doc: ForwardDoc) -> ForwardDoc {
    crate::index::context_of(&mut doc, [], []);
    doc
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Draft;
    use crate::store::file::home::Home;
    use crate::store::open::in_memory::config_at;

    /// A home directory with one memory.
    fn filled() -> (tempfile::TempDir, Home) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("h"));
        Store::open(config_at(&home)).unwrap().remember(Draft::new("The cache lives on birch")).unwrap();
        (dir, home)
    }

    fn verdicts(home: &Home, name: &str) -> [Verdict; 3] {
        [false, true, false].map(|repair| {
            let health = Store::examine(config_at(home), repair).unwrap();
            health.checks.iter().find(|check| check.name == name).unwrap().verdict
        })
    }

    fn run(home: &Home, sql: &str) {
        rusqlite::Connection::open(home.database()).unwrap().execute_batch(sql).unwrap();
    }

    #[test]
    fn a_whole_store_is_good() {
        let (_dir, home) = filled();
        let health = Store::examine(config_at(&home), false).unwrap();
        assert!(health.is_good() && health.checks.iter().all(|check| check.verdict == Verdict::Ok), "{health:?}");
        assert!(health.salvage.is_none());
    }

    #[test]
    fn an_index_that_disagrees_with_the_texts_is_noticed_and_mended() {
        let (_dir, home) = filled();
        run(&home, "UPDATE memories SET content = 'The proxy is nginx'");
        assert_eq!(verdicts(&home, "index"), [Verdict::Bad, Verdict::Mended, Verdict::Ok]);
        let mut store = Store::open(config_at(&home)).unwrap();
        let recall = store.recall(&crate::domain::RecallRequest::new("which proxy?")).unwrap();
        assert_eq!(recall.details.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_read_is_closed() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, home) = filled();
        std::fs::set_permissions(home.dir(), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(verdicts(&home, "permissions"), [Verdict::Warning, Verdict::Mended, Verdict::Ok]);
    }

    #[test]
    fn words_that_are_left_in_the_log_are_told_and_what_is_over_is_only_counted() {
        let (_dir, home) = filled();
        run(&home, "INSERT INTO meta VALUES ('unscrubbed', 1); UPDATE memories SET expires = 1");
        assert_eq!(verdicts(&home, "removed"), [Verdict::Warning, Verdict::Ok, Verdict::Ok]);
        assert_eq!(verdicts(&home, "expired"), [Verdict::Ok; 3]);
        run(&home, "UPDATE memories SET content = content WHERE deleted IS NULL AND expires = 1");
        let store = Store::open(config_at(&home)).unwrap();
        assert_eq!(store.count_expired().unwrap(), 1, "a repair takes nothing");
    }
}
