//! What is noted beside the memories: provenance, uses, receipts, what was learned; and the chores after a write that
//! fold these logs, and cut the write-ahead log after a purge.

pub(crate) mod access_log;
pub(crate) mod chores;
pub(crate) mod deliveries;
pub(crate) mod history;
pub(crate) mod learning;
pub(crate) mod purges;
pub(crate) mod questions;
pub(crate) mod small_files;
pub(crate) mod spool;
pub(crate) mod traces;
