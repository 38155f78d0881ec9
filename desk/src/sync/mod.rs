//! The background client of a team server: it sends what the store's outbox holds and takes what changed there.
//!
//! - [`Remote`]: the server's routes, with every failure sorted by what to do about it.
//! - `round`: one exchange: snapshot if need be, push, pull. What to make of answers is decided by the engine.
//! - `worker`: rounds in the background, one process at a time, less often while the server does not answer.

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
    /// The store answers, and is synchronised in the background.
    #[default]
    Hybrid,
    /// Each call waits for the server before and after: nothing is stored that it did not take.
    Direct,
}

/// Why an exchange ended early. Nothing is lost: the next one goes on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// The server, or the way to it.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The server's changes arrived. Some local changes could not be sent.
    #[error("downloaded the server's changes, but could not upload all local changes: {0}")]
    NotSent(RemoteError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// This store belongs to no server.
    #[error("this store belongs to no server; run `tessera sync join`")]
    NotJoined,
    /// The environment names a server, and the store has memories that the user did not agree to sync.
    #[error(
        "{address} is set by an environment variable, and this store has {held} memories; run `tessera sync join {address}` once \
         to agree"
    )]
    NotAgreed {
        /// The server.
        address: String,
        /// The memories of the store, deleted ones included.
        held: u64,
    },
    /// Another process is at it.
    #[error("another process synchronises this store right now")]
    Busy,
    /// The process ends.
    #[error("the process ends")]
    Ended,
}

/// Exchanges with a server as `tessera mcp` does: a store that belongs to none joins it.
///
/// # Errors
/// As [`exchange`].
pub async fn exchange_or_join(store: Store, remote: Remote) -> Result<Exchanged, SyncError> {
    Worker::new(SharedStore::new(store), Arc::new(remote), SyncProblem::default()).round().await
}

/// Held while a process synchronises a store: one at a time does.
#[derive(Debug)]
pub(crate) struct Turn(#[expect(dead_code, reason = "the lock goes with the file")] File);

impl Turn {
    /// `None` while another process holds it.
    pub(crate) fn take(home: &Home) -> Option<Self> {
        try_lock(&home.sync_lock()).ok().flatten().map(Self)
    }
}
