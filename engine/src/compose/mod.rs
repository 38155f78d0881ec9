//! The composer turns every new, edited, imported or synced text into a [`Composed`] value. A store writes nothing
//! else, so all decisions about derived data, trust, rejection and token counts are made here.
//!
//! The composer is pure: it uses no clock and no storage. The composer runs before a store takes its lock, and reuses
//! data of fields that did not change.

pub mod categories;
mod composed;
mod fields;
mod noted;
mod parts;
mod server;

#[cfg(test)]
mod tests;

pub use composed::{
    Arrived, Composed, Known, Stamps, arrived, carried, created, deleted, edited, imported, purged, reanalysed,
    restored, settled_apart, undone,
};
pub use fields::{Beside, memory_of};
pub use noted::{Filed, LinkedNote, Told, noted, place_of, read_note, title_of};
pub use parts::{PartText, file_draft, filed, is_as_it_was, known_again, moved, part_draft};
pub use server::{Decided, Outcome, cleaned, document, edit, outcome};
