//! The background client of a team server: sends the outbox, and fetches changes.
//!
//! - [`Remote`]: the server's routes, with errors classified by what to do.
//! - `round`: one exchange: snapshot if necessary, push, pull. The engine decides what each answer means for the store.
//! - `worker`: syncs in the background. Only one process syncs at a time. While the server is down, it tries less
//!   often.

mod remote;
mod round;
mod worker;

use std::fs::File;
use std::sync::Arc;

pub use remote::{Remote, RemoteError, SharedMemory, SharedTag, Shares};
pub use round::{Exchanged, exchange};
pub use worker::{EVERY, SyncProblem, Worker};

use tessera_engine::Store;
use tessera_engine::store::{Home, StoreError, try_lock};

use crate::shared::SharedStore;

/// How a server is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// The local store answers calls, and is synced in the background.
    #[default]
    Hybrid,
    /// Each call syncs before its work, and again after it if it may have changed something.
    Direct,
}

/// Why an exchange ended early. Nothing is lost if an exchange fails; the next exchange continues.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The server, or the way to it.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The server's changes arrived. Some local changes could not be sent.
    #[error(
        "downloaded the server's changes, but some local changes are not uploaded yet and stay on this machine: {0}"
    )]
    NotSent(RemoteError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This store has not joined a server.
    #[error("this store has not joined a server; run `tessera sync join URL`")]
    NotJoined,
    /// The environment names a server, but the user did not agree to sync the store's memories.
    #[error(
        "the server address {address} comes from an environment variable, and this store already has {held} memories; \
        run `tessera sync join {address}` once, which asks whether to send them"
    )]
    NotAgreed {
        /// The server.
        address: String,
        /// The number of memories in the store, deleted ones included.
        held: u64,
    },
    /// Another process is at it.
    #[error("another process is syncing this store; try again in a moment")]
    Busy,
    /// The process ends.
    #[error("the process is shutting down")]
    Ended,
}

/// Performs one exchange as `tessera mcp` does: an empty store first joins the server.
///
/// # Errors
/// As [`exchange`].
pub async fn exchange_or_join(store: Store, remote: Remote) -> Result<Exchanged, SyncError> {
    Worker::new(SharedStore::new(store), Arc::new(remote), SyncProblem::default()).round().await
}

/// The lock that lets only one process sync a store.
#[derive(Debug)]
pub(crate) struct Turn(#[expect(dead_code, reason = "the lock is released when the file is closed")] File);

impl Turn {
    /// `None` if another process holds it.
    pub(crate) fn take(home: &Home) -> Option<Self> {
        try_lock(&home.sync_lock()).ok().flatten().map(Self)
    }
}
