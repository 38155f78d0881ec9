//! Links between memories. `supersedes` also changes what recall answers.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};

use super::erase::refuse_foreign;
use super::error::StoreError;
use super::history::{self, Operation};
use super::write::{Change, redirects, set_successor, tell};
use super::{Actor, Store, row};
use crate::domain::{Handle, Link, LinkKind, Memory, MemoryRef};

/// Successors followed when a circle is looked for.
const LONGEST_CHAIN: usize = 64;

impl Store {
    /// Links `source` to `target`. Linking twice is linking once.
    ///
    /// # Errors
    /// When one is missing, they are the same, or `supersedes` would run in a circle.
    pub fn link(
        &mut self,
        source: MemoryRef,
        kind: LinkKind,
        target: MemoryRef,
        actor: &Actor,
    ) -> Result<Memory, StoreError> {
        self.write_numbers(|change| {
            let mut memory = change.existing(source)?;
            refuse_foreign(&memory, source)?;
            memory.rev = change.next_rev()?;
            insert(change, &memory, kind, target)?;
            noted(change, &memory, Operation::Link, actor)
        })
    }

    /// Takes a link away.
    ///
    /// # Errors
    /// When there is no such link.
    pub fn unlink(
        &mut self,
        source: MemoryRef,
        kind: LinkKind,
        target: MemoryRef,
        actor: &Actor,
    ) -> Result<Memory, StoreError> {
        self.write_numbers(|change| {
            let mut memory = change.existing(source)?;
            refuse_foreign(&memory, source)?;
            let other = change.existing(target)?;
            let sql = "DELETE FROM links WHERE source = ?1 AND type = ?2 AND target = ?3";
            if change.tx.execute(sql, params![memory.id, kind.as_str(), other.id])? == 0 {
                return Err(StoreError::Conflict { memory: source, problem: "has no such link" });
            }
            if redirects(kind) {
                succeed_anew(change, &other)?;
            }
            memory.rev = change.next_rev()?;
            noted(change, &memory, Operation::Unlink, actor)
        })
    }
}

pub(super) fn noted(
    change: &Change<'_>,
    memory: &Memory,
    operation: Operation,
    actor: &Actor,
) -> Result<Memory, StoreError> {
    change.tx.execute(
        "UPDATE memories SET rev = ?2, updated = ?3 WHERE handle = ?1",
        params![memory.handle, memory.rev, change.now],
    )?;
    history::record(change, memory, operation, actor, None)?;
    tell(change, memory.id)?;
    change.existing(MemoryRef::Handle(memory.handle))
}

/// Adds a link from a memory that is already written.
pub(super) fn insert(
    change: &Change<'_>,
    memory: &Memory,
    kind: LinkKind,
    target: MemoryRef,
) -> Result<(), StoreError> {
    let other = change.existing(target)?;
    let source = MemoryRef::Handle(memory.handle);
    if other.handle == memory.handle {
        return Err(StoreError::Conflict { memory: source, problem: "cannot be linked to itself" });
    }
    if redirects(kind) {
        if leads_to(change, memory.handle, other.handle)? {
            return Err(StoreError::Conflict { memory: source, problem: "is itself superseded by the other" });
        }
        set_successor(change, &other, Some(memory.handle))?;
    }
    let sql = "INSERT OR IGNORE INTO links (source, type, target, created) VALUES (?1, ?2, ?3, ?4)";
    change.tx.execute(sql, params![memory.id, kind.as_str(), other.id, change.now])?;
    Ok(())
}

/// Makes the links of a memory these. The other memories may not be here, or come later.
pub(super) fn replace(change: &Change<'_>, memory: &Memory, wanted: &BTreeSet<Link>) -> Result<(), StoreError> {
    let known: BTreeSet<Link> = row::links_of(change.tx, memory.id)?.into_iter().collect();
    for link in known.difference(wanted) {
        let sql = "DELETE FROM links WHERE source = ?1 AND type = ?2 AND target = ?3";
        change.tx.prepare_cached(sql)?.execute(params![memory.id, link.kind.as_str(), link.to])?;
        if redirects(link.kind)
            && let Some(old) = row::find(change.tx, MemoryRef::Id(link.to))?
        {
            succeed_anew(change, &old)?;
        }
    }
    for link in wanted.difference(&known) {
        let sql = "INSERT OR IGNORE INTO links (source, type, target, created) VALUES (?1, ?2, ?3, ?4)";
        change.tx.prepare_cached(sql)?.execute(params![memory.id, link.kind.as_str(), link.to, change.now])?;
        if redirects(link.kind)
            && let Some(old) = row::find(change.tx, MemoryRef::Id(link.to))?
        {
            succeed(change, &old, memory.handle)?;
        }
    }
    // One that came before what it was replaced by.
    replaced_by(change, memory)?.map_or(Ok(()), |newer| succeed(change, memory, newer))
}

/// The newest memory that replaces another.
fn replaced_by(change: &Change<'_>, memory: &Memory) -> Result<Option<Handle>, StoreError> {
    let sql = "SELECT handle FROM links JOIN memories ON id = source
               WHERE target = ?1 AND links.type = ?2 AND purged = 0 ORDER BY handle DESC LIMIT 1";
    let wanted = params![memory.id, LinkKind::Supersedes.as_str()];
    Ok(change.tx.prepare_cached(sql)?.query_row(wanted, |row| row.get(0)).optional()?)
}

/// After one that replaced it does so no longer: another may.
fn succeed_anew(change: &Change<'_>, old: &Memory) -> Result<(), StoreError> {
    set_successor(change, old, None)?;
    replaced_by(change, old)?.map_or(Ok(()), |newer| succeed(change, old, newer))
}

/// Makes `newer` the successor of `old`, unless that would run in a circle.
fn succeed(change: &Change<'_>, old: &Memory, newer: Handle) -> Result<(), StoreError> {
    if leads_to(change, newer, old.handle)? {
        return Ok(());
    }
    set_successor(change, old, Some(newer))
}

/// True when following successors from `from` reaches `to`.
fn leads_to(change: &Change<'_>, from: Handle, to: Handle) -> Result<bool, StoreError> {
    let mut at = Some(from);
    for _ in 0..LONGEST_CHAIN {
        let Some(handle) = at else { return Ok(false) };
        if handle == to {
            return Ok(true);
        }
        let sql = "SELECT superseded_by FROM memories WHERE handle = ?1";
        at = change.tx.prepare_cached(sql)?.query_row([handle], |row| row.get(0)).optional()?.flatten();
    }
    Ok(true)
}

/// Removes every link of a purged memory.
pub(super) fn remove_all(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    let mut statement = change.tx.prepare_cached("SELECT handle FROM memories WHERE superseded_by = ?1")?;
    let replaced: Vec<Handle> = statement.query_map([memory.handle], |row| row.get(0))?.collect::<Result<_, _>>()?;
    change.tx.execute("DELETE FROM links WHERE source = ?1 OR target = ?1", [memory.id])?;
    for handle in replaced {
        succeed_anew(change, &change.existing(MemoryRef::Handle(handle))?)?;
    }
    Ok(())
}
