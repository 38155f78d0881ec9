//! More files of a home directory: those of plugins, of setup, and of rare operations.

use std::path::{Path, PathBuf};

use super::home::Home;
use super::names::{IMPORT_LOCK, PLUGINS, REPLACEMENT, RESULTS, SESSIONS, SETUP, SETUP_ORIGINALS, VAULT_LOCK};

impl Home {
    /// The directory with a new database that is to replace the present one.
    pub(crate) fn replacement(&self) -> PathBuf {
        self.dir().join(REPLACEMENT)
    }

    /// The lock of the process that sends changes to a vault.
    pub fn vault_lock(&self) -> PathBuf {
        self.dir().join(VAULT_LOCK)
    }

    /// The record of changes to clients' settings.
    pub fn setup(&self) -> PathBuf {
        self.dir().join(SETUP)
    }

    /// The directory with the settings of clients as they were before `tessera setup`.
    pub fn setup_originals(&self) -> PathBuf {
        self.dir().join(SETUP_ORIGINALS)
    }

    /// True for a small file that Tessera writes: queued turns, spools and logs. The caller leaves other files to the
    /// user or to another program.
    pub(crate) fn is_own_small_file(&self, path: &Path) -> bool {
        let spools = [self.deliveries(), self.questions(), self.access_log(), self.hooks_log()];
        let begins = |own: &PathBuf| {
            let name = own.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            path.parent() == Some(self.dir())
                && path.file_name().is_some_and(|found| found.to_string_lossy().starts_with(&name))
        };
        path.starts_with(self.queue()) || spools.iter().any(begins)
    }

    /// The directory with the records of recent sessions.
    pub fn sessions(&self) -> PathBuf {
        self.dir().join(SESSIONS)
    }

    /// The directory with the results of the learning worker that were not shown yet.
    pub fn results(&self) -> PathBuf {
        self.dir().join(RESULTS)
    }

    /// The latest backup.
    pub fn newest_backup(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.backups()).ok()?.flatten();
        let made = entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
        made.filter(|(_, path)| path.extension().is_some_and(|ending| ending == "db")).max().map(|(_, path)| path)
    }

    /// The lock for imports. Several imports may hold this lock at the same time, but undoing an import needs it alone.
    pub fn import_lock(&self) -> PathBuf {
        self.dir().join(IMPORT_LOCK)
    }

    /// The directory of plugins, with their files and records.
    pub fn plugins(&self) -> PathBuf {
        self.dir().join(PLUGINS)
    }

    /// The added plugins and their permissions.
    pub fn plugin_registry(&self) -> PathBuf {
        self.plugins().join("registry.json")
    }

    /// Errors and messages of plugins, one per line.
    pub fn plugin_log(&self) -> PathBuf {
        self.plugins().join("plugins.log")
    }

    /// The previous file of [`Home::plugin_log`].
    pub fn plugin_log_old(&self) -> PathBuf {
        self.plugins().join("plugins.log.old")
    }

    /// Failed calls of plugins, and successful ones after a failure.
    pub fn plugin_counts(&self) -> PathBuf {
        self.plugins().join("counts")
    }

    /// The lock for adding and removing plugins.
    pub fn plugin_lock(&self) -> PathBuf {
        self.plugins().join("registry.lock")
    }

    /// The directory of events that wait for plugins.
    pub fn plugin_spool(&self) -> PathBuf {
        self.plugins().join("spool")
    }

    /// The lock of the process that sends events to plugins.
    pub fn plugin_spool_lock(&self) -> PathBuf {
        self.plugins().join("spool.lock")
    }

    /// The working directory of a plugin's program.
    pub fn plugin_data(&self, name: &str) -> PathBuf {
        self.plugins().join("data").join(name)
    }

    /// True for the code of plugins, and for records of plugins that never contain text from memories.
    pub(super) fn is_of_plugins(&self, path: &Path) -> bool {
        let is_log = [self.plugin_log(), self.plugin_log_old()].iter().any(|log| log == path);
        path.parent() == Some(&self.plugins()) && !is_log
    }
}
