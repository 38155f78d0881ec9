//! Usage errors in plain words: what is wrong with which argument, and what to type instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use tessera_engine::domain::DomainError;

use super::arguments::{Used, starts_with_verb};

/// Commands of other programs, with the command of Tessera that does the same.
const ELSEWHERE: [(&str, &str); 22] = [
    ("login", "tessera sync join URL"),
    ("signin", "tessera sync join URL"),
    ("connect", "tessera sync join URL"),
    ("join", "tessera sync join URL"),
    ("logout", "tessera sync leave"),
    ("leave", "tessera sync leave"),
    ("push", "tessera sync now"),
    ("pull", "tessera sync now"),
    ("install", "tessera setup claude-code"),
    ("start", "tessera setup claude-code"),
    ("clear", "tessera forget --matching WORDS"),
    ("purge", "tessera forget ID --hard"),
    ("reset", "tessera uninstall --purge"),
    ("dump", "tessera export"),
    ("save-as", "tessera export"),
    ("load", "tessera import"),
    ("server", "tessera serve"),
    ("redo", "tessera history ID"),
    ("diff", "tessera history ID"),
    ("tag", "tessera update ID --tags TAGS"),
    ("prompt", "tessera recall"),
    ("upgrade", "tessera --version"),
];

/// A usage error.
pub(super) struct Usage {
    /// What is wrong, and what to type instead.
    pub(super) message: String,
    /// The argument, as the user typed it.
    pub(super) argument: Option<String>,
}

impl Usage {
    /// Describes an error of the parser.
    pub(super) fn of(error: &clap::Error, used: &Used) -> Self {
        let argument = text(error, ContextKind::InvalidArg).map(str::to_owned);
        let option = argument.as_deref().map(name_of);
        let message = match error.kind() {
            ErrorKind::InvalidSubcommand => unknown_command(error, used),
            ErrorKind::UnknownArgument => unknown_argument(error, used),
            ErrorKind::MissingRequiredArgument => missing(error, used),
            ErrorKind::ValueValidation => invalid_value(error, used),
            ErrorKind::InvalidValue => impossible_value(error, used),
            ErrorKind::ArgumentConflict => conflict(error, used),
            ErrorKind::InvalidUtf8 => "an argument is not valid UTF-8; pass the text through stdin".to_owned(),
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                format!("`{}` needs an action; use {}", used.line(), used.actions())
            }
            _ => first_line(error, used),
        };
        let value = text(error, ContextKind::InvalidSubcommand).map(str::to_owned);
        Self { message, argument: option.or(value) }
    }
}

/// The name of an argument without the name of its value: `--limit` of `--limit <N>`, `ID` of `<ID>...`.
fn name_of(argument: &str) -> String {
    let name = argument.split([' ', '=']).next().unwrap_or(argument);
    name.trim_matches(['<', '>', '[', ']', '.']).to_owned()
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        ContextValue::Strings(texts) => texts.first().map(String::as_str),
        _ => None,
    }
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text],
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

fn unknown_command(error: &clap::Error, used: &Used) -> String {
    let typed = text(error, ContextKind::InvalidSubcommand).unwrap_or_default();
    if !used.is_top() {
        return format!("`{}` has no action `{typed}`; use {}", used.line(), used.actions());
    }
    if let Some((_, ours)) = ELSEWHERE.iter().find(|(theirs, _)| typed.eq_ignore_ascii_case(theirs)) {
        return format!("there is no command `{typed}`; use `{ours}`");
    }
    match used.nearest_command(typed) {
        Some(name) => format!("there is no command `{typed}`; did you mean `tessera {name}`?"),
        None => format!("there is no command `{typed}`; `tessera help` lists all commands"),
    }
}

fn unknown_argument(error: &clap::Error, used: &Used) -> String {
    let typed = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let line = used.line();
    if !typed.starts_with('-') {
        return format!("`{line}` does not accept `{typed}`; {}", used.example());
    }
    match used.nearest_option(typed) {
        Some(option) => format!("`{line}` has no option `{typed}`; did you mean `{option}`?"),
        None if used.accepts_text() => {
            format!("`{line}` has no option `{typed}`; to use it as text, put `--` before the text")
        }
        None => format!("`{line}` has no option `{typed}`; `{line} --help` lists the options"),
    }
}

fn missing(error: &clap::Error, used: &Used) -> String {
    let names: Vec<String> = texts(error, ContextKind::InvalidArg).into_iter().map(name_of).collect();
    format!("`{}` needs {}; {}", used.line(), names.join(" and "), used.example())
}

fn invalid_value(error: &clap::Error, used: &Used) -> String {
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let argument = text(error, ContextKind::InvalidArg).map(name_of).unwrap_or_default();
    let typed = match argument.starts_with('-') {
        true => format!("`{argument} {value}`"),
        false => format!("`{value}`"),
    };
    let source = std::error::Error::source(error);
    let problem = match source.and_then(|source| source.downcast_ref::<DomainError>()) {
        Some(DomainError::Invalid { problem, fix, .. }) => format!("{problem}; {fix}"),
        _ => source.map(ToString::to_string).unwrap_or_default(),
    };
    let hint = used.hint(&argument, value).map(|hint| format!("; {hint}")).unwrap_or_default();
    let problem = if hint.is_empty() { problem.as_str() } else { problem.split(';').next().unwrap_or_default() };
    if starts_with_verb(problem) { format!("{typed} {problem}{hint}") } else { format!("{typed}: {problem}{hint}") }
}

fn impossible_value(error: &clap::Error, used: &Used) -> String {
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let argument = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let known = texts(error, ContextKind::ValidValue);
    let name = name_of(argument);
    if value.is_empty() {
        let known = if known.is_empty() { String::new() } else { format!("; use {}", listed(&known)) };
        return format!("`{name}` needs a value{known}; `{} --help` explains it", used.line());
    }
    let typed = if name.starts_with('-') { format!("{name} {value}") } else { value.to_owned() };
    format!("`{typed}` is not valid; use {}", listed(&known))
}

fn conflict(error: &clap::Error, used: &Used) -> String {
    let argument = text(error, ContextKind::InvalidArg).map(name_of).unwrap_or_default();
    let others: Vec<String> = texts(error, ContextKind::PriorArg).into_iter().map(name_of).collect();
    match others.as_slice() {
        [other] if *other == argument => format!("`{argument}` was given twice; give it once"),
        [] => first_line(error, used),
        others => format!("`{argument}` and `{}` exclude each other; use one of them", others.join("`, `")),
    }
}

/// The first line of the parser's own message.
fn first_line(error: &clap::Error, used: &Used) -> String {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    format!("{}; `{} --help` explains the arguments", first.strip_prefix("error: ").unwrap_or(first), used.line())
}

/// Lists values: `a, b or c`.
pub(super) fn listed(values: &[&str]) -> String {
    match values {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
