//! The only module that prints.
//!
//! Maps an error to a message and an exit code. The codes are the same as for `tessera`.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;
use tessera_api::{DbError, SecretError, TlsError};
use tessera_engine::domain::DomainError;
use tessera_engine::text::shown;

/// Writes a line to stdout.
pub(crate) fn line(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(())
}

/// Writes one JSON object to stdout.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Writes a note to stderr, so that stdout contains only the result.
pub(crate) fn note(text: &str) {
    // A closed stderr cannot be reported.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes an error to stderr, with a red label on a terminal.
pub(crate) fn error(text: &str) {
    let is_seen = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    let label = if is_seen && !crate::settings::no_color() { "\u{1b}[31merror:\u{1b}[0m" } else { "error:" };
    note(&format!("{label} {}", shown(text)));
}

/// Shows progress on one line of a terminal.
pub(crate) fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        // A closed stderr cannot be reported.
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K{}", shown(text));
    }
}

/// Takes that line away.
pub(crate) fn progress_ends() {
    progress("");
}

/// The exit codes, for `tessera-server --help`.
pub(crate) const CODES: &str = "Exit codes: 0 success; 1 user error, such as an unknown user; 2 wrong usage; 3 \
    configuration error, such as an unreachable PostgreSQL or an unusable certificate; 70 internal error.";

const USER: u8 = 1;
const USAGE: u8 = 2;
const SETUP: u8 = 3;
const INTERNAL: u8 = 70;

/// A problem that the user can fix.
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

/// Prints clap's output: help on stdout with code 0, or an error on stderr with code 2.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // A closed pipe is not an error.
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS }
}

/// Prints an error and chooses its exit code.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    let closed =
        error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe);
    if closed {
        // The reader closed the pipe on purpose.
        return ExitCode::SUCCESS;
    }
    crate::output::error(&words(error));
    ExitCode::from(code_of(error))
}

/// An error and its causes. Each text appears only once, because some errors already contain the text of their cause.
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
    if let Some(error) = error.downcast_ref::<DbError>() {
        of_database(error)
    } else if let Some(error) = error.downcast_ref::<SecretError>() {
        of_secrets(error)
    } else if error.is::<DomainError>() {
        USAGE
    } else if error.is::<SetupError>() || error.is::<TlsError>() {
        SETUP
    } else if error.is::<UserError>() || error.is::<std::io::Error>() {
        USER
    } else {
        INTERNAL
    }
}

fn of_secrets(error: &SecretError) -> u8 {
    match error {
        SecretError::Db(error) => of_database(error),
        _ => SETUP,
    }
}

fn of_database(error: &DbError) -> u8 {
    match error {
        DbError::Invalid(_) => USAGE,
        DbError::Sql(_) | DbError::Migration(_) | DbError::Unsafe(_) => SETUP,
        _ => INTERNAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_can_mend_it_is_told_by_the_code() {
        let setting = SetupError { setting: "DATABASE_URL", problem: "is not set".into() };
        let taken = std::io::Error::from(std::io::ErrorKind::AddrInUse);
        for (error, code) in [
            (anyhow::Error::from(UserError("bob has no valid key".into())), USER),
            (taken.into(), USER),
            (setting.into(), SETUP),
            (DbError::Unsafe("a superuser".into()).into(), SETUP),
            (DbError::Invalid("no user bob".into()).into(), USAGE),
            (anyhow::Error::msg("what nobody thought of"), INTERNAL),
        ] {
            assert_eq!(code_of(&error), code, "{error}");
        }
        let twice = anyhow::Error::msg("cause").context("it failed: cause").context("nothing was done");
        assert_eq!(words(&twice), "nothing was done: it failed: cause", "each cause is printed once");
    }
}
