//! The code that all front ends share. It leads from a command, a tool call or a hook to the store.
//!
//! - [`Desk`]: the entrance. A front end parses, [performs](Desk::perform) a use case, and renders the result.
//! - [`Caller`]: who asks, and the defaults that depend on it.
//! - [`chain`]: the steps before and after a use case: Tessera's own, and plugins.
//! - [`project`]: the project of a directory, and whether it is trusted.
//! - [`queue`]: sessions to learn from.
//! - [`screen`]: removes credentials from texts before automatic learning reads them.
//! - [`files`]: reads small files; [`log`]: writes one line per error.
//! - [`folders`]: watched folders, and the memory tool.
//! - [`older`]: readers for the data of other systems.
//! - [`embedding`]: computes embeddings when nobody waits.
//! - [`views`]: the JSON that several front ends share.
//! - `team`, `sync`, `shared`, `vault` (feature `team`): use cases of the team server, its client, a store for many
//!   calls, the vault.
//!
//! Without the feature `team`, nothing here uses an async runtime or a network.
//!
//! The [`chain`] and the [`use_cases`] import each other: a use case runs between the steps of the chain, and a step
//! sees the request.

#[cfg(feature = "team")]
mod background;
mod caller;
pub mod chain;
mod claude_md;
mod desk;
pub mod embedding;
pub mod files;
pub mod folders;
pub mod json;
pub mod log;
mod older_rows;
pub mod project;
pub mod queue;
pub mod results;
pub mod screen;
#[cfg(feature = "team")]
mod shared;
#[cfg(feature = "team")]
pub mod sync;
#[cfg(feature = "team")]
pub mod team;
pub mod use_cases;
#[cfg(feature = "team")]
pub mod vault;
pub mod views;

pub use caller::{Caller, PluginRules, Project};
pub use desk::{Desk, Effect, UseCase};
#[cfg(feature = "team")]
pub use shared::SharedStore;
pub use tessera_importers as older;
