//! Import of JSON lines, one memory a line: idempotent, and run again it goes on.

use std::io::BufRead;

use super::import_line::{ImportAs, Line, LineLink, Reading, parse, read_line, too_long};
use super::imports::{Did, ImportRun, bring_back, note, was_undone};
use super::remember::insert;
use super::update::rewrite;
use crate::compose::{self, Composed, Known};
use crate::domain::{DomainError, Draft, Memory, MemoryId, MemoryRef, Origin, Patch, Timestamp, Trust};
use crate::screen::dropped;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::memory as row;
use crate::text::O200k;

/// Lines of one transaction: a crash loses at most this many, and the next run takes them up again.
const BATCH: usize = 500;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Memories that are new.
    pub stored: u64,
    /// Memories that were there already.
    pub skipped: u64,
    /// Those of them that were foreign, and are the person's own now.
    pub vouched: u64,
    /// Credentials that were taken out of their texts.
    pub aside: u64,
    /// Lines that were refused: (line number, why).
    pub rejected: Vec<(u64, String)>,
}

impl Imported {
    /// Notes why a line was refused: what it held is not repeated where it is a credential.
    fn reject(&mut self, line: u64, problem: &str) {
        self.rejected.push((line, dropped(problem).into_owned()));
    }
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportProgress {
    /// Lines read.
    pub lines: u64,
    /// Bytes read.
    pub bytes: u64,
}

impl Store {
    /// Stores every line of `input` that is new here. Refused lines are reported and the rest goes on.
    /// How far they are believed is for the caller to say, never for a line.
    ///
    /// # Errors
    /// When the input cannot be read or the store not be written; run it again to go on.
    pub fn import(
        &mut self,
        input: &mut dyn BufRead,
        whose: ImportAs,
        progress: impl FnMut(ImportProgress),
    ) -> Result<Imported, StoreError> {
        self.import_from(&mut ImportRun::new("lines", "-", whose), input, progress)
    }

    /// The same with where the lines come from, for the list of imports.
    ///
    /// # Errors
    /// As [`Store::import`].
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
        later: &mut Vec<(u64, MemoryId, LineLink)>,
    ) -> Result<(), StoreError> {
        // All that takes time is done before the lock is taken, and not again for what is there already.
        let (now, whose) = (self.clock.now(), run.whose);
        let read = batch.iter().map(|(_, line)| self.incoming(line, whose, now)).collect::<Result<Vec<_>, _>>()?;
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
                    report.aside += aside;
                    later.extend(line.links.into_iter().map(|link| (number, id, link)));
                }
                Outcome::Skipped => report.skipped += 1,
                Outcome::Vouched => {
                    report.skipped += 1;
                    report.vouched += 1;
                }
                Outcome::Rejected(problem) => report.reject(number, &problem),
            }
        }
        Ok(())
    }

    /// Links are made last: a line may point at a later one.
    fn link_all(&mut self, later: &[(u64, MemoryId, LineLink)], report: &mut Imported) -> Result<(), StoreError> {
        for (number, source, link) in later {
            let target = link.to.parse().unwrap_or_else(|_| MemoryId::from_key(&link.to));
            let actor = Actor { origin: Origin::Import, ..Actor::default() };
            match self.link(MemoryRef::Id(*source), &link.kind, MemoryRef::Id(target), &actor) {
                Err(error @ (StoreError::NotFound(_) | StoreError::Conflict { .. })) => {
                    report.reject(*number, &format!("links: {error}"));
                }
                other => drop(other?),
            }
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
    Stored(MemoryId, u64),
    Skipped,
    Vouched,
    Rejected(String),
}

impl Store {
    fn incoming(&self, line: &Line, whose: ImportAs, now: Timestamp) -> Result<Incoming, StoreError> {
        let rejected = |error: DomainError| Ok(Incoming::Rejected(error.to_string()));
        let draft = match line.draft(whose) {
            Ok(draft) => draft,
            Err(error) => return rejected(error),
        };
        if let Some(id) = draft.id
            && row::is_there(&self.connection, id).map_err(|error| self.failed(error))?
        {
            return Ok(Incoming::Known(id));
        }
        let draft = match self.looked_through(draft, now) {
            Ok(draft) => draft,
            Err(refused @ StoreError::Credential { .. }) => return Ok(Incoming::Rejected(refused.to_string())),
            Err(error) => return Err(error),
        };
        match compose::imported(&draft, line.stamps(), now, &O200k) {
            Ok(composed) => Ok(Incoming::New(Box::new((draft.into_parts().0, composed)))),
            Err(error) => rejected(error),
        }
    }
}

/// A line before it is written.
enum Incoming {
    /// It cannot be stored.
    Rejected(String),
    /// Its memory is there, and stays so.
    Known(MemoryId),
    /// What is to be stored.
    New(Box<(Draft, Composed)>),
}

impl Incoming {
    fn store(&self, change: &Change<'_>, run: &ImportRun, n: &mut Option<u32>) -> Result<Outcome, StoreError> {
        let (draft, composed) = match self {
            Self::Rejected(problem) => return Ok(Outcome::Rejected(problem.clone())),
            Self::Known(id) => return known(change, *id, run, n),
            Self::New(new) => (&new.0, &new.1),
        };
        // It may have come meanwhile, or twice in this import.
        if let Some(id) = draft.id
            && row::is_there(change.tx, id)?
        {
            return known(change, id, run, n);
        }
        let stored = insert(change, draft, composed)?;
        if stored.existed {
            return Ok(Outcome::Skipped);
        }
        note(change, entered(change, run, n)?, &stored.memory, Did::Stored)?;
        Ok(Outcome::Stored(stored.memory.id, stored.aside.len() as u64))
    }
}

/// The number of an import that touches something.
fn entered(change: &Change<'_>, run: &ImportRun, n: &mut Option<u32>) -> Result<u32, StoreError> {
    let entered = n.map_or_else(|| run.entered(change), Ok)?;
    *n = Some(entered);
    Ok(entered)
}

/// What an undone import took comes back; what came from elsewhere becomes the person's own by their word.
fn known(change: &Change<'_>, id: MemoryId, run: &ImportRun, n: &mut Option<u32>) -> Result<Outcome, StoreError> {
    let Some(known) = row::find_known(change.tx, MemoryRef::Id(id))? else { return Ok(Outcome::Skipped) };
    if known.memory.deleted.is_some() && known.memory.share.is_none() && was_undone(change.tx, id)? {
        let n = entered(change, run, n)?;
        let back = bring_back(change, n, &known.memory)?;
        if run.whose == ImportAs::Own && back.trust == Trust::Foreign {
            let own = vouch(change, &change.known(MemoryRef::Id(id))?)?;
            note(change, n, &own, Did::Restored)?;
        }
        return Ok(Outcome::Stored(id, 0));
    }
    let is_ours = known.memory.share.is_none() && known.memory.deleted.is_none();
    if run.whose == ImportAs::Foreign || !is_ours || known.memory.trust != Trust::Foreign {
        return Ok(Outcome::Skipped);
    }
    let own = vouch(change, &known)?;
    note(change, entered(change, run, n)?, &own, Did::Vouched)?;
    Ok(Outcome::Vouched)
}

fn vouch(change: &Change<'_>, known: &Known) -> Result<Memory, StoreError> {
    let patch = Patch { vouched: Some(Trust::User), ..Patch::default() };
    Ok(rewrite(change, known, &patch, &ImportRun::actor(None))?.memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::open::in_memory::{InMemory, named};

    fn import(store: &mut InMemory, lines: &str, whose: ImportAs) -> Imported {
        store.import(&mut lines.as_bytes(), whose, |_| ()).unwrap()
    }

    #[test]
    fn lines_are_taken_once_their_links_last_and_what_is_refused_is_named() {
        let mut store = InMemory::new();
        let lines = r#"{"content":"newer","key":"b","links":[{"type":"supersedes","to":"a"}]}
{"content":"older","key":"a"}
{"content":5}

{"content":"odd","key":"c","links":[{"type":"see_also","to":"nobody"}]}
"#;
        let report = import(&mut store, lines, ImportAs::Foreign);
        assert_eq!((report.stored, report.skipped), (3, 0));
        let refused: Vec<u64> = report.rejected.iter().map(|(line, _)| *line).collect();
        assert_eq!(refused, [3, 5], "{:?}", report.rejected);
        assert_eq!(store.one::<u32>("SELECT superseded_by FROM memories WHERE content = 'older'"), 1);
        let again = import(&mut store, lines, ImportAs::Foreign);
        assert_eq!((again.stored, again.skipped), (0, 3));
    }

    #[test]
    fn a_line_does_not_speak_for_itself_and_the_owner_does() {
        let mut store = InMemory::new();
        let line = r#"{"content":"Indent with tabs","key":"a","origin":"user","trust":"user","vouched":"user"}"#;
        import(&mut store, line, ImportAs::Foreign);
        assert_eq!(store.one::<String>("SELECT trust FROM memories"), "foreign");
        let report = import(&mut store, line, ImportAs::Own);
        assert_eq!((report.skipped, report.vouched), (1, 1));
        assert_eq!(store.one::<String>("SELECT trust FROM memories"), "user");
    }

    #[test]
    fn an_export_comes_back_as_it_was() {
        let mut store = InMemory::new();
        let (kept, gone) = (store.said("The cache lives on birch"), store.said("deleted"));
        store.note_uses([(kept.handle, store.now())]);
        store.fold_accesses().unwrap();
        store.forget(&[named(&gone)], crate::store::change::erase::Erase::Soft, &Actor::default()).unwrap();
        let mut lines = Vec::new();
        assert_eq!(store.export(&mut lines).unwrap(), 1);
        let mut other = InMemory::new();
        let report = other.import(&mut lines.as_slice(), ImportAs::Own, |_| ()).unwrap();
        assert_eq!(report.stored, 1);
        let (was, is) = (store.now_of(&kept), other.get(MemoryRef::Id(kept.id)).unwrap().unwrap());
        assert_eq!((is.content, is.created, is.access_count), (was.content, was.created, 1));
        assert_eq!(is.last_accessed, was.last_accessed);
    }
}
