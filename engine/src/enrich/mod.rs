//! Derives summary, entities, category, type and importance from a text, once per write. This
//! module uses rules only: no model, no clock, no storage. An expiry is never derived, only requested.

mod cues;
mod entities;
mod importance;
mod personal;
mod scan;
mod spans;
mod summary;

pub use cues::{category, is_instruction, kind};
pub use entities::{MAX_ENTITIES, entities};
pub use importance::importance;
pub use personal::{is_about_here, is_about_people, is_personal};
pub use summary::{MAX_SUMMARY_WORDS, summary};
