//! Claude Code hooks: one event in, at most one JSON object out, within a time limit.
//!
//! - [`wire`], [`surroundings`]: the client's input, and the user's settings.
//! - [`mod@run`]: one event. Recall for prompts, a summary for new sessions, approval of safe tools.
//! - [`handoff`]: what the next agent needs from a session.
//! - [`prompt`]: the person's own words in a prompt.
//! - [`said`]: the person's own statements, without quoted text.
//!
//! A hook starts no async runtime and no TLS, and never waits for the network. An internal error becomes one line in a
//! log. Work for the learning worker becomes a job in a queue.

pub mod handoff;
pub mod prompt;
pub mod run;
pub mod said;
pub mod surroundings;
pub mod transcript;
pub mod wire;

mod action;
mod approve;
mod failure;
mod notice;
mod offer;
mod recall;
mod reply;
mod session;
mod stop;
mod subagent;

pub use approve::{NOTE_TOOLS, SAFE_TOOLS, SERVERS};
pub use run::{answer, events, run, told_of_settings};
pub use surroundings::{
    ActionBudgets, ExtractorChoice, MOST_CHARACTERS, ReviewChoice, Settings, ShowChoice, Surroundings, UnknownChoice,
};
