//! Compares the rows of another system with the memories here: a row may be new, unchanged, changed there, or changed
//! on both sides. Nothing is lost: if both sides changed a text, both texts stay.

use rusqlite::{OptionalExtension, params};

use super::erase::{Erase, delete};
use super::import_line::ImportAs;
use super::imports::{Did, ImportRun, bring_back, note, was_changed_by_somebody, was_undone};
use super::links;
use super::older_row::{
    Look, OlderRow, Over, RowStatus, beside_of, came, deletion, held, is_bared, look, seal_besides, sealing,
};
use super::remember::insert;
use super::update::rewrite;
use super::write::{Stored, tell};
use crate::compose::{self, Composed, Known};
use crate::domain::{Draft, Link, LinkKind, Memory, MemoryRef, MemoryUuid, Patch, Timestamp, Trust};
use crate::screen::{ProbableSecrets, Screened, screened};
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;
use crate::text::O200k;

impl Store {
    /// The status of rows of another system, in their order. Nothing is changed. A rejected row gets a reason.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn statuses(&self, rows: &[&OlderRow], whose: ImportAs) -> Result<Vec<Result<Over, String>>, StoreError> {
        let now = self.clock.now();
        let status = |of: &&OlderRow| {
            if let Err(refused) = of.draft.check() {
                return Ok(Err(refused.to_string()));
            }
            let Look { status, known, is_known } =
                look(&self.connection, of, whose).map_err(|error| self.failed(error))?;
            let memory = known.map(|known| known.memory);
            let aside = match status {
                RowStatus::New | RowStatus::NewDeleted => self.would_set_aside(of, None, now),
                RowStatus::Changed => self.would_set_aside(of, memory.as_ref(), now),
                RowStatus::Both if self.has_beside(of)? => Ok(0),
                RowStatus::Both => self.would_set_aside(of, None, now),
                _ => Ok(0),
            };
            let aside = match aside {
                Err(refused @ StoreError::Credential { .. }) => return Ok(Err(refused.to_string())),
                aside => aside?,
            };
            let sealed = status == RowStatus::Both && memory.is_some_and(|memory| is_bared(of, &memory));
            Ok(Ok(Over { status, aside: aside + u64::from(sealed), is_known }))
        };
        rows.iter().map(status).collect()
    }

    /// Imports rows of another system in one transaction: stores new rows, and applies changes to existing memories.
    /// Returns the status of each row, or why it is rejected.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. In case of an error, no row is imported; run the import again
    /// to continue.
    pub fn take_over(
        &mut self,
        run: &mut ImportRun,
        rows: &[&OlderRow],
    ) -> Result<Vec<Result<Over, String>>, StoreError> {
        let now = self.clock.now();
        // Slow work is done before the lock is taken, and only for new rows.
        let begun = rows.iter().map(|of| {
            of.said();
            self.begun_row(of, run.whose)
        });
        let begun = begun.collect::<Result<Vec<_>, _>>()?;
        let probable = ProbableSecrets::of_each(&begun, |one| one.as_ref().ok());
        let ready = begun.into_iter().zip(probable).zip(rows).map(|((begun, probable), of)| match begun {
            Ok(draft) => self.made_ready(of, draft, probable, now),
            Err(settled) => Ok(settled),
        });
        let ready = ready.collect::<Result<Vec<_>, _>>()?;
        let (n, over) = self.write(|change| {
            let mut n = run.n;
            let mut done = Vec::with_capacity(rows.len());
            for (of, ready) in rows.iter().zip(&ready) {
                done.push(match ready {
                    Ready::Refused(problem) => Err(problem.clone()),
                    ready => Ok(taken(change, run, &mut n, of, ready)?),
                });
            }
            Ok((n, done))
        })?;
        run.n = n;
        if rows
            .iter()
            .zip(&over)
            .any(|(of, over)| of.draft.sensitive.is_some() && over.as_ref().is_ok_and(Over::is_other))
        {
            // Clear-text credentials of earlier imports are erased.
            self.scrubbed(Erase::Hard);
        }
        Ok(over)
    }

    /// Returns the effect that a deletion in the other system would have here; changes nothing. Only the key of the
    /// deleted row is known. Returns `None` if the row was never imported.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn deletion_of(&self, key: MemoryUuid, whose: ImportAs) -> Result<Option<RowStatus>, StoreError> {
        let found = deletion(&self.connection, key, whose).map_err(|error| self.failed(error))?;
        Ok(found.map(|(status, _)| status))
    }

    /// Imports that deletion.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn take_deletion(&mut self, run: &mut ImportRun, key: MemoryUuid) -> Result<Option<RowStatus>, StoreError> {
        let (n, status) = self.write(|change| {
            let Some((status, known)) = deletion(change.tx, key, run.whose)? else { return Ok((run.n, None)) };
            if status != RowStatus::Deleted {
                return Ok((run.n, Some(status)));
            }
            let n = run.entered(change)?;
            let gone = deleted(change, n, &known)?;
            note_before(change, n, gone.id)?;
            let sql = "UPDATE imported_rows SET held = ?2 WHERE memory = ?1";
            change.tx.execute(sql, params![gone.id, held(&gone).cast_signed()])?;
            Ok((Some(n), Some(status)))
        })?;
        run.n = n;
        Ok(status)
    }

    /// Makes the links of imported memories. Existing links, and links to memories that are not here, are skipped.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn link_over(&mut self, links: &[(MemoryUuid, LinkKind, MemoryUuid)]) -> Result<u64, StoreError> {
        self.write(|change| links.iter().try_fold(0, |made, link| Ok(made + u64::from(linked(change, link)?))))
    }

    /// The live memories that were imported from a source and no longer exist there. The caller must have read the
    /// whole source.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn gone_there(
        &self,
        run: &ImportRun,
        is_seen: impl Fn(&MemoryUuid) -> bool,
    ) -> Result<Vec<MemoryRef>, StoreError> {
        let read = || -> rusqlite::Result<Vec<MemoryRef>> {
            let sql = "SELECT c.key, c.memory, m.short_id FROM imported_rows c JOIN imports i ON i.n = c.import
                       JOIN memories m ON m.id = c.memory
                       WHERE i.system = ?1 AND i.source = ?2 AND m.deleted IS NULL ORDER BY m.short_id";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([&run.system, &run.source], |row| {
                Ok((row.get::<_, MemoryUuid>(0)?, row.get::<_, MemoryUuid>(1)?, MemoryRef::ShortId(row.get(2)?)))
            })?;
            let all: Vec<_> = rows.collect::<Result<_, _>>()?;
            let there: std::collections::HashSet<MemoryUuid> =
                all.iter().filter(|(key, ..)| is_seen(key)).map(|(_, memory, _)| *memory).collect();
            let mut gone: Vec<MemoryRef> = Vec::new();
            for (_, memory, short_id) in all {
                if !there.contains(&memory) && !gone.contains(&short_id) {
                    gone.push(short_id);
                }
            }
            Ok(gone)
        };
        read().map_err(|error| self.failed(error))
    }

    fn has_beside(&self, of: &OlderRow) -> Result<bool, StoreError> {
        row::is_there(&self.connection, beside_of(of)).map_err(|error| self.failed(error))
    }

    /// The draft of a new row, or the result of any other row.
    fn begun_row(&self, of: &OlderRow, whose: ImportAs) -> Result<Result<Draft, Ready>, StoreError> {
        if let Err(refused) = of.draft.check() {
            return Ok(Err(Ready::Refused(refused.to_string())));
        }
        let look = look(&self.connection, of, whose).map_err(|error| self.failed(error))?;
        if !matches!(look.status, RowStatus::New | RowStatus::NewDeleted) {
            return Ok(Err(Ready::Known));
        }
        Ok(Ok(Draft { id: Some(of.id()), ..of.draft.clone() }))
    }

    fn made_ready(
        &self,
        of: &OlderRow,
        draft: Draft,
        probable: ProbableSecrets,
        now: Timestamp,
    ) -> Result<Ready, StoreError> {
        let draft = match self.looked_through(draft, probable, now) {
            Ok(draft) => draft,
            Err(refused @ StoreError::Credential { .. }) => return Ok(Ready::Refused(refused.to_string())),
            Err(error) => return Err(error),
        };
        match compose::imported(&draft, of.stamps, now, &O200k) {
            Ok(composed) => Ok(Ready::New(Box::new((draft, composed)))),
            Err(refused) => Ok(Ready::Refused(refused.to_string())),
        }
    }
}

/// A row before it is written.
enum Ready {
    /// It cannot be stored.
    Refused(String),
    /// It is known.
    Known,
    /// It is new.
    New(Box<(Screened<Draft>, Composed)>),
}

/// Applies a row according to its present status.
fn taken(
    change: &Change<'_>,
    run: &ImportRun,
    n: &mut Option<u32>,
    of: &OlderRow,
    ready: &Ready,
) -> Result<Over, StoreError> {
    let Look { status, known, is_known } = look(change.tx, of, run.whose)?;
    let over = |aside: u64| Over { status, aside, is_known };
    let mut entered = || -> Result<u32, StoreError> {
        let entered = n.map_or_else(|| run.entered(change), Ok)?;
        *n = Some(entered);
        Ok(entered)
    };
    let actor = ImportRun::actor(of.draft.client.clone());
    match (status, known, ready) {
        (RowStatus::New | RowStatus::NewDeleted, _, Ready::New(new)) => {
            let n = entered()?;
            let Stored { memory, aside, .. } = insert(change, &new.0, &new.1)?;
            note(change, n, &memory, Did::Stored)?;
            note_row(change, n, of, &memory)?;
            Ok(over(aside.len() as u64))
        }
        (RowStatus::There, Some(known), _) if !is_known => {
            note_known(change, of, &known.memory)?;
            Ok(over(0))
        }
        (RowStatus::Vouched, Some(known), _) => {
            let n = entered()?;
            let patch = Patch { owner_trust: Some(Trust::User), ..Patch::default() };
            let stored = rewrite(change, &known, &patch, &actor)?;
            note(change, n, &stored.memory, Did::Vouched)?;
            note_row(change, n, of, &stored.memory)?;
            Ok(over(0))
        }
        (RowStatus::Changed, Some(known), _) => Ok(over(changed(change, entered()?, of, &known, run.whose)?)),
        (RowStatus::Both, Some(known), _) => Ok(over(both(change, entered()?, of, &known, run.whose)?)),
        (RowStatus::Deleted, Some(known), _) => {
            let n = entered()?;
            let gone = deleted(change, n, &covered(change, of, known)?)?;
            note_row(change, n, of, &gone)?;
            Ok(over(0))
        }
        (RowStatus::Back, Some(known), _) => {
            let n = entered()?;
            let mut back = bring_back(change, n, &known.memory)?;
            let patch = patch(of, &back, run.whose);
            if !patch.is_empty() {
                back = rewrite(change, &change.known(MemoryRef::Id(back.id))?, &patch, &actor)?.memory;
                note(change, n, &back, Did::Restored)?;
            }
            note_row(change, n, of, &back)?;
            Ok(over(0))
        }
        (RowStatus::Kept, Some(known), _) if !of.is_strange_to(&known.memory, run.whose) => {
            let n = entered()?;
            note_row(change, n, of, &known.memory)?;
            Ok(over(0))
        }
        _ => Ok(over(0)),
    }
}

/// Updates a memory from its row. If another author wrote a row, an import of the row may encrypt the user's own
/// memory, but not change it in another way.
fn changed(change: &Change<'_>, n: u32, of: &OlderRow, known: &Known, whose: ImportAs) -> Result<u64, StoreError> {
    let (actor, is_bared) = (ImportRun::actor(of.draft.client.clone()), is_bared(of, &known.memory));
    let is_strange = of.is_strange_to(&known.memory, whose);
    let patch = if is_strange { sealing(of, &known.memory) } else { patch(of, &known.memory, whose) };
    let stored = rewrite(change, known, &patch, &actor)?;
    note(change, n, &stored.memory, Did::Changed)?;
    note_row(change, n, of, &stored.memory)?;
    if is_bared {
        seal_besides(change, of, stored.memory.id, &actor)?;
    }
    if !is_strange {
        drop_beside(change, n, of)?;
    }
    Ok(stored.aside.len() as u64)
}

/// Encrypts the text of a deleted memory if its row became secret, because the memory can be restored.
fn covered(change: &Change<'_>, of: &OlderRow, known: Known) -> Result<Known, StoreError> {
    if !is_bared(of, &known.memory) {
        return Ok(known);
    }
    let actor = ImportRun::actor(of.draft.client.clone());
    let id = rewrite(change, &known, &sealing(of, &known.memory), &actor)?.memory.id;
    seal_besides(change, of, id, &actor)?;
    change.known(MemoryRef::Id(id))
}

/// Stores the row's text in addition to the local text. If the row is secret in its system, the local text is encrypted
/// too.
fn both(change: &Change<'_>, n: u32, of: &OlderRow, known: &Known, whose: ImportAs) -> Result<u64, StoreError> {
    let actor = ImportRun::actor(of.draft.client.clone());
    let (mut ours, mut sealed) = (known.memory.clone(), 0);
    if is_bared(of, &ours) {
        ours = rewrite(change, known, &sealing(of, &ours), &actor)?.memory;
        note(change, n, &ours, Did::Changed)?;
        seal_besides(change, of, ours.id, &actor)?;
        sealed = 1;
    }
    let aside = beside(change, n, of, &ours)?;
    // The user's own memory gets it later, if they import it as their own.
    if !of.is_strange_to(&ours, whose) {
        note_row(change, n, of, &ours)?;
    }
    Ok(aside + sealed)
}

/// Records digests of the row and of the memory under all keys of the row.
fn note_row(change: &Change<'_>, n: u32, of: &OlderRow, memory: &Memory) -> Result<(), StoreError> {
    let (said, held) = (of.said().cast_signed(), held(memory).cast_signed());
    note_before(change, n, memory.id)?;
    note_names(change, n, of, memory.id, (said, held))?;
    let sql = "UPDATE imported_rows SET said = ?2, held = ?3 WHERE memory = ?1";
    change.tx.run(sql, params![memory.id, said, held])?;
    Ok(())
}

/// Keeps the earlier digests of a row, so that undoing the import can restore them.
fn note_before(change: &Change<'_>, n: u32, memory: MemoryUuid) -> Result<(), StoreError> {
    let sql = "INSERT OR IGNORE INTO imported_rows_before (import, key, said, held)
               SELECT ?1, key, said, held FROM imported_rows WHERE memory = ?2";
    change.tx.run(sql, params![n, memory])?;
    Ok(())
}

/// Records the keys of a row. A deletion refers to the last row with the key `gone_as`. So if another row has this key,
/// this row takes over the key.
fn note_names(
    change: &Change<'_>,
    n: u32,
    of: &OlderRow,
    memory: MemoryUuid,
    (said, held): (i64, i64),
) -> Result<(), StoreError> {
    let row = "INTO imported_rows (key, memory, import, said, held) VALUES (?1, ?2, ?3, ?4, ?5)";
    for id in &of.ids {
        let sql = format!("INSERT OR IGNORE {row}");
        change.tx.run(&sql, params![id, memory, n, said, held])?;
    }
    if let Some(id) = of.gone_as {
        let sql = format!("INSERT OR REPLACE {row}");
        change.tx.run(&sql, params![id, memory, n, said, held])?;
    }
    Ok(())
}

/// Records new keys of an unchanged row. A memory that came from another machine does not belong to an import of this
/// machine.
fn note_known(change: &Change<'_>, of: &OlderRow, memory: &Memory) -> Result<(), StoreError> {
    let sql = "SELECT import, said, held FROM imported_rows WHERE memory = ?1 LIMIT 1";
    let noted = change
        .tx
        .one(sql, [memory.id], |row| Ok((row.get::<_, u32>(0)?, (row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))));
    let unknown = || (0, (of.said().cast_signed(), held(memory).cast_signed()));
    let (n, noted) = noted.optional()?.unwrap_or_else(unknown);
    note_names(change, n, of, memory.id, noted)
}

/// The patch that gives a memory the text and the fields of its row.
fn patch(of: &OlderRow, memory: &Memory, whose: ImportAs) -> Patch {
    let draft = &of.draft;
    let is_other = memory.content != draft.content || is_bared(of, memory);
    let words = |given: &Vec<String>| (!given.is_empty()).then(|| given.clone());
    // A foreign text does not silently replace a trusted one.
    let is_doubted = is_other && of.is_strange_to(memory, whose);
    let doubted = is_doubted.then_some(Trust::Foreign);
    let owner_trust = of.is_vouched(memory, whose).then_some(Trust::User).or(doubted);
    Patch {
        content: is_other.then(|| draft.content.clone()),
        sensitive: is_other.then(|| draft.sensitive.clone()).flatten(),
        category: draft.category.clone().filter(|category| *category != memory.category),
        kind: draft.kind.filter(|kind| *kind != memory.kind),
        importance: draft.importance.filter(|importance| *importance != memory.importance),
        tags: (draft.tags != memory.tags).then(|| draft.tags.clone()),
        keywords: (draft.keywords != memory.keywords).then(|| draft.keywords.clone()),
        entities: words(&draft.entities).filter(|entities| *entities != memory.entities),
        expires: (draft.expires != memory.expires).then_some(draft.expires),
        owner_trust,
        scope: None,
        metadata: draft.metadata.clone().filter(|kept| Some(kept) != memory.metadata.as_ref()),
    }
}

/// If a memory now has the same text as the separate copy of its row, deletes the copy, unless somebody changed it.
fn drop_beside(change: &Change<'_>, n: u32, of: &OlderRow) -> Result<(), StoreError> {
    let Some(beside) = row::find_known(change.tx, MemoryRef::Id(beside_of(of)))? else { return Ok(()) };
    let is_live = beside.memory.deleted.is_none() && beside.memory.share.is_none();
    if is_live && !was_changed_by_somebody(change.tx, beside.memory.id, 0)? {
        deleted(change, n, &beside)?;
    }
    Ok(())
}

/// Stores the row's text as a separate memory beside the locally changed one.
fn beside(change: &Change<'_>, n: u32, of: &OlderRow, ours: &Memory) -> Result<u64, StoreError> {
    let id = beside_of(of);
    if row::is_there(change.tx, id)? {
        let there = row::find(change.tx, MemoryRef::Id(id))?;
        if let Some(there) = there.filter(|there| there.deleted.is_some())
            && was_undone(change.tx, id)?
        {
            bring_back(change, n, &there)?;
        }
        return Ok(0);
    }
    let links = vec![Link { kind: LinkKind::SeeAlso, to: ours.id }];
    let draft = Draft { id: Some(id), links, ..of.draft.clone() };
    let draft = screened(draft, id, &mut change.secrets.keeper(change.tx))?;
    let composed = compose::imported(&draft, of.stamps, change.now, &O200k)?;
    let Stored { memory, aside, .. } = insert(change, &draft, &composed)?;
    note(change, n, &memory, Did::Stored)?;
    Ok(aside.len() as u64)
}

fn deleted(change: &Change<'_>, n: u32, known: &Known) -> Result<Memory, StoreError> {
    let actor = ImportRun::actor(known.memory.client.clone());
    delete(change, known, &actor)?;
    tell(change, known.memory.id)?;
    let gone = change.existing(MemoryRef::Id(known.memory.id))?;
    note(change, n, &gone, Did::Deleted)?;
    Ok(gone)
}

fn linked(
    change: &Change<'_>,
    (source, kind, target): &(MemoryUuid, LinkKind, MemoryUuid),
) -> Result<bool, StoreError> {
    let came = |id: &MemoryUuid| came(change.tx, &[*id]).map(|came| came.map_or(*id, |came| came.memory));
    let (source, target) = (came(source)?, came(target)?);
    let Some(mut memory) = row::find(change.tx, MemoryRef::Id(source))? else { return Ok(false) };
    let is_there = row::find(change.tx, MemoryRef::Id(target))?.is_some();
    let has = memory.links.iter().any(|link| link.kind == *kind && link.to == target);
    if has || !is_there || source == target || memory.share.is_some() || memory.deleted.is_some() {
        return Ok(false);
    }
    memory.rev = change.next_rev()?;
    match links::insert(change, &memory, kind, MemoryRef::Id(target)) {
        // There, each replaces the other; here, neither does.
        Err(StoreError::Conflict { .. }) => return Ok(false),
        other => other?,
    }
    // The time of change stays, because a link does not change the text.
    let sql = "UPDATE memories SET rev = ?2 WHERE short_id = ?1";
    change.tx.run(sql, params![memory.short_id, memory.rev])?;
    history::record(change, &memory, Operation::Link, &ImportRun::actor(memory.client.clone()), None)?;
    tell(change, memory.id)?;
    Ok(true)
}
