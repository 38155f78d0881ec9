//! Tests of the real binary, and of the house rules.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, reason = "tests may")]

mod architecture;
mod chaos;
mod cli;
#[expect(dead_code, reason = "tests of the server load dumps as well")]
#[path = "../../api/tests/server/cluster.rs"]
mod cluster;
mod concurrency;
mod contract;
mod crash;
mod exits;
mod faults;
mod hooks;
mod http;
mod joining;
mod keeping;
mod learning;
mod mcp;
mod projects;
mod promises;
mod quality;
mod restore;
mod serve;
mod setup;
mod support;
mod team;
mod terminal;
mod wings;
