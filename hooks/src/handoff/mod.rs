//! The hand-off of a session: what the next agent needs, quoted from the transcript and not summarised.
//!
//! - [`session`]: reads the parts of a hand-off from a transcript.
//! - [`decisions`], [`commands`], [`tasks`]: sentences that decide or leave something open; commands; task lists.
//! - [`render`]: chooses lines within a token budget.
//! - [`record`]: which session was the last one in a project.

mod commands;
mod decisions;
mod files;
mod record;
mod render;
mod session;
mod tasks;

pub use commands::{Command, FailedCommand};
pub use files::{EditedFile, FileState};
pub use record::{DAYS_KEPT, SessionRecord, clean, keep, of_project};
pub use render::Rendered;
pub use session::{Handoff, Quote, Speaker, last_request};

use tessera_desk::screen::screened;
use tessera_engine::pack::neutral_line;

/// Maximum number of characters of a quote.
const LONGEST_QUOTE: usize = 240;

/// The same for the error of a command.
const LONGEST_ERROR: usize = 120;

/// A text of a transcript in one line, without credentials. `None` if nothing is left. A long text is cut, and ends with `…`.
fn quoted(text: &str) -> Option<String> {
    quoted_up_to(text, LONGEST_QUOTE)
}

fn quoted_up_to(text: &str, longest: usize) -> Option<String> {
    let line = neutral_line(&screened(text));
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    if !line.chars().any(char::is_alphanumeric) {
        return None;
    }
    let Some((end, _)) = line.char_indices().nth(longest) else { return Some(line) };
    let head = line.get(..end).unwrap_or_default();
    let whole = head.rfind(' ').filter(|at| *at > longest / 2).and_then(|at| head.get(..at)).unwrap_or(head);
    Some(format!("{whole}…"))
}
