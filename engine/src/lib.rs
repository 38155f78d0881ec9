//! Tessera's engine: everything between a query and a budgeted answer, plus the embedded store.
//!
//! The pure part (everything but [`store`]) does no I/O: bytes, numbers and text in, values out.
//! Rooms, in the order of their dependencies (nothing points back):
//!
//! - [`domain`]: the nouns (memory, scope, budget, query, time).
//! - [`text`]: normalise, tokenise, stem, count tokens.
//! - [`enrich`]: what is derived from a text once, when it is written (summary, importance, entities).
//! - [`meaning`]: what a text means, as a vector.
//! - [`index`]: forward blobs, the snapshot format, its reader, and the tail.
//! - [`score`]: BM25F, priors, blending, explanation.
//! - [`pack`]: fit ranked memories into a token budget and render them.
//! - [`recall`]: the one pipeline over all of the above.
//! - [`sync`]: what machines tell a server, and what they make of its answers; pure.
//! - [`screen`]: takes credentials out of texts before anything is made of them.
//! - [`compose`]: what becomes of a text, whoever stores it: fields, derived values and costs in one value.
//! - [`store`]: SQLite, behind the feature `sqlite`.

pub mod compose;
pub mod domain;
pub mod text;

pub mod enrich;
pub mod index;
pub mod meaning;
pub mod pack;
pub mod recall;
pub mod score;
pub mod screen;
#[cfg(feature = "sqlite")]
pub mod store;
pub mod sync;

pub use domain::{Draft, Memory, MemoryRef, MemoryUuid, Patch, RecallRequest, ShortId, Timestamp, TokenBudget};
#[cfg(feature = "sqlite")]
pub use store::Store;
