//! Folders of files that recall knows: what changed in them is found and taken, what changed in their memories is written
//! to them, and the memory tool's commands are run on them. Files are the truth of what they say; nothing here writes into
//! a file but what somebody asked for.

mod add;
mod aside;
mod check;
mod edit;
mod export;
mod layout;
mod left;
mod place;
mod read;
mod refresh;
mod restored;
#[cfg(test)]
#[cfg(unix)]
mod tests;
mod tool;
mod unread;
#[cfg(feature = "team")]
mod watched;
mod whole;

pub use add::{AddFolder, CountFiles, FilesCounted, FolderState, Folders, RemoveFolder};
pub use check::{CredentialInFile, CredentialsInFiles, FilesChecked, check};
pub use edit::{forget_parts, update_part};
pub use export::{ExportNotes, NotesExported};
pub use left::{Because, LeftOut, left_out};
pub(crate) use read::text_now;
pub use refresh::{Refreshed, refresh, refresh_patiently, refresh_thoroughly};
pub use restored::{DropCopies, PutBack, RestoredFiles, restore_file};
pub use tool::{FileCommand, FileRules, ToolReply};
pub use unread::{ChangeWait, ClearUnread, FolderSnapshot, Unread, UnreadFile};
#[cfg(feature = "team")]
pub(crate) use watched::Watch;
pub use whole::{forget_files, update_file};
