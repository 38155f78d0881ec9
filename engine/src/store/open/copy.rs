//! A whole copy of the database, made by SQLite itself, written beside its place and renamed there.

use std::fs;
use std::path::Path;

use rusqlite::Connection;

use crate::store::file::error::StoreError;
use crate::store::file::private;
use crate::store::file::scratch::Scratch;

/// Copies the database to `target`. Whatever fails, a file that was there before stays.
pub(crate) fn write(connection: &Connection, database: &Path, target: &Path) -> Result<(), StoreError> {
    let dir = private::dir_of(target);
    private::make_private_dir(dir).map_err(|source| StoreError::file(dir, source))?;
    let failed = |source| StoreError::file(target, source);
    let scratch = Scratch::beside(dir).map_err(failed)?;
    let copy = scratch.path().join("copy.db");
    let bytes = copy.as_os_str().as_encoded_bytes();
    let name = std::str::from_utf8(bytes).map_err(|_| failed(std::io::ErrorKind::InvalidFilename.into()))?;
    connection.execute("VACUUM INTO ?1", [name]).map_err(|error| StoreError::sqlite(database, error))?;
    private::tighten(&copy);
    fs::File::open(&copy).and_then(|file| file.sync_all()).map_err(failed)?;
    fs::rename(&copy, target).and_then(|()| private::sync_dir(dir)).map_err(failed)
}
