//! Notes in Markdown: what a text says, and where in it each part stands.
//!
//! Pure values in, values out: no clock, no file, nothing of the engine. A text is read with [`parse`] (or
//! [`parse_plain`], where it is no Markdown) and written with [`write::note`]; names are made with [`permalink`],
//! compared with [`key`] and found with [`resolve`]; [`url`] and [`timeframe`] read what a person or a model asks with.
//!
//! Every text has a reading: what is malformed is prose. Spans are bytes of the text as it was given, on character
//! boundaries, and lines are counted by `\n` alone, as whoever shows the file counts them.

mod blocks;
mod comment;
mod front;
mod inline;
mod item;
pub mod key;
pub mod names;
mod note;
mod parts;
pub mod permalink;
pub mod resolve;
pub mod timeframe;
pub mod url;
pub mod write;

pub use note::{Bound, Note, Part, PartKind, Relation, Target};
pub use parts::{parse, parse_plain};
