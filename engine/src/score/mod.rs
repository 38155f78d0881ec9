//! Scoring: numbers in, numbers out. The module uses no clock, no file and no random number.

mod bm25;
mod date;
mod prior;
mod weights;

pub use bm25::{Bm25, ScoreParts, idf};
pub use date::DateHints;
pub use prior::Prior;
pub use weights::{NearBest, Weights};
