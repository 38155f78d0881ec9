//! Errors of plugins, when they are added and when they are called.

use std::path::PathBuf;
use std::time::Duration;

/// Why a call gave no usable answer. The action continues without the plugin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file changed since it was added, or is missing.
    #[error("{path} has changed since the plugin was added; check it, and add the plugin again")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The plugin stopped with a trap, a panic or an exit code.
    #[error("the plugin stopped: {0}")]
    Stopped(String),
    /// It took too long.
    #[error("the plugin exceeded {} ms", .0.as_millis())]
    Late(Duration),
    /// It exceeded the maximum number of steps.
    #[error("the plugin exceeded {0} steps")]
    Fuel(u64),
    /// Its answer is invalid.
    #[error("the plugin's answer is invalid: {0}")]
    Answer(String),
    /// The plugin requested something that the user did not grant.
    #[error("the plugin may not {0}")]
    NotGranted(String),
    /// It cannot be started.
    #[error("the plugin cannot be started: {0}")]
    Start(String),
}

/// Why a plugin cannot be added. The user can fix it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// The manifest cannot be used.
    #[error("{field}: {problem}")]
    Manifest {
        /// The field of the manifest.
        field: &'static str,
        /// The problem and the fix.
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
