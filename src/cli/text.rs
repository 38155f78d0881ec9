//! Texts that begin with a dash, such as `- a list item`. The parser would take them for options.

use std::convert::Infallible;
use std::ffi::OsString;

use clap::CommandFactory;

use super::Cli;

/// A character of the private use area. It marks a text that begins with a dash, until the parser has read it.
const MARK: char = '\u{f8ff}';

/// The commands whose arguments are texts.
const COMMANDS: [&str; 3] = ["remember", "recall", "forget"];

/// The arguments of this process. A text that begins with a dash is marked.
pub(crate) fn arguments(all: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = all.collect();
    if !words.iter().any(is_text) {
        return words;
    }
    let root = Cli::command();
    let named = words.iter().skip(1).find_map(|word| root.find_subcommand(word));
    let Some(command) = named.filter(|found| COMMANDS.contains(&found.get_name())) else { return words };
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    for at in 1..end {
        let is_value = words.get(at - 1).is_some_and(|before| takes_value(&root, command, before));
        if let Some(word) = words.get_mut(at).filter(|word| is_text(word) && !is_value) {
            *word = format!("{MARK}{}", word.to_string_lossy()).into();
        }
    }
    words
}

/// Reads a word of a text.
#[expect(clippy::unnecessary_wraps, reason = "the parser expects a result")]
pub(super) fn word(text: &str) -> Result<String, Infallible> {
    Ok(text.strip_prefix(MARK).unwrap_or(text).to_owned())
}

/// True for an argument that begins with a dash and cannot be an option.
fn is_text(word: &OsString) -> bool {
    let Some(word) = word.to_str().filter(|word| word.starts_with('-')) else { return false };
    let name = word.trim_start_matches('-');
    let is_option = name
        .split('=')
        .next()
        .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.contains(char::is_whitespace));
    !name.is_empty() && !is_option
}

/// True if the argument is an option that takes the next argument as its value.
fn takes_value(root: &clap::Command, command: &clap::Command, word: &OsString) -> bool {
    let Some(name) = word.to_str().filter(|word| word.starts_with('-') && !word.contains('=')) else { return false };
    let long = name.strip_prefix("--");
    let short = name.strip_prefix('-').and_then(|short| short.chars().last());
    let is_it = |argument: &&clap::Arg| match long {
        Some(long) => {
            argument.get_long() == Some(long) || argument.get_all_aliases().unwrap_or_default().contains(&long)
        }
        None => argument.get_short() == short && short.is_some(),
    };
    let found = command.get_arguments().chain(root.get_arguments()).find(is_it);
    found.is_some_and(|argument| argument.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(line: &[&str]) -> Vec<String> {
        let words = arguments(std::iter::once("tessera").chain(line.iter().copied()).map(OsString::from));
        let cli = <Cli as clap::Parser>::try_parse_from(words).map(|cli| cli.command);
        match cli {
            Ok(Some(super::super::Command::Remember(args))) => args.text,
            other => panic!("{line:?}: {other:?}"),
        }
    }

    #[test]
    fn texts_may_begin_with_a_dash() {
        for (line, expected) in [
            (&["remember", "- a list item"][..], &["- a list item"][..]),
            (&["remember", "-c is the config flag", "--json"], &["-c is the config flag"]),
            (&["remember", "it is", "-5", "degrees", "--importance", "0.3"], &["it is", "-5", "degrees"]),
            (&["remember", "--no-verify is forbidden here"], &["--no-verify is forbidden here"]),
            (&["remember", "x", "--tags=a b"], &["x"]),
            (&["remember", "--", "--tags"], &["--tags"]),
            (&["remember", "-"], &["-"]),
        ] {
            assert_eq!(text(line), expected, "{line:?}");
        }
    }
}
