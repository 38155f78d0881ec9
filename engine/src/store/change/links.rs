//! Links between memories. After a link of the type `supersedes`, recall returns only the newer memory, unless it is
//! deleted, expired, or less trusted than the older one. After a link of the type `updates`, recall returns the newer
//! memory first, and marks the older one.

use std::collections::BTreeSet;

use rusqlite::params;

use super::rights::refuse_foreign;
use super::write::tell;
use crate::domain::{Link, LinkKind, Memory, MemoryRef, MemoryUuid, ShortId, Trust};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;

/// Maximum length of a chain when searching for a cycle.
const LONGEST_CHAIN: usize = 64;

/// A link type that changes how recall returns the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Succession {
    /// Recall returns only the source.
    Supersedes,
    /// Recall returns the source first.
    Updates,
}

impl Succession {
    const ALL: [Self; 2] = [Self::Supersedes, Self::Updates];

    fn of(kind: &LinkKind) -> Option<Self> {
        Self::ALL.into_iter().find(|succession| succession.kind() == *kind)
    }

    fn kind(self) -> LinkKind {
        match self {
            Self::Supersedes => LinkKind::Supersedes,
            Self::Updates => LinkKind::Updates,
        }
    }

    /// Reads the short ID of the newer memory.
    fn read(self) -> &'static str {
        match self {
            Self::Supersedes => "SELECT superseded_by FROM memories WHERE short_id = ?1",
            Self::Updates => "SELECT newer FROM memories WHERE short_id = ?1",
        }
    }

    /// Sets the short ID of the newer memory, with a new rev.
    fn write(self) -> &'static str {
        match self {
            Self::Supersedes => "UPDATE memories SET superseded_by = ?2, rev = ?3 WHERE short_id = ?1",
            Self::Updates => "UPDATE memories SET newer = ?2, rev = ?3 WHERE short_id = ?1",
        }
    }

    /// Finds the older memories of a memory, without permanently deleted ones.
    fn older(self) -> &'static str {
        match self {
            Self::Supersedes => "SELECT short_id FROM memories WHERE superseded_by = ?1 AND purged = 0",
            Self::Updates => "SELECT short_id FROM memories WHERE newer = ?1 AND purged = 0",
        }
    }
}

impl Store {
    /// Links `source` to `target`. Repeating it has no effect.
    ///
    /// # Errors
    /// Returns an error if a memory is missing, both are the same, or the links would form a cycle.
    pub fn link(
        &mut self,
        source: MemoryRef,
        kind: &LinkKind,
        target: MemoryRef,
        actor: &Actor,
    ) -> Result<Memory, StoreError> {
        self.write(|change| link(change, source, kind, target, actor))
    }

    /// Removes a link.
    ///
    /// # Errors
    /// Returns an error if there is no such link.
    pub fn unlink(
        &mut self,
        source: MemoryRef,
        kind: &LinkKind,
        target: MemoryRef,
        actor: &Actor,
    ) -> Result<Memory, StoreError> {
        self.write(|change| {
            let mut memory = change.existing(source)?;
            refuse_foreign(&memory, source)?;
            let other = change.existing(target)?;
            let sql = "DELETE FROM links WHERE source = ?1 AND type = ?2 AND target = ?3";
            if change.tx.execute(sql, params![memory.id, kind.as_str(), other.id])? == 0 {
                return Err(StoreError::Conflict {
                    memory: source,
                    problem: "has no such link; check the type and the ID of the other memory",
                });
            }
            if let Some(succession) = Succession::of(kind) {
                elect(change, succession, &other)?;
            }
            memory.rev = change.next_rev()?;
            noted(change, &memory, Operation::Unlink, actor)
        })
    }
}

pub(crate) fn link(
    change: &Change<'_>,
    source: MemoryRef,
    kind: &LinkKind,
    target: MemoryRef,
    actor: &Actor,
) -> Result<Memory, StoreError> {
    let mut memory = change.existing(source)?;
    refuse_foreign(&memory, source)?;
    memory.rev = change.next_rev()?;
    insert(change, &memory, kind, target)?;
    noted(change, &memory, Operation::Link, actor)
}

pub(crate) fn noted(
    change: &Change<'_>,
    memory: &Memory,
    operation: Operation,
    actor: &Actor,
) -> Result<Memory, StoreError> {
    change.tx.execute(
        "UPDATE memories SET rev = ?2, updated = ?3 WHERE short_id = ?1",
        params![memory.short_id, memory.rev, change.now],
    )?;
    // `memory` still has the links from before, so that the change can be undone.
    history::record(change, memory, operation, actor, Some(memory))?;
    tell(change, memory.id)?;
    change.existing(MemoryRef::ShortId(memory.short_id))
}

/// Adds a link from a memory that is already stored.
pub(crate) fn insert(
    change: &Change<'_>,
    memory: &Memory,
    kind: &LinkKind,
    target: MemoryRef,
) -> Result<(), StoreError> {
    let other = change.existing(target)?;
    let source = MemoryRef::ShortId(memory.short_id);
    if other.short_id == memory.short_id {
        return Err(StoreError::Conflict { memory: source, problem: "cannot be linked to itself" });
    }
    if let Some(succession) = Succession::of(kind) {
        if leads_to(change, succession, memory.short_id, other.short_id)? {
            let problem = match succession {
                Succession::Supersedes => "is already superseded by that memory",
                Succession::Updates => "is already updated by the other memory",
            };
            return Err(StoreError::Conflict { memory: source, problem });
        }
        if may_replace(memory, &other) {
            set_successor(change, succession, &other, Some(memory.short_id))?;
        }
    }
    let sql = "INSERT OR IGNORE INTO links (source, type, target, created) VALUES (?1, ?2, ?3, ?4)";
    change.tx.execute(sql, params![memory.id, kind.as_str(), other.id, change.now])?;
    Ok(())
}

/// Adds the links that a comparison found from a new memory to older ones. Leaves out a memory that disappeared
/// meanwhile, and one that is already newer than the new memory. Returns all links of the memory.
pub(crate) fn add_found(change: &Change<'_>, memory: &Memory, found: &[Link]) -> Result<Vec<Link>, StoreError> {
    for link in found.iter().filter(|link| link.to != memory.id) {
        let Some(old) = row::find(change.tx, MemoryRef::Id(link.to))?.filter(|old| old.deleted.is_none()) else {
            continue;
        };
        let leads = Succession::ALL.into_iter().map(|kind| leads_to(change, kind, memory.short_id, old.short_id));
        let is_newer = leads.collect::<Result<Vec<bool>, StoreError>>()?.contains(&true);
        if may_replace(memory, &old) && !is_newer {
            insert(change, memory, &link.kind, MemoryRef::Id(link.to))?;
        }
    }
    Ok(row::links_of(change.tx, memory.id)?)
}

/// Removes the links of newer memories that update a memory, because the memory was stored again. Returns false if there
/// were none.
pub(crate) fn affirm(change: &Change<'_>, memory: &Memory, actor: &Actor) -> Result<bool, StoreError> {
    let kind = LinkKind::Updates;
    let sql = "SELECT source FROM links WHERE target = ?1 AND type = ?2";
    let sources: Vec<MemoryUuid> = change.tx.all(sql, params![memory.id, kind.as_str()], |row| row.get(0))?;
    for source in &sources {
        let Some(mut newer) = row::find(change.tx, MemoryRef::Id(*source))? else { continue };
        let sql = "DELETE FROM links WHERE source = ?1 AND type = ?2 AND target = ?3";
        change.tx.run(sql, params![source, kind.as_str(), memory.id])?;
        newer.rev = change.next_rev()?;
        noted(change, &newer, Operation::Unlink, actor)?;
    }
    if !sources.is_empty() {
        elect(change, Succession::Updates, memory)?;
    }
    Ok(!sources.is_empty())
}

/// A foreign memory replaces only foreign ones, and a deleted memory replaces nothing.
fn may_replace(newer: &Memory, old: &Memory) -> bool {
    newer.deleted.is_none() && (newer.trust != Trust::Foreign || old.trust == Trust::Foreign)
}

/// Sets the links of a memory. The linked memories may be missing, or may arrive later from another machine.
pub(crate) fn replace(change: &Change<'_>, memory: &Memory, wanted: &BTreeSet<Link>) -> Result<(), StoreError> {
    let known: BTreeSet<Link> = row::links_of(change.tx, memory.id)?.into_iter().collect();
    for link in known.difference(wanted) {
        let sql = "DELETE FROM links WHERE source = ?1 AND type = ?2 AND target = ?3";
        change.tx.run(sql, params![memory.id, link.kind.as_str(), link.to])?;
        if let Some(succession) = Succession::of(&link.kind)
            && let Some(old) = row::find(change.tx, MemoryRef::Id(link.to))?
        {
            elect(change, succession, &old)?;
        }
    }
    for link in wanted.difference(&known) {
        let sql = "INSERT OR IGNORE INTO links (source, type, target, created) VALUES (?1, ?2, ?3, ?4)";
        change.tx.run(sql, params![memory.id, link.kind.as_str(), link.to, change.now])?;
        if let Some(succession) = Succession::of(&link.kind)
            && let Some(old) = row::find(change.tx, MemoryRef::Id(link.to))?
            && may_replace(memory, &old)
            && !leads_to(change, succession, memory.short_id, old.short_id)?
        {
            set_successor(change, succession, &old, Some(memory.short_id))?;
        }
    }
    // It may have arrived before its successor.
    elect_all(change, memory)
}

fn elect_all(change: &Change<'_>, old: &Memory) -> Result<(), StoreError> {
    Succession::ALL.into_iter().try_for_each(|succession| elect(change, succession, old))
}

/// Chooses the newer memories of a memory again. Does the same for the memories that it supersedes or updates. Needed
/// after its trust changed, or it was deleted or restored.
pub(crate) fn elect_around(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    elect_all(change, memory)?;
    for link in row::links_of(change.tx, memory.id)? {
        let Some(succession) = Succession::of(&link.kind) else { continue };
        row::find(change.tx, MemoryRef::Id(link.to))?.map_or(Ok(()), |old| elect(change, succession, &old))?;
    }
    Ok(())
}

/// Sets the newer memory of `old`: the newest one that may replace it. Live ones come first. A deleted one has no effect
/// until it is restored.
fn elect(change: &Change<'_>, succession: Succession, old: &Memory) -> Result<(), StoreError> {
    let sql = "SELECT short_id FROM links JOIN memories ON id = source
               WHERE target = ?1 AND links.type = ?2 AND purged = 0 AND (trust <> 'foreign' OR ?3)
               ORDER BY deleted IS NOT NULL, short_id DESC";
    let kind = succession.kind();
    let wanted = params![old.id, kind.as_str(), old.trust == Trust::Foreign];
    let candidates: Vec<ShortId> = change.tx.all(sql, wanted, |row| row.get(0))?;
    let mut newest = None;
    for newer in candidates {
        // Never in a cycle.
        if !leads_to(change, succession, newer, old.short_id)? {
            newest = Some(newer);
            break;
        }
    }
    let known: Option<ShortId> = change.tx.one(succession.read(), [old.short_id], |row| row.get(0))?;
    if newest == known { Ok(()) } else { set_successor(change, succession, old, newest) }
}

/// True if the chain of newer memories leads from `from` to `to`.
fn leads_to(change: &Change<'_>, succession: Succession, from: ShortId, to: ShortId) -> Result<bool, StoreError> {
    let mut at = Some(from);
    for _ in 0..LONGEST_CHAIN {
        let Some(short_id) = at else { return Ok(false) };
        if short_id == to {
            return Ok(true);
        }
        at = change.tx.maybe(succession.read(), [short_id], |row| row.get(0))?.flatten();
    }
    Ok(true)
}

/// Chooses new successors for the memories that a permanently deleted memory superseded or updated.
pub(crate) fn elect_without(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    for succession in Succession::ALL {
        // A permanently deleted memory needs no successor.
        let older: Vec<ShortId> = change.tx.all(succession.older(), [memory.short_id], |row| row.get(0))?;
        for short_id in older {
            elect(change, succession, &change.existing(MemoryRef::ShortId(short_id))?)?;
        }
    }
    Ok(())
}

/// Sets or removes the newer memory of `old`.
fn set_successor(
    change: &Change<'_>,
    succession: Succession,
    old: &Memory,
    new: Option<ShortId>,
) -> Result<(), StoreError> {
    let rev = change.next_rev()?;
    change.tx.run(succession.write(), params![old.short_id, new, rev])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    fn supersede(store: &mut InMemory, new: &Memory, old: &Memory) -> Result<Memory, StoreError> {
        store.link(named(new), &LinkKind::Supersedes, named(old), &Actor::default())
    }

    fn successor(store: &InMemory, memory: &Memory) -> Option<u32> {
        store.one(&format!("SELECT superseded_by FROM memories WHERE short_id = {}", memory.short_id.get()))
    }

    #[test]
    fn a_memory_is_answered_by_what_replaces_it_and_never_in_a_circle() {
        let mut store = InMemory::new();
        let (a, b, c) = (store.said("Build with make"), store.said("Build with cmake"), store.said("Build with meson"));
        supersede(&mut store, &b, &a).unwrap();
        supersede(&mut store, &c, &b).unwrap();
        supersede(&mut store, &c, &b).unwrap();
        assert_eq!(store.recalled("what do we build with?"), ["Build with meson"]);
        for (new, old) in [(&a, &c), (&a, &b), (&a, &a)] {
            let refused = supersede(&mut store, new, old);
            assert!(matches!(refused, Err(StoreError::Conflict { .. })), "{refused:?}");
        }
        assert_eq!(store.one::<u32>("SELECT count(*) FROM links WHERE type = 'supersedes'"), 2);
    }

    #[test]
    fn without_its_successor_a_memory_falls_to_the_one_before_or_to_nobody() {
        let mut store = InMemory::new();
        let (old, one, two) = (store.said("make"), store.said("cmake"), store.said("meson"));
        supersede(&mut store, &one, &old).unwrap();
        supersede(&mut store, &two, &old).unwrap();
        assert_eq!(successor(&store, &old), Some(two.short_id.get()));
        store.forget(&[named(&two)], Erase::Hard, &Actor::default()).unwrap();
        assert_eq!(successor(&store, &old), Some(one.short_id.get()));
        store.unlink(named(&one), &LinkKind::Supersedes, named(&old), &Actor::default()).unwrap();
        assert_eq!(successor(&store, &old), None);
        let again = store.unlink(named(&one), &LinkKind::Supersedes, named(&old), &Actor::default());
        assert!(matches!(again, Err(StoreError::Conflict { .. })));
    }

    #[test]
    fn a_memory_and_its_successor_are_permanently_deleted_in_any_order_and_at_once() {
        for order in [vec![vec![0], vec![1]], vec![vec![1], vec![0]], vec![vec![0, 1]], vec![vec![1, 0]]] {
            let mut store = InMemory::new();
            let both = [store.said("make"), store.said("meson")];
            supersede(&mut store, &both[1], &both[0]).unwrap();
            for step in &order {
                let of: Vec<MemoryRef> = step.iter().map(|at: &usize| named(&both[*at])).collect();
                store.forget(&of, Erase::Hard, &Actor::default()).unwrap();
            }
            assert_eq!(store.one::<u32>("SELECT count(*) FROM memories WHERE purged = 0"), 0, "{order:?}");
            assert_eq!(successor(&store, &both[0]), None);
        }
    }

    #[test]
    fn what_nobody_vouched_for_replaces_nothing_but_its_like() {
        let mut store = InMemory::new();
        let (own, foreign) = (store.said("Indent with tabs"), store.said("Indent with spaces"));
        store.run("UPDATE memories SET trust = 'foreign', origin = 'import' WHERE content = 'Indent with spaces'");
        supersede(&mut store, &foreign, &own).unwrap();
        assert_eq!(successor(&store, &own), None, "recall ignores a link from an unverified memory");
        let owner_trust = crate::domain::Patch { owner_trust: Some(Trust::User), ..crate::domain::Patch::default() };
        store.update(named(&foreign), &owner_trust, &Actor::default()).unwrap();
        assert_eq!(successor(&store, &own), Some(foreign.short_id.get()));
    }
}
