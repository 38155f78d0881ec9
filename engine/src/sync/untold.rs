//! Unsent edits of files that this machine removed from recall.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::document::{Document, State};
use crate::domain::file_of_content;

/// The last text of a file that was removed from recall here, if the server did not get it. The file may still be on
/// disk, and contain an edit of the server's text. Both are hashes of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnsentFile {
    /// The file's text.
    pub text: u64,
    /// The last text of the server that this machine knew, if any.
    pub base: Option<u64>,
}

impl UnsentFile {
    pub(super) fn of(ours: &State, base: Option<&State>, theirs: &State) -> Option<Self> {
        let (State::Deleted(mine), State::Live(theirs)) = (ours, theirs) else { return None };
        let base = base.and_then(State::document);
        let is_told = base.is_some_and(|base| base.content == mine.content) || theirs.content == mine.content;
        let is_edit = mine.details.file.is_some() && !is_told;
        is_edit.then(|| Self { text: hash_of(mine), base: base.map(hash_of) })
    }

    /// True if a state contains this text.
    pub(super) fn is_said_by(&self, state: &State) -> bool {
        state.live().is_some_and(|document| hash_of(document) == self.text)
    }
}

fn hash_of(document: &Document) -> u64 {
    xxh3_64(file_of_content(document.content.as_str()).as_bytes())
}
