//! What a memory says: the fields that are given, those that are derived where they are not, and how far it is believed.

use crate::domain::{DomainError, Draft, InFile, Memory, MemoryUuid, Origin, Patch, Share, ShortId, Timestamp, Trust};
use crate::enrich;
use crate::sync::Document;

/// The tag of the other text of a conflict.
const CONFLICT: &str = "conflict";

/// A new memory: what the draft leaves out follows from its text. It has no place in a store yet.
pub(super) fn new(draft: &Draft, now: Timestamp) -> Result<Memory, DomainError> {
    let content = draft.check()?.as_str().to_owned();
    let is_whole = draft.file.as_ref().is_some_and(|file| file.is_whole);
    let entities =
        if draft.entities.is_empty() && !is_whole { enrich::entities(&content) } else { draft.entities.clone() };
    Ok(Memory {
        category: draft.category.clone().unwrap_or_else(|| enrich::category(&content)),
        kind: draft.kind.unwrap_or_else(|| enrich::kind(&content, &entities)),
        importance: draft.importance.unwrap_or_else(|| enrich::importance(&content)),
        tags: draft.tags.clone(),
        keywords: draft.keywords.clone(),
        entities,
        scope: draft.scope.clone(),
        created: draft.created.unwrap_or(now),
        expires: draft.expires,
        trust: Trust::earned(false, draft.vouched, false, &draft.origin),
        vouched: draft.vouched,
        origin: draft.origin.clone(),
        session: draft.session.clone(),
        cwd: draft.cwd.clone(),
        client: draft.client.clone(),
        file: draft.file.clone(),
        metadata: draft.metadata.clone(),
        ..Memory::blank(draft.id.unwrap_or_else(|| MemoryUuid::generate(now)), content, now)
    })
}

/// A memory with fields changed. What was derived from the old text follows the new one; what somebody set stays.
pub(super) fn patched(before: &Memory, patch: &Patch) -> Result<Memory, DomainError> {
    patch.check()?;
    let mut memory = before.clone();
    set(&mut memory.entities, patch.entities.as_ref());
    if let Some(content) = &patch.content {
        memory.content.clone_from(content);
        // Whoever writes a text here writes it as themselves.
        memory.edited_by = None;
        // A word of mistrust was of the text before. Of what was learned it stays: a model that rewrites the text accepts
        // nothing for the user.
        let stays = before.origin == Origin::AutoLearn;
        memory.vouched = memory.vouched.filter(|vouched| *vouched != Trust::Foreign || stays);
        // Of another user's memory the text alone may be changed.
        if memory.share.is_none() {
            follow(&mut memory, before, patch.entities.is_some());
        }
    }
    set(&mut memory.category, patch.category.as_ref());
    set(&mut memory.kind, patch.kind.as_ref());
    set(&mut memory.importance, patch.importance.as_ref());
    set(&mut memory.tags, patch.tags.as_ref());
    set(&mut memory.keywords, patch.keywords.as_ref());
    set(&mut memory.scope, patch.scope.as_ref());
    set(&mut memory.expires, patch.expires.as_ref());
    memory.metadata = patch.metadata.clone().or(memory.metadata);
    memory.vouched = patch.vouched.or(memory.vouched);
    memory.trust = memory.earned_trust();
    Ok(memory)
}

fn set<T: Clone>(field: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

/// What was derived from the text before is derived from the text that it has now.
fn follow(memory: &mut Memory, before: &Memory, are_entities_given: bool) {
    if !are_entities_given && before.entities == enrich::entities(&before.content) {
        memory.entities = enrich::entities(&memory.content);
    }
    if before.importance == enrich::importance(&before.content) {
        memory.importance = enrich::importance(&memory.content);
    }
}

/// What stands beside a document that travels.
#[derive(Debug, Clone)]
pub struct Beside {
    /// The memory's identity.
    pub id: MemoryUuid,
    /// Its number for whoever reads it.
    pub short_id: ShortId,
    /// The line that stands for it, as it is kept; empty where none is.
    pub summary: String,
    /// Whose it is, if not the reader's.
    pub share: Option<Share>,
    /// Who wrote the text as it is, if not the owner.
    pub edited_by: Option<String>,
    /// True where a document of a file stands for it, and its parts are memories of their own.
    pub stands_for_file: bool,
}

/// A memory that says what a document says, never used yet. What another user shares is not believed as one's own is.
pub fn memory_of(document: &Document, beside: Beside) -> Memory {
    let (content, details) = (document.content.as_str().to_owned(), document.details.clone());
    let Beside { id, short_id, summary, share, edited_by, stands_for_file } = beside;
    Memory {
        short_id,
        summary,
        category: details.category,
        kind: details.kind,
        importance: details.importance,
        tags: document.tags.iter().cloned().collect(),
        keywords: details.keywords,
        entities: details.entities,
        scope: details.scope,
        expires: details.expires,
        trust: Trust::earned(share.is_some(), details.vouched, edited_by.is_some(), &details.origin),
        vouched: details.vouched,
        origin: details.origin,
        session: details.session,
        share,
        edited_by,
        conflict_of: details.conflict_of,
        file: details.file.map(|path| InFile { path, heading: None, is_whole: stands_for_file }),
        metadata: details.metadata,
        links: document.links.iter().cloned().collect(),
        ..Memory::blank(id, content, details.created)
    }
}

/// The other text of a conflict as a memory like any other.
pub(super) fn apart(copy: &Memory) -> Memory {
    let mut memory = Memory { conflict_of: None, ..copy.clone() };
    memory.tags.retain(|tag| tag.as_str() != CONFLICT);
    memory.trust = memory.earned_trust();
    memory
}
