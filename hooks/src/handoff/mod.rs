//! The hand-off of a session: what the next agent needs, quoted from the transcript and not summarised.
//!
//! - `session`: reads the parts of a hand-off from a transcript.
//! - `decisions`, `commands`, `files`, `tasks`: sentences that decide or leave something open; commands; edited files;
//!   task lists.
//! - `quote`: texts in one line, without credentials.
//! - `render`: chooses lines within a token budget.
//! - `record`: which session was the last one in a project.

mod commands;
mod decisions;
mod files;
mod quote;
mod record;
mod render;
mod session;
mod tasks;

pub use commands::{Command, FailedCommand, only_reads};
pub use files::{EditedFile, FileState};
pub use quote::{quoted, quoted_command};
pub use record::{DAYS_KEPT, SessionRecord, SessionState, clean, keep, of_project, with_id};
pub use render::{Limits, Rendered};
pub use session::{Handoff, Quote, Speaker, last_request};
