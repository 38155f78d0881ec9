//! What older memory systems kept, told row by row: a reader for each, one [`Draft`] for all.
//!
//! Knows no store and no desk. A system is told by its tables and columns, or by the keys of its rows, never by the name of
//! a file. What is read is only read: a database is copied first, with what SQLite keeps beside it, and the copy is gone
//! before the first row is told.
//!
//! - [`Source::open`]: what is at a path, as one system's. [`Source::each`] tells its rows, as often as it is asked.
//! - [`Draft`]: a row as it is to be stored, under a key by which it is known again.
//! - [`places`]: where each system keeps its data, and what is there.
//!
//! `source` and the reader of each system use each other: it opens them, and they tell it their rows.

mod claude_memory_mcp;
mod copy;
mod draft;
mod error;
mod fields;
mod json;
mod memory_mcp;
pub mod places;
mod source;
mod system;
mod time;
mod vault;

pub use copy::Scratch;
pub use draft::{Draft, Link, Skipped, Told};
pub use error::OlderError;
pub use places::{Found, Places};
pub use source::Source;
pub use system::System;
