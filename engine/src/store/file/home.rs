//! The one place that knows the files of a home: every file that Tessera keeps beside its database, by name.

use std::io;
use std::path::{Path, PathBuf};

use super::private;

/// The directory that holds everything of one store: the database, what belongs to it, and the small files of hooks,
/// sync and set-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

/// Files and directories that are ours, each by its whole name.
const OURS: [&str; 14] = [
    MARKER,
    OPEN_LOCK,
    BACKUPS,
    QUEUE,
    WORKER_LOCK,
    TOLD_ONCE,
    SYNC_LOCK,
    MEANING_LOCK,
    HTTP_KEY,
    CONFIG,
    SETUP,
    SETUP_ORIGINALS,
    HOOKS_LOG,
    HOOKS_LOG_OLD,
];
/// Beginnings of names that are ours: files with a suffix, parts that are being folded, and what is being written.
const OURS_WITH_SUFFIX: [&str; 8] =
    [DATABASE, SNAPSHOT, ACCESS_LOG, RECEIPTS, QUESTIONS, SET_ASIDE, SECRET_KEY, private::SCRATCH];

const DATABASE: &str = "tessera.db";
const SNAPSHOT: &str = "tessera.snapshot";
const MARKER: &str = "store.json";
const OPEN_LOCK: &str = "open.lock";
const ACCESS_LOG: &str = "access.log";
const RECEIPTS: &str = "receipts.log";
const QUESTIONS: &str = "questions.log";
const BACKUPS: &str = "backups";
const SET_ASIDE: &str = "corrupt-";
const QUEUE: &str = "queue";
const WORKER_LOCK: &str = "worker.lock";
const HOOKS_LOG: &str = "hooks.log";
const HOOKS_LOG_OLD: &str = "hooks.log.old";
const TOLD_ONCE: &str = "told-once";
const SYNC_LOCK: &str = "sync.lock";
const MEANING_LOCK: &str = "meaning.lock";
const SECRET_KEY: &str = "secret.key";
const HTTP_KEY: &str = "mcp-http.key";
const CONFIG: &str = "config.toml";
const SETUP: &str = "setup.json";
const SETUP_ORIGINALS: &str = "setup-originals";

impl Home {
    /// The home in a directory. Nothing is made.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self(dir.into())
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        &self.0
    }

    /// Makes the directory, for its owner alone. One that is there stays as it is.
    ///
    /// # Errors
    /// When it is not there and cannot be made.
    pub fn make(&self) -> io::Result<()> {
        private::make_private_dir(&self.0)
    }

    /// True when there is a store in it.
    pub fn holds_store(&self) -> bool {
        self.database().exists()
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.file(DATABASE)
    }

    /// The write-ahead log that SQLite keeps beside the database.
    pub fn write_ahead_log(&self) -> PathBuf {
        self.file("tessera.db-wal")
    }

    /// The memory that processes share over the write-ahead log.
    pub fn shared_memory(&self) -> PathBuf {
        self.file("tessera.db-shm")
    }

    /// The index as a file: a cache, which may be removed.
    pub fn snapshot(&self) -> PathBuf {
        self.file(SNAPSHOT)
    }

    /// What tells a new home from one that lost its database.
    pub fn marker(&self) -> PathBuf {
        self.file(MARKER)
    }

    /// Held while a store is made, migrated or set aside.
    pub fn open_lock(&self) -> PathBuf {
        self.file(OPEN_LOCK)
    }

    /// Uses that are not in the database yet.
    pub fn access_log(&self) -> PathBuf {
        self.file(ACCESS_LOG)
    }

    /// Receipts that are not in the database yet.
    pub fn receipts(&self) -> PathBuf {
        self.file(RECEIPTS)
    }

    /// Questions asked in vain that are not in the database yet.
    pub fn questions(&self) -> PathBuf {
        self.file(QUESTIONS)
    }

    /// The directory of backups.
    pub fn backups(&self) -> PathBuf {
        self.file(BACKUPS)
    }

    /// The directory for damaged files that are set aside at a time.
    pub fn set_aside(&self, stamp: &str) -> PathBuf {
        self.file(&format!("{SET_ASIDE}{stamp}"))
    }

    /// Copies of the database that stand in the home: backups, and damaged ones that were set aside.
    pub fn copies(&self) -> Vec<PathBuf> {
        let aside = list(&self.0).into_iter().filter(|path| is_named(path, |name| name.starts_with(SET_ASIDE)));
        let aside = aside.map(|dir| dir.join(DATABASE));
        let mut copies: Vec<PathBuf> =
            list(&self.backups()).into_iter().chain(aside).filter(|path| path.is_file()).collect();
        copies.sort();
        copies
    }

    /// Files in which a text may stand beside the database and its copies: queued turns, logs, copies of settings, and what
    /// a person put into the home, such as an export. Not those that hold keys, nor the person's own settings.
    pub fn small_files(&self) -> Vec<PathBuf> {
        let is_text = |name: &str| {
            let others = [DATABASE, SNAPSHOT, ACCESS_LOG, SET_ASIDE, SECRET_KEY, private::SCRATCH];
            let known = [MARKER, OPEN_LOCK, WORKER_LOCK, SYNC_LOCK, MEANING_LOCK, HTTP_KEY, CONFIG, SETUP, TOLD_ONCE];
            !others.iter().any(|prefix| name.starts_with(prefix)) && !known.contains(&name)
        };
        let dirs = [self.queue(), self.setup_originals()];
        let beside = dirs.iter().flat_map(|dir| list(dir));
        let own = list(&self.0).into_iter().filter(|path| is_named(path, is_text));
        let mut files: Vec<PathBuf> = own.chain(beside).filter(|path| path.is_file()).collect();
        files.sort();
        files
    }

    /// The directory of ended turns that wait to be learned from.
    pub fn queue(&self) -> PathBuf {
        self.file(QUEUE)
    }

    /// Held by the worker that learns.
    pub fn worker_lock(&self) -> PathBuf {
        self.file(WORKER_LOCK)
    }

    /// Faults of hooks, a line each.
    pub fn hooks_log(&self) -> PathBuf {
        self.file(HOOKS_LOG)
    }

    /// The older half of [`Home::hooks_log`].
    pub fn hooks_log_old(&self) -> PathBuf {
        self.file(HOOKS_LOG_OLD)
    }

    /// What the person was told already and need not be told again.
    pub fn told_once(&self) -> PathBuf {
        self.file(TOLD_ONCE)
    }

    /// Held while the keys of secrets are made or changed.
    pub fn secret_lock(&self) -> PathBuf {
        self.0.join(format!("{SECRET_KEY}.lock"))
    }

    /// The keys that secrets are sealed with, where no keyring and no setting holds them.
    pub fn secret_key(&self) -> PathBuf {
        self.file(SECRET_KEY)
    }

    /// Held by the process that exchanges with a server.
    pub fn sync_lock(&self) -> PathBuf {
        self.file(SYNC_LOCK)
    }

    /// Held by the process that makes vectors of memories that wait for them.
    pub fn meaning_lock(&self) -> PathBuf {
        self.file(MEANING_LOCK)
    }

    /// The key that MCP over HTTP asks for.
    pub fn http_key(&self) -> PathBuf {
        self.file(HTTP_KEY)
    }

    /// The user's settings.
    pub fn config(&self) -> PathBuf {
        self.file(CONFIG)
    }

    /// What set-up changed in clients' settings.
    pub fn setup(&self) -> PathBuf {
        self.file(SETUP)
    }

    /// The directory of settings as they were before set-up.
    pub fn setup_originals(&self) -> PathBuf {
        self.file(SETUP_ORIGINALS)
    }

    /// Everything in it that is ours, by name; nothing that somebody else put there.
    pub fn ours(&self) -> Vec<PathBuf> {
        let is_ours =
            |name: &str| OURS.contains(&name) || OURS_WITH_SUFFIX.iter().any(|prefix| name.starts_with(prefix));
        let mut ours: Vec<PathBuf> = list(&self.0).into_iter().filter(|path| is_named(path, is_ours)).collect();
        ours.sort();
        ours
    }

    /// What of the store others than its owner can read: the directory, and the files that hold words of memories.
    pub fn open_to_others(&self) -> Vec<PathBuf> {
        let files = [self.0.clone(), self.database(), self.write_ahead_log(), self.shared_memory(), self.snapshot()];
        files
            .into_iter()
            .chain([self.access_log(), self.questions()])
            .filter(|path| private::is_open_to_others(path))
            .collect()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl AsRef<Path> for Home {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl From<PathBuf> for Home {
    fn from(dir: PathBuf) -> Self {
        Self(dir)
    }
}

impl From<&Path> for Home {
    fn from(dir: &Path) -> Self {
        Self(dir.to_path_buf())
    }
}

/// What is in a directory; nothing when it cannot be read.
fn list(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn is_named(path: &Path, is: impl Fn(&str) -> bool) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(is)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn every_file_of_a_home_is_listed_as_ours_and_nothing_else_is() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let files = [
            home.database(),
            home.write_ahead_log(),
            home.shared_memory(),
            home.snapshot(),
            home.marker(),
            home.open_lock(),
            home.access_log(),
            home.receipts(),
            home.questions(),
            home.backups(),
            home.set_aside("2026-11-20"),
            home.queue(),
            home.worker_lock(),
            home.hooks_log(),
            home.hooks_log_old(),
            home.told_once(),
            home.sync_lock(),
            home.meaning_lock(),
            home.http_key(),
            home.config(),
            home.setup(),
            home.setup_originals(),
            home.dir().join("access.log.0193"),
        ];
        for path in &files {
            fs::write(path, "x").unwrap();
        }
        for foreign in ["mine.txt", "queue.old", "my-tessera.db", "store.json.bak"] {
            fs::write(home.dir().join(foreign), "x").unwrap();
        }
        let mut expected = files.to_vec();
        expected.sort();
        assert_eq!(home.ours(), expected);
        assert_eq!(Home::new(dir.path().join("missing")).ours(), Vec::<PathBuf>::new());
    }

    #[test]
    fn copies_are_backups_and_databases_that_were_set_aside() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        let aside = home.set_aside("2026-11-20");
        for made in [home.backups(), aside.clone()] {
            private::make_private_dir(&made).unwrap();
        }
        let backup = home.backups().join("tessera-1.db");
        for path in [&backup, &aside.join("tessera.db"), &aside.join("store.json"), &home.database()] {
            fs::write(path, "x").unwrap();
        }
        assert_eq!(home.copies(), [backup, aside.join("tessera.db")]);
    }

    #[cfg(unix)]
    #[test]
    fn a_home_is_made_for_its_owner_alone_and_says_what_is_open_to_others() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("a/home"));
        home.make().unwrap();
        assert_eq!(home.dir().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(!home.holds_store() && home.open_to_others().is_empty());
        fs::write(home.database(), "x").unwrap();
        fs::set_permissions(home.database(), fs::Permissions::from_mode(0o640)).unwrap();
        assert!(home.holds_store());
        assert_eq!(home.open_to_others(), [home.database()]);
        assert!(private::tighten(&home.database()) && home.open_to_others().is_empty());
    }
}
