//! The embedded store through its public door: lifetimes, older files, what is said again, salvage, import.
#![expect(clippy::unwrap_used, reason = "clippy takes only #[test] functions for tests; helpers are too")]

mod again;
mod attacked;
mod counted;
mod credentials_in_clear;
mod derived;
mod embedding;
mod every_kind;
mod expiry;
mod hidden;
mod metadata;
mod model;
mod paging;
mod removed;
mod replaced;
mod residue;
mod salvage;
mod stale;
mod statements;
mod support;
mod trust;
