//! Tests of the real binary, and of the house rules.

mod architecture;
mod cli;
mod concurrency;
mod crash;
mod faults;
mod mcp;
mod quality;
mod support;
