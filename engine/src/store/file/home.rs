//! The only module that knows the files of a home directory: every file that Tessera keeps beside its database.

use std::io;
use std::path::{Path, PathBuf};

use super::identity::FileId;
use super::names::{
    self, ACCESS_LOG, BACKUPS, CONFIG, DATABASE, DELETED_FILES, EMBEDDING_LOCK, FILES_LOCK, HOOKS_LOG, HOOKS_LOG_OLD,
    HTTP_KEY, IMPORT_LOCK, MARKER, MEMORIES, OPEN_LOCK, QUESTIONS, QUEUE, RECEIPTS, SECRET_KEY, SET_ASIDE, SETUP,
    SNAPSHOT, SYNC_LOCK, TOLD_ONCE, VAULT_LOCK, WORKER_LOCK,
};
use super::private;

/// The home directory of one store: the database, its related files, and the small files of hooks, sync and setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

/// Maximum depth of checked directories in a home directory, and maximum number of checked files.
const MOST_DEPTH: usize = 8;
const MOST_FILES: usize = 20_000;
/// The beginning of an SQLite database.
const DATABASE_HEAD: &[u8; 16] = b"SQLite format 3\0";

impl Home {
    /// A home directory. Nothing is created.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self(dir.into())
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.0
    }

    /// Creates the directory, accessible only to the owner. An existing directory stays unchanged.
    ///
    /// # Errors
    /// Returns an error if the directory does not exist and cannot be created.
    pub fn make(&self) -> io::Result<()> {
        private::make_private_dir(&self.0)
    }

    /// True if it contains a store.
    pub fn holds_store(&self) -> bool {
        self.database().exists()
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.file(DATABASE)
    }

    /// SQLite's write-ahead log beside the database.
    pub fn write_ahead_log(&self) -> PathBuf {
        self.file("tessera.db-wal")
    }

    /// SQLite's shared memory for the write-ahead log.
    pub fn shared_memory(&self) -> PathBuf {
        self.file("tessera.db-shm")
    }

    /// The index file, a cache that may be deleted.
    pub fn snapshot(&self) -> PathBuf {
        self.file(SNAPSHOT)
    }

    /// The marker, which distinguishes a new home directory from one that lost its database.
    pub fn marker(&self) -> PathBuf {
        self.file(MARKER)
    }

    /// The lock for creating, migrating or replacing the store.
    pub fn open_lock(&self) -> PathBuf {
        self.file(OPEN_LOCK)
    }

    /// The log of uses that were not yet moved to the database.
    pub fn access_log(&self) -> PathBuf {
        self.file(ACCESS_LOG)
    }

    /// Records of automatic recall that are not in the database yet.
    pub fn deliveries(&self) -> PathBuf {
        self.file(RECEIPTS)
    }

    /// Unanswered questions that are not in the database yet.
    pub fn questions(&self) -> PathBuf {
        self.file(QUESTIONS)
    }

    /// The directory of backups.
    pub fn backups(&self) -> PathBuf {
        self.file(BACKUPS)
    }

    /// The directory for damaged database files. Its name contains the time at which they were replaced.
    pub fn set_aside(&self, stamp: &str) -> PathBuf {
        self.file(&format!("{SET_ASIDE}{stamp}"))
    }

    /// Copies of the database in the home directory: backups, replaced damaged databases, and
    /// every other file with the header of a database.
    pub fn copies(&self) -> Vec<PathBuf> {
        let mut copies: Vec<PathBuf> = list(&self.backups()).into_iter().filter(|path| path.is_file()).collect();
        copies.extend(self.files().into_iter().filter(|path| self.is_own_copy(path) || is_database(path)));
        copies.retain(|path| !is_beside_database(path));
        copies.sort();
        copies.dedup();
        copies
    }

    /// True for a copy that Tessera created.
    pub(crate) fn is_own_copy(&self, path: &Path) -> bool {
        let is_aside = |dir: &Path| dir.parent() == Some(&self.0) && is_named(dir, |name| name.starts_with(SET_ASIDE));
        let dir = path.parent();
        dir == Some(&self.backups()) || dir.is_some_and(is_aside) && is_named(path, |name| name == DATABASE)
    }

    /// Files that may contain texts, without the database and its copies: queued turns, logs, copies of settings, and
    /// the user's own files such as an export. Key files and the user's settings are not included.
    pub fn small_files(&self) -> Vec<PathBuf> {
        let copies = self.copies();
        let is_small = |path: &PathBuf| copies.binary_search(path).is_err() && !is_beside_database(path);
        self.files().into_iter().filter(is_small).collect()
    }

    /// The files of the home directory and its subdirectories that may contain texts, sorted.
    fn files(&self) -> Vec<PathBuf> {
        walk(&self.0).0.into_iter().filter(|path| self.may_hold_text(path)).collect()
    }

    /// False if the home directory has too many files to check all of them.
    pub(crate) fn is_walked_whole(&self) -> bool {
        walk(&self.0).1
    }

    fn may_hold_text(&self, path: &Path) -> bool {
        // A key file is never opened here, wherever a copy of it is.
        let nowhere = [SNAPSHOT, SECRET_KEY, HTTP_KEY, private::SCRATCH];
        // Files in indexed folders are the user's own.
        let theirs = [self.memories(), self.deleted_files()].iter().any(|dir| path.starts_with(dir));
        let is_key = is_named(path, |name| nowhere.iter().any(|prefix| name.starts_with(prefix)));
        if theirs || is_key || self.is_of_plugins(path) {
            return false;
        }
        let locks = [OPEN_LOCK, WORKER_LOCK, SYNC_LOCK, EMBEDDING_LOCK, VAULT_LOCK, FILES_LOCK, IMPORT_LOCK];
        let ours = [MARKER, CONFIG, SETUP, TOLD_ONCE];
        // Closing a file of the live database would release the locks that the process has on it.
        let live = [DATABASE, "tessera.db-wal", "tessera.db-shm", "tessera.db-journal"];
        let is_named_so = |name: &str| ours.iter().chain(&locks).chain(&live).any(|known| *known == name);
        let is_ours = |name: &str| is_named_so(name) || name.starts_with(ACCESS_LOG);
        (path.parent() != Some(&self.0) || !is_named(path, is_ours)) && !is_same_file(path, &self.database())
    }

    /// The directory of the sessions from which Tessera has not learned yet.
    pub fn queue(&self) -> PathBuf {
        self.file(QUEUE)
    }

    /// The lock of the process that learns from sessions.
    pub fn worker_lock(&self) -> PathBuf {
        self.file(WORKER_LOCK)
    }

    /// Errors of hooks, one per line.
    pub fn hooks_log(&self) -> PathBuf {
        self.file(HOOKS_LOG)
    }

    /// The older part of the log [`Home::hooks_log`].
    pub fn hooks_log_old(&self) -> PathBuf {
        self.file(HOOKS_LOG_OLD)
    }

    /// Hashes of notices that the user has already seen.
    pub fn told_once(&self) -> PathBuf {
        self.file(TOLD_ONCE)
    }

    /// The lock for creating or changing the keys of secrets.
    pub fn secret_lock(&self) -> PathBuf {
        self.0.join(format!("{SECRET_KEY}.lock"))
    }

    /// The key file, used if neither a keyring nor a setting has the keys.
    pub fn secret_key(&self) -> PathBuf {
        self.file(SECRET_KEY)
    }

    /// The lock of the syncing process.
    pub fn sync_lock(&self) -> PathBuf {
        self.file(SYNC_LOCK)
    }

    /// The lock of the process that computes missing embeddings.
    pub fn embedding_lock(&self) -> PathBuf {
        self.file(EMBEDDING_LOCK)
    }

    /// The lock of the process that updates the index of files.
    pub fn files_lock(&self) -> PathBuf {
        self.file(FILES_LOCK)
    }

    /// The directory of the memory tool's files.
    pub fn memories(&self) -> PathBuf {
        self.file(MEMORIES)
    }

    /// The directory with copies of deleted files whose complete text is in no memory.
    pub fn deleted_files(&self) -> PathBuf {
        self.file(DELETED_FILES)
    }

    /// The key for MCP over HTTP.
    pub fn http_key(&self) -> PathBuf {
        self.file(HTTP_KEY)
    }

    /// The user's settings.
    pub fn config(&self) -> PathBuf {
        self.file(CONFIG)
    }

    /// All of Tessera's own files, recognised by their names.
    pub fn ours(&self) -> Vec<PathBuf> {
        let mut ours: Vec<PathBuf> = list(&self.0).into_iter().filter(|path| is_named(path, names::is_ours)).collect();
        ours.sort();
        ours
    }

    /// True for one of Tessera's own files, and for a file in one of its directories, except for backups and memory files. The
    /// path has no links.
    pub fn is_ours(&self, path: &Path) -> bool {
        let home = self.0.canonicalize().unwrap_or_else(|_| self.0.clone());
        let Ok(inside) = path.strip_prefix(&home) else { return false };
        let mut parts = inside.components();
        let Some(first) = parts.next().map(|part| home.join(part)) else { return true };
        let is_shared = [MEMORIES, BACKUPS].iter().any(|name| first == home.join(name));
        is_named(&first, names::is_ours) && !(is_shared && parts.next().is_some())
    }

    /// The files of the store that other users of the machine can read: the home directory, and files that contain text
    /// from memories.
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

/// The content of a directory; nothing if it cannot be read.
fn list(dir: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

/// All files below a directory, sorted, and whether the list is complete. Links are not followed. Hidden directories
/// and directories with a Git repository do not belong to a home directory.
fn walk(dir: &Path) -> (Vec<PathBuf>, bool) {
    let (mut dirs, mut files, mut is_whole) = (vec![(dir.to_path_buf(), 0)], Vec::new(), true);
    while let Some((dir, depth)) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_file() => files.push(path),
                Ok(kind) if kind.is_dir() => {
                    let is_foreign = is_named(&path, |name| name.starts_with('.')) || path.join(".git").exists();
                    is_whole &= is_foreign || depth < MOST_DEPTH;
                    if !is_foreign && depth < MOST_DEPTH {
                        dirs.push((path, depth + 1));
                    }
                }
                _ => {}
            }
        }
        if files.len() > MOST_FILES {
            is_whole = false;
            break;
        }
    }
    files.sort();
    (files, is_whole)
}

/// True if both names refer to the same file.
fn is_same_file(one: &Path, other: &Path) -> bool {
    FileId::of(one).is_some_and(|one| FileId::of(other) == Some(one))
}

/// True for a file that begins like an SQLite database.
pub(crate) fn is_database(path: &Path) -> bool {
    let mut head = [0; DATABASE_HEAD.len()];
    let read = std::fs::File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut head));
    read.is_ok() && head == *DATABASE_HEAD
}

/// True for a temporary file of SQLite beside an open database.
fn is_beside_database(path: &Path) -> bool {
    ["-wal", "-shm", "-journal"].iter().any(|end| {
        let main = path.to_str().and_then(|path| path.strip_suffix(end)).map(Path::new);
        main.is_some_and(|main| main.is_file() && (is_database(main) || is_named(main, |name| name == DATABASE)))
    })
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
            home.deliveries(),
            home.questions(),
            home.backups(),
            home.set_aside("2026-11-20"),
            home.replacement(),
            home.queue(),
            home.worker_lock(),
            home.hooks_log(),
            home.hooks_log_old(),
            home.told_once(),
            home.sync_lock(),
            home.embedding_lock(),
            home.vault_lock(),
            home.files_lock(),
            home.import_lock(),
            home.memories(),
            home.deleted_files(),
            home.http_key(),
            home.config(),
            home.setup(),
            home.setup_originals(),
            home.plugins(),
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

    #[test]
    fn a_database_is_a_copy_wherever_it_lies_and_a_file_of_keys_is_never_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        for made in ["backups", "old/older", ".hidden", "project/.git"] {
            fs::create_dir_all(home.dir().join(made)).unwrap();
        }
        let head = "SQLite format 3\0 and the rest";
        let copies = ["backups/a.db", "my copy.db", "notes.txt", "old/older/tessera.db", "tessera.db.bak"];
        let others = ["tessera.db", "tessera.db-wal", "backups/a.db-shm", "my copy.db-wal", ".hidden/a.db"];
        for name in copies.iter().chain(&others) {
            fs::write(home.dir().join(name), head).unwrap();
        }
        let small = ["config.toml.bak", "old/mine.jsonl"];
        let never =
            ["secret.key", "secret.key.bak", "old/secret.key", "config.toml", "project/a.txt", "tessera.snapshot"];
        for name in small.iter().chain(&never) {
            fs::write(home.dir().join(name), "text").unwrap();
        }
        let named = |names: &[&str]| names.iter().map(|name| home.dir().join(name)).collect::<Vec<_>>();
        assert_eq!(home.copies(), named(&copies));
        assert_eq!(home.small_files(), named(&small));
        assert!(home.is_walked_whole());
    }

    #[cfg(unix)]
    #[test]
    fn another_name_of_the_live_database_is_no_copy_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path());
        fs::write(home.database(), "SQLite format 3\0 and the rest").unwrap();
        fs::hard_link(home.database(), home.dir().join("same.db")).unwrap();
        std::os::unix::fs::symlink(home.database(), home.dir().join("link.db")).unwrap();
        assert_eq!((home.copies(), home.small_files()), (vec![], vec![]));
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
