//! The foundation of the modules above: the open store, its index, and the transaction of a change.

pub(crate) mod config;
pub(crate) mod context;
pub(crate) mod embedding;
pub(crate) mod encoded;
mod index;
pub(crate) mod index_cache;
pub(crate) mod kept;
pub(crate) mod reanalysis;
pub(crate) mod secrets;
pub(crate) mod store;
pub(crate) mod transaction;
mod vectors;
