//! Finds credentials in clear text that were stored, logged or copied before detection existed. They are counted and
//! never shown. [`Scanning::Fix`] also encrypts or removes the credentials.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, params};
use serde::Serialize;
use serde_json::Value;

use crate::domain::{Memory, MemoryRef, MemoryUuid, ShortId};
use crate::screen::probable::{self, PROBABLE};
use crate::screen::{KnownValues, MARKED, ProbableSecrets};
use crate::store::base::allowed_texts;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::clean::{self, Kinds};
use crate::store::change::copies::{self, forget_places, kinds_beside, kinds_in_json, note_texts};
use crate::store::change::hidden_files::Tried;
use crate::store::change::hide;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::private::replace;
use crate::store::logs::beside::{self, json_in, without};
use crate::store::logs::purges::{FOREIGN, is_foreign};
use crate::store::logs::{small_files, traces};
use crate::store::rows::codec::{Ask as _, Run as _, sql};
use crate::store::rows::columns::MEMORY;
use crate::store::rows::{memory as row, tables};

/// Rows per transaction. After an interruption, the next scan continues.
const BATCH: u32 = 200;

/// What a scan does with findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanning {
    /// It reports them.
    Look,
    /// The scan turns credentials in the user's own memories into secrets, and removes all other credentials.
    Fix,
}

/// A place with credentials in clear text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ClearCredential {
    /// Where the credential was found: memory, history, log, file, copy, home.
    pub place: &'static str,
    /// The ID of the memory, or the name of the file or table.
    pub which: String,
    /// The number of credentials by kind.
    pub kinds: Kinds,
    /// True if they were removed.
    pub fixed: bool,
    /// Why they were not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The result of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Scan {
    /// Checked rows and files.
    pub looked_at: u64,
    /// The places with credentials.
    pub residues: Vec<ClearCredential>,
}

impl Scan {
    /// The number of remaining credentials in clear text.
    pub fn left(&self) -> u64 {
        self.residues.iter().filter(|residue| !residue.fixed).flat_map(|residue| residue.kinds.values()).sum()
    }

    pub(crate) fn add(&mut self, place: &'static str, which: String, kinds: Kinds, done: Result<bool, String>) {
        if kinds.is_empty() && done.is_ok() {
            return;
        }
        let fixed = done == Ok(true);
        self.residues.push(ClearCredential { place, which, kinds, fixed, problem: done.err() });
    }
}

/// The progress of a scan: the number of finished steps, and the total.
pub type ScanProgress<'a> = &'a mut dyn FnMut(u64, u64);

impl Store {
    /// Finds credentials in clear text: in memories (also deleted ones) with their history and sync state, in logs and
    /// other files of the home directory, and in backups and other copies.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written. Completed work stays.
    pub fn scan(&mut self, scanning: Scanning, progress: ScanProgress<'_>) -> Result<Scan, StoreError> {
        let (files, copies) = (self.home.small_files(), self.home.copies());
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, u64>(0));
        let rows =
            one("SELECT count(*) FROM memories").and_then(|rows| Ok(rows + one("SELECT count(*) FROM history")?));
        let all = rows.map_err(|error| self.failed(error))? + (files.len() + copies.len()) as u64;
        // A value found once is also found where no surrounding word names it.
        let known = self.known_values(&files, &copies);
        let mut run = Run { scanning, known, scan: Scan::default(), progress, all };
        self.scan_memories(&mut run)?;
        self.scan_history(&mut run)?;
        self.scan_beside(&mut run)?;
        for path in files {
            let which = in_home(&self.home, &path);
            let is_original = path.starts_with(self.home.setup_originals());
            let (kinds, done) = scan_file(&path, &run, is_original);
            run.scan.add("file", which, kinds, done);
            run.step(1);
        }
        for path in copies {
            self.scan_copy(&path, &mut run);
        }
        self.scan_settings(&mut run);
        if !self.home.is_walked_whole() {
            let problem = "the home directory is too large to scan completely".to_owned();
            run.scan.add("home", ".".to_owned(), Kinds::new(), Err(problem));
        }
        if run.scan.residues.iter().any(|residue| residue.fixed) {
            self.write(|change| Ok(traces::note(change)?))?;
        }
        if scanning == Scanning::Fix {
            // Pages and the log that contained a text are rewritten, even if an earlier run was interrupted.
            self.go_on_removing()?;
            self.go_on_hiding(Tried::Again)?;
            self.maintain();
        }
        Ok(run.scan)
    }

    /// All credentials that this scan finds in the home directory, and those that were already encrypted. Unreadable
    /// places are reported when they are checked.
    fn known_values(&self, files: &[PathBuf], copies: &[PathBuf]) -> KnownValues {
        let mut known = KnownValues::default();
        for path in files {
            let text = small_files::text_of(path).ok().flatten().unwrap_or_default();
            note_texts(&mut known, &text);
            text.lines().for_each(|line| note_texts(&mut known, line));
        }
        copies::note(&self.connection, &mut known);
        for path in copies {
            if let Ok(connection) = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY) {
                copies::note(&connection, &mut known);
            }
        }
        // Probable and marked secrets are secrets in their memories alone; elsewhere, their texts may be ordinary words.
        let mut secrets = self.secrets(None).unwrap_or_default();
        secrets.retain(|secret| secret.kind != PROBABLE.as_str() && secret.kind != MARKED.as_str());
        for secret in secrets {
            if let Ok(Some(value)) = self.secret_value(secret.memory, &secret.name) {
                known.note(&secret.kind, &value);
            }
        }
        known
    }

    fn scan_copy(&mut self, path: &Path, run: &mut Run<'_>) {
        let (kinds, done) = match copies::look(path, &run.known) {
            _ if is_foreign(path) => (Kinds::new(), Err(FOREIGN.to_owned())),
            Ok(kinds) if kinds.is_empty() || run.scanning == Scanning::Look => (kinds, Ok(false)),
            Ok(kinds) => {
                let done = copies::fix(self, path, &run.known);
                (kinds, done.map(|()| true).map_err(|error| error.to_string()))
            }
            Err(error) => (Kinds::new(), Err(format!("cannot be read: {error}"))),
        };
        run.scan.add("copy", in_home(&self.home, path), kinds, done);
        run.step(1);
    }

    /// The user's settings are checked and never changed. The settings file is the right place for a server's key.
    fn scan_settings(&self, run: &mut Run<'_>) {
        let path = self.home.config();
        let is_key = |line: &&str| ["key", "token"].iter().any(|name| line.trim_start().starts_with(name));
        let text = small_files::text_of(&path).ok().flatten().unwrap_or_default();
        let mut kinds = Kinds::new();
        text.lines().filter(|line| !is_key(line)).for_each(|line| clean::count(&mut kinds, line, &run.known));
        if !kinds.is_empty() {
            let problem = "is your settings file, which Tessera does not change; remove the secret yourself".to_owned();
            run.scan.add("file", in_home(&self.home, &path), kinds, Err(problem));
        }
    }

    fn scan_memories(&mut self, run: &mut Run<'_>) -> Result<(), StoreError> {
        let mut after = 0;
        loop {
            let rows = self.rows_after(after).map_err(|error| self.failed(error))?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.0.short_id.get();
            let mut found: Vec<(&Memory, Kinds)> = Vec::new();
            let probable = self.probable_in(&rows)?;
            for (memory, sync_state) in &rows {
                let mut kinds = clean::kinds_of(memory, &run.known);
                let raw = clean::raw(&self.connection, memory.id).map_err(|error| self.failed(error))?;
                for (kind, count) in clean::kinds_in(&raw, &run.known) {
                    // The same text as in the row.
                    kinds.entry(kind).or_insert(count);
                }
                let sync_state = sync_state.as_ref().and_then(|text| serde_json::from_str::<Value>(text).ok());
                for (kind, count) in
                    sync_state.map(|sync_state| clean::kinds_in(&sync_state, &run.known)).unwrap_or_default()
                {
                    // The same text as on the server.
                    kinds.entry(kind).or_insert(count);
                }
                if let Some(probable) = probable.get(&memory.id) {
                    kinds.insert(PROBABLE.as_str().to_owned(), probable.count() as u64);
                }
                if !kinds.is_empty() {
                    found.push((memory, kinds));
                }
            }
            let mut done = vec![false; found.len()];
            if run.scanning == Scanning::Fix && !found.is_empty() {
                let fix = |change: &Change<'_>, memory: &Memory| {
                    let is_hidden = probable.get(&memory.id).map(|probable| hide_probable(change, memory, probable));
                    let is_cleaned = clean::memory_and_tell(change, memory, &run.known)?;
                    Ok(is_hidden.transpose()?.is_some() || is_cleaned)
                };
                let values: Vec<&str> = probable.values().flat_map(ProbableSecrets::values).collect();
                done = self.write(|change| {
                    if !values.is_empty() {
                        hide::in_logs(change, &values)?;
                    }
                    found.iter().map(|(memory, _)| fix(change, memory)).collect()
                })?;
            }
            for ((memory, kinds), done) in found.into_iter().zip(done) {
                run.scan.add("memory", memory.short_id.to_string(), kinds, Ok(done));
            }
            run.step(rows.len());
        }
    }

    /// The probable secrets of the user's own memories. A text without any is recorded, so that the next scan does not
    /// read it again; an interrupted scan continues there.
    fn probable_in(
        &mut self,
        rows: &[(Memory, Option<String>)],
    ) -> Result<BTreeMap<MemoryUuid, ProbableSecrets>, StoreError> {
        let (mut found, mut clean) = (BTreeMap::new(), Vec::new());
        for (memory, _) in rows.iter().filter(|(memory, _)| memory.share.is_none() && memory.file.is_none()) {
            let digest = probable::digest(&memory.content).cast_signed();
            let sql = "SELECT 1 FROM clean_texts WHERE memory = ?1 AND digest = ?2";
            let is_read =
                self.connection.prepare_cached(sql).and_then(|mut was| was.exists(params![memory.id, digest]));
            if is_read.map_err(|error| self.failed(error))? {
                continue;
            }
            let probable = ProbableSecrets::of(memory);
            let probable = allowed_texts::excepted(&self.connection, probable).map_err(|error| self.failed(error))?;
            if probable.is_empty() {
                clean.push((memory.id, digest));
            } else {
                found.insert(memory.id, probable);
            }
        }
        let sql = "INSERT OR REPLACE INTO clean_texts (memory, digest) VALUES (?1, ?2)";
        let record = |change: &Change<'_>| {
            clean.iter().try_for_each(|(memory, digest)| Ok(change.tx.run(sql, params![memory, digest]).map(drop)?))
        };
        // A store that cannot be written can be scanned too, and then forgets what it has read.
        if let (false, Err(error)) = (clean.is_empty(), self.write(record)) {
            tracing::debug!(%error, "the scan cannot record what it has read");
        }
        Ok(found)
    }

    /// Some memories that are not permanently deleted, with their sync state.
    fn rows_after(&self, after: u32) -> rusqlite::Result<Vec<(Memory, Option<String>)>> {
        let sql = sql!(
            "SELECT ",
            MEMORY,
            ", (SELECT sync_state FROM sync_states WHERE memory = memories.id) AS sync_state FROM memories
             WHERE short_id > ?1 AND purged = 0 ORDER BY short_id LIMIT ?2"
        );
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement
            .query_map(params![after, BATCH], |sql_row| Ok((row::memory(sql_row)?, sql_row.get("sync_state")?)))?;
        rows.collect()
    }

    fn scan_history(&mut self, run: &mut Run<'_>) -> Result<(), StoreError> {
        let mut after = 0_u64;
        loop {
            let rows = self.changes_after(after).map_err(|error| self.failed(error))?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.0;
            let mut found: Vec<(u64, MemoryUuid, Kinds)> = Vec::new();
            for (rev, id, before) in &rows {
                let kinds = before.as_ref().map(|before| kinds_in_json(before, &run.known)).unwrap_or_default();
                if !kinds.is_empty() {
                    found.push((*rev, *id, kinds));
                }
            }
            let mut done = vec![false; found.len()];
            if run.scanning == Scanning::Fix && !found.is_empty() {
                let fix = |change: &Change<'_>, rev| clean::history(change, rev, &run.known);
                done = self.write(|change| found.iter().map(|(rev, ..)| fix(change, *rev)).collect())?;
            }
            for ((_, id, kinds), done) in found.into_iter().zip(done) {
                let short_id = self.short_id_of(id).map_err(|error| self.failed(error))?;
                run.scan.add("history", short_id, kinds, Ok(done));
            }
            run.step(rows.len());
        }
    }

    fn changes_after(&self, after: u64) -> rusqlite::Result<Vec<(u64, MemoryUuid, Option<String>)>> {
        let sql = "SELECT rev, memory, before FROM history WHERE rev > ?1 ORDER BY rev LIMIT ?2";
        self.connection.all(sql, params![after, BATCH], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
    }

    fn short_id_of(&self, id: MemoryUuid) -> rusqlite::Result<String> {
        let sql = "SELECT short_id FROM memories WHERE id = ?1";
        let short_id: Option<ShortId> = self.connection.maybe(sql, [id], |row| row.get(0))?;
        Ok(short_id.map_or_else(|| id.to_string(), |short_id| short_id.to_string()))
    }

    fn scan_beside(&mut self, run: &mut Run<'_>) -> Result<(), StoreError> {
        for (table, key, column) in tables::texts(false) {
            let kinds = kinds_beside(&self.connection, table, column, &run.known);
            let kinds = kinds.map_err(|error| self.failed(error))?;
            let is_fixed = !kinds.is_empty() && run.scanning == Scanning::Fix;
            if is_fixed {
                self.write(|change| Ok(beside::fix(change.tx, table, key, column, &run.known)?))?;
            }
            run.scan.add("log", table.to_owned(), kinds, Ok(is_fixed));
        }
        // A directory whose name is a secret is not remembered.
        let kinds = kinds_beside(&self.connection, "trusted_directories", "path", &run.known)
            .map_err(|error| self.failed(error))?;
        let is_fixed = !kinds.is_empty() && run.scanning == Scanning::Fix;
        if is_fixed {
            self.write(|change| Ok(forget_places(change.tx, &run.known)?))?;
        }
        run.scan.add("log", "trusted_directories".to_owned(), kinds, Ok(is_fixed));
        Ok(())
    }
}

/// Hides the probable secrets of a memory.
fn hide_probable(change: &Change<'_>, memory: &Memory, probable: &ProbableSecrets) -> Result<(), StoreError> {
    let known = change.known(MemoryRef::Id(memory.id))?;
    let texts: Vec<&str> = probable.values().collect();
    hide::hide_all(change, &known, PROBABLE, &texts, &Actor::default()).map(drop)
}

/// A running scan.
struct Run<'p> {
    scanning: Scanning,
    known: KnownValues,
    scan: Scan,
    progress: ScanProgress<'p>,
    all: u64,
}

impl Run<'_> {
    fn step(&mut self, looked_at: usize) {
        self.scan.looked_at += looked_at as u64;
        // A fix adds a row to the history, which is checked too.
        (self.progress)(self.scan.looked_at, self.all.max(self.scan.looked_at));
    }
}

/// The name of a file relative to the home directory.
fn in_home(home: &Home, path: &Path) -> String {
    path.strip_prefix(home.dir()).unwrap_or(path).to_string_lossy().into_owned()
}

fn scan_file(path: &Path, run: &Run<'_>, is_original: bool) -> (Kinds, Result<bool, String>) {
    let mut kinds = Kinds::new();
    let text = match small_files::text_of(path) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return (kinds, Err(error.to_string())),
    };
    // JSON is checked line by line, or as a whole. Other text is checked as a whole, because a key may span several
    // lines.
    let is_lines = json_in(&text).is_none() && text.lines().next().is_some_and(|line| json_in(line).is_some());
    let parts: Vec<&str> = if is_lines { text.lines().collect() } else { vec![text.as_str()] };
    for (kind, count) in parts.into_iter().flat_map(|part| kinds_in_json(part, &run.known)) {
        *kinds.entry(kind).or_default() += count;
    }
    if kinds.is_empty() || run.scanning == Scanning::Look {
        return (kinds, Ok(false));
    }
    let done = if let Err(problem) = small_files::check_is_text(&text) {
        Err(problem)
    } else if is_original {
        // A copy of settings can only be restored unchanged, or not at all. So it is deleted, and restoring then
        // removes only our entries.
        fs::remove_file(path)
    } else if is_lines {
        small_files::rewritten(path, &|line| without(line, &run.known)).map(drop)
    } else {
        without(&text, &run.known).map_or(Ok(()), |clean| replace(path, clean.as_bytes()))
    };
    (kinds, done.map(|()| true).map_err(|error| error.to_string()))
}
