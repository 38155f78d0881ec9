//! The terminal: its width, and whether it shows colours.

use std::io::IsTerminal;

use anstream::AutoStream;
use clap::ValueEnum;
use unicode_width::UnicodeWidthStr;

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal that shows colours, unless `NO_COLOR` is set; everywhere if `CLICOLOR_FORCE` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ColorChoice {
    /// Applies the choice to all output, also to the messages of clap.
    pub(super) fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The style of a word on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// A heading, or a word of the question.
    Bold,
    /// Less important.
    Dim,
    /// Wrong.
    Red,
    /// Right.
    Green,
    /// A warning.
    Yellow,
    /// An ID.
    Cyan,
}

/// Colours a word on stdout, if stdout shows colours.
pub(crate) fn paint(text: &str, style: Style) -> String {
    coloured(text, style, AutoStream::choice(&std::io::stdout()))
}

/// Colours a word on stderr, if stderr shows colours.
pub(crate) fn paint_note(text: &str, style: Style) -> String {
    coloured(text, style, AutoStream::choice(&std::io::stderr()))
}

fn coloured(text: &str, style: Style, choice: anstream::ColorChoice) -> String {
    if choice == anstream::ColorChoice::Never {
        return text.to_owned();
    }
    let code = match style {
        Style::Bold => 1,
        Style::Dim => 2,
        Style::Red => 31,
        Style::Green => 32,
        Style::Yellow => 33,
        Style::Cyan => 36,
    };
    format!("\u{1b}[{code}m{text}\u{1b}[0m")
}

/// A heading, wrapped on a terminal.
pub(crate) fn heading(text: &str) -> String {
    let lines = columns().map_or_else(|| format!("{text}\n"), |columns| wrapped(text, "", columns));
    lines.lines().map(|line| paint(line, Style::Bold) + "\n").collect()
}

/// True if stdout is a terminal.
pub(crate) fn is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// True if somebody sees stderr, where progress is shown.
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal() && !super::is_json()
}

/// The width of the terminal at stdout; `None` for a pipe or a file.
pub(crate) fn columns() -> Option<u16> {
    if !is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0).filter(|width| *width > 0)
}

/// The number of lines of the terminal at stdout; `None` for a pipe or a file.
pub(super) fn lines() -> Option<u16> {
    if !is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(std::io::stdout()).map(|(_, height)| height.0).filter(|height| *height > 0)
}

/// The width of the terminal at stderr; `None` for a pipe or a file.
pub(super) fn stderr_columns() -> Option<u16> {
    if !std::io::stderr().is_terminal() {
        return None;
    }
    terminal_size::terminal_size_of(std::io::stderr()).map(|(width, _)| width.0).filter(|width| *width > 0)
}

/// The number of terminal columns that a text without colours uses.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Wraps a text into lines of limited width, each with an indent. Keeps the text's own line breaks.
pub(crate) fn wrapped(text: &str, indent: &str, columns: u16) -> String {
    wrapped_after(text, indent, indent, columns)
}

/// Wraps a text; its first line begins with `first`, and all others with `indent`. A line that is already as wide as
/// the terminal is broken, also within a word.
pub(crate) fn wrapped_after(text: &str, first: &str, indent: &str, columns: u16) -> String {
    let options = textwrap::Options::new(usize::from(columns)).subsequent_indent(indent).break_words(true);
    let mut lines = String::new();
    for (number, line) in text.lines().enumerate() {
        let begin = if number == 0 { first } else { indent };
        for wrapped in textwrap::wrap(line, options.clone().initial_indent(begin)) {
            lines.push_str(wrapped.trim_end());
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_lines_fit_also_with_wide_characters_and_long_words() {
        let long = "x".repeat(300);
        for text in [
            "one two three four five six seven eight nine ten eleven twelve",
            "部署在周二进行因为那一天所有人都在办公室里可以马上回滚",
            &long,
        ] {
            for columns in [20, 60, 80] {
                let lines = wrapped_after(text, "#1  ", "    ", columns);
                assert!(lines.lines().all(|line| width(line) <= usize::from(columns)), "{columns}: {lines}");
                let joined: String = lines.replace("#1  ", "").split_whitespace().collect();
                assert_eq!(joined, text.split_whitespace().collect::<String>());
            }
        }
        assert_eq!(wrapped("a\nb", "  ", 40), "  a\n  b\n");
    }
}
