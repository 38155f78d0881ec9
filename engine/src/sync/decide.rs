//! The server's decision on one op, from the row as it is inside the transaction.

use super::document::{Document, Edit, State, says_the_same};
use super::op::{Action, Decision, Op, Refusal, Rights, Row, copy_id};
use crate::domain::{MemoryId, Tag};

/// The tag of the other text of a conflict.
const CONFLICT: &str = "conflict";

/// Decides what becomes of `current` by an op of somebody with these rights. For a row that is not
/// there, rights do not matter: whoever makes it owns it.
pub fn decide(current: Option<&Row>, op: &Op, rights: Rights) -> Decision {
    if op.action.check().is_err() {
        return Decision::Refuse(Refusal::Invalid);
    }
    let Some(row) = current else {
        return match &op.action {
            Action::Create(document) => write(new(op, State::Live(document.clone()))),
            Action::Purge => write(new(op, State::Purged)),
            Action::Edit(_) | Action::Delete => Decision::Refuse(Refusal::Unknown),
        };
    };
    match (&op.action, rights) {
        (Action::Create(_), Rights::None) => return Decision::Refuse(Refusal::IdTaken),
        (_, Rights::None) => return Decision::Refuse(Refusal::Unknown),
        (_, Rights::Read) | (Action::Delete | Action::Purge, Rights::Write) => {
            return Decision::Refuse(Refusal::NotAllowed);
        }
        _ => {}
    }
    match (&row.state, &op.action) {
        (State::Purged, Action::Purge) | (State::Deleted(_), Action::Delete) => Decision::Keep,
        (State::Purged, _) => Decision::Refuse(Refusal::Purged),
        (_, Action::Purge) => write(changed(row, State::Purged)),
        // Somebody changed it since: that has precedence over a deletion.
        (State::Live(_), Action::Delete) if op.base_rev < row.rev => Decision::Keep,
        (State::Live(document), Action::Delete) => write(changed(row, State::Deleted(document.clone()))),
        (State::Live(document), Action::Edit(edit)) => merged(row, document, edit, op, rights),
        (State::Live(document), Action::Create(wanted)) => merged(row, document, &Edit::to(wanted), op, rights),
        (State::Deleted(document), Action::Edit(edit)) => revived(row, document, edit, op, rights),
        (State::Deleted(document), Action::Create(wanted)) => revived(row, document, &Edit::to(wanted), op, rights),
    }
}

fn write(row: Row) -> Decision {
    Decision::Write { row: Box::new(row), copy: None }
}

fn new(op: &Op, state: State) -> Row {
    Row { memory: op.memory, rev: 1, content_rev: 1, details_at: op.at, state }
}

fn changed(row: &Row, state: State) -> Row {
    Row { rev: row.rev + 1, state, ..row.clone() }
}

/// An edit of a row that may have been changed since: field by field, and both texts where both changed.
fn merged(row: &Row, document: &Document, edit: &Edit, op: &Op, rights: Rights) -> Decision {
    let (mut next, details_at) = with_details(row, document, edit, op, rights);
    let mut copy = None;
    let mut content_rev = row.content_rev;
    if let Some(content) = &edit.content {
        if op.base_rev >= row.content_rev {
            next.content = content.clone();
            content_rev = row.rev + 1;
        } else if !says_the_same(content, &document.content) {
            let other = Document { content: content.clone(), ..next.clone() };
            copy = Some(Box::new(as_copy(row.memory, other, op)));
        }
    }
    if next == *document && copy.is_none() {
        return Decision::Keep;
    }
    let row = Row { content_rev, details_at, ..changed(row, State::Live(next)) };
    Decision::Write { row: Box::new(row), copy }
}

/// An edit of a deleted row brings it back as it was edited: what was deleted is not in conflict with it.
fn revived(row: &Row, document: &Document, edit: &Edit, op: &Op, rights: Rights) -> Decision {
    let (mut next, details_at) = with_details(row, document, edit, op, rights);
    let rev = row.rev + 1;
    if let Some(content) = &edit.content {
        next.content = content.clone();
    }
    let row = Row { content_rev: rev, details_at, ..changed(row, State::Live(next)) };
    write(row)
}

/// Tags merged as sets, details of the later change; a text is left to the caller.
fn with_details(
    row: &Row,
    document: &Document,
    edit: &Edit,
    op: &Op,
    rights: Rights,
) -> (Document, crate::domain::Timestamp) {
    let mut next = document.clone();
    // Tags may be shared: whoever may only write could widen, or lose, access by them. And what replaces what
    // is for the owner to say.
    if rights == Rights::Owner {
        next.tags = edit.tagged(&document.tags);
        next.links = edit.linked(&document.links);
    }
    match &edit.details {
        Some(details) if op.base_rev >= row.rev || op.at >= row.details_at => {
            let known = &document.details;
            next.details = if rights == Rights::Owner {
                details.clone()
            } else {
                let (scope, origin, session) = (known.scope.clone(), known.origin.clone(), known.session.clone());
                super::Details { scope, origin, session, ..details.clone() }
            };
            (next, op.at)
        }
        _ => (next, row.details_at),
    }
}

fn as_copy(memory: MemoryId, document: Document, op: &Op) -> Row {
    let id = copy_id(memory, &document.content);
    Row { memory: id, ..new(op, State::Live(conflicting(document, memory))) }
}

/// A document as the other text of a conflict.
pub(super) fn conflicting(mut document: Document, memory: MemoryId) -> Document {
    document.tags.extend(Tag::try_from(CONFLICT.to_owned()).ok());
    document.details.conflict_of = Some(memory);
    document
}
