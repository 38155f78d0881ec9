//! Markdown notes: their content and the positions of their parts.
//!
//! This crate is pure: no clock, no file, and no dependency on the engine. A text is parsed with [`parse`] (or
//! [`parse_plain`], if it is not Markdown) and written with [`write::note`]. Names are created with [`permalink`],
//! compared with [`key`] and found with [`resolve`]. [`url`] parses addresses that people and models pass as
//! arguments.
//!
//! Every text can be parsed; malformed syntax is prose. Ranges are byte positions in the original text, on character
//! boundaries. Lines are counted only by `\n`, like in file views.

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
pub mod url;
pub mod write;

pub use note::{Bound, Note, Part, PartKind, Relation, Target};
pub use parts::{parse, parse_plain};
