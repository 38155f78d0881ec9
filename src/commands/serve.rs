//! `serve`: hands over to `tessera-server`, the program that serves a team, as git hands over to its commands.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::exit::UserError;

/// The program that serves, as this system calls it.
const PROGRAM: &str = if cfg!(windows) { "tessera-server.exe" } else { "tessera-server" };

/// How to get it, for whoever does not have it.
const MISSING: &str = "tessera-server is neither beside this program nor on PATH. It serves a team and comes as a program of \
    its own: `cargo install --locked --path api` in a checkout of Tessera builds and installs it, and deploy/ has a container";

/// What `tessera` was told before and between the words that are the server's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// `--json`.
    pub(super) json: bool,
    /// How many `-v`.
    pub(super) verbose: u8,
}

/// Becomes `tessera-server`, with all arguments. Where a program cannot become another, waits for it and ends as it does.
pub(super) fn run(told: Told, arguments: Vec<OsString>) -> anyhow::Result<ExitCode> {
    let here = std::env::current_exe().unwrap_or_default();
    // A bare name is looked for on PATH.
    let program = beside(&here).unwrap_or_else(|| PathBuf::from(PROGRAM));
    let mut command = Command::new(&program);
    // After the task, before which they would be options of serving, and before what is no option.
    let options = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (before, after) = arguments.split_at(options);
    command.args(before).args(told.json.then_some("--json")).args((0..told.verbose).map(|_| "-v")).args(after);
    become_it(&mut command).map_err(|error| match error.kind() {
        ErrorKind::NotFound => UserError(MISSING.to_owned()).into(),
        ErrorKind::PermissionDenied => UserError(format!("what is there may not be run ({error}); {MISSING}")).into(),
        _ => UserError(format!("{}: {error}", program.display())).into(),
    })
}

/// The server in the directory of this program, or of the file that a link of its name leads to.
fn beside(here: &Path) -> Option<PathBuf> {
    let real = here.canonicalize();
    let places = [Some(here), real.as_deref().ok()];
    let mut found = places.into_iter().flatten().map(|place| place.with_file_name(PROGRAM));
    found.find(|program| is_program(program))
}

/// True for a file that may be run: another of that name beside this program hides none on PATH.
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
    // It only comes back when it failed.
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
