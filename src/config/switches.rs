//! Switches by the names that the older systems document. Ours are in `config.toml` too; these are variables alone, and on where
//! they say 1, true or yes.

use super::Setting;

impl Setting {
    /// True where an older switch is on. Whatever else it says is off, as it was there: no hook fails for it.
    pub(crate) fn is_on(&self) -> bool {
        self.text().is_some_and(|text| matches!(text.trim().to_lowercase().as_str(), "1" | "true" | "yes"))
    }
}
