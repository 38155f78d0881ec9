//! The handling of credentials in texts: the encryption keys, and the keepers.

use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tessera_seal::{Bound, Key, Keys, SealError, Value, key_of, keys_in, open, random, seal, write_keys};

use super::config::{SecretMode, SecretRules};
use crate::domain::MemoryUuid;
use crate::screen::{Keeper, Name, Secret};
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;
use crate::store::file::private;
use crate::store::rows::codec::Ask as _;

/// The characters of a secret's name, without letters that are easily confused.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// The number of random letters in the name of a secret, after the `s`. With a thousand secrets, two share a name with
/// a probability of 1 in 67.
const NAME_LETTERS: usize = 5;

/// The secret settings of an open store and its keys. The keys are read when they are first needed.
pub(crate) struct Secrets {
    rules: SecretRules,
    file: PathBuf,
    lock: PathBuf,
    keys: Mutex<Option<Held>>,
    /// True if the keyring was queried before this transaction.
    is_asked: AtomicBool,
}

/// The keys, and the place of the encryption key.
#[derive(Clone)]
pub(crate) struct Held {
    pub(crate) keys: Arc<Keys>,
    pub(crate) place: KeyPlace,
    /// The reason why the keyring did not return keys that it may have.
    missing: Option<String>,
}

/// The available keys.
enum Found {
    /// These keys.
    Keys(Held),
    /// No keys are available now. Contains the reason that the keyring returned.
    Locked(String),
    /// There are none.
    None,
}

/// The place of the encryption key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// A setting of the user.
    Given,
    /// The system's keyring.
    Keyring,
    /// A file in the home directory.
    File(PathBuf),
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => f.write_str("TESSERA_SECRET_KEY"),
            Self::Keyring => f.write_str("the system's keyring"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Secrets {
    pub(crate) fn of(rules: SecretRules, home: &Home) -> Self {
        Self {
            rules,
            file: home.secret_key(),
            lock: home.secret_lock(),
            keys: Mutex::new(None),
            is_asked: AtomicBool::new(false),
        }
    }

    pub(crate) fn rules(&self) -> SecretRules {
        self.rules.clone()
    }

    /// The keys, created if there are none.
    pub(crate) fn keys(&self, connection: &Connection) -> Result<Held, StoreError> {
        let mut known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(held) = &*known {
            return Ok(held.clone());
        }
        self.refuse_within(connection, true)?;
        let whose = whose(connection)?;
        // A locked keyring does not prevent storing: new secrets are encrypted with a key from the file.
        let held = match self.found(&whose)? {
            Found::Keys(held) => held,
            Found::None => {
                self.lacks_none(connection, None)?;
                self.made(&whose)?
            }
            Found::Locked(_) => self.made(&whose)?,
        };
        if held.missing.is_none() {
            self.lacks_none(connection, Some(&held.keys))?;
        }
        Ok(known.insert(held).clone())
    }

    /// Refuses to encrypt with a new key if existing secrets cannot be decrypted. Otherwise, a lost or mistyped key
    /// would be noticed only when a value is needed, and then nobody would know which key it was.
    fn lacks_none(&self, connection: &Connection, keys: Option<&Keys>) -> Result<(), StoreError> {
        let sql = "SELECT sealed FROM secrets WHERE sealed IS NOT NULL ORDER BY made DESC LIMIT 1";
        let last: Option<Vec<u8>> = connection.maybe(sql, [], |row| row.get(0))?;
        let Some(Ok(needed)) = last.as_deref().map(key_of) else { return Ok(()) };
        if keys.is_some_and(|keys| keys.of_id(needed).id() == needed) {
            return Ok(());
        }
        Err(StoreError::NoKey {
            problem: format!(
                "key #{needed}, which encrypts the stored secrets, is missing, so Tessera encrypts no new secrets; \
                add the key as a line of {}, or set it in TESSERA_SECRET_KEY (or in TESSERA_SECRET_KEY_BEFORE beside \
                a new one), or delete the stored secrets with `tessera secret forget`",
                self.file.display()
            ),
        })
    }

    /// The existing keys; none are created.
    pub(crate) fn known_keys(&self, connection: &Connection) -> Result<Option<Held>, StoreError> {
        let mut known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_none() {
            self.refuse_within(connection, false)?;
            match self.found(&whose(connection)?)? {
                Found::Keys(held) => *known = Some(held),
                Found::Locked(problem) => return Err(StoreError::NoKey { problem }),
                Found::None => {}
            }
        }
        Ok(known.clone())
    }

    /// Fails inside a transaction, because a keyring may be slow, and other processes cannot write meanwhile.
    fn refuse_within(&self, connection: &Connection, to_seal: bool) -> Result<(), StoreError> {
        let is_within = self.rules.keyring.is_some() && !connection.is_autocommit();
        if is_within && !self.is_asked.load(Ordering::Relaxed) {
            return Err(StoreError::KeysWanted { path: self.file.clone(), to_seal });
        }
        Ok(())
    }

    /// Asks for the keys before a transaction that needs them. The transaction continues with the keys that are
    /// available.
    pub(crate) fn ask_ahead(&self, connection: &Connection, to_seal: bool) -> Result<(), StoreError> {
        if to_seal {
            self.keys(connection)?;
        } else if let Err(error) = self.known_keys(connection) {
            // The operation that needs one reports the error.
            tracing::debug!(%error, "the keyring returned no keys");
        }
        self.is_asked.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Makes the next transaction ask for the keys again.
    pub(crate) fn forget_asked(&self) {
        self.is_asked.store(false, Ordering::Relaxed);
    }

    /// Reads the keys again, because another process may have replaced them. If the keys were removed meanwhile, the
    /// store keeps the keys that it has read.
    pub(crate) fn keys_anew(&self, connection: &Connection) -> Result<Held, StoreError> {
        if let Found::Keys(held) = self.found(&whose(connection)?)? {
            let mut known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
            return Ok(known.insert(held).clone());
        }
        self.keys(connection)
    }

    /// The keys from the settings; otherwise those of the keyring, followed by those of the file. If the keyring did
    /// not respond when a new key was created, the file contains that key.
    fn found(&self, whose: &str) -> Result<Found, StoreError> {
        let given = self.rules.given.iter().map(|text| Key::given(text, whose.as_bytes()));
        let given = given.collect::<Result<Vec<_>, _>>().map_err(no_key)?;
        let ringed = self.rules.keyring.as_ref().map(|ring| ring.keys(whose));
        // Unavailable keys matter only when they are needed.
        let (ringed, missing) = match ringed.transpose() {
            Ok(ringed) => (ringed.flatten(), None),
            Err(locked) => (None, Some(locked.to_string())),
        };
        let filed = keys_in(&self.file).map_err(no_key)?;
        let place = match (given.is_empty(), &ringed) {
            (false, _) => KeyPlace::Given,
            (true, Some(_)) => KeyPlace::Keyring,
            (true, _) => KeyPlace::File(self.file.clone()),
        };
        let kept =
            [ringed, filed].into_iter().flatten().flat_map(|keys| std::iter::once(keys.current).chain(keys.before));
        let mut all = given.into_iter().chain(kept);
        Ok(match (all.next(), missing) {
            (Some(current), missing) => {
                Found::Keys(Held { keys: Arc::new(Keys { current, before: all.collect() }), place, missing })
            }
            (None, Some(problem)) => Found::Locked(problem),
            (None, None) => Found::None,
        })
    }

    /// The lock for creating or replacing keys.
    pub(crate) fn turn(&self) -> Result<File, StoreError> {
        private::lock(&self.lock).map_err(|source| StoreError::file(&self.lock, source))
    }

    fn made(&self, whose: &str) -> Result<Held, StoreError> {
        let _turn = self.turn()?;
        let missing = match self.found(whose)? {
            Found::Keys(held) => return Ok(held),
            Found::Locked(problem) => Some(problem),
            Found::None => None,
        };
        let keys = Keys::of(Key::generate().map_err(no_key)?);
        // A keyring may be locked and have none of our keys. Then it fails only now.
        let held = self.put(whose, &keys, missing.is_none()).or_else(|_| self.put(whose, &keys, false))?;
        Ok(Held { missing, ..held })
    }

    /// Stores keys: in the keyring if it responds and may be used, otherwise in the file. The new keys replace the
    /// previous ones.
    fn put(&self, whose: &str, keys: &Keys, asks_ring: bool) -> Result<Held, StoreError> {
        if let Some(ring) = self.rules.keyring.as_ref().filter(|_| asks_ring)
            && ring.put(whose, keys).map_err(no_key)?
        {
            return Ok(Held { keys: Arc::new(keys.clone()), place: KeyPlace::Keyring, missing: None });
        }
        let keys = write_keys(&self.file, keys, true).map_err(no_key)?;
        Ok(Held { keys: Arc::new(keys), place: KeyPlace::File(self.file.clone()), missing: None })
    }

    /// Replaces the stored keys. A key from the user's settings is not stored; only the keys that decrypt older secrets
    /// are.
    pub(crate) fn replace(&self, connection: &Connection, keys: &Keys) -> Result<Held, StoreError> {
        let whose = whose(connection)?;
        let given: Vec<Key> =
            self.rules.given.iter().filter_map(|text| Key::given(text, whose.as_bytes()).ok()).collect();
        let held = if given.is_empty() {
            let held = self.put(&whose, keys, true)?;
            if held.place == KeyPlace::Keyring {
                self.remove_file()?;
            }
            held
        } else {
            let mut kept = keys.before.iter().filter(|key| given.iter().all(|given| given.id() != key.id()));
            if let Some(current) = kept.next().cloned() {
                self.put(&whose, &Keys { current, before: kept.cloned().collect() }, true)?;
            } else {
                self.rules.keyring.as_ref().map_or(Ok(()), |ring| ring.remove(&whose)).map_err(no_key)?;
                self.remove_file()?;
            }
            Held { keys: Arc::new(keys.clone()), place: KeyPlace::Given, missing: None }
        };
        *self.keys.lock().unwrap_or_else(PoisonError::into_inner) = Some(held.clone());
        Ok(held)
    }

    fn remove_file(&self) -> Result<(), StoreError> {
        match std::fs::remove_file(&self.file) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(StoreError::file(&self.file, source)),
            _ => Ok(()),
        }
    }

    /// A value encrypted with the present key, and its keyed hash.
    pub(crate) fn sealed_anew(
        connection: &Connection,
        keys: &Keys,
        (memory, name): (MemoryUuid, &str),
        value: &str,
    ) -> Result<(Vec<u8>, Vec<u8>), StoreError> {
        let (user, memory) = (whose(connection)?, memory.to_string());
        let sealed = seal(&keys.current, Bound { user: &user, memory: &memory, name }, value)
            .map_err(|source| StoreError::Sealed { name: name.to_owned(), source })?;
        Ok((sealed, keys.current.mark(value)))
    }

    /// Decrypts a value of a memory.
    pub(crate) fn opened(
        &self,
        connection: &Connection,
        memory: MemoryUuid,
        name: &str,
        sealed: &[u8],
    ) -> Result<Value, StoreError> {
        let failed = |source| StoreError::Sealed { name: name.to_owned(), source };
        let needed = key_of(sealed).map_err(failed)?;
        let held = self.known_keys(connection)?;
        let held = match held {
            // Another process may have replaced the keys. Keys from the settings stay.
            Some(held) if self.rules.given.is_empty() && held.keys.of_id(needed).id() != needed => {
                Some(self.keys_anew(connection)?)
            }
            held => held,
        };
        let Some(held) = held else {
            return Err(StoreError::NoKey {
                problem: format!(
                    "secret {name} is encrypted with key #{needed}, which is missing; add its line to {}, or set \
                    TESSERA_SECRET_KEY",
                    self.file.display()
                ),
            });
        };
        if let Some(problem) = held.missing.filter(|_| held.keys.of_id(needed).id() != needed) {
            return Err(StoreError::NoKey {
                problem: format!("secret {name} is encrypted with key #{needed}: {problem}"),
            });
        }
        let (user, memory) = (whose(connection)?, memory.to_string());
        open(&held.keys, Bound { user: &user, memory: &memory, name }, sealed).map_err(failed)
    }

    /// Returns a keeper for the credentials in new texts of the user.
    pub(crate) fn keeper<'a>(&'a self, connection: &'a Connection) -> Aside<'a> {
        Aside { secrets: self, connection, mode: self.rules.mode }
    }

    /// Returns a keeper for the credentials in texts that are already in the store. It rejects no text.
    pub(crate) fn keeper_of_old<'a>(&'a self, connection: &'a Connection, is_own: bool) -> Aside<'a> {
        let mode = if is_own && self.rules.mode != SecretMode::Drop { SecretMode::Encrypt } else { SecretMode::Drop };
        Aside { secrets: self, connection, mode }
    }

    /// Returns a keeper that stores nothing, and only counts what would be stored.
    pub(crate) fn counter<'a>(&'a self, connection: &'a Connection) -> Counter<'a> {
        Counter { aside: self.keeper(connection), unnamed: Vec::new(), was_asked: false }
    }

    /// Returns a keeper for the credentials in the user's texts from the server. Texts from the server cannot be
    /// rejected. So credentials that must not be stored are discarded.
    pub(crate) fn arriving<'a>(&'a self, connection: &'a Connection) -> Aside<'a> {
        let mode = if self.rules.mode == SecretMode::Refuse { SecretMode::Drop } else { self.rules.mode };
        Aside { secrets: self, connection, mode }
    }

    /// A keeper that discards everything, for texts of other users, whose secrets do not belong to this user.
    pub(crate) fn dropper<'a>(&'a self, connection: &'a Connection) -> Aside<'a> {
        Aside { secrets: self, connection, mode: SecretMode::Drop }
    }
}

/// The owner of a store's secrets. A store has no users, so secrets are bound to the store itself.
pub(crate) fn whose(connection: &Connection) -> Result<String, StoreError> {
    let sql = "SELECT lower(hex(value)) FROM meta WHERE key = 'store_id'";
    Ok(connection.one(sql, [], |row| row.get(0))?)
}

pub(crate) fn no_key(error: impl std::error::Error) -> StoreError {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    StoreError::NoKey { problem: format!("{error}{source}") }
}

/// Stores secrets for one store.
pub(crate) struct Aside<'a> {
    secrets: &'a Secrets,
    connection: &'a Connection,
    mode: SecretMode,
}

/// Counts the secrets that would be stored. Nothing is encrypted, and no key is created.
pub(crate) struct Counter<'a> {
    aside: Aside<'a>,
    /// The values that have no name in the store, without duplicates.
    unnamed: Vec<String>,
    was_asked: bool,
}

impl Aside<'_> {
    /// The existing name of a value.
    fn known_name(&self, mark: &[u8]) -> Result<Option<Name>, StoreError> {
        let sql = "SELECT name FROM secrets WHERE mark = ?1 LIMIT 1";
        let known: Option<String> = self.connection.maybe(sql, [mark], |row| row.get(0))?;
        Ok(known.and_then(|name| Name::parse(&name)))
    }

    /// True if credentials are stored.
    fn is_kept(&self, kind: &str) -> Result<bool, StoreError> {
        match self.mode {
            SecretMode::Drop => Ok(false),
            SecretMode::Refuse => Err(StoreError::Credential { field: "content", kind: kind.to_owned() }),
            SecretMode::Encrypt | SecretMode::Vault => Ok(true),
        }
    }

    /// The existing name of a value, or a new one.
    fn name_of(&self, mark: &[u8]) -> Result<Name, StoreError> {
        if let Some(name) = self.known_name(mark)? {
            return Ok(name);
        }
        loop {
            let mut bytes = [0; NAME_LETTERS];
            random(&mut bytes).map_err(no_key)?;
            let letters = bytes.iter().filter_map(|byte| LETTERS.get(usize::from(byte % 32)).copied().map(char::from));
            let name = Name::parse(&format!("s{}", letters.collect::<String>())).ok_or_else(nameless)?;
            let is_taken =
                self.connection.prepare_cached("SELECT 1 FROM secrets WHERE name = ?1")?.exists([name.as_str()])?;
            if !is_taken {
                return Ok(name);
            }
        }
    }
}

fn nameless() -> StoreError {
    StoreError::Sealed { name: "without a name".into(), source: SealError::NotSealed }
}

impl Keeper for Aside<'_> {
    type Error = StoreError;

    fn keep(&mut self, memory: MemoryUuid, kind: &str, value: &str) -> Result<Option<Secret>, StoreError> {
        if !self.is_kept(kind)? {
            return Ok(None);
        }
        let keys = self.secrets.keys(self.connection)?.keys;
        let mark = keys.current.mark(value);
        let name = self.name_of(&mark)?;
        let (sealed, mark) = Secrets::sealed_anew(self.connection, &keys, (memory, name.as_str()), value)?;
        Ok(Some(Secret { name, kind: kind.to_owned(), mark, sealed }))
    }
}

impl Counter<'_> {
    /// True if a credential was found.
    pub(crate) fn was_asked(&self) -> bool {
        self.was_asked
    }
}

impl Keeper for Counter<'_> {
    type Error = StoreError;

    fn keep(&mut self, _: MemoryUuid, kind: &str, value: &str) -> Result<Option<Secret>, StoreError> {
        self.was_asked = true;
        if !self.aside.is_kept(kind)? {
            return Ok(None);
        }
        let keys = self.aside.secrets.known_keys(self.aside.connection).ok().flatten();
        let known = keys.map(|held| self.aside.known_name(&held.keys.current.mark(value))).transpose()?.flatten();
        let name = if let Some(name) = known {
            name
        } else {
            let at = self.unnamed.iter().position(|unnamed| unnamed == value).unwrap_or(self.unnamed.len());
            if at == self.unnamed.len() {
                self.unnamed.push(value.to_owned());
            }
            Name::parse(&format!("s{at:012}")).ok_or_else(nameless)?
        };
        Ok(Some(Secret { name, kind: kind.to_owned(), mark: Vec::new(), sealed: Vec::new() }))
    }
}
