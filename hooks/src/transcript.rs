//! Reads a client's transcript: JSON lines of many kinds. Each row may contain a person's words, the agent's words, tool
//! calls, or their results.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;
use tessera_desk::json::whole_characters;
use tessera_engine::domain::Timestamp;

/// The maximum number of bytes that are read, from the end of a transcript.
pub const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum bytes of one line. A longer line is tool output.
const LONGEST_LINE: u64 = 1024 * 1024;

/// The sources of prompts that no person typed.
const PROGRAMS: [&str; 6] = ["system", "loop_wakeup", "schedule_wakeup", "poll_event", "hook", "task_notification"];

/// The beginnings of texts that the client writes in the place of a prompt.
const NOT_SAID: [&str; 6] = [
    "<command-",
    "<local-command-",
    "<bash-",
    "<task-notification",
    "[Request interrupted",
    "Caveat: The messages below",
];
/// The beginnings of the output of a tool that did not run, because a person, a rule, a hook or a wrong argument prevented it.
const DID_NOT_RUN: [&str; 5] = [
    "The user doesn't want to",
    "Permission to use",
    "Claude requested permissions",
    "PreToolUse:",
    "<tool_use_error>",
];
/// The words of the client before the words of a person who did not allow a tool.
const SAID: &str = "the user said:\n";

/// A row of a transcript. A field of the wrong type counts as absent.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(Value);

/// A call of a tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolCall<'a> {
    /// The client's ID of the call.
    pub id: &'a str,
    /// The tool.
    pub name: &'a str,
    /// Its arguments.
    pub input: &'a Value,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult<'a> {
    /// The client's ID of the call.
    pub id: &'a str,
    /// The output.
    pub text: String,
    /// True if the tool failed.
    pub is_error: bool,
}

/// The calls of tools whose results are not known yet, in their order.
#[derive(Debug, Clone, Default)]
pub struct OpenCalls {
    calls: Vec<(String, String, Value)>,
    /// True if a result followed the last call.
    has_result: bool,
}

/// A call of a tool with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedCall {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub input: Value,
    /// The output.
    pub output: String,
    /// True if the tool failed.
    pub is_error: bool,
}

impl OpenCalls {
    /// Reads a row, and returns the calls that it finishes. Calls that a person did not allow are left out, because the tool
    /// did not run.
    pub fn read(&mut self, row: &Row) -> Vec<FinishedCall> {
        let calls = row.tool_calls();
        if !calls.is_empty() && std::mem::take(&mut self.has_result) {
            // The session went on, so these calls were not interrupted. Their results were too long to be read.
            self.calls.clear();
        }
        self.calls.extend(calls.into_iter().map(|call| (call.id.to_owned(), call.name.to_owned(), call.input.clone())));
        let results = row.tool_results();
        self.has_result |= !results.is_empty();
        let finished = results.into_iter().filter_map(|result| {
            let at = self.calls.iter().position(|(id, ..)| id == result.id)?;
            let (_, tool, input) = self.calls.remove(at);
            (!result.is_error || !has_not_run(&result.text)).then_some(FinishedCall {
                tool,
                input,
                output: result.text,
                is_error: result.is_error,
            })
        });
        finished.collect()
    }

    /// The tools and arguments of the remaining calls. They were interrupted.
    pub fn into_interrupted(self) -> impl Iterator<Item = (String, Value)> {
        self.calls.into_iter().map(|(_, tool, input)| (tool, input))
    }
}

/// The command of a call of a shell. `None` for a command in the background, because its result is not known.
pub fn command_of<'a>(tool: &str, input: &'a Value) -> Option<&'a str> {
    let is_in_background = input.get("run_in_background").and_then(Value::as_bool) == Some(true);
    let is_shell = matches!(tool, "Bash" | "PowerShell" | "Shell");
    if is_shell && !is_in_background { input.get("command")?.as_str() } else { None }
}

/// Passes each row at the end of a transcript to `each`, oldest first. `most` is the maximum number of bytes to read. Skips
/// lines that are not JSON, and too long lines.
///
/// # Errors
/// Returns an error if the path cannot be read or is not a file.
pub fn each_row(path: &Path, most: u64, mut each: impl FnMut(&Row)) -> io::Result<()> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    let mut file = File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(start))?;
    let mut reader = BufReader::new(file.take(most));
    if start > 0 {
        reader.skip_until(b'\n')?;
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.len() as u64 >= LONGEST_LINE && line.last() != Some(&b'\n') {
            reader.skip_until(b'\n')?;
            continue;
        }
        if let Ok(row) = serde_json::from_str(&whole_characters(&String::from_utf8_lossy(&line))) {
            each(&Row(row));
        }
    }
}

impl Row {
    /// The client's ID of the row.
    pub fn id(&self) -> &str {
        self.text("uuid").unwrap_or_default()
    }

    /// The time of the row.
    pub fn at(&self) -> Option<Timestamp> {
        self.text("timestamp")?.parse().ok()
    }

    /// The branch of the repository.
    pub fn branch(&self) -> Option<&str> {
        self.text("gitBranch").filter(|branch| !branch.is_empty())
    }

    /// What a person typed, with pasted text. `None` for a tool result, a command of the client, or a text of a program.
    pub fn prompt(&self) -> Option<String> {
        let is_of_program = self.text("promptSource").is_some_and(|source| PROGRAMS.contains(&source));
        if self.text("type") != Some("user") || is_of_program || self.has_result() {
            return None;
        }
        let texts: Vec<&str> = texts(self.content()?).into_iter().filter(|text| !is_of_client(text)).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// What a person said instead of allowing a tool.
    pub fn objection(&self) -> Option<String> {
        let results = self.tool_results();
        let refused = results.iter().find(|result| result.is_error && has_not_run(&result.text))?;
        Some(refused.text.split_once(SAID)?.1.to_owned())
    }

    /// The agent's words.
    pub fn agent_texts(&self) -> Vec<&str> {
        if self.text("type") == Some("assistant") { self.content().map(texts).unwrap_or_default() } else { Vec::new() }
    }

    /// The tool calls of the agent.
    pub fn tool_calls(&self) -> Vec<ToolCall<'_>> {
        let call = |block| {
            let text = |name: &str| -> Option<&str> { Value::get(block, name)?.as_str() };
            Some(ToolCall { id: text("id")?, name: text("name")?, input: block.get("input")? })
        };
        self.blocks("tool_use").filter_map(call).collect()
    }

    /// The results of tool calls.
    pub fn tool_results(&self) -> Vec<ToolResult<'_>> {
        self.blocks("tool_result")
            .filter_map(|block| {
                let id = block.get("tool_use_id")?.as_str()?;
                let text = block.get("content").map(|content| texts(content).join("\n")).unwrap_or_default();
                let is_error = block.get("is_error").and_then(Value::as_bool) == Some(true);
                Some(ToolResult { id, text, is_error })
            })
            .collect()
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// The content of the message. `None` for a message of a subagent, of the client, or a summary.
    fn content(&self) -> Option<&Value> {
        let is_set = |name| self.0.get(name).and_then(Value::as_bool) == Some(true);
        if ["isSidechain", "isMeta", "isCompactSummary"].into_iter().any(is_set) {
            return None;
        }
        self.0.get("message")?.get("content")
    }

    fn blocks(&self, kind: &str) -> impl Iterator<Item = &Value> {
        let blocks = self.content().and_then(Value::as_array).into_iter().flatten();
        blocks.filter(move |block| block.get("type").and_then(Value::as_str) == Some(kind))
    }

    fn has_result(&self) -> bool {
        self.0.get("toolUseResult").is_some_and(|result| !result.is_null())
            || self.blocks("tool_result").next().is_some()
    }
}

/// True for a text that the client wrote in the place of a prompt.
fn is_of_client(text: &str) -> bool {
    NOT_SAID.iter().any(|begin| text.trim_start().starts_with(begin))
}

fn has_not_run(output: &str) -> bool {
    DID_NOT_RUN.iter().any(|begin| output.starts_with(begin)) || output.contains("requires approval")
}

/// The texts of a message.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => {
            let is_text = |block: &&Value| block.get("type").and_then(Value::as_str) == Some("text");
            blocks.iter().filter(is_text).filter_map(|block| block.get("text")?.as_str()).collect()
        }
        _ => Vec::new(),
    }
}
