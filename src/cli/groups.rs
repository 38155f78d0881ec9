//! The help of `tessera`: all commands in groups.

use std::ffi::OsString;

use clap::CommandFactory;

use super::Cli;
use crate::output;

/// The groups of the help: a title, and the names of its commands.
pub(crate) const GROUPS: [(&str, &[&str]); 7] = [
    ("Memories", &["remember", "recall", "get", "list", "browse"]),
    ("Changes", &["edit", "update", "forget", "undo", "restore", "history", "link", "review", "secret"]),
    ("Files and notes", &["files", "note", "graph", "memory-tool"]),
    (
        "Clients",
        &["setup", "uninstall", "project", "handoff", "log", "statusline", "why", "usage", "unanswered", "mcp"],
    ),
    ("Teams", &["sync", "share", "unshare", "shares", "accept", "decline", "resolve", "serve"]),
    ("Data", &["import", "export", "backup", "restore-backup", "purged", "stats"]),
    ("Tessera", &["status", "doctor", "settings", "plugin", "completions", "man", "demo", "eval"]),
];

/// The maximum width of the help, as of the other parts.
const WIDEST: u16 = 100;
/// The width of the column with the names of commands.
const NAMES: usize = 16;

/// The command line for these arguments. The groups are added only if the help may be printed, because wrapping the help
/// takes more time than parsing.
pub(crate) fn command_for(arguments: &[OsString]) -> clap::Command {
    let asks = |word: &OsString| ["help", "-h", "--help"].iter().any(|help| word == help);
    if arguments.iter().any(asks) { command() } else { Cli::command() }
}

/// The command line, with a help that shows the commands in groups.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let groups = grouped(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{groups}\nOptions:\n{{options}}{{after-help}}"
    ))
}

fn grouped(command: &clap::Command) -> String {
    let columns = output::columns().map_or(WIDEST, |columns| columns.min(WIDEST));
    let mut text = String::new();
    for (title, names) in GROUPS {
        text.push_str(&format!("\n{title}:\n"));
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let first = format!("  {name:<NAMES$}");
            let indent = " ".repeat(first.len());
            text.push_str(&output::wrapped_after(&about, &first, &indent, columns));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_visible_command_is_in_one_group_and_has_an_example_that_parses() {
        let command = Cli::command();
        let visible: Vec<&clap::Command> = command.get_subcommands().filter(|one| !one.is_hide_set()).collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        assert_eq!(grouped.len(), visible.len(), "a command is in two groups, or in none");
        for one in visible {
            let name = one.get_name();
            assert!(grouped.contains(&name), "{name} is in no group");
            assert!(one.get_about().is_some_and(|about| about.to_string().chars().count() <= 70), "{name}: about");
            if name == "serve" {
                // The help of `serve` is the help of the server.
                continue;
            }
            let help = one.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  ")).collect();
            assert!(!examples.is_empty(), "{name} has no example");
            for example in examples {
                let line = example.split("    (").next().unwrap_or_default();
                let tessera = line.find("tessera ").map(|at| line.split_at(at).1).unwrap_or_default();
                let words = tessera.split([')', '|']).next().unwrap_or_default();
                let words = shlex::split(words).unwrap_or_default();
                assert!(Cli::command().try_get_matches_from(&words).is_ok(), "{name}: {example}");
            }
        }
    }
}
