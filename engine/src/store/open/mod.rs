//! Opens a store: its kind is checked before anything is written, and an older store is migrated.

pub(crate) mod connection;
pub(crate) mod migrate;

#[cfg(test)]
pub(crate) mod in_memory;
