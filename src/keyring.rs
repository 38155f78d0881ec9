//! The system's keyring for the store. Connects the keyring of `tessera-seal` to the store.

use std::sync::Arc;

use tessera_engine::store::{Keyring, KeyringError};
use tessera_seal::{Keyring as SystemKeyring, KeyringError as SystemError, Keys};

/// The keyring of the user's login session, if the session has one. It is not contacted yet.
pub(crate) fn of_session(variable: impl Fn(&str) -> Option<String>) -> Option<Arc<dyn Keyring>> {
    SystemKeyring::of_session(variable).map(|keyring| -> Arc<dyn Keyring> { Arc::new(System(keyring)) })
}

struct System(SystemKeyring);

impl Keyring for System {
    fn keys(&self, account: &str) -> Result<Option<Keys>, KeyringError> {
        where_it_is(self.0.load(account)).map(Option::flatten)
    }

    fn put(&self, account: &str, keys: &Keys) -> Result<bool, KeyringError> {
        where_it_is(self.0.save(account, keys)).map(|kept| kept.is_some())
    }

    fn remove(&self, account: &str) -> Result<(), KeyringError> {
        where_it_is(self.0.remove(account)).map(drop)
    }
}

/// Returns `None` if there is no keyring. This is not an error: the encryption keys are then in a file.
fn where_it_is<T>(outcome: Result<T, SystemError>) -> Result<Option<T>, KeyringError> {
    match outcome {
        Ok(value) => Ok(Some(value)),
        Err(SystemError::Absent { .. }) => Ok(None),
        Err(error) => Err(KeyringError { problem: error.to_string() }),
    }
}
