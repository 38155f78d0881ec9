//! Claude Code hooks: an event in, at most one JSON object out, inside a deadline.
//!
//! - [`wire`], [`surroundings`]: what a client sends, and what the user set.
//! - [`mod@run`]: one event. Recall for prompts, a brief for sessions, approval of our own safe tools.
//! - [`prompt`]: what of a prompt is a person's own words.
//! - [`said`]: what of these words the person says, and does not only show.
//!
//! It starts no runtime and no TLS, waits for no network, and never fails: a fault of ours is one line in a log. What
//! it leaves for the worker that learns is a job in a queue.

pub mod prompt;
pub mod run;
pub mod said;
pub mod surroundings;
pub mod wire;

mod approve;
mod recall;
mod reply;
mod session;
mod stop;

pub use approve::{NOTE_TOOLS, SAFE_TOOLS, SERVERS};
pub use run::{answer, events, run, told_of_settings};
pub use surroundings::{ExtractorChoice, MOST_CHARACTERS, Settings, Surroundings, UnknownExtractor};
