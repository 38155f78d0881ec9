//! What can go wrong with a plugin: when it is added, and when it is called.

use std::path::PathBuf;
use std::time::Duration;

/// Why one call gave nothing that can be used. What was to be done goes on without the plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file of it is not what it was when it was added, or is not there.
    #[error("{path} is not as it was when the plugin was added; look at it, and add it again")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// It stopped itself: a trap, a panic, an exit code.
    #[error("it stopped: {0}")]
    Stopped(String),
    /// It took too long.
    #[error("it was stopped after {} ms", .0.as_millis())]
    Late(Duration),
    /// It computed too much, whatever time that took.
    #[error("it was stopped after {0} steps")]
    Fuel(u64),
    /// It answered something that is no answer.
    #[error("its answer cannot be used: {0}")]
    Answer(String),
    /// It wanted what it was not granted.
    #[error("it may not {0}")]
    NotGranted(String),
    /// It cannot be started.
    #[error("it cannot be started: {0}")]
    Start(String),
}

/// Why a plugin cannot be added. The user mends it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The manifest cannot be used.
    #[error("{field}: {problem}")]
    Manifest {
        /// The field of the manifest.
        field: &'static str,
        /// What is wrong with it, and what mends it.
        problem: String,
    },
    /// The file is no plugin.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
}

impl PluginError {
    /// A problem with a field of the manifest.
    pub fn of(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Manifest { field, problem: problem.into() }
    }
}
