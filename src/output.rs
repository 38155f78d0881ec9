//! The only module that prints.

mod keys;
mod pager;
mod signals;
mod table;
mod terminal;
mod time;

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use serde::Serialize;
use tessera_engine::screen::dropped;
pub(crate) use tessera_engine::text::shown;

pub(crate) use keys::{Input, Keys, is_closed};
pub(crate) use pager::page;
pub(crate) use signals::Undisturbed;
pub(crate) use table::{rows, table};
pub(crate) use terminal::{
    ColorChoice, Style, columns, heading, is_terminal, is_watched, paint, paint_note, width, wrapped, wrapped_after,
};
pub(crate) use time::{age, local};

/// How this run prints, from the options of every command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// When to use colours.
    pub(crate) color: ColorChoice,
    /// Prints JSON.
    pub(crate) json: bool,
    /// Prints no remarks.
    pub(crate) quiet: bool,
    /// Uses no pager.
    pub(crate) no_pager: bool,
}

static MANNER: Mutex<Manner> = Mutex::new(Manner::USUAL);

impl Manner {
    const USUAL: Self = Self { color: ColorChoice::Auto, json: false, quiet: false, no_pager: false };
}

/// Sets how this run prints.
pub(crate) fn begin(manner: Manner) {
    manner.color.apply();
    *MANNER.lock().unwrap_or_else(PoisonError::into_inner) = manner;
}

fn manner() -> Manner {
    *MANNER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True if this run prints JSON.
pub(crate) fn is_json() -> bool {
    manner().json
}

/// The error if the output cannot be written. The work of the command is done by then.
const NOT_WRITTEN: &str = "the command was carried out, but its output could not be written";

/// Writes text to stdout unchanged.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context(NOT_WRITTEN)
}

/// Writes a line to stdout.
pub(crate) fn line(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").context(NOT_WRITTEN)
}

/// Writes a sentence or a result to stdout: wrapped on a terminal, as one line to a pipe.
pub(crate) fn say(text: &str) -> anyhow::Result<()> {
    match columns() {
        // A path alone stays in one piece, so that it can be copied.
        Some(columns) if text.contains(' ') => self::text(&wrapped(text, "", columns)),
        _ => line(text),
    }
}

/// A number with its noun: `1 memory`, `2 memories`.
pub(crate) fn counted(count: impl TryInto<u64>, one: &str, many: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A number of memories with its noun.
pub(crate) fn memories(count: impl TryInto<u64>) -> String {
    counted(count, "memory", "memories")
}

/// A number of files with its noun.
pub(crate) fn files(count: impl TryInto<u64>) -> String {
    counted(count, "file", "files")
}

/// Formats a share as a percentage with one decimal place.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

/// Writes one JSON object to stdout.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Writes a remark to stderr, so that stdout contains only the result. Credentials are redacted, because a notice may
/// repeat user input.
pub(crate) fn note(text: &str) {
    if manner().quiet {
        return;
    }
    if is_json() {
        return to_stderr(&serde_json::json!({ "note": dropped(text) }).to_string());
    }
    to_stderr(&on_stderr(&dropped(text)));
}

/// Writes a question to stderr, without a line end. Questions are written even if remarks are not.
pub(crate) fn question(text: &str) {
    let _ = write!(std::io::stderr().lock(), "{text} ");
}

/// Ends the line of a question that was answered with a key.
pub(crate) fn answered() {
    to_stderr("");
}

/// Writes an error to stderr.
pub(crate) fn error(text: &str) {
    let text = dropped(text);
    let text = on_stderr(&format!("error: {}", shown(&text)));
    let rest = text.strip_prefix("error:").unwrap_or(&text);
    to_stderr(&format!("{}{rest}", paint_note("error:", Style::Red)));
}

/// Writes an error to stderr as one JSON object.
pub(crate) fn error_json(error: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(error) {
        to_stderr(&dropped(&text));
    }
}

/// Writes a message of clap to stderr or stdout, with the colours that its stream allows.
pub(crate) fn help(error: &clap::Error) {
    // A closed pipe is not an error.
    let _ = error.print();
}

fn to_stderr(text: &str) {
    // If stderr is closed, nobody can be informed.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// The text with lines that fit the terminal at stderr; unchanged for a pipe.
fn on_stderr(text: &str) -> String {
    match terminal::stderr_columns() {
        Some(columns) if !text.contains('\n') => wrapped(text, "", columns).trim_end().to_owned(),
        _ => text.to_owned(),
    }
}

/// Writes each log event to stderr with a single write. Libraries log their input, so credentials are redacted.
pub(crate) struct Log;

impl Write for Log {
    fn write(&mut self, event: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        std::io::stderr().lock().write_all(dropped(&text).as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().lock().flush()
    }
}
