//! The composer: what becomes of a text, whoever stores it. New, edited, imported and arrived text becomes one
//! [`Composed`] value here, and a store writes nothing else: what is derived, what follows an edit, what is
//! believed, what is refused and what lines cost is decided in this room alone.
//!
//! Pure: no clock, no storage. The work is done before a store takes its lock; what nothing changed is taken over.

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
