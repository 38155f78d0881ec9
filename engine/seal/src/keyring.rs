//! Keys in the system's keyring: GNOME's, KDE's or another with the interface `org.freedesktop.secrets`, the keychain
//! of macOS, or the credential manager of Windows. Crates implement the protocols; this module defines the stored form
//! and the time limit.
//!
//! A locked session also locks the keyring. A keyring also protects against a person who gets the whole home directory.
//! While the session is open, the keyring does not protect against programs that run as the same user. Tessera never
//! asks for the keyring's password. A locked keyring stays locked.

#[cfg(any(target_os = "macos", windows))]
#[path = "keyring/native.rs"]
mod system;
#[cfg(not(any(target_os = "macos", windows)))]
#[path = "keyring/session_bus.rs"]
mod system;

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use zeroize::Zeroizing;

use self::system::Place;
use crate::key::{Key, KeyError, Keys};

/// Time limit of a keyring.
const PATIENCE: Duration = Duration::from_secs(2);

/// The service name of Tessera's entries.
const SERVICE: &str = "tessera";

/// An error of the keyring.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// There is no keyring: the bus cannot be reached, or no program on the bus stores secrets.
    #[error("the keyring does not answer: {why}")]
    Absent {
        /// What was tried.
        why: String,
    },
    /// The keyring is locked, and only a person can unlock it.
    #[error("the keyring is locked")]
    Locked,
    /// It does not respond in time.
    #[error("the keyring did not answer within {after:?}")]
    Silent {
        /// The time limit.
        after: Duration,
    },
    /// It rejected the request.
    #[error("the keyring rejects the request: {why}")]
    Refused {
        /// The system's message.
        why: String,
    },
    /// The response does not have the form that a keyring's answer must have.
    #[error("the keyring's answer is not valid")]
    BadAnswer,
    /// The entry contains something other than a key.
    #[error("the keyring contains something else instead of the key: {source}")]
    NoKey {
        /// The reason.
        #[from]
        source: KeyError,
    },
}

/// The keyring of a session. Tessera contacts the keyring only when it needs a key.
#[derive(Debug, Clone)]
pub struct Keyring {
    place: Place,
}

impl Keyring {
    /// Returns the keyring of the session that these variables describe; `None` if there is none (on Linux: no bus).
    pub fn of_session(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Place::of_session(variable).map(|place| Self { place })
    }

    /// The keys of an account; `None` if the keyring has none.
    ///
    /// # Errors
    /// Returns an error if no keyring responds, or it is locked.
    pub fn load(&self, account: &str) -> Result<Option<Keys>, KeyringError> {
        let account = account.to_owned();
        let text = self.ask(move |place| place.read(&account))?;
        text.map(|text| keys(str::from_utf8(&text).map_err(|_| KeyError::NotHex)?)).transpose()
    }

    /// Stores the keys of an account, in place of previous ones.
    ///
    /// # Errors
    /// Returns an error if no keyring responds, or it is locked.
    pub fn save(&self, account: &str, keys: &Keys) -> Result<(), KeyringError> {
        let (account, text) = (account.to_owned(), text(keys));
        self.ask(move |place| place.write(&account, text.as_bytes()))
    }

    /// Deletes the keys of an account. Missing keys are not an error.
    ///
    /// # Errors
    /// Returns an error if no keyring responds, or it is locked.
    pub fn remove(&self, account: &str) -> Result<(), KeyringError> {
        let account = account.to_owned();
        self.ask(move |place| place.erase(&account))
    }

    /// Uses the keyring on a separate thread, because it may block for ever.
    fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Place) -> Result<T, KeyringError> + Send + 'static,
    ) -> Result<T, KeyringError> {
        let place = self.place.clone();
        let (done, wait) = sync_channel(1);
        let worker = thread::Builder::new().name("keyring".into()).spawn(move || {
            // The caller may no longer wait for the answer.
            let _ = done.send(work(&place));
        });
        worker.map_err(|error| KeyringError::Absent { why: error.to_string() })?;
        match wait.recv_timeout(PATIENCE) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => Err(KeyringError::Silent { after: PATIENCE }),
            Err(RecvTimeoutError::Disconnected) => Err(KeyringError::BadAnswer),
        }
    }
}

/// One line per key, the encryption key first, as in a file.
fn text(keys: &Keys) -> Zeroizing<String> {
    let lines: Vec<Zeroizing<String>> = std::iter::once(&keys.current).chain(&keys.before).map(Key::to_hex).collect();
    let mut text = Zeroizing::new(String::with_capacity(lines.iter().map(|line| line.len() + 1).sum()));
    for line in &lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn keys(text: &str) -> Result<Keys, KeyringError> {
    let mut keys = text.lines().map(Key::from_hex).collect::<Result<Vec<_>, _>>()?.into_iter();
    let current = keys.next().ok_or(KeyError::Empty)?;
    Ok(Keys { current, before: keys.collect() })
}

#[cfg(test)]
#[cfg(not(any(target_os = "macos", windows)))]
mod tests;
