//! A plugin that is a program: one line of JSON on stdin, one on stdout, then it exits. The program runs under the
//! user's account without a sandbox. After its time limit, it is killed with its child processes.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use crate::MOST_OUTPUT;
use crate::failure::{Failure, PluginError};

/// The search path of plugin programs. Plugin programs receive none of the variables of Tessera's environment.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin";
/// Plugins may run Tessera's own commands. This variable tells these commands that a plugin started them, so that they
/// call no plugins.
pub const INSIDE: &str = "TESSERA_IN_PLUGIN";
/// How often Tessera checks whether the program has ended.
const LOOK: Duration = Duration::from_micros(500);

/// Calls a program; returns the first line of its output.
pub(crate) fn call(
    program: &Path,
    arguments: &[String],
    message: &[u8],
    dir: &Path,
    time: Duration,
) -> Result<Vec<u8>, Failure> {
    let started = Instant::now();
    let mut group = Group::start(program, arguments, dir)?;
    let said = group.listen(message);
    let left = || time.saturating_sub(started.elapsed());
    let output = loop {
        match said.recv_timeout(LOOK.min(left())) {
            Ok(output) => break output?,
            Err(RecvTimeoutError::Disconnected) => return Err(Failure::Start("it does not read its input".to_owned())),
            Err(RecvTimeoutError::Timeout) if left().is_zero() => return Err(Failure::Late(time)),
            // A leftover child may still hold its stdout.
            Err(RecvTimeoutError::Timeout) if group.ended()?.is_some() => group.kill(),
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    loop {
        match group.ended()? {
            Some(status) if status.success() => return Ok(output),
            Some(status) => return Err(Failure::Stopped(status.to_string())),
            None if left().is_zero() => return Err(Failure::Late(time)),
            None => thread::sleep(LOOK),
        }
    }
}

/// A program with all its child processes. They are killed when this value is dropped or this process ends.
struct Group {
    program: Child,
    guard: Option<Child>,
}

/// Starts a process that leads a new process group, and kills the group when its stdin closes. The children are killed
/// even if this process crashes. `None` on systems other than Unix, or if there is no shell. Then the program continues
/// to run if this process crashes.
fn guard() -> Option<Child> {
    if cfg!(not(unix)) {
        return None;
    }
    let mut leader = Command::new("/bin/sh");
    leader.args(["-c", "trap '' HUP INT TERM; read -r _; kill -KILL 0"]).current_dir("/").env_clear();
    leader.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut leader, 0);
    leader.spawn().ok()
}

impl Group {
    fn start(program: &Path, arguments: &[String], dir: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(dir).env_clear().env("PATH", PATH).env("LANG", "C.UTF-8").env(INSIDE, "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut guard = guard();
        #[cfg(unix)]
        {
            let group = guard.as_ref().and_then(|guard| i32::try_from(guard.id()).ok());
            std::os::unix::process::CommandExt::process_group(&mut command, group.unwrap_or_default());
        }
        match command.spawn() {
            Ok(program) => Ok(Self { program, guard }),
            Err(error) => {
                end(&mut guard);
                Err(Failure::Start(format!("{}: {error}", program.display())))
            }
        }
    }

    /// Writes the message and reads one line, each on its own thread, because both may block.
    fn listen(&mut self, message: &[u8]) -> Receiver<Result<Vec<u8>, Failure>> {
        let (said, heard) = mpsc::channel();
        if let Some(mut stdin) = self.program.stdin.take() {
            let message = [message, b"\n"].concat();
            // A program that ignores its message may have ended.
            let say = move || drop(stdin.write_all(&message));
            drop(thread::Builder::new().stack_size(64 * 1024).spawn(say));
        }
        if let Some(stdout) = self.program.stdout.take() {
            // The caller may no longer wait.
            let hear = move || drop(said.send(first_line(stdout)));
            drop(thread::Builder::new().stack_size(64 * 1024).spawn(hear));
        }
        heard
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>, Failure> {
        self.program.try_wait().map_err(|error| Failure::Stopped(error.to_string()))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        let _ = self.program.wait();
        end(&mut self.guard);
    }
}

impl Group {
    fn kill(&mut self) {
        #[cfg(unix)]
        {
            // The leader is not reaped yet, so its process ID is not reused.
            let leader = self.guard.as_ref().map_or(self.program.id(), Child::id);
            if let Some(group) = i32::try_from(leader).ok().and_then(rustix::process::Pid::from_raw) {
                // Kills leftover children too.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
        }
        let _ = self.program.kill();
    }
}

/// Ends an unneeded guard.
fn end(guard: &mut Option<Child>) {
    if let Some(guard) = guard {
        let _ = guard.kill();
        let _ = guard.wait();
    }
}

/// The output up to the end of a line, or all of it.
fn first_line(mut from: impl Read) -> Result<Vec<u8>, Failure> {
    let (mut said, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let length = from.read(&mut piece).map_err(|error| Failure::Stopped(error.to_string()))?;
        let new = piece.get(..length).unwrap_or_default();
        if let Some(end) = new.iter().position(|byte| *byte == b'\n') {
            said.extend_from_slice(new.get(..end).unwrap_or_default());
            return Ok(said);
        }
        if new.is_empty() {
            return Ok(said);
        }
        said.extend_from_slice(new);
        if said.len() > MOST_OUTPUT {
            return Err(Failure::Answer(format!("it is longer than {MOST_OUTPUT} bytes")));
        }
    }
}

/// Finds a program. A name with a path separator is relative to `dir`. Any other name is looked up in the directories
/// of PATH.
///
/// # Errors
/// Returns an error if it does not exist.
pub fn find(program: &str, dir: &Path, search: &[PathBuf]) -> Result<PathBuf, PluginError> {
    let is_named = Path::new(program).components().count() > 1;
    let places: Vec<PathBuf> =
        if is_named { vec![dir.join(program)] } else { search.iter().map(|dir| dir.join(program)).collect() };
    let found = places.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| PluginError::File { path: program.into(), problem: "program not found".to_owned() })
}
