//! Opening a store: what stands there is identified before anything is written, and an older store is brought up to date.

pub(crate) mod connection;
pub(crate) mod migrate;

#[cfg(test)]
pub(crate) mod in_memory;
