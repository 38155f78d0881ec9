//! The graph around a note or memory: relations of notes in both directions, and links of memories.

use std::collections::BTreeSet;

use tessera_engine::Store;
use tessera_engine::domain::{Memory, MemoryRef, MemoryUuid, Timestamp};
use tessera_engine::store::{NoteRow, StoreError};

use super::rows::changed;

/// A node of the graph.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// A note.
    Note(Box<NoteRow>),
    /// A memory that is not in a file.
    Memory(Box<Memory>),
    /// A name without a note.
    Missing(String),
}

/// The direction of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// From the previous node.
    Out,
    /// To the previous node.
    In,
}

/// A step: from a node, over a relation, to a node.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) from: MemoryUuid,
    pub(super) kind: String,
    pub(super) context: Option<String>,
    pub(super) way: Way,
    pub(super) to: Node,
    pub(super) depth: u32,
}

/// The limits of a walk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) depth: u32,
    /// Maximum related nodes per note.
    pub(super) max_related: usize,
    /// Only nodes changed since then. The start is always shown.
    pub(super) since: Option<Timestamp>,
}

/// The result of a walk from one node.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) steps: Vec<Step>,
    /// The number of related nodes above the limit.
    pub(super) left_out: usize,
}

/// Walks from a memory and visits each node once, so cycles end.
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
                    // A missing note leads nowhere, and is shown only at the first level.
                    None if depth == 1 => fresh.push(step),
                    None => {}
                    // Two nodes may have several relations.
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

/// The next nodes: relations in the order of lines, relations from others, then links.
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

/// A note or a memory; nothing if it was deleted.
pub(super) fn node(store: &Store, id: MemoryUuid) -> Result<Option<Node>, StoreError> {
    if let Some(note) = store.note_of(id)? {
        return Ok(Some(Node::Note(Box::new(note))));
    }
    let memory = store.get(MemoryRef::Id(id))?.filter(|memory| memory.deleted.is_none() && memory.file.is_none());
    Ok(memory.map(|memory| Node::Memory(Box::new(memory))))
}
