//! The names and purposes of the files of a home directory.

use super::private;

pub(super) const DATABASE: &str = "tessera.db";
pub(super) const SNAPSHOT: &str = "tessera.snapshot";
pub(super) const MARKER: &str = "store.json";
pub(super) const OPEN_LOCK: &str = "open.lock";
pub(super) const ACCESS_LOG: &str = "access.log";
pub(super) const RECEIPTS: &str = "deliveries.log";
pub(super) const QUESTIONS: &str = "questions.log";
pub(super) const BACKUPS: &str = "backups";
pub(super) const SET_ASIDE: &str = "corrupt-";
pub(super) const REPLACEMENT: &str = "replacement";
pub(super) const QUEUE: &str = "queue";
pub(super) const RESULTS: &str = "results";
pub(super) const SESSIONS: &str = "sessions";
pub(super) const WORKER_LOCK: &str = "worker.lock";
pub(super) const HOOKS_LOG: &str = "hooks.log";
pub(super) const HOOKS_LOG_OLD: &str = "hooks.log.old";
pub(super) const TOLD_ONCE: &str = "told-once";
pub(super) const SYNC_LOCK: &str = "sync.lock";
pub(super) const EMBEDDING_LOCK: &str = "embedding.lock";
pub(super) const VAULT_LOCK: &str = "vault.lock";
pub(super) const FILES_LOCK: &str = "files.lock";
pub(super) const IMPORT_LOCK: &str = "import.lock";
pub(super) const MEMORIES: &str = "memories";
pub(super) const DELETED_FILES: &str = "deleted-files";
pub(super) const SECRET_KEY: &str = "secret.key";
pub(super) const HTTP_KEY: &str = "mcp-http.key";
pub(super) const CONFIG: &str = "config.toml";
pub(super) const SETUP: &str = "setup.json";
pub(super) const SETUP_ORIGINALS: &str = "setup-originals";
pub(super) const PLUGINS: &str = "plugins";

/// A file or directory of a home directory.
struct HomeFile {
    name: &'static str,
    /// What may follow the name, for example `-wal`. Empty if only the name itself is used.
    endings: &'static [&'static str],
    #[cfg_attr(not(test), expect(dead_code, reason = "the reference in docs contains it"))]
    purpose: &'static str,
}

/// Creates an entry for one file.
const fn one(name: &'static str, purpose: &'static str) -> HomeFile {
    HomeFile { name, endings: &[], purpose }
}

/// Creates an entry for all files whose names begin with `name`.
const fn each(name: &'static str, endings: &'static [&'static str], purpose: &'static str) -> HomeFile {
    HomeFile { name, endings, purpose }
}

/// All files and directories that Tessera creates in a home directory, first those that users want to keep.
const FILES: [HomeFile; 31] = [
    each(DATABASE, &["", "-wal", "-shm"], "The database: memories, history, encrypted secrets, delivery log"),
    one(MEMORIES, "Directory of the memory files"),
    one(CONFIG, "Your settings"),
    each(SECRET_KEY, &[""], "The key that encrypts your secrets, unless a keyring or a variable has it"),
    one(BACKUPS, "Copies of the database before migrations, restores and repairs"),
    one(PLUGINS, "Installed plugins"),
    one(HTTP_KEY, "The key that clients of `tessera mcp --http` send"),
    each(DELETED_FILES, &[""], "Copies of deleted memory files whose text is in no memory"),
    one(SETUP, "The client settings that `tessera setup` changed"),
    one(SETUP_ORIGINALS, "Copies of client settings before `tessera setup` changed them"),
    each(SNAPSHOT, &[""], "The index, a cache that Tessera rebuilds if it is missing"),
    one(MARKER, "Identifies the store, so that Tessera detects a lost database"),
    one(QUEUE, "Finished turns from which Tessera has not learned yet"),
    one(SESSIONS, "The sessions of the last seven days, with the path of each transcript"),
    one(RESULTS, "What Tessera learned in a session and has not shown yet, as IDs"),
    one(HOOKS_LOG, "Failures of hooks, one line each"),
    one(HOOKS_LOG_OLD, "The previous `hooks.log`"),
    one(TOLD_ONCE, "Hashes of notices that you have already seen"),
    each(ACCESS_LOG, &[""], "Uses of memories; the next write moves them to the database"),
    each(RECEIPTS, &[""], "What prompts received; the next write moves it to the database"),
    each(QUESTIONS, &[""], "Unanswered questions; the next write moves them to the database"),
    each(SET_ASIDE, &["TIME"], "A damaged database that a repair or a restore replaced"),
    one(REPLACEMENT, "A finished new database that is not in its place yet"),
    each(private::SCRATCH, &["…"], "Unfinished copies, which Tessera deletes later"),
    one(OPEN_LOCK, "Lock for creating, migrating or replacing the database"),
    one(WORKER_LOCK, "Lock of the process that learns"),
    one(SYNC_LOCK, "Lock of the process that syncs"),
    one(EMBEDDING_LOCK, "Lock of the process that computes embeddings"),
    one(VAULT_LOCK, "Lock of the process that moves secrets to a vault"),
    one(FILES_LOCK, "Lock of the process that reads memory files and watched folders"),
    one(IMPORT_LOCK, "Lock of an import"),
];

/// True for the name of one of Tessera's own files.
pub(super) fn is_ours(name: &str) -> bool {
    FILES.iter().any(|file| if file.endings.is_empty() { name == file.name } else { name.starts_with(file.name) })
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;

    use super::*;

    #[test]
    fn the_reference_lists_all_files() {
        let mut page = "<!-- Generated from the program. -->\n<!-- markdownlint-disable MD013 -->\n\n# Files\n\n\
                        Tessera keeps all data in its home directory. `tessera status` prints the path. `TESSERA_HOME` or \
                        `--home` selects another directory.\nDirectories have mode 0700, and files 0600, so only your \
                        account can read them.\n\n| file or directory | content |\n|---|---|\n"
            .to_owned();
        for HomeFile { name, endings, purpose } in FILES {
            let endings = if endings.is_empty() { &[""] } else { endings };
            let names: Vec<String> = endings.iter().map(|ending| format!("`{name}{ending}`")).collect();
            page.push_str(&format!("| {} | {purpose} |\n", names.join(", ")));
        }
        expect_file!["../../../../docs/reference/files.md"].assert_eq(&page);
    }
}
