//! Switches that keep the names of environment variables of claude-memory-mcp and memory-mcp. Unlike Tessera's own
//! settings, these switches can be set only as environment variables. A switch is on if its value is 1, true or yes.

use super::Setting;

impl Setting {
    /// True if an older switch is on. As in these systems, any other value turns the switch off and is not an error.
    pub(crate) fn is_on(&self) -> bool {
        self.text().is_some_and(|text| matches!(text.trim().to_lowercase().as_str(), "1" | "true" | "yes"))
    }
}
