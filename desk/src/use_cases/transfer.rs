//! In from files, and out to them.

use std::collections::HashMap;
use std::io::{BufRead, Write};

use tessera_engine::Store;
use tessera_engine::domain::{Filters, MemoryRef, MemoryUuid, Origin, Patch, Scope, Tag, Trust};
use tessera_engine::screen::dropped;
use tessera_engine::store::{ImportProgress, ImportRun, Imported, ListRequest, StoreError};

use super::change::{Update, Which};
use crate::caller::{Caller, PluginRules};
pub use crate::claude_md::NoteFile;
use crate::claude_md::notes;
use crate::desk::{Desk, Effect, UseCase};

/// Stores every line of JSON lines that is new.
pub struct Import<'a> {
    /// The lines.
    pub input: &'a mut dyn BufRead,
    /// Where they come from, and whose they are.
    pub run: ImportRun,
    /// Told how far it is.
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

/// Stores the notes of a client's memory files; those that are there already are kept as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportNotes {
    /// The files, of one directory.
    pub files: Vec<NoteFile>,
    /// The project they belong to.
    pub scope: Scope,
    /// True if the user says that they wrote the notes, or had them written: also of those that are there already.
    pub is_mine: bool,
}

/// What became of notes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesImported {
    /// Notes stored.
    pub stored: usize,
    /// Notes that were there already.
    pub skipped: usize,
    /// Notes of those that are the user's own now.
    pub vouched: usize,
    /// Credentials that were taken out of their texts.
    pub aside: usize,
    /// Notes that were refused: how they begin, and why.
    pub rejected: Vec<String>,
}

impl UseCase for ImportNotes {
    type Outcome = NotesImported;
    const EFFECT: Effect = Effect::Adds;

    fn run(self, store: &mut Store, caller: &Caller) -> Result<NotesImported, StoreError> {
        let notes = notes(&self.files, &self.scope, (!self.is_mine).then_some(Trust::Foreign));
        let tags = notes.first().map_or_else(Vec::new, |note| note.tags.clone());
        let known = listed(store, &self.scope, &tags)?;
        // The file speaks, whoever had it read.
        let plugins = PluginRules { are_off: true, ..caller.plugins };
        let file = Caller { plugins, ..Caller::new(Origin::File) };
        let mut desk = Desk::new(store, &file);
        let mut done = NotesImported::default();
        for note in notes {
            if let Some((id, trust)) = known.get(&note.content) {
                done.skipped += 1;
                if self.is_mine && *trust == Trust::Foreign {
                    let patch = Patch { vouched: Some(Trust::User), ..Patch::default() };
                    let which = Which::Named(vec![MemoryRef::Id(*id)]);
                    desk.perform(Update { which, patch, reason: Some("import claude-md --mine".to_owned()) })?;
                    done.vouched += 1;
                }
                continue;
            }
            let head: String = dropped(&note.content).chars().take(40).collect();
            match desk.perform(note) {
                // A credential in it is known by its mark alone, once it was taken out.
                Ok(known) if known.existed => done.skipped += 1,
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

/// Texts of a scope and of tags that are there.
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

/// Writes all memories as JSON lines. Gives their number.
pub struct Export<'a> {
    /// Where to.
    pub out: &'a mut dyn Write,
}

impl UseCase for Export<'_> {
    type Outcome = u64;
    const EFFECT: Effect = Effect::Reads;

    fn run(self, store: &mut Store, _: &Caller) -> Result<u64, StoreError> {
        store.export(self.out)
    }
}
