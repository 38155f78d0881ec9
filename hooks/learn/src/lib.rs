//! Learning: what a person said that will matter in later sessions, kept without being asked.
//!
//! The Stop hook only leaves a [job](tessera_desk::queue::Job); one detached worker a machine ([`drain`]) reads the
//! person's turns, has a judge pick what lasts, and reconciles it with what is known. Tool output, injected
//! context and credentials are never looked at.

mod claude;
mod extracted_memory;
mod extractor;
mod heuristic;
mod ollama;
mod reconcile;
mod transcript;
mod worker;

pub use claude::CHILD;
pub use worker::drain;
