//! Keys in the system's keyring: what answers as `org.freedesktop.secrets` on the session's bus, which GNOME, KDE and others do.
//!
//! It is locked with the session, and so guards against who gets the whole home as well. It does not guard against a
//! program that runs as the same user while the session is open. Nobody is ever asked for a password: what is locked stays
//! locked. macOS and Windows have keyrings of another kind, of which this knows nothing: there none answers.

mod bus;
mod wire;

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use self::bus::{Bus, places};
use self::wire::{Call, Path, path, truth_variant};
use crate::key::{Key, KeyError, Keys};

/// How long a keyring may take, whatever it does.
const PATIENCE: Duration = Duration::from_secs(2);

const SERVICE: &str = "org.freedesktop.secrets";
const ROOT: &str = "/org/freedesktop/secrets";
const SERVICE_INTERFACE: &str = "org.freedesktop.Secret.Service";
const COLLECTION_INTERFACE: &str = "org.freedesktop.Secret.Collection";
const ITEM_INTERFACE: &str = "org.freedesktop.Secret.Item";

/// What a path is that leads nowhere: no collection, and no question to a person.
const NOWHERE: &str = "/";

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
    #[error("the keyring is locked; unlock it, for example by logging in to the desktop")]
    Locked,
    /// It takes too long.
    #[error("the keyring does not answer within {after:?}")]
    Silent {
        /// How long it was waited for.
        after: Duration,
    },
    /// It will not.
    #[error("the keyring refuses: {name}")]
    Refused {
        /// The bus's name of the error.
        name: String,
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
    address: String,
}

impl Keyring {
    /// The keyring of the session whose variables these are; `None` at once where the session has no bus.
    pub fn of_session(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let address = variable("DBUS_SESSION_BUS_ADDRESS").filter(|address| !address.is_empty()).or_else(|| {
            let path = std::path::Path::new(&variable("XDG_RUNTIME_DIR")?).join("bus");
            Some(format!("unix:path={}", path.to_str().filter(|_| path.exists())?))
        })?;
        Some(Self { address }).filter(|keyring| !places(&keyring.address).is_empty())
    }

    /// The keys of an account, `None` where the keyring has none.
    ///
    /// # Errors
    /// When no keyring answers, or one that is locked.
    pub fn load(&self, account: &str) -> Result<Option<Keys>, KeyringError> {
        let account = account.to_owned();
        self.ask(move |bus| {
            let session = session(bus)?;
            let Some(item) = item(bus, &account)? else { return Ok(None) };
            let call = Call::of(SERVICE, &item, ITEM_INTERFACE, "GetSecret").path(&session);
            let text = Zeroizing::new(bus.ask(call, |answer| {
                answer.align(8)?;
                let (_session, _parameters) = (answer.path()?, answer.bytes()?);
                answer.bytes().map(<[u8]>::to_vec)
            })?);
            keys(str::from_utf8(&text).map_err(|_| KeyError::NotHex)?).map(Some)
        })
    }

    /// Keeps the keys of an account, in the place of those it had.
    ///
    /// # Errors
    /// When no keyring answers, or one that is locked.
    pub fn save(&self, account: &str, keys: &Keys) -> Result<(), KeyringError> {
        let (account, text) = (account.to_owned(), text(keys));
        self.ask(move |bus| {
            let session = session(bus)?;
            let collection = open_collection(bus)?;
            let call = Call::of(SERVICE, &collection, COLLECTION_INTERFACE, "CreateItem")
                .described_as("Tessera's key for secrets", &attributes(&account))
                .secret(&session, text.as_bytes())
                .truth(true);
            let (_item, question) = bus.ask(call, |answer| Some((answer.path()?, answer.path()?)))?;
            if question.as_str() == NOWHERE { Ok(()) } else { Err(KeyringError::Locked) }
        })
    }

    /// Removes the keys of an account. None there is no error.
    ///
    /// # Errors
    /// When no keyring answers, or one that is locked.
    pub fn remove(&self, account: &str) -> Result<(), KeyringError> {
        let account = account.to_owned();
        self.ask(move |bus| {
            while let Some(item) = item(bus, &account)? {
                let call = Call::of(SERVICE, &item, ITEM_INTERFACE, "Delete");
                let question = bus.ask(call, path)?;
                if question.as_str() != NOWHERE {
                    return Err(KeyringError::Locked);
                }
            }
            Ok(())
        })
    }

    /// Does something with the bus, on a thread of its own: even to connect may take forever.
    fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Bus) -> Result<T, KeyringError> + Send + 'static,
    ) -> Result<T, KeyringError> {
        let (address, until) = (self.address.clone(), Instant::now() + PATIENCE);
        let (done, wait) = sync_channel(1);
        let worker = thread::Builder::new().name("keyring".into()).spawn(move || {
            let outcome = Bus::connect(&address, until).and_then(|mut bus| work(&mut bus));
            // Whoever does not wait any more wants no answer.
            let _ = done.send(outcome);
        });
        worker.map_err(|error| KeyringError::Absent { why: error.to_string() })?;
        match wait.recv_timeout(PATIENCE) {
            Ok(outcome) => outcome,
            Err(RecvTimeoutError::Timeout) => Err(KeyringError::Silent { after: PATIENCE }),
            Err(RecvTimeoutError::Disconnected) => Err(KeyringError::BadAnswer),
        }
    }
}

/// What an item is found by.
fn attributes(account: &str) -> [(&'static str, &str); 2] {
    [("service", "tessera"), ("account", account)]
}

/// A session with the keyring. The secret crosses the bus as it is: its socket is open to this user alone, who may ask the
/// keyring for everything anyway.
fn session(bus: &mut Bus) -> Result<Path, KeyringError> {
    let call = Call::of(SERVICE, &Path::of(ROOT), SERVICE_INTERFACE, "OpenSession").text("plain").text_variant("");
    bus.ask(call, |answer| {
        answer.text_variant()?;
        answer.path()
    })
}

/// The item of an account.
fn item(bus: &mut Bus, account: &str) -> Result<Option<Path>, KeyringError> {
    let call = Call::of(SERVICE, &Path::of(ROOT), SERVICE_INTERFACE, "SearchItems").texts(&attributes(account));
    let (open, locked) = bus.ask(call, |answer| Some((answer.paths()?, answer.paths()?)))?;
    match open.into_iter().next() {
        Some(item) => Ok(Some(item)),
        None if locked.is_empty() => Ok(None),
        None => Err(KeyringError::Locked),
    }
}

/// The collection that is kept beyond the session.
fn open_collection(bus: &mut Bus) -> Result<Path, KeyringError> {
    let call = Call::of(SERVICE, &Path::of(ROOT), SERVICE_INTERFACE, "ReadAlias").text("default");
    let collection = bus.ask(call, path)?;
    if collection.as_str() == NOWHERE {
        return Err(KeyringError::Absent { why: "it has no collection to keep a key in".into() });
    }
    let call = Call::of(SERVICE, &collection, "org.freedesktop.DBus.Properties", "Get");
    let is_locked = bus.ask(call.text(COLLECTION_INTERFACE).text("Locked"), truth_variant)?;
    if is_locked { Err(KeyringError::Locked) } else { Ok(collection) }
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
mod tests;
