//! Taking an import back: what it stored goes, what it changed is as it was, what it vouched for is foreign again. What
//! somebody changed since stays theirs.

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

/// Memories of one transaction.
const BATCH: usize = 500;

/// What undoing an import does, or did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// Memories that it stored, and that go; `restore` brings them back.
    pub forgotten: u64,
    /// Memories that it changed, deleted or vouched for, and that are as they were.
    pub as_before: u64,
    /// Memories that stay as they are, because somebody changed them since.
    pub kept: Vec<ShortId>,
}

/// What becomes of a memory.
enum UndoEffect {
    /// It goes.
    Goes(Box<Known>),
    /// It is brought back.
    Returns(Box<Known>),
    /// It is as it was before this change.
    AsBefore(Box<Known>, u64),
    /// Somebody changed it since.
    Stays(ShortId),
    /// There is nothing of it.
    Gone,
}

/// What an import did to a memory.
struct Touched {
    memory: MemoryUuid,
    did: String,
    rev: u64,
}

impl Store {
    /// What undoing an import would do. Nothing is changed.
    ///
    /// # Errors
    /// When there is no such import, or the store cannot be read.
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

    /// Undoes an import, some memories a transaction: cut short, it goes on when it is asked for again. Undone twice is
    /// undone once.
    ///
    /// # Errors
    /// When there is no such import, or the store cannot be written.
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

/// What an import did and nobody undid: the latest first, so that a link goes before what it leads to.
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
    // What came with it goes with it, whatever later imports made of it; what one changed goes back only as the last.
    let is_changed = match touched.did.as_str() {
        "stored" | "restored" => imports::was_changed_by_somebody(connection, touched.memory, touched.rev)?,
        _ => imports::was_changed_since(connection, touched.memory, touched.rev)?,
    };
    // What it said before was to be set aside: nobody has it.
    let is_sealed = touched.did == "changed" && history::before(connection, touched.memory, touched.rev)?.is_none();
    if is_changed || is_sealed {
        return Ok(if is_live { UndoEffect::Stays(known.memory.short_id) } else { UndoEffect::Gone });
    }
    let known = Box::new(known);
    Ok(match (touched.did.as_str(), is_live) {
        ("stored" | "restored", true) => UndoEffect::Goes(known),
        // It came as a deleted one, and stays where those are.
        ("stored" | "restored", false) => UndoEffect::Gone,
        ("deleted", false) => UndoEffect::Returns(known),
        ("changed" | "vouched", true) => UndoEffect::AsBefore(known, touched.rev),
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

/// What was noted of rows before an import is so again, where no later one noted anything else.
const AS_NOTED_BEFORE: &str = "
    UPDATE came_over AS c SET said = b.said, held = b.held FROM came_before b
    WHERE b.import = ?1 AND b.key = c.key
    AND NOT EXISTS (SELECT 1 FROM came_before later WHERE later.key = b.key AND later.import > b.import)";

/// Takes back what an import noted of rows whose memories it did not touch.
fn forget_noted(change: &Change<'_>, n: u32) -> Result<(), StoreError> {
    let sql = format!("{AS_NOTED_BEFORE} AND c.memory NOT IN (SELECT memory FROM imported WHERE import = ?1)");
    change.tx.execute(&sql, [n])?;
    change.tx.execute("DELETE FROM came_before WHERE import = ?1", [n])?;
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
