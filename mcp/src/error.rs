//! Why a tool call is refused, and why serving ends.

use std::net::SocketAddr;

use tessera_engine::domain::DomainError;
use tessera_engine::store::StoreError;

use crate::known::ArgumentError;
use tessera_desk::sync::SyncError;
use tessera_desk::vault::SafeError;

/// A tool call that cannot be carried out. Shown to the model, so that it can mend the call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ToolError {
    /// An argument that the caller mends.
    #[error(transparent)]
    Argument(#[from] DomainError),
    /// Arguments that the tool cannot heed.
    #[error(transparent)]
    NotHeeded(#[from] ArgumentError),
    /// A memory is named as an older system calls it, and none came over under that name.
    #[error("{field}: {source}")]
    Older {
        /// The argument that names it.
        field: String,
        /// What the store says.
        source: StoreError,
    },
    /// The store refuses or fails.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The team server refuses or fails.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// The vault refuses or fails.
    #[error(transparent)]
    Vault(#[from] SafeError),
    /// A command of the memory tool was not done. Models were trained on its words, so nothing is put before them.
    #[error("{0}")]
    NotDone(String),
    /// A tool of a team, where there is none.
    #[error(
        "needs a team server, and none is in use; `tessera sync join URL` joins one, as do MEMORY_API_URL and MEMORY_API_KEY in the \
         environment; memory_count says how things stand"
    )]
    NoTeam,
}

/// Serving ended with a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// HTTP is served on loopback addresses alone.
    #[error("{0} is not a loopback address; use 127.0.0.1:PORT or [::1]:PORT")]
    NotLoopback(SocketAddr),
    /// The address cannot be listened on, or signals not be heard.
    #[error("{what}: {source}")]
    Io {
        /// What failed.
        what: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The client broke the protocol at the handshake.
    #[error("the handshake failed: {0}")]
    Handshake(String),
}
