//! Who decides what is learned: a setting. The judges themselves are the worker's.

use std::str::FromStr;

use tessera_tables::names;

names! {
/// Who decides what is learned.
#[derive(Default)]
pub enum JudgeChoice {
    /// Nobody: nothing is learned.
    Off = "off",
    /// Fixed patterns: free, offline.
    #[default]
    Heuristic = "heuristic",
    /// A small model on this machine, then patterns.
    Ollama = "ollama",
    /// Claude Haiku through the installed client, then patterns.
    Claude = "claude",
    /// Claude, then Ollama, then patterns.
    Auto = "auto",
}
}

/// A choice that is none.
#[derive(Debug, thiserror::Error)]
#[error("is unknown; give off, heuristic, ollama, claude or auto")]
pub struct UnknownJudge;

impl FromStr for JudgeChoice {
    type Err = UnknownJudge;

    fn from_str(text: &str) -> Result<Self, UnknownJudge> {
        Self::named(&text.trim().to_lowercase()).ok_or(UnknownJudge)
    }
}
