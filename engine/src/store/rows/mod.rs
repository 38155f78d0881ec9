//! Rows: their columns, the memory, and the data for the index.

pub(crate) mod cells;
pub(crate) mod codec;
pub(crate) mod columns;
pub(crate) mod index;
pub(crate) mod memory;
pub(crate) mod tables;
