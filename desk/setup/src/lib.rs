//! Connects clients. A plan of file edits is shown as a diff before anything is written. The plan keeps all other
//! content byte for byte, and can be reverted.

mod check;
mod client;
mod entry;
mod error;
mod json;
mod plan;
mod plugin;
mod record;
mod shell;
mod temporary;
mod toml;

pub use check::{Row, RowVerdict, check, connected, runs_hooks, starts_server};
pub use client::{Client, EVENTS, Level, Places};
pub use error::SetupError;
pub use plan::{Edit, Plan};
pub use record::{Owner, apply, uninstall_plan};
pub use shell::Shell;
