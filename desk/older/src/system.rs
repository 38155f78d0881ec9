//! The systems whose data are read.

use std::fmt;

/// A system whose data can come over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum System {
    /// claude-memory-mcp by ViktorBarzin.
    V,
    /// memory-mcp by WhenMoon-afk.
    W,
    /// basic-memory: folders of Markdown.
    BasicMemory,
}

impl System {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 3] = [Self::V, Self::W, Self::BasicMemory];

    /// The word for it on the command line, in keys and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V => "v",
            Self::W => "w",
            Self::BasicMemory => "basic-memory",
        }
    }

    /// The name that its users know it by.
    pub const fn title(self) -> &'static str {
        match self {
            Self::V => "claude-memory-mcp (ViktorBarzin)",
            Self::W => "memory-mcp (WhenMoon-afk)",
            Self::BasicMemory => "basic-memory",
        }
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
