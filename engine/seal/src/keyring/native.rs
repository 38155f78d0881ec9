//! macOS and Windows: the keychain and the credential manager, through the stores of the crate `keyring`.

use keyring_core::api::CredentialStoreApi as _;
use keyring_core::{Entry, Error};
use zeroize::Zeroizing;

#[cfg(target_os = "macos")]
use apple_native_keyring_store::keychain::Store;
#[cfg(windows)]
use windows_native_keyring_store::Store;

use super::{KeyringError, SERVICE};

/// The user's keyring. The system has only one keyring per user, so it needs no address.
#[derive(Debug, Clone)]
pub(super) struct Place;

impl Place {
    #[expect(clippy::unnecessary_wraps, reason = "other systems may have no keyring")]
    pub(super) fn of_session(_: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Some(Self)
    }

    #[expect(clippy::unused_self, reason = "other systems need an address")]
    pub(super) fn read(&self, account: &str) -> Result<Option<Zeroizing<Vec<u8>>>, KeyringError> {
        match quietly(account, Entry::get_secret) {
            Ok(text) => Ok(Some(Zeroizing::new(text))),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(meant(error)),
        }
    }

    #[expect(clippy::unused_self, reason = "other systems need an address")]
    pub(super) fn write(&self, account: &str, text: &[u8]) -> Result<(), KeyringError> {
        quietly(account, |entry| entry.set_secret(text)).map_err(meant)
    }

    #[expect(clippy::unused_self, reason = "other systems need an address")]
    pub(super) fn erase(&self, account: &str) -> Result<(), KeyringError> {
        match quietly(account, Entry::delete_credential) {
            Ok(()) | Err(Error::NoEntry) => Ok(()),
            Err(error) => Err(meant(error)),
        }
    }
}

/// Uses an account's entry without asking the person. macOS would ask if the keychain is locked
/// or the program is unknown; Windows never asks.
fn quietly<T>(account: &str, work: impl FnOnce(&Entry) -> Result<T, Error>) -> Result<T, Error> {
    #[cfg(target_os = "macos")]
    let _silence = security_framework::os::macos::keychain::SecKeychain::disable_user_interaction()
        .map_err(|error| Error::PlatformFailure(Box::new(error)))?;
    work(&Store::new()?.build(SERVICE, account, None)?)
}

fn meant(error: Error) -> KeyringError {
    match error {
        Error::NoStorageAccess(why) => KeyringError::Absent { why: why.to_string() },
        #[cfg(target_os = "macos")]
        Error::PlatformFailure(why) if is_locked(why.as_ref()) => KeyringError::Locked,
        Error::PlatformFailure(why) => KeyringError::Refused { why: why.to_string() },
        Error::TooLong(_, most) => KeyringError::Refused { why: format!("it accepts at most {most} bytes") },
        _ => KeyringError::BadAnswer,
    }
}

/// True if only a person could continue: the keychain is locked, or does not know this program.
#[cfg(target_os = "macos")]
fn is_locked(why: &(dyn std::error::Error + 'static)) -> bool {
    // errSecAuthFailed, errSecInteractionNotAllowed and errSecInteractionRequired of Apple's `SecBase.h`.
    let code = why.downcast_ref::<security_framework::base::Error>().map(|error| error.code());
    matches!(code, Some(-25293 | -25308 | -25315))
}
