//! The plugin chain: inspects memories before and after they are stored, recalled, changed or deleted. Plugins and
//! Tessera's own steps (the redaction, and the hints about similar memories) implement the trait [`Link`].
//!
//! - [`Seen`]: the data that a link of the chain sees. The request contains placeholders, never credentials.
//! - `plugin`: the step of the chain that calls an added plugin.
//! - [`adding`]: adds plugins; also Tessera's own steps of the chain.
//! - [`installed`]: added plugins, their failures, their log.
//! - [`spool`]: a queue of events for plugins, so that callers need not wait for plugins.
//!
//! A plugin that fails never stops an action: its failure is logged and counted. If a plugin changes a text, the new
//! text is redacted and its derived data is computed. Imported lines skip plugins.

pub mod adding;
pub mod installed;
mod plugin;
mod seen;
pub mod spool;

use std::thread;

use tessera_engine::Store;
use tessera_engine::domain::{Alteration, Memory, MemoryRef, Timestamp};
use tessera_engine::screen::findings;
use tessera_engine::store::{Home, Near, StoreError};
use tessera_plugins::{Event, Plugin, When};

pub use seen::{Asked, Seen};

use self::installed::{Counted, Installed};
use self::plugin::PluginLink;
use self::spool::Entry;
use crate::caller::Caller;

/// A link of the chain. The steps of the chain run one after another, and each sees the changes of the previous ones.
pub trait Link {
    /// Inspects a request, and may change it.
    ///
    /// # Errors
    /// Returns an error if the request must not be carried out.
    fn before(&self, seen: &mut Seen, asked: &mut Asked<'_>) -> Result<(), StoreError> {
        let _ = (seen, asked);
        Ok(())
    }

    /// Inspects a finished action, and may add a remark.
    fn after(&self, done: &Done<'_>) -> Vec<Near> {
        let _ = done;
        Vec::new()
    }
}

/// The operation.
pub struct Done<'a> {
    /// The store, read-only.
    pub store: &'a Store,
    /// What was done, by whom.
    pub entry: &'a Entry,
    /// The memories as they are now, without permanently deleted ones.
    pub memories: &'a [Memory],
    /// Memories similar to the stored one; empty if Tessera did not search for them.
    pub near: &'a [Near],
}

/// The plugins for one request.
pub(crate) struct Chain {
    installed: Installed,
}

/// A request that every step of the chain accepted.
pub(crate) struct Begun {
    entry: Entry,
    ids: Vec<MemoryRef>,
    /// The changes of plugins.
    pub(crate) altered: Vec<Alteration>,
}

impl Chain {
    /// Returns the plugins of a store. Returns `None` if the store has no plugins. To find this out, it only checks one
    /// small file.
    pub(crate) fn of(store: &Store, caller: &Caller) -> Option<Self> {
        if caller.plugins.are_off {
            return None;
        }
        Installed::read(store.home(), store.now()).map(|installed| Self { installed })
    }

    /// Runs every step of the chain before the action.
    pub(crate) fn before(&self, store: &Store, caller: &Caller, mut asked: Asked<'_>) -> Result<Begun, StoreError> {
        let event = asked.event();
        let entry = Entry::of(&asked, caller, store.now());
        let mut begun = Begun { entry, ids: asked.ids(), altered: Vec::new() };
        let plugins: Vec<PluginLink<'_>> = self.installed.links(event, When::Before).collect();
        if plugins.is_empty() {
            return Ok(begun);
        }
        let mut seen = Seen::of(store, caller, &asked)?;
        let links = std::iter::once::<&dyn Link>(&adding::Screen).chain(plugins.iter().map(|link| link as &dyn Link));
        for link in links {
            link.before(&mut seen, &mut asked)?;
        }
        begun.altered = seen.altered;
        Ok(begun)
    }

    /// Records the event for plugins before the caller gets the answer. True if a plugin wants it.
    pub(crate) fn after(&self, store: &Store, begun: Begun, touched: Vec<MemoryRef>) -> bool {
        let Begun { entry, ids, .. } = begun;
        let ids = if touched.is_empty() && entry.event != Event::Recall { ids } else { touched };
        let is_wanted = !ids.is_empty() && self.installed.links(entry.event, When::After).next().is_some();
        if is_wanted {
            spool::submit(store.home(), &Entry { ids: ids.iter().map(ToString::to_string).collect(), ..entry });
        }
        is_wanted
    }
}

/// Prepares the detector of credentials on another thread. Otherwise a prompt would wait a millisecond for it. Without
/// plugins, this only checks whether a small file exists.
pub fn make_ready(home: &Home) {
    if !home.plugin_registry().exists() {
        return;
    }
    let home = home.clone();
    let make = move || {
        let known = Installed::read(&home, Timestamp::from_micros(0));
        let is_waited_for = |(plugin, _): (&Plugin, Counted)| plugin.manifest.fast;
        if known.is_some_and(|known| known.plugins().any(is_waited_for)) {
            // A name alone would be optimised away.
            drop(findings("is the password anywhere?"));
        }
    };
    // Without a thread, it is built on demand.
    let _ = thread::Builder::new().name("screen".into()).spawn(make);
}

/// Existing memories that say nearly the same, or that say something different about the same subject.
pub(crate) fn hints(store: &mut Store, memory: &Memory) -> Result<Vec<Near>, StoreError> {
    let (near, entry) = (store.near(memory)?, Entry::of_store(memory, store.now()));
    let done = Done { store, entry: &entry, memories: std::slice::from_ref(memory), near: &near };
    let links: [&dyn Link; 2] = [&adding::FindDuplicates, &adding::FindContradictions];
    Ok(links.into_iter().flat_map(|link| link.after(&done)).collect())
}
