//! The foundation of the other modules of the store: the open store, its index, and its transactions.

pub(crate) mod ahead;
pub(crate) mod allowed_texts;
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
