//! Lessons from commands: a command failed because it was called wrongly, and a similar one worked right afterwards.

use std::io;
use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;
use tessera_desk::queue::Job;
use tessera_desk::results::LearningResult;
use tessera_engine::Store;
use tessera_engine::action::Lesson;
use tessera_engine::store::StoreError;
use tessera_hooks::handoff::{only_reads, quoted, quoted_command};
use tessera_hooks::prompt::error_line;
use tessera_hooks::transcript::{MOST_BYTES, OpenCalls, command_of, each_row};

use crate::extracted_memory::{ExtractedKind, ExtractedMemory};
use crate::heuristic::pattern;
use crate::reconcile::{self, Source};

/// The second command is among this number of commands after the first one.
const MOST_BETWEEN: usize = 4;
/// The maximum number of lessons of one run.
const MOST_LESSONS: usize = 3;
/// The maximum number of characters of a command, and of the error in a lesson.
const LONGEST_COMMAND: usize = 120;
const LONGEST_ERROR: usize = 100;
/// The stated probability. A lesson always waits for review, because only a person knows whether the first command was
/// wrong.
const PROBABILITY: f64 = 0.5;

// Errors that mean that the command itself was wrong, not the code that it ran.
pattern!(
    WRONG_CALL,
    r"(?i)command not found|not recognized|no such (?:command|option|subcommand|task|target|service)|(?:unknown|unrecognized|invalid|unexpected) (?:option|command|subcommand|argument|flag|task|choice|target|script)|missing script|no rule to make target|is not a \S+ command|did you mean|requires? (?:the )?(?:flag|option|argument|--)|required (?:flag|option|argument)|^usage:|no module named|must be run (?:from|with|in|as)|not installed"
);

/// The tools that edit files.
const EDITORS: [&str; 4] = ["Edit", "MultiEdit", "Write", "NotebookEdit"];

/// A command that failed.
struct Failure {
    command: String,
    error: String,
    /// The number of commands since then.
    age: usize,
}

/// Adds the lessons of new turns to the review queue. `cursor` is the last prompt that was read before.
pub(crate) fn propose(
    store: &mut Store,
    job: &Job,
    cursor: Option<&str>,
    source: Source<'_>,
) -> Result<Vec<LearningResult>, StoreError> {
    // The caller has just read the transcript, and reports if this is impossible.
    let lessons = lessons(&job.transcript, cursor).unwrap_or_default();
    let mut waiting = Vec::new();
    for (lesson, error) in lessons.into_iter().take(MOST_LESSONS) {
        let memory = ExtractedMemory {
            is_everywhere: Some(false),
            probability: Some(PROBABILITY),
            ..ExtractedMemory::new(ExtractedKind::Workaround, lesson.text(&error))
        };
        match reconcile::reconcile(store, &memory, source) {
            Ok(reconcile::Outcome::Waiting(id)) => waiting.push(LearningResult::Waiting(id)),
            Ok(_) | Err(StoreError::Domain(_) | StoreError::Conflict { .. } | StoreError::InFile { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(waiting)
}

/// The lessons of the turns after `cursor`, with the error of the first command.
fn lessons(transcript: &Path, cursor: Option<&str>) -> io::Result<Vec<(Lesson, String)>> {
    let mut reader = Reader { is_after_cursor: cursor.is_none(), ..Reader::default() };
    each_row(transcript, MOST_BYTES, |row| {
        if row.prompt().is_some() {
            // A failure of an earlier request is not corrected by a later one.
            reader.failures.clear();
            reader.is_new = reader.is_after_cursor;
            reader.is_after_cursor |= Some(row.id()) == cursor;
        }
        for call in reader.calls.read(row) {
            match command_of(&call.tool, &call.input) {
                Some(command) => reader.command(command, call.is_error.then_some(call.output.as_str())),
                // The edit may be the reason why the next command works.
                None if EDITORS.contains(&call.tool.as_str()) => reader.failures.clear(),
                None => {}
            }
        }
    })?;
    Ok(reader.found)
}

/// The lessons in the rows that were read.
#[derive(Default)]
struct Reader {
    calls: OpenCalls,
    /// The commands that failed since the last prompt.
    failures: Vec<Failure>,
    found: Vec<(Lesson, String)>,
    /// True if the prompt that was read last before this run has been passed.
    is_after_cursor: bool,
    /// True if the present turn was not read before this run.
    is_new: bool,
}

impl Reader {
    fn command(&mut self, command: &str, failure: Option<&str>) {
        if only_reads(command) {
            return;
        }
        self.failures.retain_mut(|failure| {
            failure.age += 1;
            failure.age <= MOST_BETWEEN
        });
        let is_short = command.chars().count() <= LONGEST_COMMAND && !command.contains(['\n', '`']);
        let Some(command) = quoted_command(command).filter(|_| is_short) else { return };
        match failure {
            Some(output) => self.failed(command, output),
            None => self.worked(&command),
        }
    }

    fn failed(&mut self, command: String, output: &str) {
        let wrong = output.lines().find(|line| WRONG_CALL.is_match(line)).map(str::to_owned).or_else(|| {
            // The line with the error may not contain the words.
            error_line(output).filter(|_| WRONG_CALL.is_match(output))
        });
        let error = wrong.and_then(|line| quoted(&line));
        if let Some(error) = error {
            let error = error.chars().take(LONGEST_ERROR).collect();
            self.failures.push(Failure { command, error, age: 0 });
        }
    }

    fn worked(&mut self, command: &str) {
        // The command failed for another reason if it works later.
        self.failures.retain(|failure| failure.command != command);
        let Some(at) = self.failures.iter().rposition(|failure| is_similar(&failure.command, command)) else { return };
        let failure = self.failures.remove(at);
        if !self.is_new {
            return;
        }
        self.found.push((Lesson::of_commands(&failure.command, command), failure.error));
    }
}

/// True for commands that have at least half of the words of the shorter one in common.
fn is_similar(one: &str, other: &str) -> bool {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.split_whitespace().collect(), other.split_whitespace().collect());
    let common = one.iter().filter(|word| other.contains(word)).count();
    common > 0 && 2 * common >= one.len().min(other.len())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use serde_json::{Value, json};

    use super::*;

    /// Rows of a transcript: `?` is a prompt, `edit` an edit, and everything else a command with its error.
    fn found(steps: &[(&str, &str)], cursor: Option<&str>) -> Vec<String> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for (number, (step, error)) in steps.iter().enumerate() {
            let row = |kind: &str, content: Value| json!({ "type": kind, "uuid": format!("r{number}"), "message": { "content": content } });
            if *step == "?" {
                writeln!(file, "{}", row("user", json!("please do it"))).unwrap();
                continue;
            }
            let (tool, input) = if *step == "edit" {
                ("Edit", json!({ "file_path": "/a" }))
            } else {
                ("Bash", json!({ "command": step }))
            };
            writeln!(
                file,
                "{}",
                row("assistant", json!([{ "type": "tool_use", "id": "c", "name": tool, "input": input }]))
            )
            .unwrap();
            let result =
                json!([{ "type": "tool_result", "tool_use_id": "c", "content": error, "is_error": !error.is_empty() }]);
            writeln!(file, "{}", row("user", result)).unwrap();
        }
        lessons(file.path(), cursor).unwrap().into_iter().map(|(lesson, error)| lesson.text(&error)).collect()
    }

    #[test]
    fn a_wrong_call_and_the_right_one_are_a_lesson() {
        let missing = "Exit code 1\nnpm error Missing script: \"test\"";
        let lesson = "avoid: `npm test`; instead: `pnpm test`; because: npm error Missing script: \"test\"";
        assert_eq!(found(&[("?", ""), ("npm test", missing), ("ls", ""), ("pnpm test", "")], None), [lesson]);
        let option = "Exit code 2\nerror: unexpected argument '--al' found";
        let corrected = [("?", ""), ("cargo test --al", option), ("cargo test --all", "")];
        assert_eq!(found(&corrected, None).len(), 1);
    }

    #[test]
    fn everything_else_is_not() {
        let (missing, red) = ("npm error Missing script: \"test\"", "test a ... FAILED");
        for steps in [
            vec![("npm test", red), ("pnpm test", "")],
            vec![("npm test", missing), ("edit", ""), ("pnpm test", "")],
            vec![("npm test", missing), ("npm test", ""), ("pnpm test", "")],
            vec![("npm test", missing), ("?", ""), ("pnpm test", "")],
            vec![("npm test", missing), ("pnpm test", red)],
            vec![("npm test", missing), ("make docs", "")],
            vec![
                ("npm test", missing),
                ("make a", ""),
                ("make b", ""),
                ("make c", ""),
                ("make d", ""),
                ("pnpm test", ""),
            ],
            vec![("API_KEY=qX7pL2vN9dRt npm test", missing), ("API_KEY=qX7pL2vN9dRt pnpm test", "")],
        ] {
            assert_eq!(found(&[&[("?", "")], steps.as_slice()].concat(), None), [] as [&str; 0], "{steps:?}");
        }
    }

    #[test]
    fn only_turns_after_the_cursor_count() {
        let missing = "npm error Missing script: \"test\"";
        let steps =
            [("?", ""), ("npm test", missing), ("pnpm test", ""), ("?", ""), ("npm t", missing), ("pnpm t", "")];
        assert_eq!(found(&steps, None).len(), 2);
        assert_eq!(found(&steps, Some("r0")).len(), 1);
        assert_eq!(found(&steps, Some("r3")).len(), 0);
        assert_eq!(found(&steps, Some("elsewhere")).len(), 0);
    }
}
