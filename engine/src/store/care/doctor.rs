//! The doctor: is the store whole, is the index true to the texts, and is it private.

use serde::Serialize;

use super::salvage::{self, Salvage};
use super::secrets::Seen;
use crate::compose;
use crate::domain::{MemoryRef, ShortId};
use crate::index::ForwardDoc;
use crate::meaning::ENCODER_VERSION;
use crate::store::base::config::StoreConfig;
use crate::store::base::meaning::Meanings;
use crate::store::base::store::Store;
use crate::store::change::write::{Written, write_row};
use crate::store::file::error::StoreError;
use crate::store::file::{private, scratch};
use crate::store::rows::codec::sql;
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// Works, but look at it.
    Warning,
    /// Not as it should be.
    Bad,
    /// Was not as it should be, and was mended.
    Mended,
}

/// The name of the check of vectors.
const MEANING: &str = "meaning";

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How it is.
    pub verdict: Verdict,
    /// In words.
    pub detail: String,
}

/// All checks, and what was salvaged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// The checks in the order they were made.
    pub checks: Vec<Check>,
    /// Present when a damaged store was set aside.
    pub salvage: Option<Salvage>,
}

impl Health {
    /// True when nothing is bad.
    pub fn is_good(&self) -> bool {
        self.checks.iter().all(|check| check.verdict != Verdict::Bad)
    }

    fn add(&mut self, name: &'static str, verdict: Verdict, detail: impl Into<String>) {
        self.checks.push(Check { name, verdict, detail: detail.into() });
    }
}

impl Store {
    /// Examines the store in a home, and with `repair` mends what it can: permissions, index,
    /// left-over logs, free space, and a damaged file by salvage.
    ///
    /// # Errors
    /// When the store is foreign, newer, busy, or cannot be read at all.
    pub fn examine(config: StoreConfig, repair: bool) -> Result<Health, StoreError> {
        Self::examine_asking(config, repair, |_| true)
    }

    /// The same, where a salvage needs somebody's word: `agreed` is told what is wrong with a database that SQLite cannot mend.
    ///
    /// # Errors
    /// As [`Store::examine`], and [`StoreError::Corrupt`] where the database cannot be opened and nobody agreed to a salvage.
    pub fn examine_asking(
        config: StoreConfig,
        repair: bool,
        agreed: impl FnOnce(&str) -> bool,
    ) -> Result<Health, StoreError> {
        let mut health = Health::default();
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
                health.add("database", Verdict::Bad, format!("{damage}; run with --repair"));
                opened?
            }
            None => opened?,
        };
        store.check_permissions(&mut health, repair);
        store.check_accesses(&mut health, repair);
        store.check_index(&mut health, repair)?;
        store.check_meanings(&mut health, repair)?;
        store.check_expired(&mut health)?;
        store.check_traces(&mut health, repair)?;
        store.check_secrets(&mut health)?;
        store.check_sync(&mut health)?;
        store.check_space(&mut health, repair)?;
        Ok(health)
    }

    /// What `integrity_check` finds damaged; `None` where the database is whole.
    pub(super) fn damage_found(&self) -> Result<Option<String>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare("PRAGMA integrity_check(5)")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        match read().map_err(|error| self.failed(error)) {
            Ok(lines) if lines.iter().all(|line| line == "ok") => Ok(None),
            Ok(lines) => Ok(Some(lines.join("; "))),
            Err(StoreError::Corrupt { source, .. }) => Ok(Some(source.to_string())),
            // What a busy or failing disk keeps from being read is not damaged.
            Err(error) => Err(error),
        }
    }

    /// Gives what is wrong and only a salvage mends: indexes are made anew from their tables.
    fn check_database(&self, health: &mut Health, repair: bool) -> Result<Option<String>, StoreError> {
        let Some(damage) = self.damage_found()? else {
            health.add("database", Verdict::Ok, "whole");
            return Ok(None);
        };
        if repair && self.connection.execute_batch("REINDEX").is_ok() && self.damage_found()?.is_none() {
            health.add("database", Verdict::Mended, format!("{damage}; its indexes were made anew"));
            return Ok(None);
        }
        Ok(Some(damage))
    }

    fn check_permissions(&self, health: &mut Health, repair: bool) {
        let open = self.home.open_to_others();
        if open.is_empty() {
            return health.add("permissions", Verdict::Ok, "for the owner alone");
        }
        let list = open.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
        if repair && open.iter().all(|path| private::tighten(path)) {
            return health.add("permissions", Verdict::Mended, list);
        }
        health.add("permissions", Verdict::Warning, format!("others can read {list}; run with --repair"));
    }

    fn check_accesses(&mut self, health: &mut Health, repair: bool) {
        if repair && let Err(error) = self.fold_accesses() {
            return health.add("access log", Verdict::Warning, error.to_string());
        }
        health.add("access log", Verdict::Ok, "appended off the read path");
    }

    /// Analyses every text again and compares it with what the index was given.
    fn check_index(&mut self, health: &mut Health, repair: bool) -> Result<(), StoreError> {
        let stale = self.stale_rows().map_err(|error| self.failed(error))?;
        if stale.is_empty() {
            health.add("index", Verdict::Ok, "agrees with the texts");
        } else if repair {
            self.reindex(&stale)?;
            health.add("index", Verdict::Mended, format!("{} rows were analysed again", stale.len()));
        } else {
            health.add(
                "index",
                Verdict::Bad,
                format!("{} rows disagree with their texts; run with --repair", stale.len()),
            );
        }
        if repair {
            self.rebuild_snapshot()?;
        }
        self.refresh_index()?;
        let (indexed, live) = (self.index.view().rows(), self.live_rows().map_err(|error| self.failed(error))?);
        let verdict = if u64::from(indexed) == live { Verdict::Ok } else { Verdict::Bad };
        health.add("snapshot", verdict, format!("{indexed} of {live} memories, {} in the tail", self.index.tail_len()));
        Ok(())
    }

    /// Looks for vectors that cannot be true. With `repair` those wait to be made anew, as rows do that have none.
    fn check_meanings(&mut self, health: &mut Health, repair: bool) -> Result<(), StoreError> {
        let damaged = self.damaged_meanings().map_err(|error| self.failed(error))?;
        if repair {
            self.give_up_meanings(&damaged)?;
        }
        let detail = self.told_meanings()?;
        let (verdict, detail) = match (damaged.len(), repair) {
            (0, _) => (Verdict::Ok, detail),
            (some, true) => (Verdict::Mended, format!("{some} were damaged; {detail}")),
            (some, false) => (Verdict::Bad, format!("{some} memories have damaged vectors; run with --repair")),
        };
        health.add(MEANING, verdict, detail);
        Ok(())
    }

    /// The check of vectors as it is once all that waited were made: for whoever made them after an examination.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn meaning_check(&self) -> Result<Check, StoreError> {
        Ok(Check { name: MEANING, verdict: Verdict::Mended, detail: self.told_meanings()? })
    }

    fn told_meanings(&self) -> Result<String, StoreError> {
        let Meanings { made, waiting, later } = self.meanings()?;
        if !self.has_embedding() {
            return Ok(format!("switched off; {made} memories have vectors that are not used"));
        }
        let mut told = format!("{made} memories have their vectors (encoder {ENCODER_VERSION})");
        if waiting > 0 {
            told.push_str(&format!(", {waiting} wait and are found by their words; --repair makes theirs now"));
        }
        if later > 0 {
            told.push_str(&format!(", {later} have those of a newer Tessera, which are not used here"));
        }
        Ok(told)
    }

    fn stale_rows(&self) -> rusqlite::Result<Vec<ShortId>> {
        let sql = sql!("SELECT ", MEMORY, ", forward FROM memories WHERE deleted IS NULL AND whole = 0");
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

    /// What is over is hidden, nothing else: no repair touches it.
    fn check_expired(&self, health: &mut Health) -> Result<(), StoreError> {
        let hidden = self.count_expired().map_err(|error| self.failed(error))?;
        let detail = match hidden {
            0 => "nothing is hidden".into(),
            hidden => {
                format!("{hidden} hidden; `tessera list --expired` shows them, `tessera restore` brings one back")
            }
        };
        health.add("expired", Verdict::Ok, detail);
        Ok(())
    }

    /// Words of what was removed for good.
    fn check_traces(&mut self, health: &mut Health, repair: bool) -> Result<(), StoreError> {
        if repair && let Err(error) = self.go_on_removing() {
            tracing::debug!(error = %error, "what is left of a removal cannot be done");
        }
        if self.are_copies_left()? {
            let detail = "backups and other copies may hold what was removed for good; run with --repair";
            health.add("removed", Verdict::Warning, detail);
        } else if self.traces(&[])?.in_log {
            let detail = "words of what was removed for good are still in the log; close what reads, then --repair";
            health.add("removed", Verdict::Warning, detail);
        } else {
            health.add("removed", Verdict::Ok, "nothing of it is left in the log");
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
            (0, None) => (Verdict::Ok, format!("{} at {}, {} changes wait", server.user, server.url, status.waiting)),
            (0, Some(problem)) => (Verdict::Warning, format!("{} changes wait: {problem}", status.waiting)),
            (refused, _) => (Verdict::Warning, format!("{refused} changes are refused; see `tessera sync dead`")),
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
            health.add("space", Verdict::Mended, format!("{free} of {pages} pages were given back"));
        } else {
            health.add("space", Verdict::Ok, format!("{free} of {pages} pages are free"));
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

    /// A home with one memory.
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
