//! Code of the user's own: what a plugin says it is and may do, and how it is run within bounds.
//!
//! - [`Manifest`], [`Wants`], [`Field`]: what a plugin is called, when it is called, what it may change.
//! - [`Registry`], [`Plugin`]: which were added, with what was granted and what their files were.
//! - [`Reply`]: what a plugin may answer. [`run`]: one call, by [`wasm`] or [`command`], within [`wasm::Limits`].
//!
//! It knows no store and no desk: a message is a line of JSON, and so is the answer.

pub mod command;
mod failure;
mod manifest;
mod registry;
mod reply;
mod run;
pub mod template;
pub mod wasm;

pub use failure::{Failure, PluginError};
pub use manifest::{Event, Field, Manifest, Name, Wants, When};
pub use registry::{Body, Pinned, Plugin, Registry, digest};
pub use reply::Reply;
pub use run::{Ran, run};

/// The version of what is said between Tessera and a plugin.
pub const ABI: u32 = 1;
/// The longest answer of a plugin, in bytes.
pub const MOST_OUTPUT: usize = 1024 * 1024;
/// The largest file of a plugin, in bytes.
pub const MOST_FILE: u64 = 8 * 1024 * 1024;
