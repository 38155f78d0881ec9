//! Secrets in texts that reach the server: where they are stored, with which key, and how they are returned.
//!
//! - [`Secrets`]: the mode, the keys and the vault of a server.
//! - [`Aside`]: stores the secrets of one request in the database or a vault.
//!
//! `aside` and the module of the server's errors import each other, because a secret that cannot be stored becomes an
//! error of the request.

mod aside;
mod rules;

pub(crate) use aside::{
    Aside, CannotKeepSecret, Looked, SetAside, VaultedError, field_of, reap, source_of, state_of, unhinted,
};
pub(crate) use rules::{Opened, Taken};
pub use rules::{SecretError, SecretMode, SecretRules, Secrets};
