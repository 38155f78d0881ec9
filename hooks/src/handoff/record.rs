//! Which sessions took place in a project. A small file per session names its transcript, and contains no text of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tessera_desk::files::entries;
use tessera_desk::project::Claim;
use tessera_desk::screen::{holds_credential, names_credential};
use tessera_engine::domain::{Scope, Timestamp};
use tessera_engine::store::{Home, make_private_dir, replace};

/// Records are deleted after this number of days. A hand-off is offered for as long.
pub const DAYS_KEPT: i64 = 7;

/// A session of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The client's session.
    pub session: String,
    /// Its transcript.
    pub transcript: PathBuf,
    /// The end of its last turn.
    pub at: Timestamp,
    /// True if the client has ended the session.
    pub has_ended: bool,
}

/// Stores the record of a session, in place of its previous record. Skips a session whose name or transcript contains a
/// credential.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn keep(home: &Home, claim: &Claim, record: &SessionRecord) -> io::Result<()> {
    if holds_credential(&record.session) || names_credential(&record.transcript) {
        return Ok(());
    }
    let dir = home.sessions();
    make_private_dir(&dir)?;
    replace(&dir.join(format!("{}-{}", project_key(claim), key(&record.session))), &serde_json::to_vec(record)?)
}

/// The sessions of a project in the last seven days, newest first. A time in the future counts as now.
pub fn of_project(home: &Home, claim: &Claim, now: Timestamp) -> Vec<SessionRecord> {
    let own = project_key(claim);
    let is_own =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(&own));
    let files = entries(&home.sessions()).into_iter().filter(is_own);
    let mut found: Vec<SessionRecord> = files.filter_map(|path| read(&path)).collect();
    found.retain(|record| !is_old(record, now));
    found.sort_by(|a, b| b.at.cmp(&a.at).then(a.session.cmp(&b.session)));
    found
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
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// The name of the project, or the directory outside of projects.
fn project_key(claim: &Claim) -> String {
    match &claim.scope {
        Scope::Project(name) => key(name),
        Scope::Global => key(&format!("directory {}", claim.root.display())),
    }
}

fn key(text: &str) -> String {
    format!("{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
}
