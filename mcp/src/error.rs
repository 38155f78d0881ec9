//! The reasons why a tool call is rejected, and why the server stops.

use std::net::SocketAddr;

use tessera_engine::domain::DomainError;
use tessera_engine::store::StoreError;

use crate::known::ArgumentError;
use tessera_desk::sync::SyncError;
use tessera_desk::vault::SafeError;

/// A rejected tool call. The model sees the message, so that it can correct the call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ToolError {
    /// An invalid argument.
    #[error(transparent)]
    Argument(#[from] DomainError),
    /// Arguments that the tool cannot use.
    #[error(transparent)]
    NotHeeded(#[from] ArgumentError),
    /// No memory was imported under this ID from another system.
    #[error("{field}: {source}")]
    Older {
        /// The argument with the ID.
        field: String,
        /// The error of the store.
        source: StoreError,
    },
    /// The store rejects the call or fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The team server rejects the call or fails.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The vault rejects the call or fails.
    #[error(transparent)]
    Vault(#[from] SafeError),
    /// A failed memory tool command. Models are trained on these exact messages, so nothing is added to them.
    #[error("{0}")]
    NotDone(String),
    /// A team tool is called without a team server.
    #[error(
        "needs a team server; the user can join one with `tessera sync join URL`, or set MEMORY_API_URL and MEMORY_API_KEY"
    )]
    NoTeam,
}

/// The server stopped with an error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// HTTP is served only on loopback addresses.
    #[error("{0} is not a loopback address; use 127.0.0.1:PORT or [::1]:PORT")]
    NotLoopback(SocketAddr),
    /// The address is not available, or signals cannot be received.
    #[error("{what}: {source}")]
    Io {
        /// The operation that failed.
        what: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The client violated the protocol in the handshake.
    #[error("the handshake failed: {0}")]
    Handshake(String),
}
