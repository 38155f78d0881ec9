//! Notes: finds notes by text and name, follows the graph around them, lists recent changes, and reads a note.
//!
//! Every reply fits into its budget: it contains all rows that fit, in order, and a last line with the token
//! cost.

mod around;
mod context;
mod find;
mod read;
mod recent;
mod rows;
mod search;

pub use context::BuildContext;
pub use find::{FindMemory, FindNote};
pub use read::ReadNote;
pub use recent::RecentActivity;
pub use rows::{NotesReply, Within};
pub use search::SearchNotes;

/// The requested rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The page, from 1.
    pub page: u32,
    /// Rows per page.
    pub page_size: u32,
    /// The number of rows to skip. It replaces `page`, and is the position at which the previous reply ended.
    pub after: Option<u32>,
}

impl Part {
    /// The first page, with this number of rows per page.
    pub const fn first(page_size: u32) -> Self {
        Self { page: 1, page_size, after: None }
    }

    fn begin(self) -> usize {
        let begin = self.after.unwrap_or_else(|| self.page.saturating_sub(1).saturating_mul(self.page_size));
        begin as usize
    }

    fn of<T>(self, all: &[T]) -> &[T] {
        let rest = all.get(self.begin()..).unwrap_or_default();
        rest.get(..self.page_size as usize).unwrap_or(rest)
    }
}
