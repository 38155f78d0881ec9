//! What the learning worker did in a session, until a hook shows it to the user. There is one small file per session. It
//! contains IDs, never a text.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tessera_engine::domain::{CandidateId, ShortId, Timestamp};
use tessera_engine::store::{Home, make_private_dir, private_file};

/// A session is over if nothing was learned from it for this number of minutes. Then another session shows its results.
const MINUTES_UNTIL_OVER: i64 = 10;
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

#[derive(Serialize, Deserialize)]
struct Line {
    at: Timestamp,
    #[serde(flatten)]
    result: LearningResult,
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
    let mut lines = Vec::new();
    for result in results {
        serde_json::to_writer(&mut lines, &Line { at, result: result.clone() })?;
        lines.push(b'\n');
    }
    // One write, so that a reader sees complete lines.
    private_file().create(true).append(true).open(path(home, session))?.write_all(&lines)
}

/// Returns the results of a session that were not shown yet. Of several callers, only one receives them.
pub fn take(home: &Home, session: &str) -> Vec<LearningResult> {
    if session.is_empty() { Vec::new() } else { taken(&path(home, session)) }
}

/// Returns the results of sessions that are over and did not show them.
pub fn take_from_ended(home: &Home, now: Timestamp) -> Vec<LearningResult> {
    let is_over = |path: &PathBuf| last(path).is_none_or(|at| at > now || minutes(at, now) >= MINUTES_UNTIL_OVER);
    files(home).into_iter().filter(is_over).flat_map(|path| taken(&path)).collect()
}

/// Deletes old results that nobody saw.
pub fn clean(home: &Home, now: Timestamp) {
    let is_old = |path: &PathBuf| last(path).is_none_or(|at| at.plus_days(DAYS_KEPT) <= now);
    for path in files(home).into_iter().filter(is_old) {
        // If this fails, the next run tries again.
        let _ = fs::remove_file(path);
    }
}

fn minutes(from: Timestamp, to: Timestamp) -> i64 {
    (to.as_micros() - from.as_micros()) / 60_000_000
}

fn path(home: &Home, session: &str) -> PathBuf {
    home.results().join(format!("{:032x}", xxhash_rust::xxh3::xxh3_128(session.as_bytes())))
}

fn files(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.results()) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    files
}

fn taken(path: &Path) -> Vec<LearningResult> {
    // Only one process can rename the file.
    let own = path.with_extension(std::process::id().to_string());
    if fs::rename(path, &own).is_err() {
        return Vec::new();
    }
    let results = lines(&own).into_iter().map(|line| line.result).collect();
    let _ = fs::remove_file(&own);
    results
}

fn last(path: &Path) -> Option<Timestamp> {
    lines(path).last().map(|line| line.at)
}

/// The lines that can be read. A newer version may write others.
fn lines(path: &Path) -> Vec<Line> {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ShortId {
        ShortId::try_from(number).unwrap()
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
        assert_eq!(take(&home, "s"), []);
        add(&home, "s", now, &results[..1]).unwrap();
        add(&home, "s", now, &results[1..]).unwrap();
        add(&home, "", now, &results).unwrap();
        fs::write(path(&home, "s").with_extension("unknown"), b"\xff\n{\"at\":1}\n").unwrap();
        assert_eq!(take(&home, "../other"), []);
        assert_eq!(take(&home, "s"), results);
        assert_eq!(take(&home, "s"), []);
    }

    #[test]
    fn results_of_ended_sessions_are_shown_elsewhere_and_old_ones_are_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let now: Timestamp = "2026-11-20".parse().unwrap();
        let ago = |minutes: i64| Timestamp::from_micros(now.as_micros() - minutes * 60_000_000);
        add(&home, "ended", ago(10), &[LearningResult::Learned(id(1))]).unwrap();
        add(&home, "running", ago(9), &[LearningResult::Learned(id(2))]).unwrap();
        add(&home, "later", ago(-1), &[LearningResult::Learned(id(3))]).unwrap();
        let mut taken = take_from_ended(&home, now);
        taken.sort_by_key(|result| format!("{result:?}"));
        assert_eq!(taken, [LearningResult::Learned(id(1)), LearningResult::Learned(id(3))]);
        clean(&home, now.plus_days(6));
        assert_eq!(files(&home).len(), 1);
        clean(&home, now.plus_days(7));
        assert_eq!(files(&home).len(), 0);
    }
}
