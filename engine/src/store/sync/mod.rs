//! The store's side of sync. [`crate::sync`] decides what is sent and how versions are merged.

pub(crate) mod anew;
pub(crate) mod arrival;
pub(crate) mod checkpoints;
mod embeddings;
mod equal;
pub(crate) mod exchange;
mod held_back;
pub(crate) mod hidden;
pub(crate) mod invitations;
pub(crate) mod secrets;
pub(crate) mod server;
