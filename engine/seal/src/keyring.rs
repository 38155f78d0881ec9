//! Keys in the system's keyring: GNOME's, KDE's or another that answers as `org.freedesktop.secrets`, the keychain of macOS,
//! or the credential manager of Windows. How each is spoken to is left to crates; here is what is kept, and for how long
//! one waits.
//!
//! It is locked with the session, and so guards against who gets the whole home as well. It does not guard against a
//! program that runs as the same user while the session is open. Nobody is ever asked for a password: what is locked stays
//! locked.

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

/// How long a keyring may take, whatever it does.
const PATIENCE: Duration = Duration::from_secs(2);

/// Under which name a keyring keeps what is ours.
const SERVICE: &str = "tessera";

/// Why a keyring gives or takes no key.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyringError {
    /// There is none: nobody listens on the bus, or nobody there keeps secrets.
    #[error("no keyring answers: {why}")]
    Absent {
        /// What was tried.
        why: String,
    },
    /// It is locked, and only a person can unlock it.
    #[error("the keyring is locked")]
    Locked,
    /// It takes too long.
    #[error("the keyring does not answer within {after:?}")]
    Silent {
        /// How long it was waited for.
        after: Duration,
    },
    /// It will not.
    #[error("the keyring refuses: {why}")]
    Refused {
        /// What the system calls it.
        why: String,
    },
    /// What answers is no keyring.
    #[error("what answers as the keyring answers as none does")]
    BadAnswer,
    /// It keeps something else where the key should be.
    #[error("the keyring holds something else where the key should be: {source}")]
    NoKey {
        /// Why.
        #[from]
        source: KeyError,
    },
}

/// The keyring of a session. Nothing is asked of it before it is used.
#[derive(Debug, Clone)]
pub struct Keyring {
    place: Place,
}

impl Keyring {
    /// The keyring of the session whose variables these are; `None` at once where the session has none: on Linux, one
    /// without a bus.
    pub fn of_session(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        Place::of_session(variable).map(|place| Self { place })
    }

    /// The keys of an account, `None` where the keyring has none.
    ///
    /// # Errors
    /// When no keyring answers, or one that is locked.
    pub fn load(&self, account: &str) -> Result<Option<Keys>, KeyringError> {
        let account = account.to_owned();
        let text = self.ask(move |place| place.read(&account))?;
        text.map(|text| keys(str::from_utf8(&text).map_err(|_| KeyError::NotHex)?)).transpose()
    }

    /// Keeps the keys of an account, in the place of those it had.
    ///
    /// # Errors
    /// When no keyring answers, or one that is locked.
    pub fn save(&self, account: &str, keys: &Keys) -> Result<(), KeyringError> {
        let (account, text) = (account.to_owned(), text(keys));
        self.ask(move |place| place.write(&account, text.as_bytes()))
    }

    /// Removes the keys of an account. None there is no error.
    ///
    /// # Errors
    /// When no keyring answers, or one that is locked.
    pub fn remove(&self, account: &str) -> Result<(), KeyringError> {
        let account = account.to_owned();
        self.ask(move |place| place.erase(&account))
    }

    /// Does something with the keyring, on a thread of its own: it may take forever, and may wait as an asynchronous task
    /// must not.
    fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Place) -> Result<T, KeyringError> + Send + 'static,
    ) -> Result<T, KeyringError> {
        let place = self.place.clone();
        let (done, wait) = sync_channel(1);
        let worker = thread::Builder::new().name("keyring".into()).spawn(move || {
            // Whoever does not wait any more wants no answer.
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

/// A line for each key, the one that seals first: as in a file.
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
