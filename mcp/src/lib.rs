//! Tessera's MCP server: recall and store for any MCP client, over stdio or loopback HTTP.
//!
//! One [`rmcp`] handler serves both versions of the protocol: `initialize` up to 2025-11-25, and stateless
//! `server/discover` from 2026-07-28. Tools are plain functions over a store. The tools run one at a time, and not on
//! the thread of the protocol. The engine ranks memories; the server does not. The server writes only protocol messages
//! to stdout.

mod args;
mod error;
mod http;
mod known;
mod lines;
mod memory_files;
mod prompts;
#[cfg(test)]
mod reference;
mod resources;
mod server;
mod stdio;
mod tools;
mod values;
mod wording;

pub use error::ServeError;
pub use http::{HttpKey, serve_http};
pub use memory_files::MemoryFiles;
pub use server::Server;
pub use stdio::serve_stdio;
