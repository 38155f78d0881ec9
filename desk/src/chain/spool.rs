//! What was done and plugins are still to be told. It is on disk before who asked is answered, and leaves when every plugin
//! was called: each is told at least once. No text of a memory is in it: memories are read when plugins are told of them.
//! At most [`MOST_WAITING`] wait: what is done while so many do is told to nobody, and the log says when that begins.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tessera_engine::Store;
use tessera_engine::domain::{Memory, MemoryRef, MemoryUuid, Origin, Scope, Timestamp};
use tessera_engine::screen::dropped;
use tessera_engine::store::{Home, StoreError, make_private_dir, private_file, replace, try_lock};
use tessera_plugins::{Event, When};

use super::installed::Installed;
use super::seen::Asked;
use super::{Done, Link};
use crate::caller::{Caller, PluginRules};
use crate::files::read_small;
use crate::log;

/// What waits, at most.
pub const MOST_WAITING: usize = 1_000;
/// How long a command goes on telling plugins; a call that it began may take its own time.
const BRIEFLY: Duration = Duration::from_secs(2);
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
    pub(super) automatic: bool,
    /// True for a removal for good.
    pub(super) hard: bool,
    /// The question, where the person wants questions kept.
    pub(super) query: Option<String>,
    /// When.
    pub(super) at: Timestamp,
    /// The plugins that were told of it, where some are still to be.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) told: BTreeSet<String>,
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
            automatic: asked.is_prompt(),
            hard: asked.is_hard(),
            query: query.map(|(query, _)| dropped(query).into_owned()),
            at,
            told: BTreeSet::new(),
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
            automatic: false,
            hard: false,
            query: None,
            at,
            told: BTreeSet::new(),
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
        let waiting = fs::read_dir(&dir)?.count();
        if waiting >= MOST_WAITING {
            return Ok(());
        }
        if waiting + 1 == MOST_WAITING {
            let text = format!("nobody is told of what is done from now on: {MOST_WAITING} wait in plugins/spool");
            log::append(&home.plugin_log(), &home.plugin_log_old(), entry.at, &text);
        }
        let path = dir.join(format!("{}.json", MemoryUuid::generate(entry.at)));
        if entry.event == Event::Recall {
            // That something was given may be lost with the power: a prompt waits for no disk.
            // Under another name until it is whole: whoever tells plugins reads what has this one.
            let begun = path.with_extension(BEGUN);
            private_file().create_new(true).write(true).open(&begun)?.write_all(&bytes)?;
            return fs::rename(begun, path);
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

/// What lies in the spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoolContent {
    /// How many wait.
    pub waiting: usize,
    /// What is no entry, and is left alone: a directory, a link.
    pub strange: Vec<PathBuf>,
}

/// What lies in the spool of a home.
pub fn lying(home: &Home) -> SpoolContent {
    let waiting = waiting(home);
    let all = fs::read_dir(home.plugin_spool()).into_iter().flatten().flatten();
    let mut strange: Vec<PathBuf> = all.map(|entry| entry.path()).filter(|path| !waiting.contains(path)).collect();
    strange.sort();
    SpoolContent { waiting: waiting.len(), strange }
}

fn waiting(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.plugin_spool()) else { return Vec::new() };
    let regular = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let mut files: Vec<PathBuf> = regular.map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json" || extension == TAKEN));
    files.sort();
    files
}

/// How the name of an entry ends that somebody took.
const TAKEN: &str = "taken";
/// How the name of an entry ends that is being written.
const BEGUN: &str = "begun";

/// Says for how long a command of a person's goes on: nobody waits for plugins much longer than a moment.
pub fn briefly() -> impl FnMut() -> bool {
    let started = Instant::now();
    move || started.elapsed() < BRIEFLY
}

/// Tells plugins of what was done, oldest first, until nothing is left or `goes_on`, which is asked before each call, says no.
/// Nothing where another process is at it, or plugins are not called: then it waits.
///
/// # Errors
/// When the store cannot be read: what was done waits.
pub fn work_off(store: &Store, rules: PluginRules, mut goes_on: impl FnMut() -> bool) -> Result<(), StoreError> {
    let home = store.home();
    if rules.are_off {
        return Ok(());
    }
    // Those that cannot be taken, and are not looked at twice.
    let mut stuck = BTreeSet::new();
    loop {
        let is_left = waiting(home).into_iter().any(|path| !stuck.contains(&path));
        if !is_left {
            return Ok(());
        }
        let Ok(Some(turn)) = try_lock(&home.plugin_spool_lock()) else { return Ok(()) };
        for path in waiting(home) {
            if stuck.contains(&path) {
                continue;
            }
            if !goes_on() {
                return Ok(());
            }
            let Some(taken) = take(&path) else {
                stuck.insert(path);
                continue;
            };
            if !tell_of(store, &taken, &mut goes_on)? {
                return Ok(());
            }
            if fs::remove_file(&taken).is_err() {
                stuck.insert(taken);
            }
        }
        // What comes after the last look finds the lock taken.
        drop(turn);
    }
}

/// Takes an entry, which shows that it can be removed: one that cannot would be told of by each command anew.
fn take(path: &Path) -> Option<PathBuf> {
    let taken = path.with_extension(TAKEN);
    fs::rename(path, &taken).ok().map(|()| taken)
}

/// Tells plugins of an entry. False where some are still to be told, which is noted in it.
fn tell_of(store: &Store, path: &Path, goes_on: &mut impl FnMut() -> bool) -> Result<bool, StoreError> {
    let Some(mut entry) = read_small(path).ok().and_then(|text| serde_json::from_str::<Entry>(&text).ok()) else {
        // It is none of ours, or of a newer program.
        return Ok(true);
    };
    let is_told = tell(store, &mut entry, goes_on)?;
    if !is_told
        && let Err(error) = serde_json::to_vec(&entry).map_err(io::Error::from).and_then(|it| replace(path, &it))
    {
        tracing::debug!(%error, "some plugins are told again");
    }
    Ok(is_told)
}

fn tell(store: &Store, entry: &mut Entry, goes_on: &mut impl FnMut() -> bool) -> Result<bool, StoreError> {
    let Some(installed) = Installed::read(store.home(), store.now()) else { return Ok(true) };
    let ids = entry.ids.iter().filter_map(|id| id.parse::<MemoryRef>().ok());
    let memories = ids.take(MOST_TOLD).map(|id| store.get(id)).collect::<Result<Vec<_>, _>>()?;
    let memories: Vec<Memory> = memories.into_iter().flatten().collect();
    let mut is_first = true;
    for link in installed.links(entry.event, When::After) {
        let name = link.plugin.manifest.name.to_string();
        if entry.told.contains(&name) {
            continue;
        }
        if !is_first && !goes_on() {
            return Ok(false);
        }
        is_first = false;
        link.after(&Done { store, entry, memories: &memories, near: &[] });
        entry.told.insert(name);
    }
    Ok(true)
}
