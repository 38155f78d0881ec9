//! Restores a backup: its content replaces the content of the store in one transaction.
//!
//! The database file itself stays, so that other processes continue with the restored content. All steps that may fail
//! run on a copy first. The previous content is kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;
use tessera_seal::{Keys, keys_in, write_keys};

use super::backup::stamp;
use super::salvage::DamagedStore;
use crate::store::base::config::StoreConfig;
use crate::store::base::secrets::no_key;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::replacement::Replacement;
use crate::store::file::scratch::Scratch;
use crate::store::file::{marker, private, replacement, scratch};
use crate::store::logs::access_log;
use crate::store::open::migrate;
use crate::store::rows::codec::Ask as _;

/// A backup compared with the store that it would replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replacing {
    /// Memories in the backup.
    pub memories: u64,
    /// Memories in the store.
    pub now: u64,
    /// True if the backup was made from a different store, for example on another machine.
    pub is_of_another_store: bool,
}

/// The result of restoring a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Restored {
    /// Memories in the store now.
    pub memories: u64,
    /// The file with the previous content; `None` if there was none.
    pub kept_aside: Option<PathBuf>,
    /// The IDs of missing keys. Some secrets in the backup are encrypted with these keys.
    pub missing_keys: Vec<String>,
    /// The number of texts that were hidden since the backup was made, and may be visible again.
    pub not_hidden: usize,
}

/// The file of a backup's keys, which `backup --with-key` writes.
pub fn key_file(backup: &Path) -> PathBuf {
    private::with_end(backup, ".key")
}

impl Store {
    /// Writes the keys of a backup's secrets beside it. False if there are none.
    ///
    /// # Errors
    /// Returns an error if the keys cannot be read or written.
    pub fn backup_keys(&self, backup: &Path) -> Result<bool, StoreError> {
        let Some(held) = self.secrets.known_keys(&self.connection)? else { return Ok(false) };
        write_keys(&key_file(backup), &held.keys, true).map_err(no_key)?;
        Ok(true)
    }

    /// Replaces the content of the store with that of a backup, if `agreed` returns true. The next sync compares
    /// everything with the server.
    ///
    /// # Errors
    /// Returns an error if the file is not a backup or is damaged, or the store cannot be written. Then the store is unchanged.
    pub fn restore_backup(
        config: StoreConfig,
        file: &Path,
        agreed: impl FnOnce(Replacing) -> bool,
    ) -> Result<Option<Restored>, StoreError> {
        let home = config.home.clone();
        private::make_private_dir(home.dir()).map_err(|source| StoreError::file(home.dir(), source))?;
        scratch::sweep(&home);
        let scratch = Scratch::beside(home.dir()).map_err(|source| StoreError::file(home.dir(), source))?;
        let prepared = Home::new(scratch.path());
        copy_of(file, &prepared)?;
        let mut live = present(&config)?;
        let not_hidden = live.as_mut().map_or(Ok(0), |live| hide_again(live, &prepared))?;
        let mut backup = Self::open(StoreConfig { home: prepared.clone(), ..config.clone() })?;
        if backup.damage_found()?.is_some() {
            let problem = "it is damaged; use another backup";
            return Err(StoreError::NotABackup { path: file.to_owned(), problem });
        }
        let memories = backup.stats()?.memories;
        let (now, is_of_another_store) = match &mut live {
            Some(live) => (live.stats()?.memories, backup.identity()? != live.identity()?),
            None => (0, false),
        };
        if !agreed(Replacing { memories, now, is_of_another_store }) {
            return Ok(None);
        }
        let kept_aside = match live {
            Some(live) => put(backup, live)?,
            None => put_for_damaged(backup, &config)?,
        };
        marker::write(&home, memories)?;
        let mut store = Self::open(config)?;
        store.rebuild_snapshot()?;
        let missing_keys = store.take_keys(file)?;
        Ok(Some(Restored { memories, kept_aside, missing_keys, not_hidden }))
    }

    /// Continues the IDs and revs of the present store, so none is assigned twice.
    fn come_after(&mut self, rev: u64, short_id: u64) -> Result<(), StoreError> {
        self.write(|change| {
            let raise = "UPDATE meta SET value = max(value, ?2) WHERE key = ?1";
            change.tx.execute(raise, ("rev", rev + 1))?;
            change.tx.execute(raise, ("short_id", short_id))?;
            change.tx.execute_batch("UPDATE server SET is_whole = 0; DELETE FROM intents;")?;
            Ok(())
        })
    }

    /// Adds the keys stored beside a backup to the store's own keys. Returns the IDs of keys that are still missing.
    fn take_keys(&self, file: &Path) -> Result<Vec<String>, StoreError> {
        let own = self.secrets.known_keys(&self.connection)?.map(|held| (*held.keys).clone());
        let theirs = keys_in(&key_file(file)).map_err(no_key)?;
        let known = match (own, theirs) {
            (Some(own), None) => Some(own),
            (own, Some(theirs)) => {
                let all =
                    own.into_iter().chain([theirs]).flat_map(|keys| std::iter::once(keys.current).chain(keys.before));
                let mut keys: Vec<_> = Vec::new();
                for key in all {
                    if keys.iter().all(|known: &tessera_seal::Key| known.id() != key.id()) {
                        keys.push(key);
                    }
                }
                let mut keys = keys.into_iter();
                let merged = keys.next().map(|current| Keys { current, before: keys.collect() });
                merged.as_ref().map(|keys| self.secrets.replace(&self.connection, keys)).transpose()?;
                merged
            }
            (None, None) => None,
        };
        let ids: Vec<String> = known
            .iter()
            .flat_map(|keys| std::iter::once(&keys.current).chain(&keys.before))
            .map(|key| key.id().to_string())
            .collect();
        let mut needed = self.needed_keys().map_err(|error| self.failed(error))?;
        needed.retain(|id| !ids.contains(id));
        Ok(needed)
    }

    /// The identity of this store.
    fn identity(&self) -> Result<Vec<u8>, StoreError> {
        let sql = "SELECT CAST(value AS BLOB) FROM meta WHERE key = 'store_id'";
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| self.failed(error))
    }
}

/// Hides again in a restored backup what was hidden since it was made. The restored store does not know about it. Returns
/// the number of texts that cannot be hidden.
fn hide_again(live: &mut Store, prepared: &Home) -> Result<usize, StoreError> {
    live.finish_hiding();
    let database = prepared.database();
    let theirs = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .and_then(|copy| copy.one("SELECT CAST(value AS BLOB) FROM meta WHERE key = 'store_id'", [], |row| row.get(0)));
    let theirs: Vec<u8> = theirs.map_err(|error| StoreError::sqlite(&database, error))?;
    // Another store cannot decrypt what this one has encrypted.
    if live.identity()? == theirs { live.hide_again_in(&database) } else { Ok(live.marked()?.len()) }
}

/// How often the copy is tried while other processes use the store.
const MOST_WAITS: u32 = 300;
const WAIT: Duration = Duration::from_millis(50);

/// Copies all pages in one transaction, so that other processes see either the old or the new content. Returns the file
/// with the previous content.
fn put(mut backup: Store, mut live: Store) -> Result<Option<PathBuf>, StoreError> {
    // The spools belong to the present content, of which a copy is kept.
    live.fold_accesses()?;
    live.fold_questions()?;
    live.fold_deliveries()?;
    let (place, stamp) = (live.home.clone(), stamp(live.now()));
    let opened = |path: &Path| {
        let opened = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        opened.map_err(|error| StoreError::sqlite(path, error))
    };
    let (source, before) = (opened(&backup.path)?, opened(&live.path)?);
    let failed = |error| StoreError::sqlite(&place.database(), error);
    let live_file = live.file;
    let pages = Backup::new(&source, &mut live.connection).map_err(failed)?;
    // The first page locks the store. From here on, no other process writes, so the copy contains all acknowledged
    // writes.
    step(&pages, 1, &place)?;
    if live_file.is_some_and(|file| !replacement::is_in_place(&place, file)) {
        return Err(StoreError::Replaced { path: place.database() });
    }
    let number = |key: &str| {
        let sql = "SELECT value FROM meta WHERE key = ?1";
        before.query_row(sql, [key], |row| row.get::<_, u64>(0)).map_err(failed)
    };
    let (rev, short_id) = (number("rev")?, number("short_id")?);
    // If nothing was ever stored, no copy is kept.
    let kept_aside = if rev == 0 { None } else { Some(set_aside(&before, &place, &stamp)?) };
    backup.come_after(rev, short_id)?;
    drop(backup);
    step(&pages, -1, &place)?;
    Ok(kept_aside)
}

/// Copies the present content to a new file that is never rotated. The name is unique even if the clock shows the same
/// time twice.
fn set_aside(before: &Connection, place: &Home, stamp: &str) -> Result<PathBuf, StoreError> {
    let named = |again: &str| place.backups().join(format!("before-restore-{stamp}{again}.db"));
    let target = private::free_name(named).ok_or_else(|| StoreError::Busy { path: place.backups() })?;
    migrate::write(before, &place.database(), &target)?;
    Ok(target)
}

/// Copies some or all pages as soon as other processes allow it.
fn step(pages: &Backup<'_, '_>, count: i32, home: &Home) -> Result<(), StoreError> {
    for _ in 0..MOST_WAITS {
        match pages.step(count).map_err(|error| StoreError::sqlite(&home.database(), error))? {
            StepResult::Done | StepResult::More => return Ok(()),
            _ => std::thread::sleep(WAIT),
        }
    }
    Err(StoreError::Busy { path: home.database() })
}

/// Copies a backup to a place where it can be opened and migrated. The backup itself is only read.
fn copy_of(file: &Path, to: &Home) -> Result<(), StoreError> {
    let found = std::fs::metadata(file).map_err(|_| StoreError::NotABackup {
        path: file.to_owned(),
        problem: "it does not exist, or you have no permission; check the path",
    })?;
    if !found.is_file() {
        let problem = "it is not a file; use the file that `tessera backup` wrote";
        return Err(StoreError::NotABackup { path: file.to_owned(), problem });
    }
    let source = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let source = source.map_err(|error| StoreError::sqlite(file, error))?;
    // An empty file would open as an empty database.
    let sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('meta', 'memories')";
    let found: rusqlite::Result<u32> = source.query_row(sql, [], |row| row.get(0));
    let is_other = matches!(&found, Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase));
    if is_other || matches!(found, Ok(0 | 1)) {
        let problem = "it is not a Tessera backup; use a file that `tessera backup` wrote";
        return Err(StoreError::NotABackup { path: file.to_owned(), problem });
    }
    found.map_err(|error| StoreError::sqlite(file, error))?;
    migrate::write(&source, file, &to.database())
}

/// The present store; `None` if it is damaged or missing.
fn present(config: &StoreConfig) -> Result<Option<Store>, StoreError> {
    match Store::open(config.clone()) {
        Ok(store) => Ok(store.damage_found()?.is_none().then_some(store)),
        Err(StoreError::Corrupt { .. } | StoreError::Vanished { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Replaces a damaged or missing database with a new one, which has the backup's content. Returns the directory of the
/// previous files.
fn put_for_damaged(backup: Store, config: &StoreConfig) -> Result<Option<PathBuf>, StoreError> {
    let replacement = Replacement::begin(&config.home)?;
    let wreck = DamagedStore::open(&config.home)?;
    let (rev, short_id) = wreck.as_ref().map_or((0, 0), |wreck| (wreck.rev(), wreck.short_id()));
    migrate::write(&backup.connection, &backup.path, &replacement.home().database())?;
    let mut made = Store::open(StoreConfig { home: replacement.home(), ..config.clone() })?;
    made.come_after(rev, short_id)?;
    drop(made);
    let kept_aside = replacement.put_in_place(&stamp(config.clock.now()))?;
    // Recorded uses of memories that no longer exist are discarded, because their IDs may be assigned again.
    access_log::LOG.discard(&config.home);
    Ok(kept_aside)
}
