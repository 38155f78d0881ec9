//! A folder of text files, reached through a handle that nothing leads out of, and the six commands of the memory tool
//! on it. What it is not: it knows no store, no ranking and no Markdown, and it takes no credentials out of texts.
//!
//! A [`Tree`] is the folder. Every name is looked up one component at a time beneath its handle, and no link is ever
//! followed, so a directory that is swapped for a link while a command runs leads nowhere. A [`Command`] is read with
//! [`Command::from_json`], looked through with [`prepare`], which changes nothing, and done with [`Prepared::commit`].

mod change;
mod command;
mod edit;
mod error;
mod fold;
mod leftovers;
mod listing;
mod path;
mod place;
mod prepare;
mod prepared;
mod remove;
mod reply;
mod stamp;
mod tree;
mod walk;

pub use change::Expected;
pub use command::{COMMANDS, Command};
pub use error::FileError;
pub use path::RelativePath;
pub use prepare::{Limits, prepare};
pub use prepared::{Change, Done, Prepared};
pub use reply::Reply;
pub use stamp::{Identity, ReadFile, Seen, Stamp};
pub use tree::{Lock, Tree};
pub use walk::{Entry, FoundFile, WalkOptions, Walked};
