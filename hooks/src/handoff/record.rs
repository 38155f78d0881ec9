//! Which sessions took place in a project. A small file per session names its transcript, and contains no text of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tessera_desk::files::{beginning_with, entries, small_text};
use tessera_desk::project::Claim;
use tessera_desk::screen::{holds_credential, names_credential};
use tessera_engine::domain::Timestamp;
use tessera_engine::store::{Home, make_private_dir, replace};

/// The number of days after which a record is deleted. Until then, the hand-off of its session can be offered.
pub const DAYS_KEPT: i64 = 7;

/// A session of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The client's session.
    pub session: String,
    /// Its transcript.
    pub transcript: PathBuf,
    /// The directory of the project, without links.
    pub place: PathBuf,
    /// The end of its last turn.
    pub at: Timestamp,
    /// Whether it still runs.
    pub state: SessionState,
}

/// Whether a session still runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// It probably runs, unless its last turn was long ago.
    Running,
    /// The client has ended it.
    Ended,
}

/// Stores the record of a session in a project. Skips a session whose name or transcript contains a credential.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn keep(home: &Home, claim: &Claim, record: &SessionRecord) -> io::Result<()> {
    if holds_credential(&record.session) || names_credential(&record.transcript) || names_credential(&record.place) {
        return Ok(());
    }
    let dir = home.sessions();
    make_private_dir(&dir)?;
    replace(&dir.join(format!("{}-{}", project_key(claim), key(&record.session))), &serde_json::to_vec(record)?)
}

/// The sessions of a project in the last seven days, newest first. A time in the future counts as now.
///
/// A directory can name any project. So a session in another directory counts only if both directories are trusted;
/// `is_believed` decides.
pub fn of_project(
    home: &Home,
    claim: &Claim,
    now: Timestamp,
    mut is_believed: impl FnMut(Claim) -> bool,
) -> Vec<SessionRecord> {
    let place = claim.real_place();
    let files = beginning_with(&home.sessions(), &project_key(claim));
    let mut found: Vec<SessionRecord> = files.iter().filter_map(|path| read(path)).collect();
    found.retain(|record| !is_old(record, now));
    // The store is asked only if there are sessions in other directories.
    let is_trusted = found.iter().any(|record| record.place != place) && is_believed(claim.clone());
    found.retain(|record| {
        let elsewhere = || Claim { root: record.place.clone(), place: record.place.clone(), ..claim.clone() };
        record.place == place || is_trusted && is_believed(elsewhere())
    });
    found.sort_by(|a, b| b.at.cmp(&a.at).then(a.session.cmp(&b.session)));
    found
}

/// The session with this ID, in any project.
pub fn with_id(home: &Home, session: &str) -> Option<SessionRecord> {
    entries(&home.sessions()).iter().filter_map(|path| read(path)).find(|record| record.session == session)
}

/// Deletes old and damaged records.
pub fn clean(home: &Home, now: Timestamp) {
    for path in entries(&home.sessions()) {
        if read(&path).is_none_or(|record| is_old(&record, now)) {
            // If this fails, the next run tries again.
            let _ = fs::remove_file(path);
        }
    }
}

fn is_old(record: &SessionRecord, now: Timestamp) -> bool {
    record.at.plus_days(DAYS_KEPT) <= now
}

fn read(path: &Path) -> Option<SessionRecord> {
    serde_json::from_str(&small_text(path)?).ok()
}

/// The name of the project. A project without a name is identified by its directory.
fn project_key(claim: &Claim) -> String {
    if claim.is_its_own() {
        return key(&format!("directory {}", claim.real_place().display()));
    }
    key(claim.scope.as_str())
}

fn key(text: &str) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}
