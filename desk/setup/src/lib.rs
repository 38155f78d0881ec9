//! Connecting clients: a plan of file edits that is shown as a diff before anything is written, kept
//! byte for byte where it is not ours, and taken back whole.

mod check;
mod client;
mod entry;
mod error;
mod json;
mod plan;
mod record;
mod toml;

pub use check::{Row, RowVerdict, check, runs_hooks, starts_server};
pub use client::{Client, EVENTS, Level, Places};
pub use error::SetupError;
pub use plan::{Edit, Plan};
pub use record::{apply, uninstall_plan};
