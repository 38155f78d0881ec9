//! The files that a session edited, and whether its last edit is still in them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use tessera_tables::names;

use super::quote::quoted;

/// The maximum size in bytes of a file that is compared.
const LARGEST: u64 = 1024 * 1024;
/// The maximum number of files that are compared.
const MOST_FILES: usize = 24;

names! {
/// The state of an edited file.
pub enum FileState {
    /// The text of the session's last edit is in the file.
    Unchanged = "unchanged",
    /// It is no longer there, so somebody changed the file afterwards.
    Changed = "changed",
    /// The file does not exist.
    Deleted = "deleted",
    /// The file cannot be compared.
    Unknown = "unknown",
}
}

/// An edited file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedFile {
    /// The path, relative to the project if the file is inside it.
    pub path: String,
    /// The number of edits.
    pub edits: u32,
    /// The state.
    pub state: FileState,
}

/// The edits of a session, the most recently edited file last.
#[derive(Debug, Clone, Default)]
pub(super) struct Edits(Vec<Edit>);

#[derive(Debug, Clone)]
struct Edit {
    path: PathBuf,
    count: u32,
    /// The whole file, if the last edit wrote it.
    whole: Option<String>,
    /// Otherwise, the texts that the last edit inserted, and those that it deleted.
    inserted: Vec<String>,
    deleted: Vec<String>,
}

impl Edits {
    /// Reads a successful call of a tool.
    pub(super) fn read(&mut self, tool: &str, input: &Value) {
        if !matches!(tool, "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "Update") {
            return;
        }
        let text = |value: &Value, name: &str| Some(value.get(name)?.as_str()?.to_owned());
        let Some(path) = text(input, "file_path").or_else(|| text(input, "notebook_path")) else { return };
        let path = without_dots(Path::new(&path));
        let before = self.0.iter().position(|edit| edit.path == path).map(|at| self.0.remove(at));
        let several = input.get("edits").and_then(Value::as_array).into_iter().flatten();
        let (mut inserted, mut deleted) = (Vec::new(), Vec::new());
        for edit in std::iter::once(input).chain(several) {
            let old = text(edit, "old_string");
            if let Some(old) = &old {
                // A later edit of the same call replaced this text.
                let old = plain(old);
                inserted.retain(|part: &String| !part.contains(&old) && !old.contains(part.as_str()));
            }
            match (text(edit, "new_string").filter(|new| !new.is_empty()), old) {
                (Some(new), _) => inserted.push(plain(&new)),
                (None, Some(old)) => deleted.push(plain(&old)),
                (None, None) => {}
            }
        }
        let count = before.map_or(0, |edit| edit.count) + 1;
        self.0.push(Edit { path, count, whole: text(input, "content"), inserted, deleted });
    }

    /// The last edited files, the most recently edited one first.
    pub(super) fn files(&self, root: &Path) -> Vec<EditedFile> {
        let file = |edit: &Edit| {
            let path = edit.path.strip_prefix(root).unwrap_or(&edit.path);
            Some(EditedFile { path: quoted(&path.to_string_lossy())?, edits: edit.count, state: edit.state(root) })
        };
        self.0.iter().rev().take(MOST_FILES).filter_map(file).collect()
    }
}

impl Edit {
    fn state(&self, root: &Path) -> FileState {
        let path = root.join(&self.path);
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            // The transcript may be of another machine.
            Err(error) if error.kind() == ErrorKind::NotFound && path.starts_with(root) => return FileState::Deleted,
            Err(_) => return FileState::Unknown,
        };
        if !metadata.is_file() || metadata.len() > LARGEST {
            return FileState::Unknown;
        }
        let Ok(now) = fs::read_to_string(&path) else { return FileState::Unknown };
        let now = plain(&now);
        let is_unchanged = match &self.whole {
            // An editor may have changed the end of the file.
            Some(whole) => now.trim_end() == plain(whole).trim_end(),
            None if self.inserted.is_empty() && self.deleted.is_empty() => return FileState::Unknown,
            None => {
                let has_all = self.inserted.iter().all(|part| now.contains(part));
                has_all && !self.deleted.iter().any(|part| now.contains(part))
            }
        };
        if is_unchanged { FileState::Unchanged } else { FileState::Changed }
    }
}

/// A path without `.` and `..`.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// A text with line feeds only, because an editor may have changed the line ends.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}
