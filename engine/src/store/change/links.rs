//! Links between memories. After a link of the type `supersedes`, recall returns only the newer memory, unless it is
//! deleted, expired, or less trusted than the older one.

use std::collections::BTreeSet;

use rusqlite::params;

use super::rights::refuse_foreign;
use super::write::tell;
use crate::domain::{Link, LinkKind, Memory, MemoryRef, ShortId, Trust};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;

/// Maximum length of a chain when searching for a cycle.
const LONGEST_CHAIN: usize = 64;

impl Store {
    /// Links `source` to `target`. Repeating it has no effect.
    ///
    /// # Errors
    /// Returns an error if a memory is missing, both are the same, or `supersedes` would form a cycle.
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
                return Err(StoreError::Conflict { memory: source, problem: "has no such link" });
            }
            if redirects(kind) {
                elect(change, &other)?;
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
    history::record(change, memory, operation, actor, None)?;
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
    if redirects(kind) {
        if leads_to(change, memory.short_id, other.short_id)? {
            return Err(StoreError::Conflict { memory: source, problem: "is already superseded by the other memory" });
        }
        if may_replace(memory, &other) {
            set_successor(change, &other, Some(memory.short_id))?;
        }
    }
    let sql = "INSERT OR IGNORE INTO links (source, type, target, created) VALUES (?1, ?2, ?3, ?4)";
    change.tx.execute(sql, params![memory.id, kind.as_str(), other.id, change.now])?;
    Ok(())
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
        if redirects(&link.kind)
            && let Some(old) = row::find(change.tx, MemoryRef::Id(link.to))?
        {
            elect(change, &old)?;
        }
    }
    for link in wanted.difference(&known) {
        let sql = "INSERT OR IGNORE INTO links (source, type, target, created) VALUES (?1, ?2, ?3, ?4)";
        change.tx.run(sql, params![memory.id, link.kind.as_str(), link.to, change.now])?;
        if redirects(&link.kind)
            && let Some(old) = row::find(change.tx, MemoryRef::Id(link.to))?
            && may_replace(memory, &old)
            && !leads_to(change, memory.short_id, old.short_id)?
        {
            set_successor(change, &old, Some(memory.short_id))?;
        }
    }
    // It may have arrived before its successor.
    elect(change, memory)
}

/// Chooses the successors of a memory again. Does the same for the memories that it supersedes. Needed after its trust
/// changed, or it was deleted or restored.
pub(crate) fn elect_around(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    elect(change, memory)?;
    for link in row::links_of(change.tx, memory.id)?.into_iter().filter(|link| redirects(&link.kind)) {
        row::find(change.tx, MemoryRef::Id(link.to))?.map_or(Ok(()), |old| elect(change, &old))?;
    }
    Ok(())
}

/// Sets the successor of `old`: the newest memory that may replace it. Live ones come first. A deleted successor has no
/// effect until it is restored.
fn elect(change: &Change<'_>, old: &Memory) -> Result<(), StoreError> {
    let sql = "SELECT short_id FROM links JOIN memories ON id = source
               WHERE target = ?1 AND links.type = ?2 AND purged = 0 AND (trust <> 'foreign' OR ?3)
               ORDER BY deleted IS NOT NULL, short_id DESC";
    let wanted = params![old.id, LinkKind::Supersedes.as_str(), old.trust == Trust::Foreign];
    let candidates: Vec<ShortId> = change.tx.all(sql, wanted, |row| row.get(0))?;
    let mut newest = None;
    for newer in candidates {
        // Never in a cycle.
        if !leads_to(change, newer, old.short_id)? {
            newest = Some(newer);
            break;
        }
    }
    let sql = "SELECT superseded_by FROM memories WHERE short_id = ?1";
    let known: Option<ShortId> = change.tx.one(sql, [old.short_id], |row| row.get(0))?;
    if newest == known { Ok(()) } else { set_successor(change, old, newest) }
}

/// True if the chain of successors leads from `from` to `to`.
fn leads_to(change: &Change<'_>, from: ShortId, to: ShortId) -> Result<bool, StoreError> {
    let mut at = Some(from);
    for _ in 0..LONGEST_CHAIN {
        let Some(short_id) = at else { return Ok(false) };
        if short_id == to {
            return Ok(true);
        }
        let sql = "SELECT superseded_by FROM memories WHERE short_id = ?1";
        at = change.tx.maybe(sql, [short_id], |row| row.get(0))?.flatten();
    }
    Ok(true)
}

/// Chooses new successors for the memories that a permanently deleted memory superseded.
pub(crate) fn elect_without(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    // A permanently deleted memory needs no successor.
    let sql = "SELECT short_id FROM memories WHERE superseded_by = ?1 AND purged = 0";
    let replaced: Vec<ShortId> = change.tx.all(sql, [memory.short_id], |row| row.get(0))?;
    for short_id in replaced {
        elect(change, &change.existing(MemoryRef::ShortId(short_id))?)?;
    }
    Ok(())
}

/// Sets or removes the successor of `old`.
pub(crate) fn set_successor(change: &Change<'_>, old: &Memory, new: Option<ShortId>) -> Result<(), StoreError> {
    let rev = change.next_rev()?;
    let sql = "UPDATE memories SET superseded_by = ?2, rev = ?3 WHERE short_id = ?1";
    change.tx.run(sql, params![old.short_id, new, rev])?;
    Ok(())
}

/// True for the link type that changes the result of recall.
pub(crate) fn redirects(kind: &LinkKind) -> bool {
    *kind == LinkKind::Supersedes
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
        assert_eq!(store.one::<u32>("SELECT count(*) FROM links"), 2);
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
