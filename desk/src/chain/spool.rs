//! What was done and plugins are still to be told. It is on disk before who asked is answered, and leaves when every plugin
//! was called: each is told at least once. No text of a memory is in it: memories are read when plugins are told of them.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tessera_engine::Store;
use tessera_engine::domain::{Memory, MemoryId, MemoryRef, Origin, Scope, Timestamp};
use tessera_engine::screen::dropped;
use tessera_engine::store::{Home, StoreError, make_private_dir, private_file, replace, try_lock};
use tessera_plugins::{Event, When};

use super::installed::Installed;
use super::seen::Asked;
use super::{Done, Link};
use crate::caller::Caller;

/// Memories of one that plugins are told of, at most.
const MOST_TOLD: usize = 100;

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What.
    pub(super) event: Event,
    /// To which memories.
    pub(super) ids: Vec<String>,
    /// By whom.
    pub(super) origin: Origin,
    /// Through which client.
    pub(super) client: Option<String>,
    /// In which project.
    pub(super) project: Option<Scope>,
    /// True where memories were given that nobody asked for.
    pub(super) unasked: bool,
    /// True for a removal for good.
    pub(super) hard: bool,
    /// The question, where the person wants questions kept.
    pub(super) query: Option<String>,
    /// When.
    pub(super) at: Timestamp,
}

impl Entry {
    /// What is asked for, as if it were done.
    pub(super) fn of(asked: &Asked<'_>, caller: &Caller, at: Timestamp) -> Self {
        let query = asked.question().filter(|_| caller.keeps_questions && !asked.is_prompt());
        Self {
            event: asked.event(),
            ids: Vec::new(),
            origin: caller.origin.clone(),
            client: caller.client.as_ref().map(|client| dropped(client).into_owned()),
            project: caller.scope(),
            unasked: asked.is_prompt(),
            hard: asked.is_hard(),
            query: query.map(|(query, _)| dropped(query).into_owned()),
            at,
        }
    }

    /// That a memory was stored.
    pub(super) fn of_store(memory: &Memory, at: Timestamp) -> Self {
        Self {
            event: Event::Store,
            ids: vec![memory.id.to_string()],
            origin: memory.origin.clone(),
            client: None,
            project: None,
            unasked: false,
            hard: false,
            query: None,
            at,
        }
    }
}

/// Adds what was done. Where it cannot be written nobody is told, which harms nothing that was asked for.
pub(super) fn submit(home: &Home, entry: &Entry) {
    let written = serde_json::to_vec(entry).map_err(io::Error::from).and_then(|bytes| {
        let dir = home.plugin_spool();
        if !dir.is_dir() {
            make_private_dir(&dir)?;
        }
        let path = dir.join(format!("{}.json", MemoryId::generate(entry.at)));
        if entry.event == Event::Recall {
            // That something was given may be lost with the power: a prompt waits for no disk.
            return private_file().create_new(true).write(true).open(path)?.write_all(&bytes);
        }
        replace(&path, &bytes)
    });
    if let Err(error) = written {
        tracing::debug!(%error, "plugins are not told of what was done");
    }
}

/// True where plugins are to be told of something.
pub fn is_waiting(home: &Home) -> bool {
    !waiting(home).is_empty()
}

fn waiting(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.plugin_spool()) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files
}

/// Tells plugins of what was done, oldest first, until nothing is left or `goes_on` says no. Nothing where another process is
/// at it.
///
/// # Errors
/// When the store cannot be read: what was done waits.
pub fn work_off(store: &Store, mut goes_on: impl FnMut() -> bool) -> Result<(), StoreError> {
    let home = store.home();
    if !is_waiting(home) {
        return Ok(());
    }
    loop {
        let Ok(Some(turn)) = try_lock(&home.plugin_spool_lock()) else { return Ok(()) };
        for path in waiting(home) {
            if !goes_on() {
                return Ok(());
            }
            let told = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Entry>(&bytes).ok());
            if let Some(entry) = told {
                tell(store, &entry)?;
            }
            // One that cannot be removed is told again, and not now.
            if fs::remove_file(path).is_err() {
                return Ok(());
            }
        }
        drop(turn);
        // What came after the last look found the lock taken.
        if !is_waiting(home) {
            return Ok(());
        }
    }
}

fn tell(store: &Store, entry: &Entry) -> Result<(), StoreError> {
    let Some(installed) = Installed::read(store.home(), store.now()) else { return Ok(()) };
    let links: Vec<_> = installed.links(entry.event, When::After).collect();
    let ids = entry.ids.iter().filter_map(|id| id.parse::<MemoryRef>().ok());
    let memories = ids.take(MOST_TOLD).map(|id| store.get(id)).collect::<Result<Vec<_>, _>>()?;
    let memories: Vec<Memory> = memories.into_iter().flatten().collect();
    let done = Done { store, entry, memories: &memories, near: &[] };
    for link in links {
        link.after(&done);
    }
    Ok(())
}
