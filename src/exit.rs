//! Converts an error to a message, a hint and an exit code.
//!
//! 0 success, 1 user error, 2 usage error, 3 configuration error, 70 internal error.

use std::borrow::Cow;
use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::error::ErrorKind;
use tessera_desk::older::OlderError;
use tessera_desk::sync::{RemoteError, SyncError};
use tessera_desk::vault::SafeError;
use tessera_engine::domain::DomainError;
use tessera_engine::screen::dropped;
use tessera_engine::store::StoreError;
use tessera_eval::EvalError;
use tessera_mcp::ServeError;
use tessera_plugins::PluginError;
use tessera_setup::SetupError as ClientError;

use crate::output;

/// The explanation of exit codes in `tessera --help`.
pub(crate) const CODES: &str = "Exit codes: 0 success; 1 user error, such as an unknown ID or a server that does \
    not answer; 2 wrong usage; 3 configuration error, such as a broken config.toml or a damaged store; 70 internal \
    error. `tessera hook` always exits with 0.";

const USER: u8 = 1;
const USAGE: u8 = 2;
const SETUP: u8 = 3;
const INTERNAL: u8 = 70;

/// A user error with its own message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UserError(pub(crate) String);

/// An invalid setting.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {problem}")]
pub(crate) struct SetupError {
    /// The name of the setting.
    pub(crate) setting: &'static str,
    /// The problem.
    pub(crate) problem: String,
}

/// Prints a message of clap: help to stdout with exit code 0, or an error to stderr with exit code 2.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    match dropped(&text) {
        // A closed pipe is not an error.
        Cow::Borrowed(_) => drop(error.print()),
        // The message repeats the arguments, which contain a credential.
        Cow::Owned(said) => output::note(said.trim_end()),
    }
    // A client that omits the arguments of a hook understands this exit code as "block".
    let is_hook_without_its_word = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        && std::env::args_os().len() == 1
        && !std::io::stdin().is_terminal();
    match error.use_stderr() {
        true if is_hook_without_its_word => ExitCode::from(USER),
        true => ExitCode::from(USAGE),
        false => ExitCode::SUCCESS,
    }
}

/// Prints an error, and returns its exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // The store also reports a closed output stream as an error of a file.
    let closed = error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    });
    if closed {
        // The reader has closed the pipe, which is not an error.
        return ExitCode::SUCCESS;
    }
    output::error(&words(error));
    ExitCode::from(code_of(error))
}

/// An error and its causes, each only once. Some errors already contain the text of their cause.
fn words(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn code_of(error: &anyhow::Error) -> u8 {
    let of_store = error.downcast_ref().map(of_store);
    let of_eval = || error.downcast_ref().map(of_eval);
    let of_clients = || error.downcast_ref().map(of_clients);
    let of_serving = || error.downcast_ref().map(of_serving);
    let of_sync = || error.downcast_ref().map(of_sync);
    let known = of_store.or_else(of_eval).or_else(of_clients).or_else(of_serving).or_else(of_sync);
    if let Some(code) = known {
        code
    } else if error.is::<DomainError>() {
        USAGE
    } else if error.is::<SetupError>() {
        SETUP
    } else if error.is::<UserError>()
        || error.is::<SafeError>()
        || error.is::<PluginError>()
        || error.is::<RemoteError>()
        || error.is::<OlderError>()
        || error.is::<std::io::Error>()
    {
        USER
    } else {
        INTERNAL
    }
}

fn of_store(error: &StoreError) -> u8 {
    match error {
        StoreError::Domain(DomainError::Invalid { .. } | DomainError::BudgetTooSmall { .. }) => USAGE,
        StoreError::NotFound(_)
        | StoreError::NotCameOver(_)
        | StoreError::Conflict { .. }
        | StoreError::Line { .. }
        | StoreError::OtherServer { .. }
        | StoreError::Credential { .. }
        | StoreError::NoImport { .. }
        | StoreError::Importing
        | StoreError::Refused { .. }
        | StoreError::NoSecret { .. }
        | StoreError::ManySecrets { .. }
        | StoreError::ValueElsewhere { .. }
        | StoreError::InFile { .. }
        | StoreError::Replaced { .. }
        | StoreError::KeysWanted { .. }
        | StoreError::Busy { .. } => USER,
        StoreError::Foreign { .. }
        | StoreError::Newer { .. }
        | StoreError::Corrupt { .. }
        | StoreError::Vanished { .. }
        | StoreError::Full { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Disk { .. }
        | StoreError::NoKey { .. }
        | StoreError::Sealed { .. }
        | StoreError::File { .. } => SETUP,
        _ => INTERNAL,
    }
}

fn of_sync(error: &SyncError) -> u8 {
    match error {
        SyncError::Store(error) => of_store(error),
        _ => USER,
    }
}

fn of_eval(error: &EvalError) -> u8 {
    match error {
        EvalError::Store(error) => of_store(error),
        EvalError::File { .. } | EvalError::Format { .. } => USER,
        _ => INTERNAL,
    }
}

/// The exit code for errors in clients' settings.
fn of_clients(error: &ClientError) -> u8 {
    match error {
        ClientError::NoProjectLevel { .. } => USAGE,
        ClientError::Changed { .. } => USER,
        ClientError::Unreadable { .. } | ClientError::Unwritable { .. } => SETUP,
        _ => INTERNAL,
    }
}

fn of_serving(error: &ServeError) -> u8 {
    match error {
        ServeError::NotLoopback(_) => USAGE,
        ServeError::Io { .. } | ServeError::Handshake(_) => USER,
        _ => INTERNAL,
    }
}
