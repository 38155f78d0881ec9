//! The only place that prints.

use std::io::{IsTerminal, Write};

use serde::Serialize;
use tessera_engine::text::shown;

/// Writes a line to stdout.
pub(crate) fn line(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(())
}

/// Writes one JSON object to stdout.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    line(&serde_json::to_string(value)?)
}

/// Writes a remark to stderr, so that stdout stays what was asked for.
pub(crate) fn note(text: &str) {
    // There is nobody to tell that stderr is closed.
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Writes an error to stderr, its label in red where a person looks at it.
pub(crate) fn error(text: &str) {
    let is_seen = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    let label = if is_seen && !crate::settings::no_color() { "\u{1b}[31merror:\u{1b}[0m" } else { "error:" };
    note(&format!("{label} {}", shown(text)));
}

/// Says how far a long piece of work is, on one line, where a person looks at it.
pub(crate) fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        // There is nobody to tell that stderr is closed.
        let _ = write!(std::io::stderr().lock(), "\r\u{1b}[K{}", shown(text));
    }
}

/// Takes that line away.
pub(crate) fn progress_ends() {
    progress("");
}
