//! Reads a client's transcript for the person's statements. A transcript consists of JSON lines of many kinds, and most
//! of them are skipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::LazyLock;

use regex_lite::Regex;
use serde::Deserialize;
use serde_json::Value;
use tessera_engine::domain::Timestamp;

use tessera_desk::json::whole_characters;
use tessera_desk::screen::screened;
use tessera_hooks::said::own_statements;

/// A person's statement and the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The client's ID of the row.
    pub(crate) id: String,
    /// The time of the statement.
    pub(crate) at: Option<Timestamp>,
    /// The person's own words, without code, pasted output and credentials.
    pub(crate) user: String,
    /// The assistant's words.
    pub(crate) assistant: String,
}

/// The bytes read from the end of a transcript.
const MOST_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum bytes of one line. A longer line is tool output.
const LONGEST_LINE: u64 = 1024 * 1024;
/// The maximum numbers of characters that a turn keeps: from the beginning of a statement, and from the end of an
/// answer.
const MOST_SAID: usize = 4_000;
const MOST_ANSWERED: usize = 2_000;

#[derive(Deserialize)]
struct Row {
    #[serde(rename = "type")]
    kind: Option<Value>,
    uuid: Option<Value>,
    timestamp: Option<Value>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Option<Value>,
    #[serde(rename = "isMeta")]
    is_meta: Option<Value>,
    #[serde(rename = "isCompactSummary")]
    is_summary: Option<Value>,
    #[serde(rename = "toolUseResult")]
    tool_result: Option<Value>,
    #[serde(rename = "promptSource")]
    source: Option<Value>,
    message: Option<Value>,
}

/// The turns of a transcript after `cursor`, oldest first, at most the last `most`. They include `before` additional
/// turns before the cursor, for a deep extraction.
///
/// # Errors
/// Returns an error if the path cannot be read or is not a file.
pub(crate) fn turns(path: &Path, cursor: Option<&str>, most: usize) -> io::Result<Turns> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
    }
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(MOST_BYTES);
    file.seek(SeekFrom::Start(start))?;
    let mut reader = BufReader::new(file.take(MOST_BYTES));
    if start > 0 {
        reader.skip_until(b'\n')?;
    }
    let mut turns: Vec<Turn> = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.len() as u64 >= LONGEST_LINE && line.last() != Some(&b'\n') {
            reader.skip_until(b'\n')?;
            continue;
        }
        if let Ok(row) = serde_json::from_str::<Row>(&whole_characters(&String::from_utf8_lossy(&line))) {
            take(&mut turns, &row);
        }
    }
    let seen = cursor.and_then(|cursor| turns.iter().rposition(|turn| turn.id == cursor)).map_or(0, |at| at + 1);
    let first = seen.max(turns.len().saturating_sub(most));
    Ok(Turns { all: turns, first })
}

/// The turns of a transcript.
pub(crate) struct Turns {
    /// All turns that were read.
    pub(crate) all: Vec<Turn>,
    /// The position of the first new turn.
    pub(crate) first: usize,
}

fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}

fn take(turns: &mut Vec<Turn>, row: &Row) {
    let kind = row.kind.as_ref().and_then(Value::as_str);
    if is_true(row.is_sidechain.as_ref()) || is_true(row.is_meta.as_ref()) || is_true(row.is_summary.as_ref()) {
        return;
    }
    let Some(content) = row.message.as_ref().and_then(|message| message.get("content")) else { return };
    match kind {
        Some("user") if row.tool_result.is_none() && is_from_person(row.source.as_ref()) => {
            let Some(said) = said(content) else { return };
            let id = row.uuid.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
            let at = row.timestamp.as_ref().and_then(Value::as_str).and_then(|text| text.parse().ok());
            turns.push(Turn { id, at, user: said, assistant: String::new() });
        }
        Some("assistant") => {
            let Some(turn) = turns.last_mut() else { return };
            for text in texts(content) {
                turn.assistant.push_str(&screened(text));
                turn.assistant.push('\n');
                // The end of an answer says more than its beginning.
                let surplus = turn.assistant.chars().count().saturating_sub(MOST_ANSWERED);
                let end = turn.assistant.char_indices().nth(surplus).map_or(0, |(at, _)| at);
                turn.assistant.drain(..end);
            }
        }
        _ => {}
    }
}

fn is_from_person(source: Option<&Value>) -> bool {
    !matches!(
        source.and_then(Value::as_str),
        Some("system" | "loop_wakeup" | "schedule_wakeup" | "poll_event" | "hook" | "task_notification")
    )
}

/// The person's own words in a line of the transcript; `None` for a tool result, a command, or an empty line.
fn said(content: &Value) -> Option<String> {
    static NOT_SAID: LazyLock<Regex> = LazyLock::new(|| {
        let source = r"^\s*(?:<command-|<local-command-|<bash-|<task-notification|\[Request interrupted|Caveat: The messages below)";
        Regex::new(source).expect("the pattern is a constant, and a test compiles it")
    });
    if let Value::Array(blocks) = content {
        let is_result = |block: &Value| block.get("type").and_then(Value::as_str) == Some("tool_result");
        if blocks.iter().any(is_result) {
            return None;
        }
    }
    let texts: Vec<&str> = texts(content).into_iter().filter(|text| !NOT_SAID.is_match(text)).collect();
    let own = screened(&own_statements(&texts.join("\n")));
    let own: String = own.chars().take(MOST_SAID).collect();
    (!own.trim().is_empty()).then(|| own.trim().to_owned())
}

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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_what_a_person_said_is_a_turn() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let rows = [
            r#"{"type":"user","uuid":"u1","timestamp":"2026-11-20T10:00:00.000Z","isSidechain":false,"message":{"role":"user","content":"I prefer tabs\n```\nsecret code\n```"}}"#,
            r#"{"type":"assistant","uuid":"a1","message":{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"Noted."}]}}"#,
            r#"{"type":"user","uuid":"t1","message":{"content":[{"type":"tool_result","content":"I prefer spaces"}]},"toolUseResult":{}}"#,
            r#"{"type":"attachment","attachment":{"type":"hook_additional_context","content":["I prefer vim"]}}"#,
            r#"{"type":"user","uuid":"m1","isMeta":true,"message":{"content":"I prefer emacs"}}"#,
            r#"{"type":"user","uuid":"s1","isSidechain":true,"message":{"content":"I prefer nano"}}"#,
            r#"{"type":"user","uuid":"c1","isCompactSummary":true,"message":{"content":"I prefer ed"}}"#,
            r#"{"type":"user","uuid":"k1","message":{"content":"<command-name>/x</command-name> I prefer sam"}}"#,
            "not json",
            r#"{"type":"user","uuid":"u2","message":{"content":[{"type":"text","text":"<system-reminder>I prefer acme</system-reminder>we use pnpm\nmy password is hunter22"}]}}"#,
        ];
        writeln!(file, "{}", rows.join("\n")).unwrap();
        let read = turns(file.path(), None, 10).unwrap();
        let said: Vec<(&str, &str)> = read.all.iter().map(|turn| (turn.id.as_str(), turn.user.as_str())).collect();
        assert_eq!(said, [("u1", "I prefer tabs"), ("u2", "we use pnpm")]);
        assert_eq!(read.all[0].assistant.trim(), "Noted.");
        assert_eq!(turns(file.path(), Some("u1"), 10).unwrap().first, 1);
        assert_eq!(turns(file.path(), None, 1).unwrap().first, 1);
        assert!(turns(Path::new("/dev/zero"), None, 1).is_err());
    }

    /// Input from other programs never causes a panic (`engine/tests/fuzz.rs`): it is either read or rejected.
    #[test]
    fn any_transcript_is_read() {
        const PIECES: [&str; 22] = [
            "{\"type\":\"user\",\"uuid\":\"u1\",",
            "\"message\":{",
            "\"content\":",
            "\"I prefer tabs\"",
            "}",
            "}\n",
            "\n",
            "{\"type\":\"assistant\",",
            "[{\"type\":\"text\",\"text\":\"",
            "\"}]",
            "\"isMeta\":true,",
            "\"isSidechain\":1,",
            "null",
            "-1",
            "[",
            "]",
            "<system-reminder>",
            "</system-reminder>",
            "\\ud800",
            "é",
            "{",
            ",",
        ];
        bolero::check!().with_iterations(600).for_each(|picks: &[u8]| {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            for pick in picks {
                match PIECES.get(usize::from(*pick) % (PIECES.len() + 2)) {
                    Some(piece) => file.write_all(piece.as_bytes()).unwrap(),
                    None => file.write_all(&[*pick]).unwrap(),
                }
            }
            let read = turns(file.path(), Some("u1"), 10).unwrap();
            assert!(read.first <= read.all.len());
        });
    }

    #[test]
    fn a_huge_transcript_is_read_at_its_end() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let long = "x".repeat(2 * 1024 * 1024);
        for _ in 0..6 {
            writeln!(file, r#"{{"type":"user","uuid":"big","message":{{"content":"{long}"}}}}"#).unwrap();
        }
        writeln!(file, r#"{{"type":"user","uuid":"last","message":{{"content":"I prefer tabs"}}}}"#).unwrap();
        let read = turns(file.path(), None, 10).unwrap();
        assert_eq!(read.all.iter().map(|turn| turn.id.as_str()).collect::<Vec<_>>(), ["last"]);
    }
}
