//! The server with a real PostgreSQL, over HTTP: keys, isolation, and machines in sync.
#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "tests may")]

mod cluster;
mod isolation;
mod keys;
mod owner_local;
mod recall;
mod rest;
mod shares;
mod site;
mod sync;
