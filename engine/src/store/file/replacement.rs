//! Replaces the database of a store. A process that is killed at any moment leaves the old database or the new one.
//!
//! The new database is built in a scratch directory inside the home directory, while `open.lock` is held. One rename of
//! this directory to [`Home::replacement`] commits the change. After that, each process that opens the store begins by
//! completing the replacement. A process that has the store open uses the new database at its next write.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::home::Home;
use super::identity::FileId;
use super::private;
use super::scratch::Scratch;

/// The file in the replacement directory that names the directory for the previous files.
const ASIDE: &str = "aside";
/// The files of an SQLite database, as suffixes of its name. The database itself is moved first, because no program
/// uses the other files without it.
const PARTS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The directory in which a new database is built. The directory is removed when this value is dropped, unless the
/// database was put in place.
pub(crate) struct Replacement {
    home: Home,
    scratch: Scratch,
    lock: File,
}

impl Replacement {
    /// Begins a replacement. Until the replacement ends, no other process creates, migrates or replaces the store.
    pub(crate) fn begin(home: &Home) -> Result<Self, StoreError> {
        let lock = lock(home)?;
        finish_locked(home)?;
        let scratch = Scratch::beside(home.dir()).map_err(|source| StoreError::file(home.dir(), source))?;
        Ok(Self { home: home.clone(), scratch, lock })
    }

    /// The home directory of the new database.
    pub(crate) fn home(&self) -> Home {
        Home::new(self.scratch.path())
    }

    /// Moves the new database, which must be closed, into place. Returns the directory with the previous files; `None`
    /// if there were none.
    pub(crate) fn put_in_place(self, stamp: &str) -> Result<Option<PathBuf>, StoreError> {
        let made = self.home();
        if made.write_ahead_log().exists() {
            return Err(StoreError::Busy { path: made.database() });
        }
        // The clock may show the same time twice.
        let aside = private::free_name(|again| self.home.set_aside(&format!("{stamp}{again}")));
        let aside = aside.ok_or_else(|| StoreError::Busy { path: self.home.dir().to_path_buf() })?;
        let name = aside.file_name().unwrap_or_default().as_encoded_bytes();
        let kept = |source| StoreError::file(made.dir(), source);
        private::replace(&made.dir().join(ASIDE), name).map_err(kept)?;
        File::open(made.database()).and_then(|file| file.sync_all()).map_err(kept)?;
        private::sync_dir(made.dir()).map_err(kept)?;
        let (held, dir) = self.scratch.keep();
        fs::rename(dir, self.home.replacement())
            .and_then(|()| private::sync_dir(self.home.dir()))
            .map_err(|source| StoreError::file(&self.home.replacement(), source))?;
        finish_locked(&self.home)?;
        drop((held, self.lock));
        Ok(aside.exists().then_some(aside))
    }
}

/// Finishes a replacement whose process was killed.
pub(crate) fn finish(home: &Home) -> Result<(), StoreError> {
    if home.replacement().exists() {
        let _lock = lock(home)?;
        finish_locked(home)?;
    }
    Ok(())
}

/// Does the same for a caller that already holds the lock.
pub(crate) fn finish_locked(home: &Home) -> Result<(), StoreError> {
    let new = Home::new(home.replacement());
    if !new.dir().exists() {
        return Ok(());
    }
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| StoreError::File { path, source }
    };
    // After the new database is in place, the file with its name no longer belongs to the old one.
    if new.database().try_exists().map_err(failed(&new.database()))? {
        let named = new.dir().join(ASIDE);
        let name = fs::read_to_string(&named).map_err(failed(&named))?;
        let aside = home.dir().join(Path::new(&name).file_name().unwrap_or_default());
        for part in PARTS.map(|end| private::with_end(&home.database(), end)).into_iter().chain([home.snapshot()]) {
            if part.try_exists().map_err(failed(&part))? {
                private::make_private_dir(&aside).map_err(failed(&aside))?;
                let to = aside.join(part.file_name().unwrap_or_default());
                match fs::rename(&part, &to) {
                    // The last process that closed the old database deleted its log.
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    moved => moved.map_err(failed(&part))?,
                }
            }
        }
        fs::rename(new.database(), home.database())
            .and_then(|()| private::sync_dir(home.dir()))
            .map_err(failed(&home.database()))?;
    }
    fs::remove_dir_all(new.dir()).map_err(failed(new.dir()))
}

/// True while this file is the database of the store.
pub(crate) fn is_in_place(home: &Home, file: FileId) -> bool {
    FileId::of(&home.database()) == Some(file) && !home.replacement().exists()
}

fn lock(home: &Home) -> Result<File, StoreError> {
    let lock = home.open_lock();
    private::lock(&lock).map_err(|source| StoreError::file(&lock, source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Draft;
    use crate::store::base::config::StoreConfig;
    use crate::store::base::store::Store;
    use crate::store::open::in_memory::config_at;

    fn opened(home: &Home) -> Store {
        Store::open(config_at(home)).unwrap()
    }

    /// A home directory with one memory, and a new database with a different memory, which is ready to replace it.
    fn ready() -> (tempfile::TempDir, Home, Replacement) {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::new(dir.path().join("h"));
        opened(&home).remember(Draft::new("of before")).unwrap();
        let replacement = Replacement::begin(&home).unwrap();
        let made = StoreConfig { home: replacement.home(), ..config_at(&home) };
        Store::open(made).unwrap().remember(Draft::new("of now")).unwrap();
        (dir, home, replacement)
    }

    fn texts(store: &Store) -> Vec<String> {
        let sql = "SELECT content FROM memories ORDER BY short_id";
        let mut statement = store.connection.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn whoever_opens_the_store_ends_what_was_begun_at_every_step() {
        for steps in 0..5 {
            let (_dir, home, replacement) = ready();
            fs::write(replacement.home().dir().join(ASIDE), "corrupt-then").unwrap();
            fs::rename(replacement.scratch.keep().1, home.replacement()).unwrap();
            drop(replacement.lock);
            let aside = Home::new(home.set_aside("then"));
            fs::create_dir(aside.dir()).unwrap();
            let new = Home::new(home.replacement());
            let moves = [
                (home.database(), aside.database()),
                (home.write_ahead_log(), aside.write_ahead_log()),
                (home.shared_memory(), aside.shared_memory()),
                (new.database(), home.database()),
            ];
            for (from, to) in moves.iter().take(steps).filter(|(from, _)| from.exists()) {
                fs::rename(from, to).unwrap();
            }
            assert_eq!(texts(&opened(&home)), ["of now"], "after {steps} steps");
            assert_eq!(texts(&opened(&aside)), ["of before"]);
            assert!(!home.replacement().exists());
        }
    }

    #[test]
    fn whoever_has_the_store_open_follows_before_it_writes_and_before_it_is_asked() {
        let (_dir, home, replacement) = ready();
        let (mut writer, mut reader) = (opened(&home), opened(&home));
        assert_eq!(texts(&reader), ["of before"]);
        let aside = replacement.put_in_place("then").unwrap().unwrap();
        writer.remember(Draft::new("said later")).unwrap();
        reader.follow().unwrap();
        assert_eq!(texts(&reader), ["of now", "said later"]);
        drop((writer, reader));
        assert_eq!(texts(&opened(&home)), ["of now", "said later"]);
        assert_eq!(
            texts(&opened(&Home::new(aside))),
            ["of before"],
            "nothing was written to the old database after its replacement"
        );
    }

    #[test]
    fn what_is_not_put_in_place_leaves_nothing() {
        let (_dir, home, replacement) = ready();
        drop(replacement);
        assert_eq!(texts(&opened(&home)), ["of before"]);
        let names: Vec<_> = fs::read_dir(home.dir()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().starts_with(private::SCRATCH)), "{names:?}");
    }
}
