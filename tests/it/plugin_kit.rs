//! Plugins made for tests: modules from their text, programs for the shell.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::World;

/// A module whose functions are these, beside what every module has. `alloc` gives place 65536, where a message may be of
/// the length of a page.
pub(crate) fn module(short_id: &str) -> Vec<u8> {
    let text = format!(
        r#"(module (memory (export "memory") 3)
             (func (export "tessera_abi") (result i32) (i32.const 1))
             (func (export "alloc") (param i32) (result i32) (i32.const 65536))
             {short_id})"#
    );
    wat::parse_str(text).unwrap()
}

/// A function that answers with these bytes.
pub(crate) fn answers(bytes: &[u8]) -> String {
    let data: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
    let packed = (1024_u64 << 32) | bytes.len() as u64;
    format!(
        r#"(data (i32.const 1024) "{data}") (func (export "handle") (param i32 i32) (result i64) (i64.const {packed}))"#
    )
}

impl World {
    /// Adds a module under a name, with this manifest beside its name.
    pub(crate) fn add_module(&self, name: &str, manifest: &str, module: &[u8]) -> PathBuf {
        let dir = self.path("made");
        fs::create_dir_all(&dir).unwrap();
        let file = dir.join(format!("{name}.wasm"));
        fs::write(&file, module).unwrap();
        fs::write(file.with_extension("toml"), format!("name = \"{name}\"\n{manifest}")).unwrap();
        let ran = self.run(&["plugin", "add", file.to_str().unwrap(), "--yes"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        file
    }

    /// Adds a program for the shell under a name, with this manifest. It lies in the home, so that its processes are known.
    pub(crate) fn add_program(&self, name: &str, manifest: &str, script: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let dir = self.home().join("programs");
        fs::create_dir_all(&dir).unwrap();
        let (program, toml) = (dir.join(format!("{name}.sh")), dir.join(format!("{name}.toml")));
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(&toml, format!("name = \"{name}\"\n{manifest}")).unwrap();
        self.add(&toml, &program);
        program
    }

    /// Adds a program with its manifest.
    pub(crate) fn add(&self, manifest: &Path, program: &Path) {
        let (manifest, program) = (manifest.to_str().unwrap(), program.to_str().unwrap());
        let ran = self.run(&["plugin", "add", manifest, "--yes", "--command", program]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }

    /// What is said of a plugin in the list.
    pub(crate) fn plugin(&self, name: &str) -> Value {
        let list = self.json(&["plugin", "list"]);
        let found = list.as_array().unwrap().iter().find(|plugin| plugin["name"] == name);
        found.unwrap_or_else(|| panic!("{name}: {list}")).clone()
    }

    /// The log of a plugin.
    pub(crate) fn plugin_log(&self, name: &str) -> String {
        self.run(&["plugin", "log", name, "--limit", "10000"]).stdout
    }
}
