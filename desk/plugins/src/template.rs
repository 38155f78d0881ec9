//! Files to begin a plugin with.

use crate::manifest::Name;

/// The guest library. A new Rust plugin gets a copy of the guest library, so it depends only on serde_json.
const GUEST: &str = include_str!("../guest/src/lib.rs");

/// A file of a new plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The path in the plugin's directory.
    pub path: &'static str,
    /// Its content.
    pub text: String,
    /// True for one that is run.
    pub is_program: bool,
}

fn file(path: &'static str, text: &str, name: &Name) -> File {
    File {
        path,
        text: text.replace("FILE", &name.as_str().replace('-', "_")).replace("NAME", name.as_str()),
        is_program: false,
    }
}

/// A Rust plugin for WebAssembly.
pub fn rust(name: &Name) -> Vec<File> {
    vec![
        file("Cargo.toml", include_str!("../templates/rust/Cargo.toml.txt"), name),
        file(".cargo/config.toml", include_str!("../templates/rust/config.toml.txt"), name),
        file("plugin.toml", include_str!("../templates/plugin.toml"), name),
        file("src/lib.rs", include_str!("../templates/rust/lib.rs.txt"), name),
        file("tessera-plugin/Cargo.toml", include_str!("../templates/rust/guest.toml.txt"), name),
        File { path: "tessera-plugin/src/lib.rs", text: GUEST.to_owned(), is_program: false },
        file("README.md", include_str!("../templates/rust/README.md"), name),
    ]
}

/// A program in Python.
pub fn python(name: &Name) -> Vec<File> {
    vec![
        file("plugin.toml", include_str!("../templates/plugin.toml"), name),
        File { is_program: true, ..file("plugin.py", include_str!("../templates/plugin.py"), name) },
        file("README.md", &include_str!("../templates/README.md").replace("PROGRAM", "plugin.py"), name),
    ]
}

/// A program for the shell.
pub fn sh(name: &Name) -> Vec<File> {
    vec![
        file("plugin.toml", include_str!("../templates/plugin.toml"), name),
        File { is_program: true, ..file("plugin.sh", include_str!("../templates/plugin.sh"), name) },
        file("README.md", &include_str!("../templates/README.md").replace("PROGRAM", "plugin.sh"), name),
    ]
}
