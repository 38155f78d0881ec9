//! Readers for the data of other memory systems: one reader each, one [`Draft`] type for all.
//!
//! Knows no store and no service layer. A system is recognised by its tables and columns, or by the keys of its rows,
//! never by a file name. A database is copied with its SQLite side files, and the copy's names are deleted before the
//! first row is reported.
//!
//! - [`Source::open`]: opens a path as the data of one system. [`Source::each`] reports its rows, any number of times.
//! - [`Draft`]: a row to store, under a permanent key.
//! - [`places`]: where each system keeps its data.
//!
//! `source` and the readers import each other: it opens them, and they report rows to it.

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
