//! How a store is opened, and who changes it.

use std::sync::Arc;

use crate::domain::{Clock, Origin};
use crate::score::Weights;
use crate::store::file::home::Home;

/// How a store is opened.
#[derive(Clone)]
pub struct StoreConfig {
    /// The directory that holds everything. Made if missing, for the owner alone.
    pub home: Home,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Numbers of the ranking.
    pub weights: Weights,
    /// What the process will do with it.
    pub usage: Usage,
    /// True where the leg of meaning is on. Where it is off no vectors are made and none are used: memories are found by
    /// their words, as if there were no vectors. Those that are there stay, and the others wait until it is on again.
    pub meaning: bool,
}

/// What a process will do with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// Read once and exit. Works in a read-only directory.
    ReadOnce,
    /// Write, and read now and then.
    Write,
    /// Live long: the index is kept in memory between reads.
    Serve,
}

/// Who makes a change: kept in its provenance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actor {
    /// Who or what.
    pub origin: Origin,
    /// In which session.
    pub session: Option<String>,
    /// Through which client program.
    pub client: Option<String>,
    /// Why.
    pub reason: Option<String>,
}
