//! What every face of Tessera shares: the way from a command, a tool call or a hook to the store.
//!
//! - [`Desk`]: the door. A face parses, [performs](Desk::perform) one of the [`verbs`], and renders what comes of it.
//! - [`Caller`]: who asks, and the defaults that depend on it.
//! - [`chain`]: what looks at a memory before and after a verb: links of ours, and plugins.
//! - [`project`]: which project a directory belongs to, and whether it is believed.
//! - [`queue`]: sessions that wait to be learned from. [`screen`]: what learning must not see.
//! - [`files`], [`log`]: small files of somebody else's; one line for each fault.
//! - [`folders`]: directories of notes that recall knows, and the memory tool.
//! - [`older`]: readers of what older systems kept.
//! - [`meaning`]: vectors of memories, made when nobody waits for an answer.
//! - [`views`]: shapes of JSON that more than one face shows.
//! - `team`, `sync`, `shared`, `vault` (feature `team`): the verbs that need a team server, its client, a store that many
//!   calls share, the vault of this machine.
//!
//! Without the feature `team` nothing here knows a runtime or a network.
//!
//! The [`chain`] and the [`verbs`] use each other: the desk performs a verb between the links, and a link sees the request of
//! the verb that it stands before.

#[cfg(feature = "team")]
mod background;
mod caller;
pub mod chain;
mod claude_md;
mod desk;
pub mod files;
pub mod folders;
pub mod json;
pub mod log;
pub mod meaning;
mod older_rows;
pub mod project;
pub mod queue;
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
