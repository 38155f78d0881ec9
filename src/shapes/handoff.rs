//! The hand-off of a session.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use tessera_hooks::handoff::{Command, EditedFile, FailedCommand, Handoff, Quote, Rendered};

/// The output of `tessera handoff`. Apart from `text`, the lists are complete.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HandoffShown {
    /// The session; absent for `--transcript`.
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    /// The time of the transcript's last row, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The branch of the repository at the end of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    /// The session's first request; absent if it is among the last ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_request: Option<String>,
    /// The last requests, newest first.
    requests: Vec<String>,
    /// Sentences that decide something, the most important first.
    decisions: Vec<QuoteRow>,
    /// The agent's unanswered questions, and its sentences about remaining work.
    open: Vec<QuoteRow>,
    /// Tasks that are not completed.
    tasks: Vec<String>,
    /// The commands that failed when they were last run, newest first.
    failed: Vec<FailedRow>,
    /// The commands that worked when they were last run, the most important first.
    worked: Vec<WorkedRow>,
    /// The edited files, the most recently edited one first.
    files: Vec<FileRow>,
    /// The text within `--max-tokens`.
    text: String,
    /// The tokens of `text`.
    tokens_used: u32,
    /// The file with the text, for `--to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
}

/// A quoted sentence.
#[derive(Serialize, JsonSchema)]
struct QuoteRow {
    /// `user` or `agent`.
    speaker: &'static str,
    /// The sentence.
    text: String,
}

/// A command that failed.
#[derive(Serialize, JsonSchema)]
struct FailedRow {
    /// The command.
    command: String,
    /// The line of the output with the error; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A command that worked.
#[derive(Serialize, JsonSchema)]
struct WorkedRow {
    /// The command.
    command: String,
    /// True if the command failed earlier in the session.
    failed_before: bool,
}

/// An edited file.
#[derive(Serialize, JsonSchema)]
struct FileRow {
    /// The path, relative to the project if the file is inside it.
    path: String,
    /// The number of edits.
    edits: u32,
    /// `unchanged`, `changed` (the last edit is no longer in the file), `deleted`, or `unknown`.
    state: &'static str,
}

impl HandoffShown {
    /// The output for a hand-off.
    pub(crate) fn new(handoff: Handoff, rendered: &Rendered, session: Option<String>, file: Option<PathBuf>) -> Self {
        let quotes = |quotes: Vec<Quote>| quotes.into_iter().map(Into::into).collect();
        Self {
            session,
            at: handoff.at.map(|at| at.to_string()),
            branch: handoff.branch,
            first_request: handoff.first_request,
            requests: handoff.requests,
            decisions: quotes(handoff.decisions),
            open: quotes(handoff.open),
            tasks: handoff.tasks,
            failed: handoff.failed.into_iter().map(Into::into).collect(),
            worked: handoff.worked.into_iter().map(Into::into).collect(),
            files: handoff.files.into_iter().map(Into::into).collect(),
            text: rendered.text.clone(),
            tokens_used: rendered.tokens,
            file,
        }
    }
}

impl From<Quote> for QuoteRow {
    fn from(quote: Quote) -> Self {
        Self { speaker: quote.speaker.as_str(), text: quote.text }
    }
}

impl From<FailedCommand> for FailedRow {
    fn from(FailedCommand { command, error }: FailedCommand) -> Self {
        Self { command, error }
    }
}

impl From<Command> for WorkedRow {
    fn from(Command { command, failed_before }: Command) -> Self {
        Self { command, failed_before }
    }
}

impl From<EditedFile> for FileRow {
    fn from(EditedFile { path, edits, state }: EditedFile) -> Self {
        Self { path, edits, state: state.as_str() }
    }
}
