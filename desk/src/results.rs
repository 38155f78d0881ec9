//! What the learning worker did in a session, until a hook shows it to the user. The small files contain IDs, never a
//! text.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tessera_engine::domain::{CandidateId, MemoryUuid, ShortId, Timestamp};
use tessera_engine::store::{Home, make_private_dir, replace};

use crate::files::{beginning_with, entries, small_text};

/// If a session does not show its results within this number of minutes, the next session that starts shows them.
const MINUTES_UNTIL_UNSEEN: i64 = 10;
/// Results that nobody saw for this number of days are deleted.
const DAYS_KEPT: i64 = 7;

/// One result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningResult {
    /// A memory was stored.
    Learned(ShortId),
    /// A line waits for review.
    Waiting(CandidateId),
    /// A memory was deleted, because the user retracted it.
    Retracted(ShortId),
}

/// The content of a file.
#[derive(Serialize, Deserialize)]
struct Written {
    at: Timestamp,
    results: Vec<LearningResult>,
}

/// Adds results of a session.
///
/// # Errors
/// Returns an error if the file cannot be written. The results themselves are stored.
pub fn add(home: &Home, session: &str, at: Timestamp, results: &[LearningResult]) -> io::Result<()> {
    if results.is_empty() || session.is_empty() {
        return Ok(());
    }
    make_private_dir(&home.results())?;
    let written = Written { at, results: results.to_vec() };
    let name = format!("{}-{}", key(session), MemoryUuid::generate(at));
    // The file appears with its whole content, so nobody reads a part of it.
    replace(&home.results().join(name), &serde_json::to_vec(&written)?)
}

/// The files with results of a session.
pub fn of(home: &Home, session: &str) -> Vec<PathBuf> {
    beginning_with(&home.results(), &key(session))
}

/// The files with results that their sessions did not show within ten minutes.
pub fn unseen(home: &Home, now: Timestamp) -> Vec<PathBuf> {
    let is_old = |path: &PathBuf| {
        read(path).is_some_and(|written| written.at > now || minutes(written.at, now) >= MINUTES_UNTIL_UNSEEN)
    };
    entries(&home.results()).into_iter().filter(is_old).collect()
}

/// Returns the results in a file, and deletes the file. Of several callers, only one receives them.
pub fn take(path: &Path) -> Vec<LearningResult> {
    // Only one process can rename the file. The new name belongs to no session.
    let own = path.with_file_name(format!("taken-{}-{}", std::process::id(), name(path).unwrap_or_default()));
    if fs::rename(path, &own).is_err() {
        return Vec::new();
    }
    let results = read(&own).map(|written| written.results).unwrap_or_default();
    let _ = fs::remove_file(&own);
    results
}

/// Deletes damaged files and old results that nobody saw.
pub fn clean(home: &Home, now: Timestamp) {
    let is_old = |path: &PathBuf| read(path).is_none_or(|written| written.at.plus_days(DAYS_KEPT) <= now);
    for path in entries(&home.results()).into_iter().filter(is_old) {
        // If this fails, the next run tries again.
        let _ = fs::remove_file(path);
    }
}

fn minutes(from: Timestamp, to: Timestamp) -> i64 {
    (to.as_micros() - from.as_micros()) / 60_000_000
}

fn key(session: &str) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(session.as_bytes()))
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// The content of a file; `None` if it cannot be read. A newer version may write other content.
fn read(path: &Path) -> Option<Written> {
    serde_json::from_str(&small_text(path)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ShortId {
        ShortId::try_from(number).unwrap()
    }

    fn taken(files: &[PathBuf]) -> Vec<String> {
        let mut found: Vec<String> =
            files.iter().flat_map(|file| take(file)).map(|result| format!("{result:?}")).collect();
        found.sort();
        found
    }

    #[test]
    fn the_results_of_a_session_are_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let now: Timestamp = "2026-11-20".parse().unwrap();
        let results = [
            LearningResult::Learned(id(3)),
            LearningResult::Waiting("kdbfwm".parse().unwrap()),
            LearningResult::Retracted(id(2)),
        ];
        assert!(of(&home, "s").is_empty());
        add(&home, "s", now, &results[..1]).unwrap();
        add(&home, "s", now, &results[1..]).unwrap();
        add(&home, "", now, &results).unwrap();
        assert!(of(&home, "../other").is_empty());
        let files = of(&home, "s");
        let mut expected = results.map(|result| format!("{result:?}"));
        expected.sort();
        assert_eq!(taken(&files), expected);
        assert!(taken(&files).is_empty(), "another process was faster");
        assert_eq!(fs::read_dir(home.results()).unwrap().count(), 0);
    }

    #[test]
    fn unseen_results_are_shown_elsewhere_and_old_and_damaged_ones_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let now: Timestamp = "2026-11-20".parse().unwrap();
        let ago = |minutes: i64| Timestamp::from_micros(now.as_micros() - minutes * 60_000_000);
        for (session, at, number) in [("quiet", ago(10), 1), ("busy", ago(9), 2), ("later", ago(-1), 3)] {
            add(&home, session, at, &[LearningResult::Learned(id(number))]).unwrap();
        }
        fs::write(home.results().join("x"), b"\xff\n").unwrap();
        let expected = [1, 3].map(|number| format!("{:?}", LearningResult::Learned(id(number))));
        assert_eq!(taken(&unseen(&home, now)), expected);
        clean(&home, now.plus_days(6));
        assert_eq!(entries(&home.results()).len(), 1);
        clean(&home, now.plus_days(7));
        assert_eq!(entries(&home.results()).len(), 0);
    }
}
