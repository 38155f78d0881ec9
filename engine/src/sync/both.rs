//! Merges two versions of a document that two machines changed independently.

use super::document::{Document, Edit, says_the_same};
use super::merge::merged_file;
use crate::domain::Content;

/// Merges both versions, based on their common base. True if both changed the text.
pub(super) fn merged(mine: &Document, base: Option<&Document>, theirs: &Document) -> (Document, bool) {
    let edit = Edit::since(base, mine);
    let is_theirs_new = base.is_none_or(|base| base.content != theirs.content);
    let (content, is_conflict) = match &edit.content {
        Some(content) if !is_theirs_new => (content.clone(), false),
        Some(content) => match put_together(mine, base, content, theirs) {
            Some(both) => (both, false),
            None => (theirs.content.clone(), !says_the_same(content, &theirs.content)),
        },
        None => (theirs.content.clone(), false),
    };
    let mut details = match base {
        Some(base) => theirs.details.with_changes(&base.details, &mine.details),
        None => mine.details.clone(),
    };
    details.file = details.file.or_else(|| theirs.details.file.clone());
    if is_theirs_new {
        // The owner's trust here applied to the old text.
        details.owner_trust = theirs.details.owner_trust;
    }
    let (tags, links) = (edit.tagged(&theirs.tags), edit.linked(&theirs.links));
    (Document { content, tags, links, details }, is_conflict)
}

/// The text of a file with both changes, if they do not overlap.
fn put_together(mine: &Document, base: Option<&Document>, content: &Content, theirs: &Document) -> Option<Content> {
    let path = mine.details.file.as_ref().or(theirs.details.file.as_ref())?;
    merged_file(path, &base?.content, content, &theirs.content)
}
