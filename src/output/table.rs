//! Tables for people.

use comfy_table::{ContentArrangement, LineStyle, Table, presets};

use super::{Style, columns, paint, shown, width, wrapped_after};

const RULE: char = '\u{2500}';

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

/// Names and values in two columns, without a header. On a terminal, long values continue below their beginning.
pub(crate) fn rows(rows: &[(&str, String)]) -> String {
    let longest = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let indent = " ".repeat(longest + 2);
    let mut text = String::new();
    for (name, value) in rows {
        let padded = format!("{name:<longest$}  ");
        let lines = match columns() {
            Some(columns) => wrapped_after(&shown(value), &padded, &indent, columns),
            None => format!("{padded}{}\n", shown(value)),
        };
        // The name is coloured afterwards, because colour codes have no width.
        text.push_str(&paint(name, Style::Dim));
        text.push_str(lines.strip_prefix(name).unwrap_or(&lines));
    }
    text
}
