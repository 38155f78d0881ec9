//! The client against a real OpenBao where there is one, and against listeners that misbehave.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may")]

mod bao;
mod canned;
mod care;
mod faults;
mod kept;
mod kubernetes;
#[path = "../../../../fixtures/skip.rs"]
mod skip;
mod tokens;
