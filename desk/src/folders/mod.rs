//! Watched folders: finds changes in files, writes changes of memories to files, and runs the memory tool. Files are
//! the source of truth; nothing is written without a request.

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
