//! The files of a home that are of plugins, of set-up, and of what takes place seldom.

use std::path::{Path, PathBuf};

use super::home::{Home, IMPORT_LOCK, PLUGINS, REPLACEMENT, SETUP, SETUP_ORIGINALS, VAULT_LOCK};

impl Home {
    /// The directory with a new database that is to take the place of the present one.
    pub(crate) fn replacement(&self) -> PathBuf {
        self.dir().join(REPLACEMENT)
    }

    /// Held by the process that tells a vault what it is to learn.
    pub fn vault_lock(&self) -> PathBuf {
        self.dir().join(VAULT_LOCK)
    }

    /// What set-up changed in clients' settings.
    pub fn setup(&self) -> PathBuf {
        self.dir().join(SETUP)
    }

    /// The directory of settings as they were before set-up.
    pub fn setup_originals(&self) -> PathBuf {
        self.dir().join(SETUP_ORIGINALS)
    }

    /// True for a small file that Tessera itself writes: queued turns, spools and logs. Any other is somebody else's, also where
    /// it lies in the home.
    pub(crate) fn is_own_small_file(&self, path: &Path) -> bool {
        let spools = [self.deliveries(), self.questions(), self.access_log(), self.hooks_log()];
        let begins = |own: &PathBuf| {
            let name = own.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            path.parent() == Some(self.dir())
                && path.file_name().is_some_and(|found| found.to_string_lossy().starts_with(&name))
        };
        path.starts_with(self.queue()) || spools.iter().any(begins)
    }

    /// The backup that was made last.
    pub fn newest_backup(&self) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.backups()).ok()?.flatten();
        let made = entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())));
        made.filter(|(_, path)| path.extension().is_some_and(|ending| ending == "db")).max().map(|(_, path)| path)
    }

    /// Held while data of other systems come over, by each that does so together, and alone while an import is undone.
    pub fn import_lock(&self) -> PathBuf {
        self.dir().join(IMPORT_LOCK)
    }

    /// The directory of plugins: their files, and what is noted of them.
    pub fn plugins(&self) -> PathBuf {
        self.dir().join(PLUGINS)
    }

    /// The plugins that were added, and what was granted to them.
    pub fn plugin_registry(&self) -> PathBuf {
        self.plugins().join("registry.json")
    }

    /// What plugins failed at and said, a line each.
    pub fn plugin_log(&self) -> PathBuf {
        self.plugins().join("plugins.log")
    }

    /// The older half of [`Home::plugin_log`].
    pub fn plugin_log_old(&self) -> PathBuf {
        self.plugins().join("plugins.log.old")
    }

    /// Which calls of plugins failed, and which went well after one that failed.
    pub fn plugin_counts(&self) -> PathBuf {
        self.plugins().join("counts")
    }

    /// Held while plugins are added and removed.
    pub fn plugin_lock(&self) -> PathBuf {
        self.plugins().join("registry.lock")
    }

    /// The directory of what was done and plugins are still to be told.
    pub fn plugin_spool(&self) -> PathBuf {
        self.plugins().join("spool")
    }

    /// Held by the process that tells them.
    pub fn plugin_spool_lock(&self) -> PathBuf {
        self.plugins().join("spool.lock")
    }

    /// The directory in which the program of a plugin works.
    pub fn plugin_data(&self, name: &str) -> PathBuf {
        self.plugins().join("data").join(name)
    }

    /// True for the code of plugins, and for what is noted of them without a word of a memory.
    pub(super) fn is_of_plugins(&self, path: &Path) -> bool {
        let is_log = [self.plugin_log(), self.plugin_log_old()].iter().any(|log| log == path);
        path.parent() == Some(&self.plugins()) && !is_log
    }
}
