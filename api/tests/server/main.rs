//! The server with a real PostgreSQL, over HTTP: keys, isolation, and machines in sync.
#![expect(clippy::unwrap_used, clippy::print_stderr, clippy::indexing_slicing, reason = "tests may")]

mod audit;
#[expect(dead_code, reason = "tests of the vault's client need more of it")]
#[path = "../../../engine/vault/tests/vault/bao.rs"]
mod bao;
mod caches;
#[expect(dead_code, reason = "tests of the program crash it as well")]
mod cluster;
mod composed;
mod embedding;
mod faults;
mod grows;
mod isolation;
mod keys;
mod leaving;
mod limits;
mod links;
mod lists;
mod load;
mod metadata;
mod older;
mod owner_local;
mod probable;
mod raw;
mod recall;
mod related;
mod rest;
mod retained;
mod rights;
mod scale;
mod secrets;
mod shares;
mod site;
#[path = "../../../fixtures/skip.rs"]
mod skip;
mod slow;
mod spread;
mod stale;
mod statements;
mod sync;
mod taken_over;
mod vault;
