//! What stands around a note or a memory: relations of notes in both directions, and links of memories, as one graph.

use std::collections::BTreeSet;

use tessera_engine::Store;
use tessera_engine::domain::{Memory, MemoryRef, MemoryUuid, Timestamp};
use tessera_engine::store::{NoteRow, StoreError};

use super::rows::changed;

/// What can be walked to.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// A note.
    Note(Box<NoteRow>),
    /// A memory that is in no file.
    Memory(Box<Memory>),
    /// A name that no note has yet.
    Missing(String),
}

/// Which way a relation points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The note that was come from says it.
    Out,
    /// The other says it.
    In,
}

/// A step: from where, over what, to where.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) from: MemoryUuid,
    pub(super) kind: String,
    pub(super) context: Option<String>,
    pub(super) way: Way,
    pub(super) to: Node,
    pub(super) depth: u32,
}

/// How far is walked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) depth: u32,
    /// Related ones of each note.
    pub(super) max_related: usize,
    /// Changed since then; where somebody begins is shown whenever it was changed.
    pub(super) since: Option<Timestamp>,
}

/// What was walked from one beginning.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) steps: Vec<Step>,
    /// Related ones beyond the number that is shown of each.
    pub(super) left_out: usize,
}

/// Walks from a memory, each place once: circles end.
pub(super) fn walk(store: &Store, begin: MemoryUuid, bounds: Bounds) -> Result<Walk, StoreError> {
    let mut walk = Walk::default();
    let mut seen = BTreeSet::from([begin]);
    let mut here = vec![begin];
    for depth in 1..=bounds.depth {
        let mut next = Vec::new();
        for from in here {
            let (mut fresh, mut from_here) = (Vec::new(), BTreeSet::new());
            for step in steps(store, from, depth)? {
                match step.to.id() {
                    // A name that is not there leads nowhere, and is shown where it is written alone.
                    None if depth == 1 => fresh.push(step),
                    None => {}
                    // Two may be related in more than one way.
                    Some(id) if from_here.contains(&id) => fresh.push(step),
                    Some(id) if seen.contains(&id) || !step.to.is_changed_since(bounds.since) => {}
                    Some(id) => {
                        if fresh.len() < bounds.max_related {
                            seen.insert(id);
                            from_here.insert(id);
                            next.push(id);
                        }
                        fresh.push(step);
                    }
                }
            }
            walk.left_out += fresh.len().saturating_sub(bounds.max_related);
            fresh.truncate(bounds.max_related);
            walk.steps.extend(fresh);
        }
        here = next;
    }
    Ok(walk)
}

impl Node {
    pub(super) fn id(&self) -> Option<MemoryUuid> {
        match self {
            Self::Note(note) => Some(note.file.id),
            Self::Memory(memory) => Some(memory.id),
            Self::Missing(_) => None,
        }
    }

    fn is_changed_since(&self, since: Option<Timestamp>) -> bool {
        let Some(since) = since else { return true };
        match self {
            Self::Note(note) => changed(note) >= since,
            Self::Memory(memory) => memory.updated >= since,
            Self::Missing(_) => true,
        }
    }
}

/// What is one step away: what it says of others in the order of its lines, what others say of it, then links.
fn steps(store: &Store, from: MemoryUuid, depth: u32) -> Result<Vec<Step>, StoreError> {
    let mut steps = Vec::new();
    let relations = store.relations_of(from)?;
    let (own, others): (Vec<_>, Vec<_>) = relations.into_iter().partition(|relation| relation.source == from);
    for relation in own {
        let to = match relation.target {
            Some(target) if target == from => continue,
            Some(target) => node(store, target)?,
            None => Some(Node::Missing(relation.name.clone())),
        };
        let (kind, context) = (relation.kind, relation.context);
        steps.extend(to.map(|to| Step { from, kind, context, way: Way::Out, to, depth }));
    }
    for relation in others {
        let to = node(store, relation.source)?;
        let (kind, context) = (relation.kind, relation.context);
        steps.extend(to.map(|to| Step { from, kind, context, way: Way::In, to, depth }));
    }
    for edge in store.links_around(from)? {
        let (other, way) = if edge.source == from { (edge.target, Way::Out) } else { (edge.source, Way::In) };
        let to = node(store, other)?;
        let kind = edge.kind.to_string();
        steps.extend(to.map(|to| Step { from, kind, context: None, way, to, depth }));
    }
    Ok(steps)
}

/// A note or a memory; nothing for what is gone.
pub(super) fn node(store: &Store, id: MemoryUuid) -> Result<Option<Node>, StoreError> {
    if let Some(note) = store.note_of(id)? {
        return Ok(Some(Node::Note(Box::new(note))));
    }
    let memory = store.get(MemoryRef::Id(id))?.filter(|memory| memory.deleted.is_none() && memory.file.is_none());
    Ok(memory.map(|memory| Node::Memory(Box::new(memory))))
}
