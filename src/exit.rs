//! Converts an error to a message, a hint and an exit code.
//!
//! 0 success, 1 user error, 2 usage error, 3 configuration error, 70 internal error.

mod arguments;
mod hints;
mod plain;
mod usage;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use tessera_desk::older::OlderError;
use tessera_desk::sync::{RemoteError, SyncError};
use tessera_desk::vault::SafeError;
use tessera_engine::domain::DomainError;
use tessera_engine::store::StoreError;
use tessera_eval::EvalError;
use tessera_mcp::ServeError;
use tessera_plugins::PluginError;
use tessera_setup::SetupError as ClientError;

use crate::output;
use arguments::Used;
pub(crate) use arguments::starts_with_verb;
pub(crate) use plain::of_system;
use usage::Usage;

/// Declares the exit codes: as sentences for `tessera --help`, and as a table.
macro_rules! exit_codes {
    ($first:literal $success:literal $($code:literal $meaning:literal)*; $hooks:literal) => {
        /// The explanation of exit codes in `tessera --help`.
        pub(crate) const CODES: &str = concat!(
            "Exit codes: ", $first, " ", $success, $("; ", $code, " ", $meaning,)* ". ", $hooks
        );
        /// The meaning of each exit code.
        #[cfg(test)]
        pub(crate) const MEANINGS: &[(u8, &str)] = &[($first, $success), $(($code, $meaning)),*];
        /// The exit code of hooks.
        #[cfg(test)]
        pub(crate) const OF_HOOKS: &str = $hooks;
    };
}

exit_codes! {
    0 "success"
    1 "user error, such as an unknown ID or a server that does not answer"
    2 "wrong usage"
    3 "configuration error, such as a broken config.toml or a damaged store"
    70 "internal error";
    "`tessera hook` always exits with 0."
}

const USER: u8 = 1;
const USAGE: u8 = 2;
const SETUP: u8 = 3;
const INTERNAL: u8 = 70;

/// A user error with its own message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UserError(pub(crate) String);

/// A wrong argument that the parser accepts.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct UsageError(pub(crate) String);

/// An invalid setting, or settings that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SetupError(pub(crate) String);

/// The output of a failed command with `--json`, on stderr.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorReply {
    /// The error.
    error: Problem,
}

/// An error.
#[derive(Serialize, JsonSchema)]
struct Problem {
    /// The class of the error.
    kind: ErrorKind,
    /// The exit code of the command.
    exit_code: u8,
    /// The problem and its fix, in English. The wording may change.
    message: String,
    /// The argument that caused the error, as the user typed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    argument: Option<String>,
}

/// The class of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ErrorKind {
    /// The command line is not valid.
    Usage,
    /// A named memory, secret, file or import does not exist.
    NotFound,
    /// Another process uses the store; the same command may succeed later.
    Busy,
    /// The command could not be carried out.
    Failed,
    /// The settings, the store or the environment need a repair.
    Configuration,
    /// A fault of this program.
    Internal,
}

impl ErrorKind {
    fn of(code: u8) -> Self {
        match code {
            USER => Self::Failed,
            USAGE => Self::Usage,
            SETUP => Self::Configuration,
            _ => Self::Internal,
        }
    }
}

/// Prints a message of clap: help to stdout with exit code 0, or an error to stderr with exit code 2.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    use clap::error::ErrorKind as Kind;
    if !error.use_stderr() {
        output::help(error);
        return ExitCode::SUCCESS;
    }
    let is_help = error.kind() == Kind::DisplayHelpOnMissingArgumentOrSubcommand;
    if is_help && !output::is_json() {
        output::help(error);
        return ExitCode::from(USAGE);
    }
    let Usage { message, argument } = Usage::of(error, &Used::now());
    tell(Problem { kind: ErrorKind::Usage, exit_code: USAGE, message, argument })
}

/// Prints the help for `tessera` alone, without a terminal.
pub(crate) fn no_command() -> ExitCode {
    output::note(&crate::cli::command().render_help().to_string());
    // A client that omits the arguments of a hook understands exit code 2 as "block".
    let is_hook_without_its_word = std::env::args_os().len() == 1 && !std::io::stdin().is_terminal();
    ExitCode::from(if is_hook_without_its_word { USER } else { USAGE })
}

fn tell(problem: Problem) -> ExitCode {
    let code = ExitCode::from(problem.exit_code);
    if output::is_json() {
        output::error_json(&ErrorReply { error: problem });
    } else {
        output::error(&problem.message);
    }
    code
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
    let exit_code = code_of(error);
    let (message, argument) = words(error);
    let kind = match error.downcast_ref() {
        Some(
            StoreError::NotFound(_)
            | StoreError::Unknown { .. }
            | StoreError::NoImport { .. }
            | StoreError::NoSecret { .. },
        ) => ErrorKind::NotFound,
        Some(StoreError::Busy { .. } | StoreError::Replaced { .. } | StoreError::Importing) => ErrorKind::Busy,
        _ => ErrorKind::of(exit_code),
    };
    tell(Problem { kind, exit_code, message, argument })
}

/// An error and its causes, each only once, and the argument that caused it. Some errors already contain the text of
/// their cause.
fn words(error: &anyhow::Error) -> (String, Option<String>) {
    let domain = error.downcast_ref::<DomainError>().or_else(|| match error.downcast_ref() {
        Some(StoreError::Domain(error)) => Some(error),
        _ => None,
    });
    if let Some(error_of_value) = domain {
        let (text, argument) = of_argument(error_of_value, &Used::now());
        return (in_context(error, text), argument);
    }
    if let Some(text) = error.downcast_ref().and_then(plain::of_store) {
        return (in_context(error, text), None);
    }
    let mut text = said(error.as_ref());
    for cause in error.chain().skip(1).map(said) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    (text, None)
}

/// The words for an error of the store or of a value, after the words that the command added to it.
fn in_context(error: &anyhow::Error, text: String) -> String {
    let is_own = |cause: &&(dyn std::error::Error + 'static)| !cause.is::<StoreError>() && !cause.is::<DomainError>();
    let added = error.chain().take_while(is_own).map(ToString::to_string);
    added.chain([text]).collect::<Vec<_>>().join(": ")
}

/// An invalid value, with the name of the argument instead of the name of the field.
fn of_argument(error: &DomainError, used: &Used) -> (String, Option<String>) {
    let (field, problem) = match error {
        DomainError::Invalid { field, problem, fix } => (*field, format!("{problem}; {fix}")),
        DomainError::BudgetTooSmall { budget, minimum } => {
            ("max_tokens", format!("{budget} is too small for a reply; the minimum here is {minimum}"))
        }
        other => return (other.to_string(), None),
    };
    let name = used.typed(field);
    let text = if starts_with_verb(&problem) { format!("{name} {problem}") } else { format!("{name}: {problem}") };
    (text, name.starts_with('`').then(|| name.trim_matches('`').to_owned()))
}

/// The message of one error in a chain.
fn said(error: &(dyn std::error::Error + 'static)) -> String {
    match error.downcast_ref() {
        Some(error) => of_system(error),
        None => plain::without_number(&error.to_string()),
    }
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
    } else if error.is::<DomainError>() || error.is::<UsageError>() {
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
        | StoreError::Unknown { .. }
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
        | StoreError::NotABackup { .. }
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
        ClientError::Unreadable { .. } | ClientError::Unwritable { .. } | ClientError::Temporary { .. } => SETUP,
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
