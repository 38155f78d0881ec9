//! Settings of secrets: the mode, the key, and the vault.

use std::path::PathBuf;
use std::sync::Arc;

use tessera_desk::vault::Safe;
use tessera_engine::store::{Keyring, SecretMode, SecretRules};
use zeroize::Zeroizing;

use super::{SECRET_KEY, SECRET_KEY_BEFORE, SECRETS_KEYRING, SECRETS_MODE, Setting, VAULT, home, switch, variable};
use crate::config_file::ConfigFile;
use crate::exit::SetupError;

/// The rules for credentials in texts, with the keys.
pub(super) fn secret_rules(file: &ConfigFile) -> Result<SecretRules, SetupError> {
    let mode = SECRETS_MODE.parsed(file, SecretMode::default(), |text| {
        let known = SecretMode::ALL.iter().find(|(name, _)| *name == text.to_lowercase());
        known.map(|(_, mode)| *mode).ok_or_else(|| "is unknown; use encrypt, drop, refuse or vault".to_owned())
    })?;
    let uses_keyring = SECRETS_KEYRING.parsed(file, true, |text| match text.to_lowercase().as_str() {
        "auto" => Ok(true),
        other => switch(other),
    })?;
    let key = |setting: &Setting| setting.text().map(Zeroizing::new);
    let given: Vec<_> = key(&SECRET_KEY).into_iter().chain(key(&SECRET_KEY_BEFORE)).collect();
    if SECRET_KEY.value().is_none() && !given.is_empty() {
        return Err(SECRET_KEY_BEFORE.wrong("is set without TESSERA_SECRET_KEY; set TESSERA_SECRET_KEY to the new key"));
    }
    Ok(SecretRules { mode, given, keyring: if uses_keyring { keyring() } else { None } })
}

/// The vault of this machine; `None` if secrets are not stored in one.
pub(crate) fn vault(home_flag: Option<PathBuf>) -> Result<Option<Safe>, SetupError> {
    let file = ConfigFile::read(&home(home_flag)?)?;
    let is_read = secret_rules(&file)?.mode == SecretMode::Vault;
    let text = |name: &str| variable(name)?.into_string().ok();
    if !is_read {
        return Ok(None);
    }
    match Safe::of(text) {
        Ok(Some(safe)) => Ok(Some(safe)),
        Ok(None) => Err(VAULT
            .wrong("is not set, but the setting secrets.mode is vault; set the address of the vault, or another mode")),
        Err(problem) => Err(SetupError(format!("the settings of the vault are not valid: {problem}"))),
    }
}

/// The system's keyring, if this program can use one.
#[cfg(any(feature = "keyring", target_os = "macos", windows))]
fn keyring() -> Option<Arc<dyn Keyring>> {
    let text = |name: &str| variable(name)?.into_string().ok();
    crate::keyring::of_session(text)
}

/// This program was built without support for keyrings.
#[cfg(not(any(feature = "keyring", target_os = "macos", windows)))]
fn keyring() -> Option<Arc<dyn Keyring>> {
    None
}
