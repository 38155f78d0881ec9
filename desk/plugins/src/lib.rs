//! Plugins: their manifest, and how they run within limits.
//!
//! - [`Manifest`], [`Wants`], [`Field`]: name, events and changeable fields of a plugin.
//! - [`Registry`], [`Plugin`]: added plugins, with granted rights and file hashes.
//! - [`Reply`]: the answer of a plugin. [`run`]: performs one call through [`wasm`] or [`command`], within
//!   [`wasm::Limits`].
//!
//! This crate does not depend on the store or the service layer: each message and each answer is a line of JSON.

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

/// The version of the interface between Tessera and plugins.
pub const ABI: u32 = 1;
/// The maximum size of an answer, in bytes.
pub const MOST_OUTPUT: usize = 1024 * 1024;
/// The maximum size of a plugin file, in bytes.
pub const MOST_FILE: u64 = 8 * 1024 * 1024;
