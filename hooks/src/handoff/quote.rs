//! Quotes: texts of a transcript in one line, without credentials.

use tessera_desk::screen::screened;
use tessera_engine::pack::neutral_line;

/// Maximum number of characters of a quote.
const LONGEST: usize = 240;
/// The sign between two lines of a command.
const LINE_END: &str = " ⏎ ";

/// Returns a text in one line, without lines that contain a credential. `None` if nothing is left. A long text is cut, and
/// ends with `…`.
pub fn quoted(text: &str) -> Option<String> {
    in_one_line(&screened(text), LONGEST)
}

/// Returns a text that was already screened in one line of at most `longest` characters.
pub(super) fn in_one_line(text: &str, longest: usize) -> Option<String> {
    let line = neutral_line(text);
    let line = line.trim();
    if !line.chars().any(char::is_alphanumeric) {
        return None;
    }
    let Some((end, _)) = line.char_indices().nth(longest) else { return Some(line.to_owned()) };
    let head = line.get(..end).unwrap_or_default();
    let whole = head.rfind(' ').filter(|at| *at > longest / 2).and_then(|at| head.get(..at)).unwrap_or(head);
    Some(format!("{whole}…"))
}

/// Returns a sentence of a screened text as a quote.
pub(super) fn sentence(text: &str) -> Option<String> {
    in_one_line(text, LONGEST)
}

/// Returns a command as a quote. `None` if it contains a credential, because a part of a command is another command.
pub fn quoted_command(command: &str) -> Option<String> {
    let lines: Vec<&str> = command.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let whole = lines.join("\n");
    // A backslash continues a line, so an option and its value may be in two lines.
    let continued = whole.replace("\\\n", "");
    let is_clean = |text: &str| screened(text) == *text;
    if is_clean(&whole) && is_clean(&continued) { in_one_line(&lines.join(LINE_END), LONGEST) } else { None }
}

/// A text in quotation marks. It cannot end the quote.
pub(super) fn in_quotes(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "'"))
}

/// A command as code. It cannot end the code.
pub(super) fn as_code(command: &str) -> String {
    if command.contains('`') { format!("`` {} ``", command.replace("``", "` `")) } else { format!("`{command}`") }
}

/// A name of a file or a branch. One with other signs than those of usual names is in quotation marks.
pub(super) fn name(text: &str) -> String {
    let is_usual = |c: char| c.is_alphanumeric() || "._-/@+#~".contains(c);
    if text.chars().all(is_usual) { text.to_owned() } else { in_quotes(text) }
}
