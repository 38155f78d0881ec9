//! The job queue: a directory with one small file per job. A job is deleted after all its results are stored.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tessera_engine::domain::{MemoryUuid, Scope, Timestamp};
use tessera_engine::screen::{dropped, is_clean};
use tessera_engine::store::{Home, make_private_dir, replace, sync_dir, try_lock};

use crate::files::entries;
use crate::screen;

/// The maximum number of jobs; the oldest are deleted first.
const MOST_JOBS: usize = 500;
/// The longest pause before a failed job is tried again, in seconds.
const LONGEST_WAIT: i64 = 6 * 3600;

/// A session to learn from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The client's session.
    pub session: String,
    /// The path of the conversation file, which the client writes.
    pub transcript: PathBuf,
    /// The project.
    pub scope: Scope,
    /// The working directory of the session.
    pub cwd: Option<PathBuf>,
    /// The assistant's last words.
    pub answer: String,
    /// The client's ID of the subagent that wrote the answer. `None` for the session itself.
    #[serde(default)]
    pub subagent: Option<String>,
    /// The running Claude Code program.
    pub claude: Option<PathBuf>,
    /// When the turn ended.
    pub at: Timestamp,
    /// The number of failed attempts.
    #[serde(default)]
    pub attempts: u32,
    /// Not to be tried before.
    #[serde(default)]
    pub not_before: Option<Timestamp>,
}

impl Job {
    /// True for a job of the same session and subagent. The later one contains the work of both.
    fn has_same_source(&self, other: &Self) -> bool {
        (&self.session, &self.subagent) == (&other.session, &other.subagent)
    }
}

/// The lock that lets only one worker learn at a time.
#[derive(Debug)]
pub struct WorkerTurn(#[expect(dead_code, reason = "the lock is released when the file is closed")] File);

impl WorkerTurn {
    /// `None` if another worker holds the lock, or nothing can be written.
    pub fn take(home: &Home) -> Option<Self> {
        try_lock(&home.worker_lock()).ok().flatten().map(Self)
    }

    /// True while a worker holds it.
    pub fn is_taken(home: &Home) -> bool {
        let Ok(file) = File::open(home.worker_lock()) else { return false };
        file.try_lock_shared().is_err()
    }
}

/// Adds a durable job. The queue may wait for days, so it contains no credentials; a conversation whose file name
/// contains one is skipped.
///
/// # Errors
/// Returns an error if it cannot be written.
pub fn submit(home: &Home, job: &Job) -> io::Result<()> {
    if screen::names_credential(&job.transcript) {
        return Ok(());
    }
    let job = &Job {
        session: dropped(&job.session).into_owned(),
        scope: Some(&job.scope).filter(|scope| is_clean(scope.as_str())).cloned().unwrap_or_default(),
        cwd: job.cwd.clone().filter(|cwd| !screen::names_credential(cwd)),
        answer: screen::screened(&job.answer),
        subagent: job.subagent.as_ref().map(|subagent| dropped(subagent).into_owned()),
        ..job.clone()
    };
    let dir = home.queue();
    if !dir.is_dir() {
        make_private_dir(&dir)?;
        sync_dir(home.dir())?;
    }
    write(&dir.join(format!("{}.json", MemoryUuid::generate(job.at))), job)
}

fn write(path: &Path, job: &Job) -> io::Result<()> {
    replace(path, &serde_json::to_vec(job)?)
}

/// True if a job waits, due or not.
pub fn is_waiting(home: &Home) -> bool {
    !waiting(home).is_empty()
}

/// The files of all jobs, oldest first.
pub fn waiting(home: &Home) -> Vec<PathBuf> {
    let mut files = entries(&home.queue());
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files
}

/// A job with its files; jobs of one session or subagent are merged.
#[derive(Debug)]
pub struct Batch {
    /// The action.
    pub job: Job,
    files: Vec<PathBuf>,
}

/// Due jobs, one per session or subagent, except those whose files are all in `seen`. Deletes invalid files, and the
/// oldest beyond the maximum.
pub fn due(home: &Home, now: Timestamp, seen: &BTreeSet<PathBuf>) -> Vec<Batch> {
    let mut files = waiting(home);
    let too_many = files.len().saturating_sub(MOST_JOBS);
    for old in files.drain(..too_many) {
        // A remaining file is tried again.
        let _ = fs::remove_file(old);
    }
    let mut batches: Vec<Batch> = Vec::new();
    for path in files {
        let Ok(bytes) = fs::read(&path) else { continue };
        let Ok(job) = serde_json::from_slice::<Job>(&bytes) else {
            let _ = fs::remove_file(&path);
            continue;
        };
        match batches.iter_mut().find(|batch| batch.job.has_same_source(&job)) {
            Some(batch) => {
                batch.files.push(path);
                // A new turn ends the pause after a failure.
                let not_before = batch.job.not_before.and(job.not_before);
                let attempts = batch.job.attempts.max(job.attempts);
                let latest = if job.at < batch.job.at { batch.job.clone() } else { job };
                batch.job = Job { attempts, not_before, ..latest };
            }
            None => batches.push(Batch { job, files: vec![path] }),
        }
    }
    batches.retain(|batch| {
        let is_due = batch.job.not_before.is_none_or(|time| time <= now);
        is_due && !batch.files.iter().all(|file| seen.contains(file))
    });
    batches
}

impl Batch {
    /// The files that ask for it.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().cloned()
    }

    /// Deletes a job whose results are stored.
    pub fn done(self) {
        for file in self.files {
            let _ = fs::remove_file(file);
        }
    }

    /// Postpones the job, longer each time.
    pub fn retry(mut self, now: Timestamp) {
        self.job.attempts += 1;
        let wait = (30_i64 << self.job.attempts.min(10)).min(LONGEST_WAIT);
        self.job.not_before = Some(Timestamp::from_micros(now.as_micros() + wait * 1_000_000));
        let Some(last) = self.files.pop() else { return };
        // On a full disk the file stays unchanged, and is tried again sooner.
        if write(&last, &self.job).is_ok() {
            self.files.into_iter().for_each(|file| drop(fs::remove_file(file)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(session: &str) -> Job {
        Job {
            session: session.to_owned(),
            transcript: "/t.jsonl".into(),
            scope: Scope::Global,
            cwd: None,
            answer: String::new(),
            subagent: None,
            claude: None,
            at: Timestamp::from_micros(1_000_000),
            attempts: 0,
            not_before: None,
        }
    }

    #[test]
    fn a_failed_job_waits_and_comes_back_and_a_done_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let now = Timestamp::from_micros(2_000_000);
        for session in ["a", "b", "a"] {
            submit(&home, &job(session)).unwrap();
        }
        fs::write(home.queue().join("x.json"), "no job").unwrap();
        let mut batches = due(&home, now, &BTreeSet::new());
        batches.sort_by(|a, b| a.job.session.cmp(&b.job.session));
        assert_eq!(batches.iter().map(|batch| batch.job.session.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        batches.remove(0).retry(now);
        batches.remove(0).done();
        assert_eq!(waiting(&home).len(), 1);
        assert!(due(&home, now, &BTreeSet::new()).is_empty() && is_waiting(&home));
        let later = Timestamp::from_micros(now.as_micros() + 61_000_000);
        let again = due(&home, later, &BTreeSet::new());
        assert_eq!(again[0].job.attempts, 1);
        submit(&home, &job("a")).unwrap();
        assert_eq!(due(&home, now, &BTreeSet::new()).len(), 1, "a new turn ends the wait");
    }

    #[test]
    fn a_run_meets_no_job_twice_but_a_new_one_of_the_same_session() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let now = Timestamp::from_micros(2_000_000);
        submit(&home, &job("a")).unwrap();
        let mut seen = BTreeSet::new();
        for batch in due(&home, now, &seen) {
            seen.extend(batch.files());
        }
        assert!(due(&home, now, &seen).is_empty());
        submit(&home, &job("a")).unwrap();
        assert_eq!(due(&home, now, &seen).len(), 1);
    }
}
