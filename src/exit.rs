//! From an error to words, a hint and an exit code: chosen once, here.
//!
//! 0 ok · 1 the user mends it · 2 wrong usage · 3 the set-up is wrong · 70 our fault.

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

/// The same for whoever reads `tessera --help`.
pub(crate) const CODES: &str = "Exit codes: 0 done; 1 something to mend, such as an unknown id or a server that does not answer; \
     2 wrong usage; 3 the set-up is wrong, such as a broken config.toml or a damaged store; \
     70 a fault of this program. `tessera hook` always ends with 0.";

const USER: u8 = 1;
const USAGE: u8 = 2;
const SETUP: u8 = 3;
const INTERNAL: u8 = 70;

/// A problem that the user mends, in words of its own.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UserError(pub(crate) String);

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{setting}: {problem}")]
pub(crate) struct SetupError {
    /// The setting, as the user knows it.
    pub(crate) setting: &'static str,
    /// What is wrong with it.
    pub(crate) problem: String,
}

/// Prints what clap has to say: help on stdout and 0, or an error on stderr and 2.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let text = error.to_string();
    match dropped(&text) {
        // A closed pipe is no reason to fail.
        Cow::Borrowed(_) => drop(error.print()),
        // What was typed is repeated in it, and holds a credential.
        Cow::Owned(said) => output::note(said.trim_end()),
    }
    // A client that leaves out the arguments of a hook takes this code for "block".
    let is_hook_without_its_word = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
        && std::env::args_os().len() == 1
        && !std::io::stdin().is_terminal();
    match error.use_stderr() {
        true if is_hook_without_its_word => ExitCode::from(USER),
        true => ExitCode::from(USAGE),
        false => ExitCode::SUCCESS,
    }
}

/// Prints an error and chooses its exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // The store says it of the stream that it writes to as of a file of its own.
    let closed = error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    });
    if closed {
        // Whoever read our output has seen enough.
        return ExitCode::SUCCESS;
    }
    output::error(&words(error));
    ExitCode::from(code_of(error))
}

/// An error and its causes, each said once: some name their cause in their own words already.
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

/// Settings of clients.
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
