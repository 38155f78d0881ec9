//! Files of others: read whole. They are replaced whole by [`tessera_engine::store::replace`].

use std::fs;
use std::io;
use std::path::Path;

use crate::plan::SetupError;

/// The bytes of a file; `None` when there is none. What is no file is not waited for.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, SetupError> {
    let wrong = |problem: String| SetupError::Unreadable { path: path.to_path_buf(), problem };
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(wrong("is not a file".into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    fs::read(path).map(Some).map_err(|error| wrong(error.to_string()))
}
