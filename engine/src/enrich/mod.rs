//! What is derived from a text once, when it is written: summary, entities, category, type and
//! importance. Rules only: no model, no clock, no storage. A lifetime is never derived: somebody asks for one.

mod cues;
mod entities;
mod importance;
mod scan;
mod spans;
mod summary;

pub use cues::{category, is_standing, kind};
pub use entities::{MAX_ENTITIES, entities};
pub use importance::importance;
pub use summary::{MAX_SUMMARY_WORDS, summary};
