//! The logs of a store: history, uses, deliveries, learning and the review queue.
//!
//! Also contains the maintenance after a write, which processes these logs and truncates the write-ahead log after a
//! permanent deletion.

pub(crate) mod access_log;
pub(crate) mod beside;
pub(crate) mod candidates;
pub(crate) mod chores;
pub(crate) mod deliveries;
pub(crate) mod history;
pub(crate) mod learning;
pub(crate) mod purges;
pub(crate) mod questions;
pub(crate) mod small_files;
pub(crate) mod spool;
pub(crate) mod traces;
