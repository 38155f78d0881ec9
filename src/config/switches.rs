//! Switches by the names that the older systems document. Ours are in `config.toml` too; these are variables alone, and on where
//! they say 1, true or yes.

use super::Setting;

setting!(
    DEBUG_MODE,
    ["DEBUG_MODE"],
    None,
    "an older name: 1, true or yes means TESSERA_LOG=debug where that is not set"
);
setting!(
    DEBUG_HOOKS,
    ["DEBUG_CLAUDE_MEMORY_HOOKS"],
    None,
    "an older name: 1, true or yes has hooks say on stderr what they were asked and what they decided; `tessera log` always knows"
);
setting!(
    NO_APPROVAL,
    ["DISABLE_CLAUDE_MEMORY_AUTO_APPROVE"],
    None,
    "an older name: 1, true or yes means TESSERA_HOOKS_AUTO_APPROVE=off"
);

impl Setting {
    /// True where an older switch is on. Whatever else it says is off, as it was there: no hook fails for it.
    pub(crate) fn is_on(&self) -> bool {
        self.text().is_some_and(|text| matches!(text.trim().to_lowercase().as_str(), "1" | "true" | "yes"))
    }
}
