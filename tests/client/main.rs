//! End to end with the real Claude Code client, a scripted model, and nothing but loopback.
//!
//! Opt-in: `TESSERA_E2E_CLAUDE` names the client's program (and `TESSERA_E2E_CLAUDE_OLD` one of an older
//! release). `bash .ci/client` fetches both and runs this.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stderr, reason = "tests may")]

#[cfg(unix)]
mod actions;
mod approval;
#[cfg(unix)]
mod endpoint;
#[cfg(unix)]
mod handoff;
#[cfg(unix)]
mod installed;
#[cfg(unix)]
mod learning;
#[cfg(unix)]
mod recall;
#[cfg(unix)]
mod robustness;
#[cfg(unix)]
mod stage;
