//! From an error to words, a hint and an exit code: chosen once, here.
//!
//! 0 ok · 1 the user mends it · 2 wrong usage · 3 the set-up is wrong · 70 our fault.

use std::process::ExitCode;

use tessera_engine::domain::DomainError;
use tessera_engine::store::StoreError;
use tessera_mcp::sync::{RemoteError, SyncError};

use crate::output;

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
    // A closed pipe is no reason to fail.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS }
}

/// Prints an error and chooses its exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let closed =
        error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe);
    if closed {
        // Whoever read our output has seen enough.
        return ExitCode::SUCCESS;
    }
    output::error(&format!("{error:#}"));
    ExitCode::from(code_of(error))
}

fn code_of(error: &anyhow::Error) -> u8 {
    if let Some(store) = error.downcast_ref::<StoreError>() {
        return match store {
            StoreError::Domain(DomainError::Invalid { .. } | DomainError::BudgetTooSmall { .. }) => USAGE,
            StoreError::NotFound(_)
            | StoreError::Conflict { .. }
            | StoreError::Line { .. }
            | StoreError::OtherServer { .. }
            | StoreError::Busy { .. } => USER,
            StoreError::Foreign { .. }
            | StoreError::Newer { .. }
            | StoreError::Corrupt { .. }
            | StoreError::Vanished { .. }
            | StoreError::Full { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Disk { .. }
            | StoreError::File { .. } => SETUP,
            _ => INTERNAL,
        };
    }
    if error.is::<RemoteError>() || error.is::<SyncError>() {
        return USER;
    }
    if error.is::<DomainError>() {
        USAGE
    } else if error.is::<UserError>() {
        USER
    } else if error.is::<SetupError>() {
        SETUP
    } else if let Some(error) = error.downcast_ref::<std::io::Error>() {
        if error.kind() == std::io::ErrorKind::BrokenPipe { 0 } else { USER }
    } else {
        INTERNAL
    }
}
