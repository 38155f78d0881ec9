//! Decides whether a command may write a file that the user names.

use std::path::{Path, PathBuf};

use super::Context;
use crate::config;
use crate::exit::UserError;

/// True if a file may be written. If the file exists, asks before replacing it. Without a terminal, replaces it only
/// with `--force`.
///
/// # Errors
/// Returns an error if the path is a directory, a device or a file of the store, or if nobody can be asked.
pub(super) fn may_write(context: &Context, file: &Path, is_forced: bool) -> anyhow::Result<bool> {
    let shown = file.display();
    let refused = |problem: &str| Err(UserError(format!("{shown} {problem}")).into());
    if config::home(context.home.clone())?.is_ours(&resolved(file)) {
        return refused("is a file of the store; use another name");
    }
    let Ok(found) = std::fs::metadata(file) else { return Ok(true) };
    if found.is_dir() {
        return refused("is a directory; use the name of a file in it");
    }
    if !found.is_file() {
        return refused("is not a regular file; use another name");
    }
    let question = format!("{shown} exists. Replace it?");
    super::agreed_or(is_forced, &question, &format!("{shown} exists; add --force to replace it"))
}

/// Resolves the symbolic links of a path. The file itself need not exist.
fn resolved(file: &Path) -> PathBuf {
    if let Ok(real) = file.canonicalize() {
        return real;
    }
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let whole = dir.canonicalize().ok().zip(file.file_name()).map(|(dir, name)| dir.join(name));
    whole.unwrap_or_else(|| file.to_owned())
}
