//! The chain: what looks at a memory before and after it is stored, recalled, changed or forgotten. Links of ours (the screen,
//! the hints of what is alike) and plugins of the user's go through the same door, [`Link`].
//!
//! - [`Seen`]: what a link is shown: texts with places where credentials stand, never their values.
//! - `plugin`: one link for each plugin that was added.
//! - [`adding`]: the links of ours, and what a plugin is and asks for, before it is added.
//! - [`installed`]: which were added, how often they failed, their log.
//! - [`spool`]: what was done and plugins are still to be told, so that nobody waits for them.
//!
//! Whatever a plugin does, what was asked for goes on: a failure is a line in a log and a count. What a plugin changes is
//! screened and composed as any text. Lines of an import pass no plugin before they are stored, nor after.

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

/// Something that looks on. Each is asked in turn, and what one changed the next one sees.
pub trait Link {
    /// Looks at what is asked for, and may change it.
    ///
    /// # Errors
    /// When it shall not be done.
    fn before(&self, seen: &mut Seen, asked: &mut Asked<'_>) -> Result<(), StoreError> {
        let _ = (seen, asked);
        Ok(())
    }

    /// Looks at what was done, and may have something to say of it.
    fn after(&self, done: &Done<'_>) -> Vec<Near> {
        let _ = done;
        Vec::new()
    }
}

/// What was done.
pub struct Done<'a> {
    /// The store, to look at and not to change.
    pub store: &'a Store,
    /// What was done, by whom.
    pub entry: &'a Entry,
    /// The memories, as they are now; none of those that were removed for good.
    pub memories: &'a [Memory],
    /// What is like the memory that was stored, where it was looked for.
    pub near: &'a [Near],
}

/// The plugins that one thing that is asked for passes.
pub(crate) struct Chain {
    installed: Installed,
}

/// What passed the links and is now to be done.
pub(crate) struct Begun {
    entry: Entry,
    ids: Vec<MemoryRef>,
    /// What plugins changed.
    pub(crate) altered: Vec<Alteration>,
}

impl Chain {
    /// The plugins of a store; `None` where there are none, which is found out by looking for one small file.
    pub(crate) fn of(store: &Store, caller: &Caller) -> Option<Self> {
        if caller.plugins.are_off {
            return None;
        }
        Installed::read(store.home(), store.now()).map(|installed| Self { installed })
    }

    /// Has every link look at what is asked for.
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

    /// Notes what was done for the plugins that want to know. It is noted when this returns, so that who asked is not told
    /// that it is done before. True where there is one.
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

/// Makes ready beside the caller's work what a prompt's plugins are waited for besides themselves: the detector that looks
/// through what they are shown takes a millisecond to make. Where there are none, one small file is looked for.
pub fn make_ready(home: &Home) {
    if !home.plugin_registry().exists() {
        return;
    }
    let home = home.clone();
    let make = move || {
        let known = Installed::read(&home, Timestamp::from_micros(0));
        let is_waited_for = |(plugin, _): (&Plugin, Counted)| plugin.manifest.fast;
        if known.is_some_and(|known| known.plugins().any(is_waited_for)) {
            // A name alone would be passed over.
            drop(findings("is the password anywhere?"));
        }
    };
    // Without a thread it is made when it is needed.
    let _ = thread::Builder::new().name("screen".into()).spawn(make);
}

/// What is there already and says nearly what a memory says, or something else of the same thing.
pub(crate) fn hints(store: &mut Store, memory: &Memory) -> Result<Vec<Near>, StoreError> {
    let (near, entry) = (store.near(memory)?, Entry::of_store(memory, store.now()));
    let done = Done { store, entry: &entry, memories: std::slice::from_ref(memory), near: &near };
    let links: [&dyn Link; 2] = [&adding::FindDuplicates, &adding::FindContradictions];
    Ok(links.into_iter().flat_map(|link| link.after(&done)).collect())
}
