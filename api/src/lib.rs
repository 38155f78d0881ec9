//! The team server: memories of many users on PostgreSQL, shared and in sync.
//!
//! - [`keys`]: API keys: made once, kept as hashes, looked up in constant time.
//! - `db`: SQL, in transactions that belong to one user.
//! - `recall`: the engine's pipeline over an index of each user in memory.
//! - `routes`: thin handlers; `contract`: what they take and give; errors as problem+json with stable codes.
//! - `layers`: limits, logs, metrics and request ids around all routes.

mod contract;
mod db;
mod error;
mod extract;
pub mod keys;
mod layers;
mod recall;
mod routes;
mod server;

pub use db::{Db, DbError, KeyInfo, NewKey, UserId};
pub use layers::{Limits, metrics_text};
pub use server::{App, Settings, Tls, TlsError, openapi, serve, serve_metrics};
