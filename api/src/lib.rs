//! The team server: memories of many users on PostgreSQL, shared and in sync.
//!
//! - [`keys`]: API keys: created once, stored as hashes, compared in constant time.
//! - `db`: SQL in transactions of one user.
//! - `recall`: ranks memories with one index in RAM per user.
//! - `embedding`: computes embeddings in the background.
//! - `routes`: HTTP handlers; `contract`: the types of requests and responses; `error`: problem+json with error codes
//!   that do not change.
//! - `secrets`: encrypts secrets and returns them.
//! - `layers`: logs, metrics and request IDs; `limits`: limits before the routes; `address`: the source of a request;
//!   `listener`, `connections`, `tls`: connections; `reply_body`: what an answer holds until it was read.
//!
//! The program `tessera-server` is in `program`: arguments, settings, messages and exit codes.
//!
//! `server` starts `routes`, `extract` and `embedding`, and these modules use its state, so they import each other.

mod address;
mod connections;
mod contract;
mod db;
mod embedding;
mod error;
mod extract;
pub mod keys;
mod layers;
mod limits;
mod listener;
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
