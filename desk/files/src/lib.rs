//! A folder of text files, reached through a handle that nothing leads out of, and the six commands of the memory tool
//! on it. What it is not: it knows no store, no ranking and no Markdown, and it takes no credentials out of texts.
//!
//! A [`Tree`] is the folder. Every name is looked up one component at a time beneath its handle, and no link is ever
//! followed, so a directory that is swapped for a link while a command runs leads nowhere. A [`Command`] is read with
//! [`Command::from_json`], looked through with [`prepare`], which changes nothing, and done with [`Prepared::commit`].
//! Who holds the folder from before the first to after the last is never refused for what another command did:
//!
//! ```
//! use tessera_files::{Command, FileError, Limits, Tree, prepare};
//!
//! # fn main() -> Result<(), FileError> {
//! # let home = tempfile::tempdir().expect("a directory for this example");
//! let tree = Tree::create(&home.path().join("memories"), "memories")?;
//! let asked = serde_json::json!({"command": "create", "path": "/memories/user.md", "file_text": "- likes tabs\n"});
//! let command = Command::from_json(&asked)?;
//!
//! let lock = tree.lock()?;
//! let prepared = prepare(&tree, &command, &Limits::USUAL)?;
//! // Here `prepared.changes` says what will be done; until now nothing was.
//! let done = prepared.commit_under(&tree, &lock)?;
//! assert_eq!(done.reply.text(), "File created successfully at: /memories/user.md");
//! # Ok(())
//! # }
//! ```

mod change;
mod command;
mod edit;
mod error;
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
pub use walk::{Entry, FoundFile, Unfit, WalkOptions, Walked};
