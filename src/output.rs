//! The only module that prints.

use std::io::{IsTerminal, Write};

use comfy_table::{ContentArrangement, LineStyle, Table, presets};
use serde::Serialize;
use tessera_engine::screen::dropped;
pub(crate) use tessera_engine::text::shown;

/// Writes text to stdout unchanged.
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
    // If stderr is closed, nobody can be informed.
    let _ = writeln!(std::io::stderr().lock(), "{}", dropped(text));
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

/// Writes an error to stderr.
pub(crate) fn error(text: &str) {
    note(&format!("{} {}", paint("error:", Style::Red), shown(text)));
}

/// The style of a word on a terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Style {
    /// A heading.
    Bold,
    /// Less important.
    Dim,
    /// Wrong.
    Red,
    /// Right.
    Green,
    /// A warning.
    Yellow,
}

/// Colours a word if stdout and stderr are a terminal and colours are not switched off.
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

/// True if stdout is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal() && std::io::stderr().is_terminal() && !crate::config::no_color()
}

/// The width of the terminal at stdout; `None` for a pipe or a file.
pub(crate) fn columns() -> Option<u16> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0).filter(|width| *width > 0)
}

/// Wraps words into indented lines of limited width. A word that is longer than a line gets its own line.
pub(crate) fn wrapped(text: &str, indent: &str, columns: u16) -> String {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= usize::from(columns) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A table for people: at full width for a pipe, wrapped for a terminal.
pub(crate) fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    for row in rows {
        table.add_row(row.iter().map(|cell| shown(cell)));
    }
    let Some(columns) = columns() else { return format!("{table}\n") };
    // Colours are added after the widths are computed, because colour codes have no width. A rule marks the end of the
    // header.
    table.load_style(presets::NOTHING.header_separator(LineStyle::none().fill(RULE)));
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(columns);
    let text = table.to_string();
    let mut lines = text.lines();
    let is_rule = |line: &&str| !line.is_empty() && line.chars().all(|c| c == RULE);
    let head: Vec<String> =
        lines.by_ref().take_while(|line| !is_rule(line)).map(|line| paint(line, Style::Bold)).collect();
    head.into_iter().chain(lines.map(str::to_owned)).map(|line| format!("{}\n", line.trim_end())).collect()
}

const RULE: char = '\u{2500}';
