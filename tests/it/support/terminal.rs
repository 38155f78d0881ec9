//! Commands on a terminal of 80 columns, in colour.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use super::World;
use super::hooks::until;

pub(crate) const COLUMNS: u16 = 80;

/// Starts a command on a terminal of its own, in colour, and gives the other end of it.
pub(crate) fn start_on_terminal(world: &World, args: &[&str]) -> (Child, File) {
    start_with(world, COLUMNS, &[], args)
}

/// Does the same on a terminal of another width, with more in the environment.
pub(crate) fn start_with(world: &World, columns: u16, variables: &[(&str, &str)], args: &[&str]) -> (Child, File) {
    start(world.command(World::binary()), columns, variables, args)
}

/// Does the same for a command that opens the terminal itself, to ask for a text without showing it.
pub(crate) fn start_asking(world: &World, args: &[&str]) -> (Child, File) {
    let mut command = world.command(std::path::Path::new("setsid"));
    command.args(["--ctty", "--wait"]).arg(World::binary());
    start(command, COLUMNS, &[], args)
}

fn start(mut command: std::process::Command, columns: u16, variables: &[(&str, &str)], args: &[&str]) -> (Child, File) {
    let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(master.as_fd(), Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = || Stdio::from(File::options().read(true).write(true).open(&name).unwrap());
    command.env_remove("NO_COLOR").env("TERM", "xterm").env("PAGER", "cat");
    command.envs(variables.iter().copied()).args(args);
    let child = command.stdin(terminal()).stdout(terminal()).stderr(terminal()).spawn().unwrap();
    (child, File::from(master))
}

/// Runs a command there, and gives what it wrote.
pub(crate) fn on_terminal(world: &World, args: &[&str]) -> String {
    let (text, code) = run_on_terminal(world, COLUMNS, &[], args);
    assert_eq!(code, Some(0), "{args:?}: {text}");
    text
}

/// Runs a command on a terminal of this width, and gives what it wrote and its exit code.
pub(crate) fn run_on_terminal(
    world: &World,
    columns: u16,
    variables: &[(&str, &str)],
    args: &[&str],
) -> (String, Option<i32>) {
    let (mut child, mut terminal) = start_with(world, columns, variables, args);
    let mut bytes = Vec::new();
    // The end of a terminal that nobody holds any more is an error, and all that was written is there by then.
    let _ = terminal.read_to_end(&mut bytes);
    let code = child.wait().unwrap().code();
    (String::from_utf8(bytes).unwrap().replace("\r\n", "\n"), code)
}

/// Waits until the terminal does not show what is typed.
pub(crate) fn wait_until_hidden(terminal: &File) {
    until(
        || !tcgetattr(terminal.as_fd()).unwrap().local_modes.contains(LocalModes::ECHO),
        || "the terminal shows what is typed".to_owned(),
    );
}

/// The text without colours.
pub(crate) fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}
