//! Claude Code hooks: an event in, at most one JSON object out, inside a deadline.
//!
//! - [`wire`], [`project`], [`surroundings`]: what a client sends, which project it is in, what the user set.
//! - [`mod@run`]: one event. Recall for prompts, a brief for sessions, approval of our own safe tools.
//! - [`learn`]: the worker that learns from what a person said; detached from the client.
//! - [`setup`]: edits of clients' settings, shown as a diff first, and taken back whole.
//! - [`replay`]: prompts replayed through the hook, and how much of what it gave was to the point.
//! - [`claude_md`]: notes out of a client's own memory files.
//!
//! The synchronous path starts no runtime and no TLS, waits for no network, and never fails: a fault of
//! ours is one line in a log.

pub mod claude_md;
pub mod learn;
pub mod log;
pub mod project;
pub mod replay;
pub mod run;
pub mod run_guard;
pub mod setup;
pub mod surroundings;
pub mod wire;

mod approve;
mod asked;
mod compaction;
mod files;
mod prompt;
mod recall;
mod reply;
mod session;
mod stop;

pub use approve::{SAFE_TOOLS, SERVERS};
pub use files::replace as replace_file;
pub use run::run;
pub use surroundings::{MOST_CHARACTERS, Settings, Surroundings};
