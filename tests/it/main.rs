//! Tests of the real binary, and of the house rules.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, reason = "tests may")]

mod architecture;
mod chaos;
mod cli;
#[path = "../../api/tests/server/cluster.rs"]
mod cluster;
mod concurrency;
mod contract;
mod crash;
mod faults;
mod hooks;
mod keeping;
mod learning;
mod mcp;
mod quality;
mod serve;
mod setup;
mod support;
mod team;
