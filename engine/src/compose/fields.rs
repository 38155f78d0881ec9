//! The fields of a memory: given ones, derived ones, and its trust.

use super::categories;
use crate::domain::{DomainError, Draft, InFile, Memory, MemoryUuid, Origin, Patch, Share, ShortId, Timestamp, Trust};
use crate::embedding::Vector;
use crate::enrich;
use crate::sync::Document;

/// The tag of a conflict copy.
const CONFLICT: &str = "conflict";

/// A new memory. Missing fields of the draft are derived from its text, and the category also from `meant`, the
/// embedding of the text's first passage. The memory has no ID yet.
pub(super) fn new(draft: &Draft, meant: Option<&Vector>, now: Timestamp) -> Result<Memory, DomainError> {
    let content = draft.check()?.as_str().to_owned();
    let is_whole = draft.file.as_ref().is_some_and(|file| file.is_whole);
    let entities =
        if draft.entities.is_empty() && !is_whole { enrich::entities(&content) } else { draft.entities.clone() };
    Ok(Memory {
        category: draft.category.clone().unwrap_or_else(|| categories::category(&content, meant)),
        kind: draft.kind.unwrap_or_else(|| enrich::kind(&content, &entities)),
        importance: draft.importance.unwrap_or_else(|| enrich::importance(&content)),
        tags: draft.tags.clone(),
        keywords: draft.keywords.clone(),
        entities,
        scope: draft.scope.clone(),
        created: draft.created.unwrap_or(now),
        expires: draft.expires,
        trust: Trust::earned(false, draft.owner_trust, false, &draft.origin),
        owner_trust: draft.owner_trust,
        origin: draft.origin.clone(),
        session: draft.session.clone(),
        cwd: draft.cwd.clone(),
        client: draft.client.clone(),
        file: draft.file.clone(),
        metadata: draft.metadata.clone(),
        ..Memory::blank(draft.id.unwrap_or_else(|| MemoryUuid::generate(now)), content, now)
    })
}

/// A memory with changed fields. Entities and importance that were derived from the old text are derived again. Other
/// values are kept. Values that a user set are kept.
pub(super) fn patched(before: &Memory, patch: &Patch) -> Result<Memory, DomainError> {
    patch.check()?;
    let mut memory = before.clone();
    set(&mut memory.entities, patch.entities.as_ref());
    if let Some(content) = &patch.content {
        memory.content.clone_from(content);
        // The user who changes the text becomes its author.
        memory.edited_by = None;
        // A `foreign` mark applied to the old text, so it is removed. It stays on a learned memory, because a model
        // that rewrites the text cannot accept it for the user.
        let stays = before.origin == Origin::AutoLearn;
        memory.owner_trust = memory.owner_trust.filter(|owner_trust| *owner_trust != Trust::Foreign || stays);
        // In another user's memory, only the text may be changed.
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
    memory.owner_trust = patch.owner_trust.or(memory.owner_trust);
    memory.trust = memory.earned_trust();
    Ok(memory)
}

fn set<T: Clone>(field: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}

/// Derives entities and importance again if they were derived from the old text.
fn follow(memory: &mut Memory, before: &Memory, are_entities_given: bool) {
    if !are_entities_given && before.entities == enrich::entities(&before.content) {
        memory.entities = enrich::entities(&memory.content);
    }
    if before.importance == enrich::importance(&before.content) {
        memory.importance = enrich::importance(&memory.content);
    }
}

/// The data of a memory that is not part of the synced document.
#[derive(Debug, Clone)]
pub struct Beside {
    /// The UUID of the memory.
    pub id: MemoryUuid,
    /// Its ID for the reader.
    pub short_id: ShortId,
    /// The stored summary; empty if there is none.
    pub summary: String,
    /// Its owner, if not the reader.
    pub share: Option<Share>,
    /// The author of the present text, if not the owner.
    pub edited_by: Option<String>,
    /// True if the memory is a whole file, whose sections are memories of their own.
    pub stands_for_file: bool,
}

/// A memory with the content of a document, without usage. Memories of other users get lower trust.
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
        trust: Trust::earned(share.is_some(), details.owner_trust, edited_by.is_some(), &details.origin),
        owner_trust: details.owner_trust,
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

/// A conflict copy that became an ordinary memory.
pub(super) fn apart(copy: &Memory) -> Memory {
    let mut memory = Memory { conflict_of: None, ..copy.clone() };
    memory.tags.retain(|tag| tag.as_str() != CONFLICT);
    memory.trust = memory.earned_trust();
    memory
}
