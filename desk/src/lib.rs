//! What every face of Tessera shares: the way from a command, a tool call or a hook to the store.
//!
//! - [`project`]: which project a directory belongs to, and whether it is believed.
//! - [`queue`]: sessions that wait to be learned from. [`screen`]: what learning must not see.
//! - [`claude_md`]: notes out of a client's own memory files.
//! - [`files`], [`log`]: files that are replaced whole; one line for each fault.
//! - `shared`, `sync` (feature `team`): a store that many calls share, and the client of a team server.
//!
//! Without the feature `team` nothing here knows a runtime or a network.

pub mod claude_md;
pub mod files;
pub mod log;
pub mod project;
pub mod queue;
pub mod screen;
#[cfg(feature = "team")]
mod shared;
#[cfg(feature = "team")]
pub mod sync;

#[cfg(feature = "team")]
pub use shared::SharedStore;
