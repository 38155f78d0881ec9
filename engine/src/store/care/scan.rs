//! What is there already: credentials in clear that were stored, logged or copied before any were taken out. They are
//! counted where they stand, never shown; with [`Scanning::Fix`] they are set aside or taken out.

use rusqlite::{OptionalExtension, params};
use serde::Serialize;

use super::scan_copies::{self, Step};
use crate::domain::{Handle, Memory, MemoryId};
use crate::screen::{dropped, findings, is_clean};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::change::clean::{self, Kinds};
use crate::store::file::error::StoreError;
use crate::store::logs::{small_files, traces};
use crate::store::rows::codec::sql;
use crate::store::rows::columns::MEMORY;
use crate::store::rows::memory as row;

/// Rows of one transaction: whatever ends a scan, what was done is done, and the next one goes on.
const BATCH: u32 = 200;

/// What a scan does with what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scanning {
    /// It tells.
    Look,
    /// It sets values of the user's own memories aside, and takes all others out.
    Fix,
}

/// A place where credentials stand in clear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Residue {
    /// What it is: memory, history, trail, log, file, copy.
    pub place: &'static str,
    /// Which: the number of a memory, the name of a file of the home, of a table.
    pub which: String,
    /// How many, by what they are.
    pub kinds: Kinds,
    /// True once they are gone from there.
    pub fixed: bool,
    /// Why they are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What a scan found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Scan {
    /// Rows and files that were looked through.
    pub looked_at: u64,
    /// Where there is something.
    pub residues: Vec<Residue>,
}

impl Scan {
    /// Credentials that still stand somewhere in clear.
    pub fn left(&self) -> u64 {
        self.residues.iter().filter(|residue| !residue.fixed).flat_map(|residue| residue.kinds.values()).sum()
    }

    pub(crate) fn add(&mut self, place: &'static str, which: String, kinds: Kinds, done: Result<bool, String>) {
        if kinds.is_empty() && done.is_ok() {
            return;
        }
        let fixed = done == Ok(true);
        self.residues.push(Residue { place, which, kinds, fixed, problem: done.err() });
    }
}

/// Told how far a scan is: done, and all there is.
pub type ScanProgress<'a> = &'a mut dyn FnMut(u64, u64);

/// Texts beside memories, in tables of which a row is known by these columns.
pub(crate) const BESIDE: [(&str, &str, &str); 14] = [
    ("history", "rev", "reason"),
    ("history", "rev", "session"),
    ("history", "rev", "client"),
    ("history", "rev", "origin"),
    ("receipts", "n", "receipt"),
    ("receipts", "n", "session"),
    ("learning", "session", "cursor"),
    ("learning", "session", "session"),
    ("asked_in_vain", "n", "text"),
    ("asked_in_vain", "n", "words"),
    ("asked_in_vain", "n", "scope"),
    ("outbox", "n", "refused"),
    ("server", "only_row", "problem"),
    ("secret_uses", "n", "session"),
];

impl Store {
    /// Looks for credentials in clear: in rows, live and deleted, their history and what a server is known to hold, in
    /// logs, queued turns and other files of the home, in backups and copies that were set aside.
    ///
    /// # Errors
    /// When the store cannot be read, or not be written; what was done by then is done.
    pub fn scan(&mut self, scanning: Scanning, progress: ScanProgress<'_>) -> Result<Scan, StoreError> {
        let mut scan = Scan::default();
        let files = self.home.small_files();
        let copies = self.home.copies();
        let one = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, u64>(0));
        let rows =
            one("SELECT count(*) FROM memories").and_then(|rows| Ok(rows + one("SELECT count(*) FROM history")?));
        let all = rows.map_err(|error| self.failed(error))? + (files.len() + copies.len()) as u64;
        let mut progress = |scan: &Scan| progress(scan.looked_at, all);
        self.scan_memories(scanning, &mut scan, &mut progress)?;
        self.scan_history(scanning, &mut scan, &mut progress)?;
        self.scan_beside(scanning, &mut scan)?;
        for path in files {
            let name = path.strip_prefix(self.home.dir()).unwrap_or(&path).to_string_lossy().into_owned();
            let is_original = path.starts_with(self.home.setup_originals());
            let (kinds, mut done) = scan_file(&path, if is_original { Scanning::Look } else { scanning });
            if !kinds.is_empty() && scanning == Scanning::Fix && is_original {
                // A copy of settings is given back as it was, or not at all: what is ours is taken out of them then.
                done = std::fs::remove_file(&path).map(|()| true).map_err(|error| error.to_string());
            }
            scan.add("file", name, kinds, done);
            scan.looked_at += 1;
            progress(&scan);
        }
        for path in copies {
            let name = path.strip_prefix(self.home.dir()).unwrap_or(&path).to_string_lossy().into_owned();
            let (kinds, done) = match scan_copies::look(&path) {
                Ok(kinds) if kinds.is_empty() || scanning == Scanning::Look => (kinds, Ok(false)),
                Ok(kinds) => {
                    let set_aside = self.write(|change| scan_copies::fix(change, &path, Step::SetAside));
                    let done =
                        set_aside.and_then(|()| self.write(|change| scan_copies::fix(change, &path, Step::TakeOut)));
                    (kinds, done.map(|()| true).map_err(|error| error.to_string()))
                }
                Err(error) => (Kinds::new(), Err(format!("cannot be read: {error}"))),
            };
            scan.add("copy", name, kinds, done);
            scan.looked_at += 1;
            progress(&scan);
        }
        if scan.residues.iter().any(|residue| residue.fixed) {
            self.write(|change| Ok(traces::note(change)?))?;
        }
        if scanning == Scanning::Fix {
            // Pages and the log that held a text before are written anew, also where an earlier run did not come so far.
            self.scrub_if_due()?;
            self.maintain();
        }
        Ok(scan)
    }

    fn scan_memories(
        &mut self,
        scanning: Scanning,
        scan: &mut Scan,
        progress: &mut dyn FnMut(&Scan),
    ) -> Result<(), StoreError> {
        let mut after = 0;
        loop {
            let rows = self.rows_after(after).map_err(|error| self.failed(error))?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.0.handle.get();
            let mut found: Vec<(&Memory, Kinds)> = Vec::new();
            for (memory, trail) in &rows {
                let mut kinds = clean::kinds_of(memory);
                let trail = trail.as_ref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
                for (kind, count) in trail.as_ref().map(clean::kinds_in).unwrap_or_default() {
                    // The same text, as the server has it.
                    kinds.entry(kind).or_insert(count);
                }
                if !kinds.is_empty() {
                    found.push((memory, kinds));
                }
            }
            let mut done = vec![false; found.len()];
            if scanning == Scanning::Fix && !found.is_empty() {
                done = self.write(|change| {
                    found.iter().map(|(memory, _)| clean::memory_and_tell(change, memory)).collect::<Result<_, _>>()
                })?;
            }
            for ((memory, kinds), done) in found.into_iter().zip(done) {
                scan.add("memory", Handle::to_string(&memory.handle), kinds, Ok(done));
            }
            scan.looked_at += rows.len() as u64;
            progress(scan);
        }
    }

    /// Some memories that are not removed, with what is known of the server's rows.
    fn rows_after(&self, after: u32) -> rusqlite::Result<Vec<(Memory, Option<String>)>> {
        let sql = sql!(
            "SELECT ",
            MEMORY,
            ", (SELECT trail FROM trails WHERE memory = memories.id) AS trail FROM memories
             WHERE handle > ?1 AND purged = 0 ORDER BY handle LIMIT ?2"
        );
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows =
            statement.query_map(params![after, BATCH], |sql_row| Ok((row::memory(sql_row)?, sql_row.get("trail")?)))?;
        rows.collect()
    }

    fn scan_history(
        &mut self,
        scanning: Scanning,
        scan: &mut Scan,
        progress: &mut dyn FnMut(&Scan),
    ) -> Result<(), StoreError> {
        let mut after = 0_u64;
        loop {
            let read = || -> rusqlite::Result<Vec<(u64, MemoryId, Option<String>)>> {
                let sql = "SELECT rev, memory, before FROM history WHERE rev > ?1 ORDER BY rev LIMIT ?2";
                let mut statement = self.connection.prepare_cached(sql)?;
                statement.query_map(params![after, BATCH], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
            };
            let rows = read().map_err(|error| self.failed(error))?;
            let Some(last) = rows.last() else { return Ok(()) };
            after = last.0;
            let mut found: Vec<(u64, MemoryId, Kinds)> = Vec::new();
            for (rev, id, before) in &rows {
                let kinds = before.as_ref().map(|before| kinds_in_json(before)).unwrap_or_default();
                if !kinds.is_empty() {
                    found.push((*rev, *id, kinds));
                }
            }
            let mut done = vec![false; found.len()];
            if scanning == Scanning::Fix && !found.is_empty() {
                done = self.write(|change| found.iter().map(|(rev, ..)| clean::history(change, *rev)).collect())?;
            }
            for ((_, id, kinds), done) in found.into_iter().zip(done) {
                let handle = self.handle_of(id).map_err(|error| self.failed(error))?;
                scan.add("history", handle, kinds, Ok(done));
            }
            scan.looked_at += rows.len() as u64;
            progress(scan);
        }
    }

    fn handle_of(&self, id: MemoryId) -> rusqlite::Result<String> {
        let sql = "SELECT handle FROM memories WHERE id = ?1";
        let handle: Option<Handle> =
            self.connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
        Ok(handle.map_or_else(|| id.to_string(), |handle| handle.to_string()))
    }

    fn scan_beside(&mut self, scanning: Scanning, scan: &mut Scan) -> Result<(), StoreError> {
        for (table, key, column) in BESIDE {
            let kinds = kinds_beside(&self.connection, table, column).map_err(|error| self.failed(error))?;
            let is_found = !kinds.is_empty();
            if is_found && scanning == Scanning::Fix {
                self.write(|change| Ok(fix_beside(change.tx, table, key, column)?))?;
            }
            scan.add("log", table.to_owned(), kinds, Ok(is_found && scanning == Scanning::Fix));
        }
        // A directory whose name is a secret is no place to remember.
        let kinds = kinds_beside(&self.connection, "places", "path").map_err(|error| self.failed(error))?;
        let is_fixed = !kinds.is_empty() && scanning == Scanning::Fix;
        if is_fixed {
            self.write(forget_places)?;
        }
        scan.add("log", "places".to_owned(), kinds, Ok(is_fixed));
        Ok(())
    }
}

fn forget_places(change: &Change<'_>) -> Result<(), StoreError> {
    let mut statement = change.tx.prepare("SELECT path FROM places")?;
    let paths: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for path in paths.iter().filter(|path| !is_clean(path)) {
        change.tx.execute("DELETE FROM places WHERE path = ?1", [path])?;
    }
    Ok(())
}

/// The credentials of one column of a table.
pub(crate) fn kinds_beside(connection: &rusqlite::Connection, table: &str, column: &str) -> rusqlite::Result<Kinds> {
    let mut statement = connection.prepare(&format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL"))?;
    let mut rows = statement.query([])?;
    let mut kinds = Kinds::new();
    while let Some(row) = rows.next()? {
        for (kind, count) in kinds_in_json(row.get_ref(0)?.as_str().unwrap_or_default()) {
            *kinds.entry(kind).or_default() += count;
        }
    }
    Ok(kinds)
}

/// Takes them out: nothing that is said there can be asked for again.
pub(crate) fn fix_beside(
    connection: &rusqlite::Connection,
    table: &str,
    key: &str,
    column: &str,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare(&format!("SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL"))?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, rusqlite::types::Value>(0)?, row.get::<_, String>(1)?));
    let rows: Vec<(rusqlite::types::Value, String)> = statement.query_map([], read)?.collect::<Result<_, _>>()?;
    let update = format!("UPDATE OR REPLACE {table} SET {column} = ?2 WHERE {key} = ?1");
    for (key, text) in rows {
        if let Some(clean) = without(&text) {
            connection.execute(&update, params![key, clean])?;
        }
    }
    Ok(())
}

/// The credentials of a text that may be JSON: those of the texts in it.
pub(crate) fn kinds_in_json(text: &str) -> Kinds {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(value) if !value.is_number() => clean::kinds_in(&value),
        _ => {
            let mut kinds = Kinds::new();
            for finding in findings(text) {
                *kinds.entry(finding.kind.as_str().to_owned()).or_default() += 1;
            }
            kinds
        }
    }
}

/// The same text without them; `None` where there are none.
pub(crate) fn without(text: &str) -> Option<String> {
    let take = |text: &str| (!is_clean(text)).then(|| dropped(text).into_owned());
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(mut value) if !value.is_number() => small_files::each_string(&mut value, &take).then(|| value.to_string()),
        _ => take(text),
    }
}

fn scan_file(path: &std::path::Path, scanning: Scanning) -> (Kinds, Result<bool, String>) {
    let mut kinds = Kinds::new();
    let text = match small_files::text_of(path) {
        Ok(text) => text.unwrap_or_default(),
        Err(error) => return (kinds, Err(error.to_string())),
    };
    let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
    let parts: Vec<&str> = if is_json { vec![text.as_str()] } else { text.lines().collect() };
    // A key of many lines is found in the whole text, and what stands in JSON in its lines.
    let whole = [text.as_str()].into_iter().filter(|_| !is_json && !text.starts_with('{'));
    for (kind, count) in parts.into_iter().chain(whole).flat_map(kinds_in_json) {
        let most = kinds.entry(kind).or_insert(0);
        *most = count.max(*most);
    }
    if kinds.is_empty() || scanning == Scanning::Look {
        return (kinds, Ok(false));
    }
    let done = small_files::rewritten(path, &without).and_then(|_| match small_files::text_of(path)? {
        Some(left) if !is_clean(&left) && !left.starts_with('{') => {
            crate::store::file::private::replace(path, dropped(&left).as_bytes())
        }
        _ => Ok(()),
    });
    (kinds, done.map(|()| true).map_err(|error| error.to_string()))
}
