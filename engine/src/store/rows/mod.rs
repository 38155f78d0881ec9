//! A row and what it means: its columns, the memory in it, and what the index takes of it. Reads over a connection.

pub(crate) mod cells;
pub(crate) mod codec;
pub(crate) mod columns;
pub(crate) mod index;
pub(crate) mod memory;
pub(crate) mod tables;
