//! Packages and modules that an action adds.

use tessera_tables::{section, words};

use crate::path;
use crate::runs::Run;

const TABLE: &str = include_str!("imports.txt");
/// Files that list packages.
const MANIFESTS: &[&str] = words!(section(TABLE, "manifests"));
const MANIFEST_EXTENSIONS: &[&str] = words!(section(TABLE, "manifest extensions"));
/// Words at the beginning of a line that adds a module.
const IMPORTS: &[&str] = words!(section(TABLE, "imports"));
/// Subcommands that add packages.
const ADDS: &[&str] = words!(section(TABLE, "adds"));
/// Programs that add packages.
const MANAGERS: &[&str] = words!(section(TABLE, "managers"));

/// True if a run adds packages.
pub(crate) fn adds_packages(run: &Run) -> bool {
    MANAGERS.contains(&run.program.as_str())
        && run.arguments.iter().filter(|word| !word.starts_with('-')).take(3).any(|word| ADDS.contains(&word.as_str()))
}

/// The lines of code that add packages or modules.
pub(crate) fn of_code(file: &str, code: &str) -> String {
    let name = path::name(file);
    if MANIFESTS.contains(&name) || MANIFEST_EXTENSIONS.iter().any(|extension| name.ends_with(extension)) {
        return code.to_owned();
    }
    let is_import = |line: &&str| {
        let line = line.trim_start();
        IMPORTS.iter().any(|word| line.starts_with(word))
            || line.contains("require(")
            || line.contains(" from '")
            || line.contains(" from \"")
    };
    code.lines().filter(is_import).collect::<Vec<_>>().join("\n")
}
