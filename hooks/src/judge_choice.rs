//! Who decides what is learned: a setting. The judges themselves are the worker's.

use std::fmt;
use std::str::FromStr;

/// Who decides what is learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JudgeChoice {
    /// Nobody: nothing is learned.
    Off,
    /// Fixed patterns: free, offline.
    #[default]
    Heuristic,
    /// A small model on this machine, then patterns.
    Ollama,
    /// Claude Haiku through the installed client, then patterns.
    Claude,
    /// Claude, then Ollama, then patterns.
    Auto,
}

/// A choice that is none.
#[derive(Debug, thiserror::Error)]
#[error("is unknown; give off, heuristic, ollama, claude or auto")]
pub struct UnknownJudge;

impl JudgeChoice {
    const ALL: [Self; 5] = [Self::Off, Self::Heuristic, Self::Ollama, Self::Claude, Self::Auto];

    /// The name in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Heuristic => "heuristic",
            Self::Ollama => "ollama",
            Self::Claude => "claude",
            Self::Auto => "auto",
        }
    }
}

impl fmt::Display for JudgeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for JudgeChoice {
    type Err = UnknownJudge;

    fn from_str(text: &str) -> Result<Self, UnknownJudge> {
        let folded = text.trim().to_lowercase();
        Self::ALL.into_iter().find(|choice| choice.as_str() == folded).ok_or(UnknownJudge)
    }
}
