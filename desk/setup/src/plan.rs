//! A plan of changes.
//!
//! Files of other programs are always read as a whole, and [`tessera_engine::store::replace`] replaces them as a whole.

use std::path::{Path, PathBuf};
use std::{fs, io};

use similar::TextDiff;
use tessera_engine::store::Home;

use crate::error::SetupError;
use crate::toml;

/// One file before and after. `None` is a missing file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub path: PathBuf,
    /// Its bytes now.
    pub before: Option<Vec<u8>>,
    /// Its bytes then.
    pub after: Option<Vec<u8>>,
}

impl Edit {
    pub(crate) fn new(path: PathBuf, before: Option<Vec<u8>>, after: Option<Vec<u8>>) -> Self {
        Self { path, before, after }
    }
}

/// Edits of files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The edits that change something.
    pub edits: Vec<Edit>,
}

impl Plan {
    /// Adds an edit, unless it changes nothing.
    pub(crate) fn add(&mut self, edit: Edit) {
        if edit.before != edit.after {
            self.edits.push(edit);
        }
    }

    /// Adds the setting that offers the memory tool. The setting applies to every client, because all clients use the
    /// same store.
    ///
    /// # Errors
    /// Returns an error if the settings of the store cannot be read.
    pub fn offer_memory_files(&mut self, home: &Home) -> Result<(), SetupError> {
        let path = home.config();
        let before = read(&path)?;
        let after = toml::with_memory_files(&path, before.as_deref())?;
        self.add(Edit::new(path, before, Some(after)));
        Ok(())
    }

    /// True if nothing must change.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// The changes as a unified diff, with three lines of context as in `diff -u`.
    pub fn diff(&self) -> String {
        let lines =
            |bytes: Option<&Vec<u8>>| bytes.map_or_else(String::new, |b| String::from_utf8_lossy(b).into_owned());
        let one = |edit: &Edit| {
            let (before, after) = (lines(edit.before.as_ref()), lines(edit.after.as_ref()));
            let name = |bytes: Option<&Vec<u8>>| {
                bytes.map_or_else(|| "/dev/null".to_owned(), |_| edit.path.display().to_string())
            };
            let diff = TextDiff::from_lines(&before, &after);
            diff.unified_diff().header(&name(edit.before.as_ref()), &name(edit.after.as_ref())).to_string()
        };
        self.edits.iter().map(one).collect()
    }
}

/// The bytes of a file; `None` if it does not exist. Special files are rejected, because reading them may block.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, SetupError> {
    let wrong = |problem: String| SetupError::Unreadable { path: path.to_path_buf(), problem };
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(wrong("is not a file".into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    fs::read(path).map(Some).map_err(|error| wrong(error.to_string()))
}
