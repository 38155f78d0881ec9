//! The turns of a session: what a person said, and how the agent answered.

use std::io;
use std::path::Path;

use tessera_desk::screen::screened;
use tessera_engine::domain::Timestamp;
use tessera_hooks::said::own_statements;
use tessera_hooks::transcript::{MOST_BYTES, Row, each_row};

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

/// The maximum numbers of characters that a turn keeps: from the beginning of a statement, and from the end of an
/// answer.
const MOST_SAID: usize = 4_000;
const MOST_ANSWERED: usize = 2_000;

/// The turns of a transcript after `cursor`, oldest first, at most the last `most`. They include `before` additional
/// turns before the cursor, for a deep extraction.
///
/// # Errors
/// Returns an error if the path cannot be read or is not a file.
pub(crate) fn turns(path: &Path, cursor: Option<&str>, most: usize) -> io::Result<Turns> {
    let mut turns: Vec<Turn> = Vec::new();
    each_row(path, MOST_BYTES, |row| take(&mut turns, row))?;
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

fn take(turns: &mut Vec<Turn>, row: &Row) {
    if let Some(user) = row.prompt().and_then(|prompt| said(&prompt)) {
        turns.push(Turn { id: row.id().to_owned(), at: row.at(), user, assistant: String::new() });
    }
    let Some(turn) = turns.last_mut() else { return };
    for text in row.agent_texts() {
        turn.assistant.push_str(&screened(text));
        turn.assistant.push('\n');
        // The end of an answer says more than its beginning.
        let surplus = turn.assistant.chars().count().saturating_sub(MOST_ANSWERED);
        let end = turn.assistant.char_indices().nth(surplus).map_or(0, |(at, _)| at);
        turn.assistant.drain(..end);
    }
}

/// The person's own words in a prompt.
fn said(prompt: &str) -> Option<String> {
    let own: String = screened(&own_statements(prompt)).chars().take(MOST_SAID).collect();
    (!own.trim().is_empty()).then(|| own.trim().to_owned())
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
