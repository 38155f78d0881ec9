//! Events that plugins have not received yet. An event is durable before the caller gets the answer, and is deleted
//! after all plugins were called, so each receives it at least once. The event contains no text. A plugin receives the
//! memories as they are at the time of the call. At most [`MOST_WAITING`] events wait; further ones are dropped, and
//! the log reports it.

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

/// Maximum waiting events.
pub const MOST_WAITING: usize = 1_000;
/// For this time, a command may start calls to plugins. A running call may finish later.
const BRIEFLY: Duration = Duration::from_secs(2);
/// The maximum number of memories per event.
const MOST_TOLD: usize = 100;

/// The operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The operation.
    pub(super) event: Event,
    /// To which memories.
    pub(super) ids: Vec<String>,
    /// By whom.
    pub(super) origin: Origin,
    /// Through which client.
    pub(super) client: Option<String>,
    /// In which project.
    pub(super) project: Option<Scope>,
    /// True for automatic recall.
    pub(super) automatic: bool,
    /// True for a removal for good.
    pub(super) hard: bool,
    /// The question, if the settings allow Tessera to store questions.
    pub(super) query: Option<String>,
    /// When.
    pub(super) at: Timestamp,
    /// Plugins that already received the event, while others still wait.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) told: BTreeSet<String>,
}

impl Entry {
    /// The event for a request.
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

    /// The event of a stored memory.
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

/// Adds an event. If the event cannot be written, plugins do not receive it, but the action succeeds.
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
            let text =
                format!("plugins receive no new events: {MOST_WAITING} events are already waiting in plugins/spool");
            log::append(&home.plugin_log(), &home.plugin_log_old(), entry.at, &text);
        }
        let path = dir.join(format!("{}.json", MemoryUuid::generate(entry.at)));
        if entry.event == Event::Recall {
            // A recall event may be lost with the power, because prompts do not wait for the disk. The file gets its
            // final name when it is complete.
            let begun = path.with_extension(BEGUN);
            private_file().create_new(true).write(true).open(&begun)?.write_all(&bytes)?;
            return fs::rename(begun, path);
        }
        replace(&path, &bytes)
    });
    if let Err(error) = written {
        tracing::debug!(%error, "plugins do not receive this event");
    }
}

/// True if events wait.
pub fn is_waiting(home: &Home) -> bool {
    !waiting(home).is_empty()
}

/// The content of the spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpoolContent {
    /// How many wait.
    pub waiting: usize,
    /// Entries of the directory that are not events, such as links. Tessera does not touch them.
    pub strange: Vec<PathBuf>,
}

/// The content of a home directory's spool.
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

/// The suffix of an event that is being processed.
const TAKEN: &str = "taken";
/// The suffix of an event that is being written.
const BEGUN: &str = "begun";

/// Limits how long a user's command calls plugins.
pub fn briefly() -> impl FnMut() -> bool {
    let started = Instant::now();
    move || started.elapsed() < BRIEFLY
}

/// Sends events to plugins, oldest first. Before each call, `goes_on` decides whether to continue. Does nothing if
/// another process is at work, or plugins are off.
///
/// # Errors
/// Returns an error if the store cannot be read; the events wait.
pub fn work_off(store: &Store, rules: PluginRules, mut goes_on: impl FnMut() -> bool) -> Result<(), StoreError> {
    let home = store.home();
    if rules.are_off {
        return Ok(());
    }
    // Events that cannot be processed now, and are skipped.
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
        // Later events find the lock released.
        drop(turn);
    }
}

/// Renames the event, to make sure that it can be deleted later. Without this check, each command would send the event
/// again.
fn take(path: &Path) -> Option<PathBuf> {
    let taken = path.with_extension(TAKEN);
    fs::rename(path, &taken).ok().map(|()| taken)
}

/// Sends an event to plugins. False if some plugins still wait; the event's file records which.
fn tell_of(store: &Store, path: &Path, goes_on: &mut impl FnMut() -> bool) -> Result<bool, StoreError> {
    let Some(mut entry) = read_small(path).ok().and_then(|text| serde_json::from_str::<Entry>(&text).ok()) else {
        // It is not ours, or belongs to a newer program.
        return Ok(true);
    };
    let is_told = tell(store, &mut entry, goes_on)?;
    if !is_told
        && let Err(error) = serde_json::to_vec(&entry).map_err(io::Error::from).and_then(|it| replace(path, &it))
    {
        tracing::debug!(%error, "some plugins will receive some events twice");
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
