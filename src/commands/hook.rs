//! `hook`: one event of a client, from stdin. It never fails: a fault of ours is a line in a log.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::{config, output};

/// Handles one event. Runs before the command line is parsed, so that nothing of it costs a prompt time.
pub(crate) fn run(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    // Inside a judge's child: its hooks are not ours to run.
    if config::is_judges_child() {
        return ExitCode::SUCCESS;
    }
    let event = arguments.next().and_then(|name| name.into_string().ok()).filter(|name| !name.starts_with('-'));
    let reply = match config::surroundings(None) {
        Ok(surroundings) => tessera_hooks::run(std::io::stdin().lock(), event, &surroundings),
        Err(error) => {
            if let (Ok(home), Ok(clock)) = (config::home(None), config::clock()) {
                tessera_hooks::log::line(&home, clock.now(), &error.to_string());
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
