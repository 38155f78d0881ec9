//! Import of JSON lines, one memory per line. An import can be repeated: it stores only what is missing.

use std::io::BufRead;

use rusqlite::params;

use super::import_line::{ImportAs, Line, LineLink, Reading, parse, read_line, too_long};
use super::imports::{Did, ImportRun, bring_back, note, was_stored_by, was_undone};
use super::links;
use super::remember::insert;
use super::update::rewrite;
use crate::compose::{self, Composed, Known};
use crate::domain::{Draft, Link, Memory, MemoryRef, MemoryUuid, Origin, Patch, Timestamp, Trust};
use crate::screen::{ProbableSecrets, dropped};
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::Ask as _;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// Lines per transaction. A crash loses at most this number of lines, and the next run imports them.
const BATCH: usize = 500;

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// New memories.
    pub stored: u64,
    /// Existing memories.
    pub skipped: u64,
    /// The number of existing foreign memories that became the user's own.
    pub owner_trust: u64,
    /// Lines that name another author, although the user imports their own memories. They stay `foreign`.
    pub theirs: u64,
    /// Lines whose memory exists with a different text. The text in the store is kept.
    pub differing: Vec<u64>,
    /// Memories that were permanently deleted in this store, and were therefore not imported.
    pub purged: u64,
    /// Credentials removed from the imported texts.
    pub aside: u64,
    /// Rejected lines: (line number, reason).
    pub rejected: Vec<(u64, String)>,
}

impl Imported {
    /// Records why a line was rejected, with credentials redacted.
    fn reject(&mut self, line: u64, problem: &str) {
        self.rejected.push((line, dropped(problem).into_owned()));
    }
}

/// The progress of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    /// Lines read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
}

impl Store {
    /// Stores every new line of `input`. Rejected lines are reported, and the others are stored. The caller determines
    /// the trust, never a line.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read or the store cannot be written. Run it again to continue.
    pub fn import(
        &mut self,
        input: &mut dyn BufRead,
        whose: ImportAs,
        progress: impl FnMut(ImportProgress),
    ) -> Result<Imported, StoreError> {
        self.import_from(&mut ImportRun::new("lines", "-", whose), input, progress)
    }

    /// Imports lines and records their source, so that the list of imports contains it.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::import`].
    pub fn import_from(
        &mut self,
        run: &mut ImportRun,
        input: &mut dyn BufRead,
        mut progress: impl FnMut(ImportProgress),
    ) -> Result<Imported, StoreError> {
        self.with_room(|store| store.lines(run, input, &mut progress))
    }

    fn lines(
        &mut self,
        run: &mut ImportRun,
        input: &mut dyn BufRead,
        progress: &mut dyn FnMut(ImportProgress),
    ) -> Result<Imported, StoreError> {
        let _turn = self.import_turn()?;
        self.resume(run)?;
        let mut report = Imported::default();
        let mut at = ImportProgress { lines: 0, bytes: 0 };
        let mut later = Vec::new();
        loop {
            let batch = read_batch(input, &mut at, &mut report)?;
            if batch.is_empty() {
                break;
            }
            self.store_batch(batch, run, &mut report, &mut later)?;
            progress(at);
        }
        self.link_all(&later, &mut report)?;
        self.end_import(run)?;
        Ok(report)
    }

    fn store_batch(
        &mut self,
        batch: Vec<(u64, Line)>,
        run: &mut ImportRun,
        report: &mut Imported,
        later: &mut Vec<(u64, MemoryUuid, LineLink)>,
    ) -> Result<(), StoreError> {
        // Slow work is done before the lock is taken, and only for new lines.
        let (now, whose) = (self.clock.now(), run.whose);
        let begun = batch.iter().map(|(_, line)| self.begun(line, whose)).collect::<Result<Vec<_>, _>>()?;
        let probable = ProbableSecrets::of_each(&begun, |one| one.as_ref().ok());
        let read = begun.into_iter().zip(probable).zip(&batch).map(|((begun, probable), (_, line))| match begun {
            Ok(draft) => self.incoming(line, draft, probable, now),
            Err(settled) => Ok(settled),
        });
        let read = read.collect::<Result<Vec<_>, _>>()?;
        let (n, outcomes) = self.write(|change| {
            let mut n = run.n;
            let outcomes = read.iter().map(|one| one.store(change, run, &mut n)).collect::<Result<Vec<_>, _>>()?;
            Ok((n, outcomes))
        })?;
        run.n = n;
        for ((number, line), outcome) in batch.into_iter().zip(outcomes) {
            match outcome {
                Outcome::Stored(id, aside) => {
                    report.stored += 1;
                    report.theirs += u64::from(whose == ImportAs::Own && line.is_theirs());
                    report.aside += aside;
                    later.extend(line.links.into_iter().map(|link| (number, id, link)));
                }
                Outcome::Skipped(of_this) => {
                    report.skipped += 1;
                    // The earlier run was interrupted before it made the links.
                    if let Some(id) = of_this {
                        later.extend(line.links.into_iter().map(|link| (number, id, link)));
                    }
                }
                Outcome::Differs => {
                    report.skipped += 1;
                    report.differing.push(number);
                }
                Outcome::Purged => {
                    report.skipped += 1;
                    report.purged += 1;
                }
                Outcome::StaysTheirs => {
                    report.skipped += 1;
                    report.theirs += 1;
                }
                Outcome::Vouched => {
                    report.skipped += 1;
                    report.owner_trust += 1;
                }
                Outcome::Rejected(problem) => report.reject(number, &problem),
            }
        }
        Ok(())
    }

    /// Links are made last, because a line may point to a later one.
    fn link_all(&mut self, later: &[(u64, MemoryUuid, LineLink)], report: &mut Imported) -> Result<(), StoreError> {
        let actor = Actor { origin: Origin::Import, ..Actor::default() };
        for some in later.chunks(BATCH) {
            let problems = self.write(|change| {
                let mut problems = Vec::new();
                for (number, source, line) in some {
                    let target = line.to.parse().unwrap_or_else(|_| MemoryUuid::from_key(&line.to));
                    let link = Link { kind: line.kind.clone(), to: target };
                    if row::links_of(change.tx, *source)?.contains(&link) {
                        continue;
                    }
                    match links::link(change, MemoryRef::Id(*source), &link.kind, MemoryRef::Id(target), &actor) {
                        Err(error @ (StoreError::NotFound(_) | StoreError::Conflict { .. })) => {
                            problems.push((*number, format!("links: {error}")));
                        }
                        other => drop(other?),
                    }
                }
                Ok(problems)
            })?;
            problems.iter().for_each(|(number, problem)| report.reject(*number, problem));
        }
        Ok(())
    }
}

fn read_batch(
    input: &mut dyn BufRead,
    at: &mut ImportProgress,
    report: &mut Imported,
) -> Result<Vec<(u64, Line)>, StoreError> {
    let mut batch = Vec::new();
    let mut bytes = Vec::new();
    while batch.len() < BATCH {
        let unread = |source: std::io::Error| StoreError::Line { line: at.lines + 1, problem: source.to_string() };
        let reading = read_line(input, &mut bytes).map_err(unread)?;
        at.lines += 1;
        let parsed = match reading {
            Reading::End => {
                at.lines -= 1;
                break;
            }
            Reading::Line(read) => {
                at.bytes += read;
                parse(&bytes)
            }
            Reading::TooLong(read) => {
                at.bytes += read;
                Err(too_long(read))
            }
        };
        match parsed {
            Ok(Some(line)) => batch.push((at.lines, line)),
            Ok(None) => {}
            Err(problem) => report.reject(at.lines, &problem),
        }
    }
    Ok(batch)
}

enum Outcome {
    Stored(MemoryUuid, u64),
    /// The memory exists. Contains its UUID if this import had stored it before it was interrupted.
    Skipped(Option<MemoryUuid>),
    /// A memory with this UUID has a different text.
    Differs,
    /// The memory with the line's UUID was permanently deleted.
    Purged,
    Vouched,
    /// The line names another author, so the import does not raise the memory's trust.
    StaysTheirs,
    Rejected(String),
}

impl Store {
    /// The draft of a new line, or the result of any other line.
    fn begun(&self, line: &Line, whose: ImportAs) -> Result<Result<Draft, Incoming>, StoreError> {
        let draft = match line.draft(whose) {
            Ok(draft) => draft,
            Err(error) => return Ok(Err(Incoming::Rejected(error.to_string()))),
        };
        match draft.id {
            Some(id) if row::is_there(&self.connection, id).map_err(|error| self.failed(error))? => {
                let (content, is_theirs) = (draft.content, line.is_theirs());
                Ok(Err(Incoming::Known { id, is_theirs, content }))
            }
            _ => Ok(Ok(draft)),
        }
    }

    fn incoming(
        &self,
        line: &Line,
        draft: Draft,
        probable: ProbableSecrets,
        now: Timestamp,
    ) -> Result<Incoming, StoreError> {
        let has_name = draft.id.is_some();
        let draft = match self.looked_through(draft, probable, now) {
            Ok(draft) => draft,
            Err(refused @ StoreError::Credential { .. }) => return Ok(Incoming::Rejected(refused.to_string())),
            Err(error) => return Err(error),
        };
        match compose::imported(&draft, line.stamps(), now, &O200k) {
            Ok(composed) => {
                let draft = draft.into_parts().0;
                Ok(Incoming::New(Box::new(New { draft, composed, has_name, is_theirs: line.is_theirs() })))
            }
            Err(error) => Ok(Incoming::Rejected(error.to_string())),
        }
    }
}

/// A line before it is written.
enum Incoming {
    /// It cannot be stored.
    Rejected(String),
    /// Its memory exists.
    Known {
        /// The memory.
        id: MemoryUuid,
        /// True if the line names another author.
        is_theirs: bool,
        /// The text of the line.
        content: String,
    },
    /// It will be stored.
    New(Box<New>),
}

/// A line that may be stored.
struct New {
    draft: Draft,
    composed: Composed,
    /// True if the line has a UUID or a key. Lines that have neither a UUID nor a key are recognised by their text.
    has_name: bool,
    is_theirs: bool,
}

impl Incoming {
    fn store(&self, change: &Change<'_>, run: &ImportRun, n: &mut Option<u32>) -> Result<Outcome, StoreError> {
        let New { draft, composed, has_name, is_theirs } = match self {
            Self::Rejected(problem) => return Ok(Outcome::Rejected(problem.clone())),
            Self::Known { id, is_theirs, content } => return known(change, *id, *is_theirs, content, run, n),
            Self::New(new) => new.as_ref(),
        };
        // It may have arrived meanwhile, or twice in this import.
        let there = match draft.id {
            Some(id) if *has_name => row::is_there(change.tx, id)?.then_some(id),
            _ => said_before(change, composed)?,
        };
        if let Some(id) = there {
            return known(change, id, *is_theirs, &draft.content, run, n);
        }
        let stored = insert(change, draft, composed)?;
        if stored.existed {
            return Ok(Outcome::Skipped(None));
        }
        note(change, entered(change, run, n)?, &stored.memory, Did::Stored)?;
        Ok(Outcome::Stored(stored.memory.id, stored.aside.len() as u64))
    }
}

/// Returns the number of the import. An import is added to the list when it first changes a memory.
fn entered(change: &Change<'_>, run: &ImportRun, n: &mut Option<u32>) -> Result<u32, StoreError> {
    let entered = n.map_or_else(|| run.entered(change), Ok)?;
    *n = Some(entered);
    Ok(entered)
}

/// The memory with the same text and scope as a line without a UUID. Turns of a conversation must also have the same
/// time.
fn said_before(change: &Change<'_>, composed: &Composed) -> Result<Option<MemoryUuid>, StoreError> {
    let memory = composed.memory();
    let sql = "SELECT id FROM memories WHERE signature = ?1 AND content = ?2 AND scope = ?3 AND purged = 0
                   AND file IS NULL AND conflict_of IS NULL AND shared_by IS NULL
                   AND (origin <> 'conversation' OR session IS ?4 AND created = ?5)
               ORDER BY deleted IS NOT NULL, short_id LIMIT 1";
    let wanted = params![
        composed.signature().cast_signed(),
        memory.content,
        memory.scope.as_str(),
        memory.session,
        memory.created
    ];
    Ok(change.tx.maybe(sql, wanted, |row| row.get(0))?)
}

/// Restores a memory that was deleted when its import was undone. If the user imports their own memories, an existing
/// foreign memory becomes their own. Otherwise the memory is not changed, and a different text is reported.
fn known(
    change: &Change<'_>,
    id: MemoryUuid,
    is_theirs: bool,
    content: &str,
    run: &ImportRun,
    n: &mut Option<u32>,
) -> Result<Outcome, StoreError> {
    let Some(known) = row::find_known(change.tx, MemoryRef::Id(id))? else { return Ok(Outcome::Purged) };
    let is_theirs = is_theirs || matches!(known.memory.origin, Origin::Shared(_)) || known.memory.edited_by.is_some();
    if known.memory.deleted.is_some() && known.memory.share.is_none() && was_undone(change.tx, id)? {
        let n = entered(change, run, n)?;
        let back = bring_back(change, n, &known.memory)?;
        if run.whose == ImportAs::Own && !is_theirs && back.trust == Trust::Foreign {
            let own = vouch(change, &change.known(MemoryRef::Id(id))?)?;
            note(change, n, &own, Did::Restored)?;
        }
        return Ok(Outcome::Stored(id, 0));
    }
    let is_ours = known.memory.share.is_none() && known.memory.deleted.is_none();
    if run.whose == ImportAs::Foreign || !is_ours || known.memory.trust != Trust::Foreign {
        // A text from which a secret was removed cannot be compared.
        let is_comparable = known.memory.deleted.is_none() && !known.memory.sensitive;
        let differs = is_comparable && known.memory.content != content;
        let of_this = was_stored_by(change.tx, run, id)?.then_some(id);
        return Ok(if differs { Outcome::Differs } else { Outcome::Skipped(of_this) });
    }
    if is_theirs {
        return Ok(Outcome::StaysTheirs);
    }
    let own = vouch(change, &known)?;
    note(change, entered(change, run, n)?, &own, Did::Vouched)?;
    Ok(Outcome::Vouched)
}

fn vouch(change: &Change<'_>, known: &Known) -> Result<Memory, StoreError> {
    let patch = Patch { owner_trust: Some(Trust::User), ..Patch::default() };
    Ok(rewrite(change, known, &patch, &ImportRun::actor(None))?.memory)
}

#[cfg(test)]
mod tests;
