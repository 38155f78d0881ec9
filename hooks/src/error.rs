//! What can go wrong in a hook. None of it is the client's business.

use tessera_engine::store::StoreError;

use crate::wire::PayloadError;

/// A fault of ours: logged, never shown to the client.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// stdin cannot be read.
    #[error("stdin cannot be read: {0}")]
    Stdin(#[from] std::io::Error),
    /// stdin is not a hook's input.
    #[error(transparent)]
    Payload(#[from] PayloadError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A job for the worker cannot be written.
    #[error("the job queue {path} cannot be written: {source}")]
    Queue {
        /// Its directory.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The worker cannot be started.
    #[error("the worker cannot be started: {0}")]
    Worker(std::io::Error),
}
