//! `hook`: one event of a client, from stdin. It never fails: a fault of ours is a line in a log.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::{config, output};

/// What a hook is run with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    home: Option<PathBuf>,
    event: Option<String>,
}

impl Arguments {
    /// The arguments of `tessera hook`, wherever `--home` stands; `None` for another command.
    pub(crate) fn of(arguments: impl Iterator<Item = OsString>) -> Option<Self> {
        let mut words = arguments.skip(1);
        let (mut known, mut is_hook) = (Self::default(), false);
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if text == "--home" {
                known.home = words.next().map(PathBuf::from);
            } else if let Some(home) = text.strip_prefix("--home=") {
                known.home = Some(PathBuf::from(home));
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

    /// The same from the parsed command line.
    pub(super) fn parsed(home: Option<PathBuf>, event: Option<String>) -> Self {
        Self { home, event }
    }
}

/// Handles one event. Runs before the command line is parsed, so that nothing of it costs a prompt time.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let Arguments { home, event } = arguments;
    // Inside a judge's child, or a plugin's: its hooks are not ours to run.
    if config::is_child_of_ours() {
        return ExitCode::SUCCESS;
    }
    let reply = match config::surroundings(home.clone()) {
        Ok(surroundings) => tessera_hooks::run(std::io::stdin().lock(), event, &surroundings),
        Err(error) => {
            if let (Ok(home), Ok(clock)) = (config::home(home), config::clock()) {
                tessera_desk::log::line_in_passing(&home, clock.now(), &error.to_string());
            }
            None
        }
    };
    if let Some(reply) = reply {
        // A client that has gone does not read it.
        let _ = output::text(&reply);
    }
    ExitCode::SUCCESS
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
        for other in [&["recall", "hook"][..], &["--home", "hook"], &["--json", "hook"], &[]] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
