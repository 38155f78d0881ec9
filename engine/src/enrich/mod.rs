//! What is derived from a text once, when it is written: summary, entities, category, type,
//! importance and lifetime. Rules only: no model, no clock, no storage.

mod cues;
mod entities;
mod importance;
mod lifetime;
mod summary;

pub use cues::{category, kind, is_standing};
pub use entities::{entities, MAX_ENTITIES};
pub use importance::importance;
pub use lifetime::{expiry, refreshed_expiry};
pub use summary::{summary, MAX_SUMMARY_WORDS};
