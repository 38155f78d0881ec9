//! Readers for the data of other memory systems. Each system has one reader, and all readers produce [`Draft`]s.
//!
//! The crate does not depend on the store or the service layer. A system is recognised by its tables and columns, or by
//! the keys of its rows, never by a file name. Tessera copies a database with its SQLite side files. On Unix, it
//! deletes the copies as soon as they are open.
//!
//! - [`Source::open`]: opens a path as the data of one system. [`Source::each`] reports its rows, any number of times.
//! - [`Draft`]: a row to store, under a permanent key.
//! - [`places`]: where each system keeps its data.
//!
//! `source` opens the readers, and the readers report rows to `source`, so they import each other.

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
