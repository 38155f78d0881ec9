//! Imports data of other memory systems: a preview, then batches, and an undo of the whole import.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use tessera_engine::Store;
use tessera_engine::domain::{MemoryUuid, Scope};
use tessera_engine::store::{Import, ImportAs, ImportRun, OlderRow, RowStatus, StoreError, Undone};
use tessera_importers::places::folders_in;
use tessera_importers::{OlderError, Skipped, Source, System, Told};

use crate::caller::Caller;
use crate::desk::{Effect, UseCase};
use crate::older_rows::{Coming, sample, without_values};

/// Rows per transaction. A crash loses at most one transaction. The next run stores the rows of this transaction.
const BATCH: usize = 500;
/// The number of sample memories in a preview.
const SAMPLES: usize = 3;

/// A preview of an import. Nothing is changed.
pub struct PreviewImport<'a> {
    /// The source.
    pub source: &'a Source,
    /// The trust.
    pub whose: ImportAs,
    /// The scope.
    pub scope: Scope,
}

/// The result of [`PreviewImport`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preview {
    /// Readable rows.
    pub rows: u64,
    /// The number of rows by status.
    pub statuses: BTreeMap<RowStatus, u64>,
    /// The beginnings of some new rows.
    pub samples: Vec<String>,
    /// Skipped rows with reasons.
    pub skipped: Vec<Skipped>,
    /// Rows that are imported with changes: the row, and what was changed in it.
    pub remarks: Vec<(String, String)>,
    /// Credentials removed from new texts.
    pub aside: u64,
    /// Imported rows. The store does not yet know all keys of these rows. Importing them only adds the keys.
    pub unknown: u64,
    /// Memories of an earlier import that no longer exist in the source; they are kept.
    pub gone_there: u64,
}

/// Imports a source.
pub struct ImportSource<'a> {
    /// The source.
    pub source: &'a Source,
    /// The trust.
    pub whose: ImportAs,
    /// The scope.
    pub scope: Scope,
    /// Receives the number of processed rows.
    pub progress: &'a mut dyn FnMut(u64),
}

/// The result of [`ImportSource`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TakenOver {
    /// The number of the import in the list; none if nothing changed.
    pub number: Option<u32>,
    /// The status of the rows.
    pub done: Preview,
}

/// The list of imports, latest first.
#[derive(Debug, Clone, Copy)]
pub struct Imports;

/// Whether data of a system was imported from a path.
#[derive(Debug, Clone)]
pub struct HasImported {
    /// The system.
    pub system: System,
    /// The path.
    pub path: PathBuf,
}

/// Undoes an import, or only shows what this would change.
#[derive(Debug, Clone, Copy)]
pub struct UndoImport {
    /// Its number.
    pub n: u32,
    /// If true, shows the effect and changes nothing.
    pub is_preview: bool,
}

impl Preview {
    /// True if importing would change nothing.
    pub fn is_idle(&self) -> bool {
        let left = [RowStatus::There, RowStatus::Kept, RowStatus::Forgotten];
        self.statuses.keys().all(|status| left.contains(status))
    }
}

impl UseCase for PreviewImport<'_> {
    type Outcome = Result<Preview, OlderError>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Self::Outcome, StoreError> {
        let mut seeing = Seeing::new(store, self.source, self.whose, self.scope);
        seeing.is_preview = true;
        let look = |seeing: &mut Seeing<'_>, batch: &[Coming]| {
            let rows: Vec<&OlderRow> = batch.iter().map(|row| &row.row).collect();
            let statuses = seeing.store.statuses(&rows, seeing.run.whose)?;
            for (row, status) in batch.iter().zip(statuses) {
                let draft = &row.row.draft;
                let status = status.map(|over| {
                    seeing.done.aside += over.aside;
                    seeing.done.unknown += u64::from(over.status == RowStatus::There && !over.is_known);
                    over.status
                });
                if matches!(status, Ok(RowStatus::New)) && seeing.done.samples.len() < SAMPLES {
                    seeing.done.samples.push(sample(draft));
                }
                seeing.note(row, status);
            }
            Ok(())
        };
        let read = seeing.each(look)?;
        Ok(read.map(|()| seeing.done))
    }
}

impl UseCase for ImportSource<'_> {
    type Outcome = Result<TakenOver, OlderError>;
    const EFFECT: Effect = Effect::Adds;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Self::Outcome, StoreError> {
        store.with_room(|store| self.taken(store))
    }
}

impl ImportSource<'_> {
    fn taken(self, store: &mut Store) -> Result<Result<TakenOver, OlderError>, StoreError> {
        let _turn = store.import_turn()?;
        let mut seeing = Seeing::new(store, self.source, self.whose, self.scope);
        seeing.store.resume(&mut seeing.run)?;
        let mut links = Vec::new();
        let mut fresh = HashSet::new();
        let take = |seeing: &mut Seeing<'_>, batch: &[Coming]| {
            let rows: Vec<&OlderRow> = batch.iter().map(|row| &row.row).collect();
            let taken = seeing.store.take_over(&mut seeing.run, &rows)?;
            for (row, taken) in batch.iter().zip(taken) {
                if let (Ok(over), Some(id)) = (&taken, row.row.ids.first()) {
                    let is_new = matches!(over.status, RowStatus::New | RowStatus::Changed | RowStatus::Back);
                    if is_new || seeing.run.is_resumed() && seeing.store.was_stored_by(&seeing.run, *id)? {
                        fresh.insert(*id);
                    }
                    seeing.done.aside += over.aside;
                    links.extend(row.links.iter().map(|(kind, to)| (*id, kind.clone(), *to)));
                }
                seeing.note(row, taken.map(|over| over.status));
            }
            (self.progress)(seeing.done.rows);
            Ok(())
        };
        if let Err(unread) = seeing.each(take)? {
            return Ok(Err(unread));
        }
        // A link is made only if one of its memories is new, so that removed links do not come back.
        links.retain(|(source, _, target)| fresh.contains(source) || fresh.contains(target));
        for batch in links.chunks(BATCH) {
            seeing.store.link_over(batch)?;
        }
        seeing.store.end_import(&seeing.run)?;
        Ok(Ok(TakenOver { number: seeing.run.number(), done: seeing.done }))
    }
}

impl UseCase for Imports {
    type Outcome = Vec<Import>;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Vec<Import>, StoreError> {
        store.imports()
    }
}

impl UseCase for HasImported {
    type Outcome = bool;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<bool, StoreError> {
        let came = |path: &Path| {
            let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            store.has_imported(self.system.as_str(), &path.display().to_string())
        };
        if came(&self.path)? {
            return Ok(true);
        }
        let folders = if self.system == System::BasicMemory { folders_in(&self.path) } else { Vec::new() };
        Ok(!folders.is_empty() && folders.iter().try_fold(true, |all, folder| came(folder).map(|came| all && came))?)
    }
}

impl UseCase for UndoImport {
    type Outcome = Undone;
    const EFFECT: Effect = Effect::Destroys;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Undone, StoreError> {
        if self.is_preview { store.undoing_of(self.n) } else { store.undo_import(self.n) }
    }
}

/// Reads a source to its end, in batches.
struct Seeing<'a> {
    store: &'a mut Store,
    source: &'a Source,
    scope: Scope,
    run: ImportRun,
    done: Preview,
    /// The keys of visited rows, with digests of their content.
    seen: HashMap<MemoryUuid, u64>,
    is_preview: bool,
}

impl<'a> Seeing<'a> {
    fn new(store: &'a mut Store, source: &'a Source, whose: ImportAs, scope: Scope) -> Self {
        let run = ImportRun::new(source.system().as_str(), &source.path().display().to_string(), whose);
        Self { store, source, scope, run, done: Preview::default(), seen: HashMap::new(), is_preview: false }
    }

    /// Reads all rows. An error of the store ends the import; an error of the source is returned for the report.
    fn each(
        &mut self,
        mut work: impl FnMut(&mut Self, &[Coming]) -> Result<(), StoreError>,
    ) -> Result<Result<(), OlderError>, StoreError> {
        let mut batch = Vec::new();
        let mut gone = Vec::new();
        let mut failed = None;
        let source = self.source;
        let read = source.each(&mut |told| {
            match told {
                Told::Row(draft) => {
                    let row = Coming::of(*draft, self.run.whose, &self.scope, self.store.now());
                    if self.is_again(&row) {
                        return ControlFlow::Continue(());
                    }
                    self.done.remarks.extend(row.remarks.iter().map(|remark| (row.name.clone(), remark.clone())));
                    batch.push(row);
                }
                Told::Skipped(skipped) => self.done.skipped.push(without_values(skipped)),
                Told::Gone(key) => gone.push(MemoryUuid::from_key(&key)),
            }
            if batch.len() < BATCH {
                return ControlFlow::Continue(());
            }
            match work(self, &std::mem::take(&mut batch)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        work(self, &batch)?;
        if let Err(unread) = read {
            return Ok(Err(unread));
        }
        for key in gone {
            self.seen.insert(key, 0);
            let status = if self.is_preview {
                self.store.deletion_of(key, self.run.whose)?
            } else {
                self.store.take_deletion(&mut self.run, key)?
            };
            if let Some(status @ (RowStatus::Deleted | RowStatus::Kept)) = status {
                *self.done.statuses.entry(status).or_default() += 1;
            }
        }
        if source.is_whole() {
            self.done.gone_there = self.store.gone_there(&self.run, |id| self.seen.contains_key(id))?.len() as u64;
        }
        Ok(Ok(()))
    }

    /// True if an earlier row had the same key as this row. The first one counts.
    fn is_again(&mut self, row: &Coming) -> bool {
        let said = row.row.said();
        let before = row.row.ids.iter().find_map(|id| self.seen.get(id)).copied();
        self.seen.extend(row.row.ids.iter().chain(&row.row.gone_as).map(|id| (*id, before.unwrap_or(said))));
        match before {
            Some(before) if before == said => {
                self.done.remarks.push((row.name.clone(), "occurs twice and is imported once".to_owned()));
            }
            Some(_) => {
                let problem =
                    "has the same ID as an earlier row, but differs from it; only the earlier row is imported"
                        .to_owned();
                self.done.skipped.push(without_values(Skipped { at: row.name.clone(), problem }));
            }
            None => {}
        }
        before.is_some()
    }

    fn note(&mut self, row: &Coming, status: Result<RowStatus, String>) {
        match status {
            Ok(status) => {
                self.done.rows += 1;
                *self.done.statuses.entry(status).or_default() += 1;
            }
            Err(problem) => self.done.skipped.push(without_values(Skipped { at: row.name.clone(), problem })),
        }
    }
}
