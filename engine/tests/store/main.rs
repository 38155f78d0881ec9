//! The embedded store through its public door: lifetimes, older files, what is said again, salvage, import.
#![expect(clippy::unwrap_used, reason = "clippy takes only #[test] functions for tests; helpers are too")]

mod again;
mod attacked;
mod derived;
mod eleven;
mod expiry;
mod meaning;
mod model;
mod nine;
mod paging;
mod removed;
mod replaced;
mod residue;
mod salvage;
mod seven;
mod six;
mod stale;
mod support;
mod ten;
mod trust;
