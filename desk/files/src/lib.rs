//! A folder of text files, and the six commands of the memory tool. The folder is an open directory handle, so no path
//! can lead outside it. The crate does not use the store or the ranking, does not parse Markdown, and does not redact
//! secrets.
//!
//! A [`Tree`] is the folder. Every path component is opened below the previous one, and symbolic links are never
//! followed. So, if a directory is replaced by a link during a command, the command does not follow the link: it fails,
//! or continues in the directory that is already open. A [`Command`] is parsed with [`Command::from_json`], checked
//! with [`prepare`], which changes nothing, and executed with [`Prepared::commit`]. A caller that holds the lock from
//! the check to the end never conflicts with another command:
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
