//! Import from files, and export to files.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use tessera_engine::Store;
use tessera_engine::domain::{Filters, MemoryRef, MemoryUuid, Origin, Patch, Scope, Tag, Trust};
use tessera_engine::screen::dropped;
use tessera_engine::store::{ImportProgress, ImportRun, Imported, ListRequest, StoreError, Stored};

use super::change::{Update, Which};
use crate::caller::{Caller, PluginRules};
pub use crate::claude_md::NoteFile;
use crate::claude_md::notes;
use crate::desk::{Desk, Effect, UseCase};

/// Stores every new line of a JSON lines file.
pub struct Import<'a> {
    /// The lines.
    pub input: &'a mut dyn BufRead,
    /// The source and the trust.
    pub run: ImportRun,
    /// Receives the progress.
    pub progress: &'a mut dyn FnMut(ImportProgress),
}

impl UseCase for Import<'_> {
    type Outcome = Imported;
    const EFFECT: Effect = Effect::Adds;

    fn run(self, store: &mut Store, _: &Caller) -> Result<Imported, StoreError> {
        let mut run = self.run;
        store.import_from(&mut run, self.input, self.progress)
    }
}

/// Stores the notes of a client's memory files. Existing ones stay unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportNotes {
    /// The files of one directory.
    pub files: Vec<NoteFile>,
    /// The project of the memories.
    pub scope: Scope,
    /// True if the user confirms that they wrote the notes, including notes that exist already.
    pub is_mine: bool,
}

/// The result of importing notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesImported {
    /// Stored notes.
    pub stored: usize,
    /// Existing notes.
    pub skipped: usize,
    /// The number of existing notes that the user confirmed as their own.
    pub owner_trust: usize,
    /// Credentials removed from the imported texts.
    pub aside: usize,
    /// Rejected notes: the beginning of each, and the reason.
    pub rejected: Vec<String>,
}

impl UseCase for ImportNotes {
    type Outcome = NotesImported;
    const EFFECT: Effect = Effect::Adds;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<NotesImported, StoreError> {
        let notes = notes(&self.files, &self.scope, (!self.is_mine).then_some(Trust::Foreign));
        let tags = notes.first().map_or_else(Vec::new, |note| note.tags.clone());
        let known = listed(store, &self.scope, &tags)?;
        // The author is the file, not the person who imports it.
        let plugins = PluginRules { are_off: true, ..caller.plugins };
        let file = Caller { plugins, ..Caller::new(Origin::File) };
        let mut desk = Desk::new(store, &file);
        let mut done = NotesImported::default();
        for note in notes {
            if let Some((id, trust)) = known.get(&note.content) {
                self.known(&mut desk, *id, *trust, &mut done)?;
                continue;
            }
            let head: String = dropped(&note.content).chars().take(40).collect();
            match desk.perform(note) {
                // A note with a credential is recognised only by its keyed hash.
                Ok(Stored { existed: true, memory, .. }) => {
                    self.known(&mut desk, memory.id, memory.trust, &mut done)?;
                }
                Ok(stored) => {
                    done.stored += 1;
                    done.aside += stored.aside.len();
                }
                Err(error @ (StoreError::Domain(_) | StoreError::Credential { .. })) => {
                    done.rejected.push(format!("{head}: {error}"));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

impl ImportNotes {
    /// Counts an existing note. If the user confirms that they wrote it, it becomes trusted.
    fn known(
        &self,
        desk: &mut Desk<'_>,
        id: MemoryUuid,
        trust: Trust,
        done: &mut NotesImported,
    ) -> Result<(), StoreError> {
        done.skipped += 1;
        if self.is_mine && trust == Trust::Foreign {
            let patch = Patch { owner_trust: Some(Trust::User), ..Patch::default() };
            let which = Which::Named(vec![MemoryRef::Id(id)]);
            desk.perform(Update { which, patch, reason: Some("import claude-md --mine".to_owned()) })?;
            done.owner_trust += 1;
        }
        Ok(())
    }
}

/// The existing texts in a scope that have these tags.
fn listed(store: &Store, scope: &Scope, tags: &[Tag]) -> Result<HashMap<String, (MemoryUuid, Trust)>, StoreError> {
    let mut known = HashMap::new();
    let filters = Filters { scopes: vec![scope.clone()], tags: tags.to_vec(), ..Filters::default() };
    let mut request = ListRequest { filters, limit: 200, ..ListRequest::default() };
    loop {
        let page = store.list(&request)?;
        known.extend(page.memories.into_iter().map(|memory| {
            let of_memory = (memory.id, memory.earned_trust());
            (memory.content, of_memory)
        }));
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(known),
        }
    }
}

/// Writes all memories as JSON lines. Returns their number.
pub struct Export<'a> {
    /// The output.
    pub out: &'a mut dyn Write,
}

impl UseCase for Export<'_> {
    type Outcome = u64;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<u64, StoreError> {
        store.export(self.out)
    }
}
