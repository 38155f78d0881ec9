//! The memory tool on real directories. A test whose name begins with `spec_` holds one line of the specification.
#![expect(clippy::unwrap_used, reason = "tests may")]
#![cfg_attr(unix, expect(clippy::indexing_slicing, reason = "tests may"))]

#[cfg(unix)]
mod attacks;
mod commands;
mod edits;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod paths;
mod room;
mod views;
#[cfg(unix)]
mod walks;
mod writers;
