//! Tests of the real binary, and of the house rules.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, reason = "tests may")]

mod architecture;
mod cli;
mod concurrency;
mod crash;
mod faults;
mod mcp;
mod quality;
mod support;
