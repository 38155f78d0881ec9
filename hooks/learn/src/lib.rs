//! Automatic learning: Tessera remembers a person's statements that will matter in later sessions.
//!
//! The Stop hook only writes a [job](tessera_desk::queue::Job). One detached worker per machine ([`drain`]) reads the
//! person's turns, has an extractor select lasting statements, and reconciles them with the existing memories.
//! Automatic learning never reads tool output, injected context or credentials.

mod claude;
mod correction;
mod extracted_memory;
mod extractor;
mod findings;
mod heuristic;
mod lessons;
mod ollama;
mod reconcile;
mod taught;
mod transcript;
mod worker;

pub use claude::CHILD;
pub use heuristic::statements;
pub use worker::drain;
