//! Usage errors in plain words: what is wrong with which argument, and what to type instead.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use tessera_engine::domain::DomainError;
use tessera_engine::screen::dropped;

use super::arguments::{Used, starts_with_verb};
use super::hints;

/// A usage error.
pub(super) struct Usage {
    /// The problem, and what to type instead.
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
            ErrorKind::InvalidUtf8 => "an argument is not valid UTF-8; convert it to UTF-8".to_owned(),
            ErrorKind::TooManyValues => {
                format!("`{}` takes no value here; write it alone", option.as_deref().unwrap_or_default())
            }
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
    texts(error, kind).into_iter().next()
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text],
        Some(ContextValue::Strings(texts)) => texts.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

fn unknown_command(error: &clap::Error, used: &Used) -> String {
    let typed = quoted(text(error, ContextKind::InvalidSubcommand).unwrap_or_default());
    if !used.is_top() {
        let (line, actions) = (used.line(), used.actions());
        return match actions.as_str() {
            "" => format!("`{line}` has no actions; `{line} --help` shows its arguments"),
            actions => format!("`{line}` has no action {typed}; use {actions}"),
        };
    }
    let bare = typed.trim_matches('`');
    if bare == "connect" && Used::names_a_client() {
        return "there is no command `connect`; use `tessera setup CLIENT`".to_owned();
    }
    match (hints::of_command(bare), used.nearest_command(bare)) {
        (Some(hint), _) => format!("there is no command {typed}; {hint}"),
        (None, Some(name)) => format!("there is no command {typed}; did you mean `tessera {name}`?"),
        (None, None) => format!("there is no command {typed}; `tessera help` lists all commands"),
    }
}

fn unknown_argument(error: &clap::Error, used: &Used) -> String {
    let typed = text(error, ContextKind::InvalidArg).unwrap_or_default();
    let line = used.line();
    let shown = quoted(typed);
    if let Some(right) = typed.strip_prefix(['–', '—']) {
        return format!(
            "{shown} begins with a long dash; write `--{}` with two hyphens",
            right.trim_start_matches('-')
        );
    }
    if !typed.starts_with('-') {
        // `--since 7 days`: the shell passed only the first word as the value.
        if let Some((option, value)) = used.option_before(typed) {
            let fix = format!("if it belongs to `{option}`, quote the whole value: `{option} '{value} {typed}'`");
            return format!("`{line}` does not accept {shown}; {fix}");
        }
        return format!("`{line}` does not accept {shown}; {}", used.example());
    }
    let name = typed.split('=').next().unwrap_or(typed);
    if let Some(hint) = hints::instead(used.name(), name) {
        return format!("`{line}` has no option `{name}`; {hint}");
    }
    if used.has_option(name) {
        return if Used::is_before(name, "--") {
            format!("put `{name}` after `{line}`, because only some commands have this option")
        } else {
            format!("nothing after `--` is an option; put `{name}` before `--`")
        };
    }
    if let Some(command) = used.command_with(name) {
        return format!("put `{name}` after `{command}`, because only some commands have this option");
    }
    let digits = typed.trim_start_matches('-');
    if digits.parse::<u32>().is_ok() && used.has_option("--limit") {
        return format!("`{line}` has no option `{typed}`; did you mean `--limit {digits}`?");
    }
    match used.nearest_option(name) {
        Some(option) => format!("`{line}` has no option `{name}`; did you mean `{option}`?"),
        None if used.accepts_text() => {
            format!(
                "`{line}` has no option `{name}`; `{line} --help` lists the options, and after `--` all words are text"
            )
        }
        None => format!("`{line}` has no option `{name}`; `{line} --help` lists the options"),
    }
}

/// A value in backticks, in one line and not too long; or words for an empty one.
fn quoted(value: &str) -> String {
    const MOST: usize = 60;
    // A credential is redacted before the value is cut, because the detector needs all of it.
    let line: String = dropped(value).chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.trim() {
        "" => "with an empty name".to_owned(),
        _ if line.chars().count() > MOST => format!("`{}...`", line.chars().take(MOST).collect::<String>()),
        _ => format!("`{line}`"),
    }
}

fn missing(error: &clap::Error, used: &Used) -> String {
    let names: Vec<String> = texts(error, ContextKind::InvalidArg).into_iter().map(name_of).collect();
    let (line, all) = (used.line(), names.join(" and "));
    if names.iter().any(|name| name.starts_with('-')) {
        return format!("add {all}, which the other options need; `{line} --help` explains them");
    }
    let shell = if names.iter().any(|name| name == "ID") { " (write an ID without #)" } else { "" };
    format!("`{line}` needs {all}{shell}; {}", used.example())
}

fn invalid_value(error: &clap::Error, used: &Used) -> String {
    let value = text(error, ContextKind::InvalidValue).unwrap_or_default();
    let argument = text(error, ContextKind::InvalidArg).map(name_of).unwrap_or_default();
    let shown = quoted(value);
    let bare = shown.trim_matches('`');
    let typed = match (argument.starts_with('-'), value.trim().is_empty()) {
        (true, true) => format!("the empty value of `{argument}`"),
        (false, true) => "an empty text".to_owned(),
        (true, false) => format!("`{argument} {bare}`"),
        (false, false) => shown,
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
        _ if argument.is_empty() && used.name() == "import" => {
            "`tessera import` imports one file, or names a system and its data: claude-memory-mcp, memory-mcp, \
             basic-memory or claude-md; `tessera import --undo N` undoes an import"
                .to_owned()
        }
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
