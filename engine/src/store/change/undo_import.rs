//! Undoes an import: deletes the added memories, restores the earlier text of changed ones, and makes confirmed ones
//! foreign again. Later changes by people stay.

use rusqlite::{Connection, OptionalExtension, params};
use serde::Serialize;

use super::erase::delete;
use super::restore::restore;
use super::write::{Written, tell, write_row};
use super::{imports, links};
use crate::compose::{self, Known};
use crate::domain::{MemoryRef, MemoryUuid, Origin, ShortId};
use crate::screen::screened;
use crate::store::base::config::Actor;
use crate::store::base::kept;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::Run as _;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// Memories per transaction.
const BATCH: usize = 500;

/// The effect of undoing an import.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Undone {
    /// Stored memories that are deleted; `restore` brings them back.
    pub forgotten: u64,
    /// Changed, deleted or confirmed memories that return to their earlier state.
    pub as_before: u64,
    /// Memories that are kept because somebody changed them after the import.
    pub kept: Vec<ShortId>,
}

/// The effect on one memory.
enum UndoEffect {
    /// It is deleted.
    Goes(Box<Known>),
    /// It is restored.
    Returns(Box<Known>),
    /// The memory returns to its state before this change.
    AsBefore(Box<Known>, u64),
    /// It is kept, because somebody has changed it since.
    Stays(ShortId),
    /// It no longer exists.
    Gone,
}

/// The effect of an import on a memory.
struct Touched {
    memory: MemoryUuid,
    did: String,
    rev: u64,
}

impl Store {
    /// The effect that undoing an import would have. Nothing is changed.
    ///
    /// # Errors
    /// Returns an error if there is no such import, or the store cannot be read.
    pub fn undoing_of(&self, n: u32) -> Result<Undone, StoreError> {
        let connection = &self.connection;
        let read = || -> rusqlite::Result<Undone> {
            let mut undone = Undone::default();
            for touched in touched(connection, n)? {
                undone.count(&fate(connection, &touched)?);
            }
            Ok(undone)
        };
        self.refuse_unknown(n)?;
        read().map_err(|error| self.failed(error))
    }

    /// Undoes an import in several transactions. After an interruption, the next call continues. Undoing it twice has
    /// no further effect.
    ///
    /// # Errors
    /// Returns an error if there is no such import, or the store cannot be written.
    pub fn undo_import(&mut self, n: u32) -> Result<Undone, StoreError> {
        self.refuse_unknown(n)?;
        let _turn = self.undo_turn()?;
        let all = touched(&self.connection, n).map_err(|error| self.failed(error))?;
        let mut undone = Undone::default();
        for batch in all.chunks(BATCH) {
            let done = self.write(|change| {
                let mut done = Undone::default();
                for touched in batch {
                    done.count(&undo(change, n, touched)?);
                }
                Ok(done)
            })?;
            undone.forgotten += done.forgotten;
            undone.as_before += done.as_before;
            undone.kept.extend(done.kept);
        }
        self.write(|change| {
            forget_noted(change, n)?;
            let sql = "UPDATE imports SET undone = coalesce(undone, ?2), ended = coalesce(ended, ?2) WHERE n = ?1";
            change.tx.execute(sql, params![n, change.now])?;
            Ok(())
        })?;
        self.maintain();
        Ok(undone)
    }

    fn refuse_unknown(&self, n: u32) -> Result<(), StoreError> {
        let there = self.connection.query_row("SELECT 1 FROM imports WHERE n = ?1", [n], |_| Ok(())).optional();
        match there.map_err(|error| self.failed(error))? {
            Some(()) => Ok(()),
            None => Err(StoreError::NoImport { n }),
        }
    }
}

impl Undone {
    fn count(&mut self, fate: &UndoEffect) {
        match fate {
            UndoEffect::Goes(_) => self.forgotten += 1,
            UndoEffect::Returns(_) | UndoEffect::AsBefore(..) => self.as_before += 1,
            UndoEffect::Stays(short_id) => self.kept.push(*short_id),
            UndoEffect::Gone => {}
        }
    }
}

/// The effects of an import that have not been undone yet, latest first, so that a link is removed before its target.
fn touched(connection: &Connection, n: u32) -> rusqlite::Result<Vec<Touched>> {
    let sql = "SELECT memory, did, rev FROM imported WHERE import = ?1 AND did <> 'undone' ORDER BY rev DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let rows =
        statement.query_map([n], |row| Ok(Touched { memory: row.get(0)?, did: row.get(1)?, rev: row.get(2)? }))?;
    rows.collect()
}

fn fate(connection: &Connection, touched: &Touched) -> rusqlite::Result<UndoEffect> {
    let Some(known) = row::find_known(connection, MemoryRef::Id(touched.memory))? else { return Ok(UndoEffect::Gone) };
    let is_live = known.memory.deleted.is_none();
    // A memory that this import stored is deleted even if later imports changed it. A memory that it changed is reset
    // only if it made the last change.
    let is_changed = match touched.did.as_str() {
        "stored" | "restored" => imports::was_changed_by_somebody(connection, touched.memory, touched.rev)?,
        _ => imports::was_changed_since(connection, touched.memory, touched.rev)?,
    };
    // The earlier text was a secret in clear, so it is not restored.
    let is_sealed = touched.did == "changed" && history::before(connection, touched.memory, touched.rev)?.is_none();
    if is_changed || is_sealed {
        return Ok(if is_live { UndoEffect::Stays(known.memory.short_id) } else { UndoEffect::Gone });
    }
    let known = Box::new(known);
    Ok(match (touched.did.as_str(), is_live) {
        ("stored" | "restored", true) => UndoEffect::Goes(known),
        // It was imported as deleted, and stays deleted.
        ("stored" | "restored", false) => UndoEffect::Gone,
        ("deleted", false) => UndoEffect::Returns(known),
        ("changed" | "owner_trust", true) => UndoEffect::AsBefore(known, touched.rev),
        _ => UndoEffect::Gone,
    })
}

fn undo(change: &Change<'_>, n: u32, touched: &Touched) -> Result<UndoEffect, StoreError> {
    let fate = fate(change.tx, touched)?;
    let actor = Actor { origin: Origin::User, reason: Some(imports::undone_reason(n)), ..Actor::default() };
    match &fate {
        UndoEffect::Goes(known) => {
            delete(change, known, &actor)?;
            tell(change, known.memory.id)?;
        }
        UndoEffect::Returns(known) => {
            restore(change, MemoryRef::Id(known.memory.id), None, &actor)?;
        }
        UndoEffect::AsBefore(known, rev) => as_before(change, known, *rev, &actor)?,
        UndoEffect::Stays(_) | UndoEffect::Gone => return Ok(fate),
    }
    let sql = format!("{AS_NOTED_BEFORE} AND c.memory = ?2");
    change.tx.run(&sql, params![n, touched.memory])?;
    let sql = "UPDATE imported SET was = did, did = 'undone',
               rev = coalesce((SELECT rev FROM memories WHERE id = memory), rev) WHERE import = ?1 AND memory = ?2";
    change.tx.run(sql, params![n, touched.memory])?;
    Ok(fate)
}

/// Restores the digests that rows had before an import, unless a later import changed them.
const AS_NOTED_BEFORE: &str = "
    UPDATE imported_rows AS c SET said = b.said, held = b.held FROM imported_rows_before b
    WHERE b.import = ?1 AND b.key = c.key
    AND NOT EXISTS (SELECT 1 FROM imported_rows_before later WHERE later.key = b.key AND later.import > b.import)";

/// Restores the earlier digests of rows whose memories the import did not change, and then deletes all digests that
/// were saved for the import.
fn forget_noted(change: &Change<'_>, n: u32) -> Result<(), StoreError> {
    let sql = format!("{AS_NOTED_BEFORE} AND c.memory NOT IN (SELECT memory FROM imported WHERE import = ?1)");
    change.tx.execute(&sql, [n])?;
    change.tx.execute("DELETE FROM imported_rows_before WHERE import = ?1", [n])?;
    Ok(())
}

/// Writes a memory as it was before a change.
fn as_before(change: &Change<'_>, known: &Known, rev: u64, actor: &Actor) -> Result<(), StoreError> {
    let before = &known.memory;
    let Some(earlier) = history::before(change.tx, before.id, rev)? else { return Ok(()) };
    let earlier = screened(earlier, before.id, &mut change.secrets.keeper(change.tx))?;
    let composed = compose::undone(known, earlier, &O200k).placed(before.short_id, change.next_rev()?);
    write_row(change, &composed, Written::Again)?;
    if composed.memory().trust != before.trust {
        links::elect_around(change, composed.memory())?;
    }
    kept::adopt(change, composed.memory())?;
    history::record(change, composed.memory(), Operation::Update, actor, Some(before))?;
    tell(change, before.id)
}
