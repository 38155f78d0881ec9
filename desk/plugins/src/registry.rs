//! The added plugins, with their granted rights and file hashes. The registry is a plain value; the service layer reads
//! and writes its file.

use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};

use crate::MOST_FILE;
use crate::failure::{Failure, PluginError};
use crate::manifest::{Event, Manifest, Name, When};

/// A file as it was when a plugin was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pinned {
    /// Its path.
    pub path: PathBuf,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
}

impl Pinned {
    /// Reads the present state of a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be read, or is too large.
    pub fn of(path: &Path) -> Result<Self, PluginError> {
        let wrong = |problem: String| PluginError::File { path: path.to_path_buf(), problem };
        let bytes = read_file(path).map_err(wrong)?;
        Ok(Self { path: path.to_path_buf(), sha256: digest(&bytes) })
    }

    /// The content of the file, if it is unchanged.
    ///
    /// # Errors
    /// Returns an error if it changed.
    pub fn read(&self) -> Result<Vec<u8>, Failure> {
        let changed = || Failure::Changed { path: self.path.clone() };
        let bytes = read_file(&self.path).map_err(|_| changed())?;
        if digest(&bytes) == self.sha256 { Ok(bytes) } else { Err(changed()) }
    }
}

/// The bytes of a regular file of limited size.
fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let found = path.metadata().map_err(|error| error.to_string())?;
    if !found.is_file() {
        return Err("is not a file".to_owned());
    }
    if found.len() > MOST_FILE {
        return Err(format!("is larger than {} MiB", MOST_FILE / 1024 / 1024));
    }
    std::fs::read(path).map_err(|error| error.to_string())
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    let mut context = Context::new(&SHA256);
    context.update(bytes);
    context.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The code that is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Body {
    /// A WASM file.
    Wasm(Pinned),
    /// A program.
    Command {
        /// Its path.
        program: PathBuf,
        /// The arguments.
        arguments: Vec<String>,
        /// The files that must stay unchanged.
        files: Vec<Pinned>,
    },
}

impl Body {
    /// The word for its kind.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Wasm(_) => "wasm",
            Self::Command { .. } => "command",
        }
    }

    /// The files that must stay unchanged.
    pub fn files(&self) -> &[Pinned] {
        match self {
            Self::Wasm(file) => std::slice::from_ref(file),
            Self::Command { files, .. } => files,
        }
    }
}

/// An added plugin; its manifest contains the granted rights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plugin {
    /// Its properties, and its granted rights.
    pub manifest: Manifest,
    /// The code that is run.
    pub body: Body,
}

/// The added plugins, in call order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registry {
    /// The plugins.
    pub plugins: Vec<Plugin>,
}

impl Registry {
    /// Parses a registry; `None` if it is invalid, perhaps because a newer program wrote it.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// The plugin of a name.
    pub fn named(&self, name: &Name) -> Option<&Plugin> {
        self.plugins.iter().find(|plugin| plugin.manifest.name == *name)
    }

    /// Adds a plugin, and replaces one with the same name.
    pub fn add(&mut self, plugin: Plugin) {
        match self.plugins.iter_mut().find(|known| known.manifest.name == plugin.manifest.name) {
            Some(known) => *known = plugin,
            None => self.plugins.push(plugin),
        }
    }

    /// Removes and returns the plugin with a name.
    pub fn remove(&mut self, name: &Name) -> Option<Plugin> {
        let at = self.plugins.iter().position(|plugin| plugin.manifest.name == *name)?;
        Some(self.plugins.remove(at))
    }

    /// Returns the plugins that are called before or after this event.
    pub fn wanting(&self, event: Event, when: When) -> impl Iterator<Item = &Plugin> {
        self.plugins.iter().filter(move |plugin| plugin.manifest.wants(event, when))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(name: &str, file: Pinned) -> Plugin {
        let manifest = Manifest::read(&format!("name = '{name}'\nevents = ['store.before']")).unwrap();
        Plugin { manifest, body: Body::Wasm(file) }
    }

    #[test]
    fn a_file_that_changed_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.wasm");
        std::fs::write(&path, "one").unwrap();
        let file = Pinned::of(&path).unwrap();
        assert_eq!(file.sha256, "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
        assert_eq!(file.read().unwrap(), b"one");
        std::fs::write(&path, "two").unwrap();
        assert!(matches!(file.read(), Err(Failure::Changed { .. })));
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(file.read(), Err(Failure::Changed { .. })));
        assert!(Pinned::of(dir.path()).is_err(), "a directory");
    }

    #[test]
    fn a_registry_is_read_as_it_was_written_and_keeps_its_order() {
        let file = Pinned { path: "/p".into(), sha256: "00".into() };
        let mut registry = Registry::default();
        for name in ["b", "a", "b"] {
            registry.add(plugin(name, file.clone()));
        }
        let read = Registry::read(&registry.to_bytes()).unwrap();
        assert_eq!(read, registry);
        let names = |registry: &Registry| -> Vec<String> {
            registry.wanting(Event::Store, When::Before).map(|plugin| plugin.manifest.name.to_string()).collect()
        };
        assert_eq!(names(&read), ["b", "a"]);
        assert_eq!(read.wanting(Event::Store, When::After).count(), 0);
        assert!(registry.remove(&"b".parse().unwrap()).is_some() && names(&registry) == ["a"]);
        assert_eq!(Registry::read(b"{}x"), None);
    }
}
