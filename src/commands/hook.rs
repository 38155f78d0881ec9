//! `hook`: handles one event of a client, from stdin. `tessera hook` always succeeds: it writes an internal error to
//! the log.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;
use tessera_hooks::Surroundings;

use crate::{config, output};

/// The arguments of a hook.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    home: Option<PathBuf>,
    event: Option<String>,
}

impl Arguments {
    /// Parses the arguments of `tessera hook`; `--home` may be at any position. Returns `None` for other commands.
    pub(crate) fn of(arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut words = arguments.skip(1);
        let (mut known, mut is_hook) = (Self::default(), false);
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if text == "--home" {
                known.home = words.next().map(PathBuf::from);
            } else if let Some(home) = text.strip_prefix("--home=") {
                known.home = Some(PathBuf::from(home));
            } else if !is_hook && text.starts_with('-') {
                // An option of every command, such as `--json`.
            } else if !is_hook && text != "hook" {
                return None;
            } else if !is_hook {
                is_hook = true;
            } else if known.event.is_none() && !text.starts_with('-') {
                known.event = Some(text.into_owned());
            }
        }
        is_hook.then_some(known)
    }

    /// The arguments from the parsed command line.
    pub(super) fn parsed(home: Option<PathBuf>, event: Option<String>) -> Self {
        Self { home, event }
    }
}

/// Handles one event. Hooks run before clap parses the command line, because the user's prompt waits for them.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let Arguments { home, event } = arguments;
    // Programs of an extractor or a plugin run no hooks.
    if config::is_child_of_ours() || config::leaves_hook_to_settings() {
        return ExitCode::SUCCESS;
    }
    let reply = match config::surroundings(home.clone()) {
        Ok(surroundings) if config::DEBUG_HOOKS.is_on() => aloud(event, &surroundings),
        Ok(surroundings) => tessera_hooks::run(std::io::stdin().lock(), event, &surroundings),
        Err(error) => {
            if let (Ok(home), Ok(clock)) = (config::home(home), config::clock()) {
                tessera_desk::log::line_in_passing(&home, clock.now(), &error.to_string());
            }
            told(event, error.to_string())
        }
    };
    if let Some(reply) = reply {
        // An error here means that the client has exited.
        let _ = output::text(&reply);
    }
    ExitCode::SUCCESS
}

/// The notice about invalid settings. If the settings are invalid, the deadline is unknown, so Tessera waits only one
/// second for stdin.
fn told(event: Option<String>, problem: String) -> Option<String> {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // The receiver may have given up.
        let _ = tell.send(tessera_hooks::told_of_settings(std::io::stdin().lock(), event, &problem));
    });
    told.recv_timeout(Duration::from_secs(1)).ok().flatten()
}

/// Handles an event, and reports on stderr the event's name and the size of the reply, but no text of a prompt or a
/// memory.
fn aloud(event: Option<String>, surroundings: &Surroundings) -> Option<String> {
    let mut read = Vec::new();
    let reply =
        tessera_hooks::run(Heard { from: std::io::stdin().lock(), read: &mut read }, event.clone(), surroundings);
    let asked: Value = serde_json::from_slice(&read).unwrap_or_default();
    let field = |name: &str| asked.get(name).and_then(Value::as_str).map(str::to_owned);
    let asked = [field("hook_event_name").or(event), field("tool_name")];
    let asked: Vec<String> = asked.into_iter().flatten().collect();
    output::note(&format!("[tessera] {}: {}", asked.join(" "), came_of(reply.as_deref())));
    reply
}

/// Describes a reply.
fn came_of(reply: Option<&str>) -> String {
    let Some(reply) = reply else {
        return "returned nothing; `tessera log` shows the reason; hooks.log in the home directory lists errors, if any"
            .to_owned();
    };
    let value: Value = serde_json::from_str(reply).unwrap_or_default();
    match value.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str) {
        Some(context) => format!("returned {} bytes; `tessera log` lists the memories", context.len()),
        None if value.get("hookSpecificOutput").is_some() => "allowed".to_owned(),
        None => "showed a message to the user".to_owned(),
    }
}

/// A reader that keeps a copy of the input.
struct Heard<'a, R> {
    from: R,
    read: &'a mut Vec<u8>,
}

impl<R: Read> Read for Heard<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(buffer)?;
        self.read.extend(buffer.iter().take(count));
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_is_read_wherever_it_stands() {
        let of =
            |words: &[&str]| Arguments::of(std::iter::once("tessera").chain(words.iter().copied()).map(OsString::from));
        let known = |home: Option<&str>, event: Option<&str>| {
            Some(Arguments { home: home.map(PathBuf::from), event: event.map(str::to_owned) })
        };
        assert_eq!(of(&["hook"]), known(None, None));
        assert_eq!(of(&["hook", "Stop", "--home", "/h"]), known(Some("/h"), Some("Stop")));
        assert_eq!(of(&["--home", "/h", "hook", "--unknown"]), known(Some("/h"), None));
        assert_eq!(of(&["--home=/h", "hook", "Stop"]), known(Some("/h"), Some("Stop")));
        assert_eq!(of(&["--json", "-v", "hook", "a", "b"]), known(None, Some("a")));
        for other in [&["recall", "hook"][..], &["--home", "hook"], &["--json", "recall"], &[]] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
