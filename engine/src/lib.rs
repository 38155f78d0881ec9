//! Tessera's engine: the store, and everything between a query and a reply that fits into the budget.
//!
//! All modules except [`store`] are pure: they do no I/O. Modules in the order of their dependencies (none points
//! backwards):
//!
//! - [`threads`]: work on several threads.
//! - [`domain`]: the types (memory, scope, budget, query, time).
//! - [`classifier`]: a small classifier as a table.
//! - [`action`]: decides which memories bind to a tool call.
//! - [`text`]: normalise, tokenise, stem, count tokens.
//! - [`enrich`]: data derived from a text once, at write time (summary, importance, entities).
//! - [`embedding`]: embeddings of texts.
//! - [`index`]: the stored terms of each row, the snapshot format with its reader, and the rows changed since (the
//!   tail).
//! - [`relation`]: decides whether a new memory updates an older one.
//! - [`score`]: BM25F, priors, blending, explanation.
//! - [`pack`]: fit ranked memories into a token budget and render them.
//! - [`recall`]: the pipeline over all of the above.
//! - [`sync`]: the rules of the sync, without I/O.
//! - [`screen`]: removes credentials from texts before anything else uses them.
//! - [`compose`]: turns a text into a memory with its derived data and token counts.
//! - [`store`]: SQLite, behind the feature `sqlite`.

pub mod action;
pub mod classifier;
pub mod compose;
pub mod domain;
pub mod text;

pub mod embedding;
pub mod enrich;
pub mod index;
pub mod learning;
pub mod pack;
pub mod recall;
pub mod relation;
pub mod score;
pub mod screen;
#[cfg(feature = "sqlite")]
pub mod store;
pub mod sync;
pub mod threads;

pub use domain::{Draft, Memory, MemoryRef, MemoryUuid, Patch, RecallRequest, ShortId, Timestamp, TokenBudget};
#[cfg(feature = "sqlite")]
pub use store::Store;
