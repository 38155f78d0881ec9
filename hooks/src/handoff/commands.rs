//! The shell commands of a session, and whether they worked.

use serde_json::json;
use tessera_desk::screen::screened_head;
use tessera_engine::action::Action;

use super::quote::{in_one_line, quoted_command};
use crate::prompt::error_line;

/// Maximum number of bytes of a command that is read. A longer one contains a file.
const LONGEST: usize = 2_000;
/// The maximum number of bytes of an output that is searched for the error.
const MOST_OUTPUT: usize = 16 * 1024;
/// The maximum number of characters of an error line.
const LONGEST_ERROR: usize = 120;

/// The command that prints a hand-off.
const OWN: &str = "tessera handoff";

/// A command that worked in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The command in one line.
    pub command: String,
    /// True if it failed before.
    pub failed_before: bool,
}

/// A command that failed when it was last run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCommand {
    /// The command in one line.
    pub command: String,
    /// The line of the output that contains the error. `None` if there is no such line.
    pub error: Option<String>,
}

/// A command with its last result.
#[derive(Debug, Clone)]
struct Run {
    command: String,
    result: Outcome,
    has_failed: bool,
}

#[derive(Debug, Clone)]
enum Outcome {
    Worked,
    Failed(Option<String>),
}

/// The commands of a session, in the order in which they were last run.
#[derive(Debug, Clone, Default)]
pub(super) struct Commands(Vec<Run>);

impl Commands {
    /// Adds a command. `failure` is the output of a command that failed.
    pub(super) fn add(&mut self, command: &str, failure: Option<&str>) {
        if command.len() > LONGEST || only_reads(command) || command.trim_start().starts_with(OWN) {
            return;
        }
        let Some(command) = quoted_command(command) else { return };
        let before = self.0.iter().position(|run| run.command == command).map(|at| self.0.remove(at));
        let result = match failure {
            None => Outcome::Worked,
            Some(output) => {
                let line = error_line(&screened_head(output, MOST_OUTPUT));
                Outcome::Failed(line.and_then(|line| in_one_line(&line, LONGEST_ERROR)))
            }
        };
        let has_failed = before.is_some_and(|run| run.has_failed) || failure.is_some();
        self.0.push(Run { command, result, has_failed });
    }

    /// The commands that failed when they were last run, newest first.
    pub(super) fn failed(&self) -> Vec<FailedCommand> {
        let failed = |run: &Run| match &run.result {
            Outcome::Failed(error) => Some(FailedCommand { command: run.command.clone(), error: error.clone() }),
            Outcome::Worked => None,
        };
        self.0.iter().rev().filter_map(failed).collect()
    }

    /// The commands that worked when they were last run: first those that had failed before, then the others, newest first.
    pub(super) fn worked(&self) -> Vec<Command> {
        let worked = self.0.iter().rev().filter(|run| matches!(run.result, Outcome::Worked));
        let mut worked: Vec<Command> =
            worked.map(|run| Command { command: run.command.clone(), failed_before: run.has_failed }).collect();
        worked.sort_by_key(|command| !command.failed_before);
        worked
    }
}

/// True for a command that neither changes nor starts anything, such as `ls`.
pub fn only_reads(command: &str) -> bool {
    let action = Action::read("Bash", &json!({ "command": command }), "/", "/");
    action.is_none_or(|action| action.is_idle())
}
