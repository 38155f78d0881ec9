//! The server decides about a change, based on the current row in the same transaction.

use std::collections::BTreeSet;

use super::document::{Details, Document, Edit, State, says_the_same};
use super::merge::merged_file;
use super::op::{Action, Author, Decision, Op, Refusal, Rights, Row, copy_id};
use crate::domain::{Content, MemoryUuid, Origin, Scope, Tag, Timestamp, Trust};

/// The tag of a conflict copy.
const CONFLICT: &str = "conflict";

/// Decides the effect of a change on `current`. If the row does not exist, the author becomes its owner.
pub fn decide(current: Option<&Row>, op: &Op, author: Author<'_>) -> Decision {
    if op.action.check().is_err() || op.memory.is_reserved() {
        return Decision::Refuse(Refusal::Invalid);
    }
    let Some(row) = current else {
        return match &op.action {
            Action::Create(document) => write(new(op, State::Live(document.clone()))),
            Action::Purge => write(new(op, State::Purged)),
            Action::Edit(_) | Action::Delete => Decision::Refuse(Refusal::Unknown),
        };
    };
    match (&op.action, author.rights) {
        (Action::Create(_), Rights::None) => return Decision::Refuse(Refusal::IdTaken),
        (_, Rights::None) => return Decision::Refuse(Refusal::Unknown),
        (_, Rights::Read) | (Action::Delete | Action::Purge, Rights::Write) => {
            return Decision::Refuse(Refusal::NotAllowed);
        }
        // Other users cannot see a row that its owner deleted.
        (_, Rights::Write) if row.state.live().is_none() => return Decision::Refuse(Refusal::Unknown),
        _ => {}
    }
    match (&row.state, &op.action) {
        (State::Purged, Action::Purge) | (State::Deleted(_), Action::Delete) => Decision::Keep,
        (State::Purged, _) => Decision::Refuse(Refusal::Purged),
        (_, Action::Purge) => write(changed(row, State::Purged)),
        // Another user's change wins over a deletion.
        (State::Live(_), Action::Delete) if op.base_rev < row.people_rev => Decision::Keep,
        (State::Live(document), Action::Delete) => write(changed(row, State::Deleted(document.clone()))),
        (State::Live(document), Action::Edit(edit)) => merged(row, document, edit, op, author),
        (State::Live(document), Action::Create(wanted)) => merged(row, document, &Edit::to(wanted), op, author),
        (State::Deleted(document), Action::Edit(edit)) => revived(row, document, edit, op),
        // A machine that missed the deletion sends the same memory again, which is not a change.
        (State::Deleted(document), Action::Create(wanted)) if op.told_again && wanted.content == document.content => {
            Decision::Keep
        }
        (State::Deleted(document), Action::Create(wanted)) => revived(row, document, &Edit::to(wanted), op),
    }
}

fn write(row: Row) -> Decision {
    Decision::Write { row: Box::new(row), copy: None }
}

fn new(op: &Op, state: State) -> Row {
    Row { memory: op.memory, rev: 1, people_rev: 1, content_rev: 1, details_at: op.at, state, edited_by: None }
}

fn changed(row: &Row, state: State) -> Row {
    Row { rev: row.rev + 1, people_rev: row.rev + 1, state, ..row.clone() }
}

/// Merges an edit into a row that may have changed meanwhile. If both changed the text, creates a conflict copy.
fn merged(row: &Row, document: &Document, edit: &Edit, op: &Op, author: Author<'_>) -> Decision {
    let is_owner = author.rights == Rights::Owner;
    let (mut next, details_at) =
        if is_owner { with_details(row, document, edit, op) } else { (document.clone(), row.details_at) };
    let (mut content_rev, mut edited_by, mut copy) = (row.content_rev, row.edited_by.clone(), None);
    if let Some(content) = edit.content.as_ref().filter(|content| **content != document.content) {
        if op.base_rev >= row.content_rev {
            next.content = content.clone();
            content_rev = row.rev + 1;
            edited_by = (!is_owner).then(|| author.name.to_owned());
            if !is_owner {
                // The owner's trust applied to another text.
                next.details.owner_trust = None;
            }
        } else if let Some(text) = put_together(document, edit, content) {
            // The author of the present text stays.
            edited_by = if is_owner { row.edited_by.clone() } else { Some(author.name.to_owned()) };
            if text != document.content {
                next.content = text;
                content_rev = row.rev + 1;
                if !is_owner {
                    next.details.owner_trust = None;
                }
            }
        } else if !says_the_same(content, &document.content) {
            let mut other = Document { content: content.clone(), ..next.clone() };
            if edit.details.as_ref().is_some_and(|details| details.owner_trust == Some(Trust::Foreign)) {
                other.details.owner_trust = Some(Trust::Foreign);
            }
            copy = Some(Box::new(as_copy(row.memory, if is_owner { other } else { own_text(other) }, op)));
        }
    }
    if next == *document && copy.is_none() {
        return Decision::Keep;
    }
    let row = Row { content_rev, details_at, edited_by, ..changed(row, State::Live(next)) };
    Decision::Write { row: Box::new(row), copy }
}

/// The text of a file with both changes, if they do not overlap.
fn put_together(document: &Document, edit: &Edit, content: &Content) -> Option<Content> {
    merged_file(document.details.file.as_ref()?, edit.base.as_ref()?, &document.content, content)
}

/// An edit of a deleted row restores and edits the row. The deleted text causes no conflict.
fn revived(row: &Row, document: &Document, edit: &Edit, op: &Op) -> Decision {
    let (mut next, details_at) = with_details(row, document, edit, op);
    let mut edited_by = row.edited_by.clone();
    if let Some(content) = edit.content.as_ref().filter(|content| **content != document.content) {
        next.content = content.clone();
        edited_by = None;
    }
    let content_rev = row.rev + 1;
    write(Row { content_rev, details_at, edited_by, ..changed(row, State::Live(next)) })
}

/// Merges tags and links as sets. For the details, the later change wins. The caller merges the text.
fn with_details(row: &Row, document: &Document, edit: &Edit, op: &Op) -> (Document, Timestamp) {
    let mut next = document.clone();
    next.tags = edit.tagged(&document.tags);
    next.links = edit.linked(&document.links);
    match &edit.details {
        Some(details) if op.base_rev >= row.rev || op.at >= row.details_at => {
            next.details = details.clone();
            next = next.beside_what_of(Some(document));
            if op.base_rev < row.content_rev {
                // It applied to a text that no longer exists.
                next.details.owner_trust = document.details.owner_trust;
            }
            (next, op.at.max(row.details_at))
        }
        // A path or metadata that older clients do not send stays with later details.
        Some(details) => {
            next.details.file = next.details.file.or_else(|| details.file.clone());
            next.details.metadata = next.details.metadata.or_else(|| details.metadata.clone());
            (next, row.details_at)
        }
        None => (next, row.details_at),
    }
}

/// A text that a user wrote into another user's memory becomes a memory of its writer. Only the text is theirs.
pub(super) fn own_text(document: Document) -> Document {
    let Details { category, kind, importance, created, .. } = document.details;
    let details = Details {
        category,
        kind,
        importance,
        keywords: Vec::new(),
        entities: crate::enrich::entities(document.content.as_str()),
        scope: Scope::default(),
        created,
        expires: None,
        owner_trust: None,
        origin: Origin::User,
        session: None,
        conflict_of: None,
        file: None,
        metadata: None,
    };
    Document { content: document.content, tags: BTreeSet::new(), links: BTreeSet::new(), details }
}

fn as_copy(memory: MemoryUuid, document: Document, op: &Op) -> Row {
    let id = copy_id(memory, &document.content);
    Row { memory: id, ..new(op, State::Live(conflicting(document, memory))) }
}

/// A document as a conflict copy.
pub(super) fn conflicting(mut document: Document, memory: MemoryUuid) -> Document {
    document.tags.extend(Tag::try_from(CONFLICT.to_owned()).ok());
    document.details.conflict_of = Some(memory);
    let key = copy_id(memory, &document.content);
    document.details.file = document.details.file.map(|path| path.conflicting(&key.to_string()));
    document
}
