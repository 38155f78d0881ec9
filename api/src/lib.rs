//! The team server: memories of many users on PostgreSQL, shared and in sync.
//!
//! - [`keys`]: API keys: made once, kept as hashes, looked up in constant time.
//! - `db`: SQL, in transactions that belong to one user.
//! - `recall`: the engine's pipeline over an index of each user in memory.
//! - `meaning`: finding out in the background what memories mean.
//! - `routes`: thin handlers; `contract`: what they take and give; errors as problem+json with stable codes.
//! - `secrets`: what becomes of credentials in texts, and how they are had back.
//! - `layers`: logs, metrics and request ids around all routes; `limits` the gate before them; `address` where a
//!   request comes from; `listener` takes connections, `connections` says whose, `tls` with which certificate;
//!   `reply_body` what an answer holds until it was taken.
//!
//! The program `tessera-server` is in `program`: its arguments, settings, words and exit codes.
//!
//! `server` and `routes`, `extract` and `meaning` use each other: it starts them, and they get its state.

mod address;
mod connections;
mod contract;
mod db;
mod error;
mod extract;
pub mod keys;
mod layers;
mod limits;
mod listener;
mod meaning;
mod recall;
mod reply_body;
mod routes;
mod secrets;
mod server;
mod threads;
mod tls;

pub use address::{NoProxy, Proxy};
pub use db::{
    Audited, Cleaned, Counts, Db, DbError, ExportTo, KeyInfo, Migrated, NewKey, Patience, Quota, TakenOver, Used,
    UserId,
};
pub use layers::metrics_text;
pub use limits::Limits;
pub use secrets::{SecretError, SecretMode, SecretRules, Secrets};
pub use server::{App, SemanticSearch, Settings, openapi, serve, serve_metrics};
pub use tls::{Tls, TlsError};
