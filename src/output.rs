//! The only place that prints.

use std::io::{IsTerminal, Write};

use serde::Serialize;
use tessera_engine::text::{is_invisible, is_joiner};

/// Writes text to stdout as it is.
pub(crate) fn text(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

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

/// Writes an error to stderr.
pub(crate) fn error(text: &str) {
    note(&format!("{} {}", paint("error:", Style::Red), shown(text)));
}

/// How a word stands out on a terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    /// A heading.
    Bold,
    /// Beside the point.
    Dim,
    /// Wrong.
    Red,
    /// Right.
    Green,
    /// Worth a look.
    Yellow,
}

/// Colours a word when stdout and stderr are a terminal and the user did not turn colours off.
pub(crate) fn paint(text: &str, style: Style) -> String {
    if !is_terminal() {
        return text.to_owned();
    }
    let code = match style {
        Style::Bold => 1,
        Style::Dim => 2,
        Style::Red => 31,
        Style::Green => 32,
        Style::Yellow => 33,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// True when a person looks at the output.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal() && std::io::stderr().is_terminal() && !crate::config::no_color()
}

/// Text of a memory as it may stand on a terminal: control characters, marks of direction and whatever else
/// cannot be seen are made visible, but for the joiners that spelling needs.
pub(crate) fn shown(text: &str) -> String {
    let is_hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || (is_invisible(c) && !is_joiner(c));
    text.chars().map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// A table for people.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header.iter().map(|name| paint(name, Style::Bold)));
    for row in rows {
        table.add_row(row.iter().map(|cell| shown(cell)));
    }
    format!("{table}\n")
}
