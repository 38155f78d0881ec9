//! Switches under the names that the older systems document. Tessera's own settings are also in `config.toml`; these
//! are only variables. They are on for 1, true or yes.

use super::Setting;

impl Setting {
    /// True if an older switch is on. Any other value means off, as in the older system, and is not an error.
    pub(crate) fn is_on(&self) -> bool {
        self.text().is_some_and(|text| matches!(text.trim().to_lowercase().as_str(), "1" | "true" | "yes"))
    }
}
