//! Learning: what a person said that will matter in later sessions, kept without being asked.
//!
//! The Stop hook only leaves a [`Job`]; one detached worker a machine ([`drain`]) reads the person's
//! turns, has a judge pick what lasts, and reconciles it with what is known. Tool output, injected
//! context and credentials are never looked at.

mod claude;
mod heuristic;
mod judge;
mod ollama;
mod queue;
mod reconcile;
mod screen;
mod transcript;
mod worker;

pub use judge::{JudgeChoice, UnknownJudge};
pub use queue::{Job, is_waiting, queue_dir, submit, waiting};
pub(crate) use screen::screened_head;
pub use worker::{drain, is_worker_running};
