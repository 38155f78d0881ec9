//! `serve`: starts `tessera-server`, as git starts its subcommands.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::exit::UserError;

/// The file name of the server program.
const PROGRAM: &str = if cfg!(windows) { "tessera-server.exe" } else { "tessera-server" };

/// How to get the server program.
const MISSING: &str = "tessera-server is neither beside this program nor on PATH. It is a separate program: build \
    and install it with `cargo install --locked --path api` in a checkout of Tessera, or use the container in \
    deploy/";

/// The user's options before or among the server's arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// `--json`.
    pub(super) json: bool,
    /// The number of `-v`.
    pub(super) verbose: u8,
}

/// Replaces this process with `tessera-server`, and passes all arguments on. On systems where a process cannot replace
/// itself, starts the server, waits until it exits, and exits with the same code.
pub(super) fn run(told: Told, arguments: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let here = std::env::current_exe().unwrap_or_default();
    // A bare name is searched on PATH.
    let program = beside(&here).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let mut command = Command::new(&program);
    // The options go after the action, because before it they would belong to serving, and before the first `--`.
    let options = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (before, after) = arguments.split_at(options);
    command.args(before).args(told.json.then_some("--json")).args((0..told.verbose).map(|_| "-v")).args(after);
    become_it(&mut command).map_err(|error| match error.kind() {
        ErrorKind::NotFound => UserError(MISSING.to_owned()).into(),
        ErrorKind::PermissionDenied => {
            UserError(format!("{} may not be executed; `chmod +x` allows it", program.display())).into()
        }
        _ => UserError(format!("{}: {error}", program.display())).into(),
    })
}

/// The server program in the directory of this program. If this program is a symbolic link, the directory of its target
/// is searched as well.
fn beside(here: &Path) -> Option<PathBuf> {
    let real = here.canonicalize();
    let places = [Some(here), real.as_deref().ok()];
    let mut found = places.into_iter().flatten().map(|place| place.with_file_name(PROGRAM));
    found.find(|program| is_program(program))
}

/// True for an executable file. A file that is not executable is skipped, so it does not hide a program on PATH.
fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    let may_run =
        |found: &std::fs::Metadata| std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may_run = |_: &std::fs::Metadata| true;
    path.metadata().is_ok_and(|found| found.is_file() && may_run(&found))
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    // This returns only on failure.
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
