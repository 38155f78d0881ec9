//! What becomes of credentials in texts that reach the server: where they are kept, with which key, and how they are had back.
//!
//! - [`Secrets`]: the rules, the keys and the vault of a server.
//! - [`Aside`]: keeps what is found in the texts of one request, in the database or in a vault.
//!
//! `aside` and the errors of the server use each other: what cannot be kept is a problem of the request.

mod aside;
mod rules;

pub(crate) use aside::{
    Aside, CannotKeepSecret, Looked, SetAside, VaultedError, field_of, reap, source_of, state_of, unhinted,
};
pub(crate) use rules::{Opened, Taken};
pub use rules::{SecretError, SecretMode, SecretRules, Secrets};
