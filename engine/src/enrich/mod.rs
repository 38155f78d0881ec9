//! What is derived from a text once, when it is written: summary, entities, category, type,
//! importance and lifetime. Rules only: no model, no clock, no storage.

mod cues;
mod entities;
mod importance;
mod lifetime;
mod summary;

pub use cues::{category, is_standing, kind};
pub use entities::{MAX_ENTITIES, entities};
pub use importance::importance;
pub use lifetime::{expiry, refreshed_expiry};
pub use summary::{MAX_SUMMARY_WORDS, summary};
