//! A folder for one test, and a place outside of it that nothing may reach.

use std::fs;
#[cfg(unix)]
use std::path::Path;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use tessera_files::{Command, FileError, Limits, Prepared, Tree, prepare};

/// What stands in the file outside.
pub(crate) const OUTSIDE: &str = "outside and not to be read";

pub(crate) struct Room {
    pub(crate) home: TempDir,
    pub(crate) tree: Tree,
    pub(crate) limits: Limits,
}

impl Room {
    pub(crate) fn new() -> Self {
        let home = TempDir::new().unwrap();
        fs::create_dir(home.path().join("outside")).unwrap();
        fs::write(home.path().join("outside/secret.txt"), OUTSIDE).unwrap();
        let tree = Tree::create(&home.path().join("memories"), "memories").unwrap();
        Self { home, tree, limits: Limits::USUAL }
    }

    /// A path of this machine in the folder.
    pub(crate) fn at(&self, relative: &str) -> PathBuf {
        self.home.path().join("memories").join(relative)
    }

    #[cfg(unix)]
    pub(crate) fn outside(&self) -> PathBuf {
        self.home.path().join("outside")
    }

    pub(crate) fn put(&self, relative: &str, text: impl AsRef<[u8]>) {
        let path = self.at(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[cfg(unix)]
    pub(crate) fn fifo(&self, relative: &str) {
        assert!(std::process::Command::new("mkfifo").arg(self.at(relative)).status().unwrap().success());
    }

    pub(crate) fn text(&self, relative: &str) -> String {
        fs::read_to_string(self.at(relative)).unwrap()
    }

    pub(crate) fn prepare(&self, command: &Value) -> Result<Prepared, FileError> {
        prepare(&self.tree, &Command::from_json(command)?, &self.limits)
    }

    /// Does a command; what it answers, or what is wrong. Neither may say where the folder is.
    pub(crate) fn run(&self, command: &Value) -> Result<String, String> {
        let done = self.prepare(command).and_then(|prepared| prepared.commit(&self.tree));
        let said = done.map(|done| done.reply.text()).map_err(|error| error.to_string());
        let (Ok(text) | Err(text)) = &said;
        let host = self.home.path().to_str().unwrap();
        assert!(!text.contains(host) && !text.contains("os error"), "a path of this machine: {text}");
        said
    }

    pub(crate) fn view(&self, path: &str) -> Result<String, String> {
        self.run(&json!({"command": "view", "path": path}))
    }

    pub(crate) fn create(&self, path: &str, text: &str) -> Result<String, String> {
        self.run(&json!({"command": "create", "path": path, "file_text": text}))
    }

    pub(crate) fn replace(&self, path: &str, old: &str, new: &str) -> Result<String, String> {
        self.run(&json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new}))
    }

    pub(crate) fn insert(&self, path: &str, line: i64, text: &str) -> Result<String, String> {
        self.run(&json!({"command": "insert", "path": path, "insert_line": line, "insert_text": text}))
    }

    pub(crate) fn delete(&self, path: &str) -> Result<String, String> {
        self.run(&json!({"command": "delete", "path": path}))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> Result<String, String> {
        self.run(&json!({"command": "rename", "old_path": from, "new_path": to}))
    }

    /// All names in the home with the texts of files, hidden ones with them: equal while nothing was changed.
    #[cfg(unix)]
    pub(crate) fn everything(&self) -> Vec<(String, Option<String>)> {
        let mut found = Vec::new();
        collect(self.home.path(), self.home.path(), &mut found);
        found.sort();
        found
    }
}

#[cfg(unix)]
fn collect(top: &Path, directory: &Path, found: &mut Vec<(String, Option<String>)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(top).unwrap().to_str().unwrap().to_owned();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            found.push((name, None));
            collect(top, &path, found);
        } else {
            found.push((name, kind.is_file().then(|| fs::read_to_string(&path).unwrap_or_default())));
        }
    }
}

/// Every command on a path, and rename with it on either side.
#[cfg(unix)]
pub(crate) fn every_command(path: &str) -> Vec<Value> {
    vec![
        json!({"command": "view", "path": path}),
        json!({"command": "create", "path": path, "file_text": "planted"}),
        json!({"command": "str_replace", "path": path, "old_str": "outside", "new_str": "planted"}),
        json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "planted"}),
        json!({"command": "delete", "path": path}),
        json!({"command": "rename", "old_path": path, "new_path": "/memories/stolen.txt"}),
        json!({"command": "rename", "old_path": "/memories/inside.txt", "new_path": path}),
    ]
}
