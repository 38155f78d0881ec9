//! The systems whose data are read.

use tessera_tables::names;

names! {
/// A system whose data can come over.
#[derive(PartialOrd, Ord)]
pub enum System {
    /// claude-memory-mcp by ViktorBarzin.
    V = "v",
    /// memory-mcp by WhenMoon-afk.
    W = "w",
    /// basic-memory: folders of Markdown.
    BasicMemory = "basic-memory",
}
}

impl System {
    /// The name that its users know it by.
    pub const fn title(self) -> &'static str {
        match self {
            Self::V => "claude-memory-mcp (ViktorBarzin)",
            Self::W => "memory-mcp (WhenMoon-afk)",
            Self::BasicMemory => "basic-memory",
        }
    }
}
