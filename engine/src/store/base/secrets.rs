//! What becomes of credentials that are found in texts: the keys they are sealed with, and who keeps them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use tessera_seal::{Bound, Key, Keys, SealError, Value, keys_in, open, random, seal, write_keys};

use super::config::{SecretMode, SecretRules};
use crate::domain::MemoryId;
use crate::screen::{Keeper, Name, Secret};
use crate::store::file::error::StoreError;
use crate::store::file::home::Home;

/// Letters of a name: none that is taken for another.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Letters of a name beside its `s`: a thousand secrets share one with a chance of 1 in 67.
const NAME_LETTERS: usize = 5;

/// The rules of an open store, and its keys once they were needed.
pub(crate) struct Secrets {
    rules: SecretRules,
    file: PathBuf,
    keys: Mutex<Option<Arc<Keys>>>,
}

impl Secrets {
    pub(crate) fn of(rules: SecretRules, home: &Home) -> Self {
        Self { rules, file: home.secret_key(), keys: Mutex::new(None) }
    }

    pub(crate) fn rules(&self) -> SecretRules {
        self.rules.clone()
    }

    /// The keys; made where there are none yet.
    pub(crate) fn keys(&self, connection: &Connection) -> Result<Arc<Keys>, StoreError> {
        let mut known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keys) = &*known {
            return Ok(Arc::clone(keys));
        }
        let keys = match self.found(&whose(connection)?)? {
            Some(keys) => keys,
            None => self.made(&whose(connection)?)?,
        };
        Ok(Arc::clone(known.insert(Arc::new(keys))))
    }

    /// Given keys; else those of the keyring, and after them those of the file: where the keyring did not answer once,
    /// new ones were put there.
    fn found(&self, whose: &str) -> Result<Option<Keys>, StoreError> {
        let given = self.rules.given.iter().map(|text| Key::given(text, whose.as_bytes()));
        let given = given.collect::<Result<Vec<_>, _>>().map_err(no_key)?;
        let ringed = self.rules.keyring.as_ref().filter(|_| given.is_empty()).map(|ring| ring.keys(whose));
        let ringed = ringed.transpose().map_err(no_key)?.flatten();
        let filed = keys_in(&self.file).map_err(no_key)?;
        let kept =
            [ringed, filed].into_iter().flatten().flat_map(|keys| std::iter::once(keys.current).chain(keys.before));
        let mut all = given.into_iter().chain(kept);
        Ok(all.next().map(|current| Keys { current, before: all.collect() }))
    }

    fn made(&self, whose: &str) -> Result<Keys, StoreError> {
        let keys = Keys::of(Key::generate().map_err(no_key)?);
        if let Some(ring) = &self.rules.keyring
            && ring.put(whose, &keys).map_err(no_key)?
        {
            return Ok(keys);
        }
        write_keys(&self.file, &keys, false).map_err(no_key)
    }

    /// Opens what was sealed for a memory.
    pub(crate) fn opened(
        &self,
        connection: &Connection,
        memory: MemoryId,
        name: &str,
        sealed: &[u8],
    ) -> Result<Value, StoreError> {
        let (keys, user, memory) = (self.keys(connection)?, whose(connection)?, memory.to_string());
        open(&keys, Bound { user: &user, memory: &memory, name }, sealed)
            .map_err(|source| StoreError::Sealed { name: name.to_owned(), source })
    }

    /// Who keeps what is found in a text of the person's own.
    pub(crate) fn keeper<'a>(&'a self, connection: &'a Connection) -> Aside<'a> {
        Aside { secrets: self, connection, mode: self.rules.mode }
    }

    /// Who keeps what is found in what stands in the store already: it cannot be refused any more.
    pub(crate) fn keeper_of_old<'a>(&'a self, connection: &'a Connection, is_own: bool) -> Aside<'a> {
        let mode = if is_own && self.rules.mode != SecretMode::Drop { SecretMode::Encrypt } else { SecretMode::Drop };
        Aside { secrets: self, connection, mode }
    }

    /// Who keeps nothing: for what another user wrote, whose secrets are not this user's.
    pub(crate) fn dropper<'a>(&'a self, connection: &'a Connection) -> Aside<'a> {
        Aside { secrets: self, connection, mode: SecretMode::Drop }
    }
}

/// Whose secrets a store keeps: there are no users here, so the store itself.
fn whose(connection: &Connection) -> Result<String, StoreError> {
    let sql = "SELECT lower(hex(value)) FROM meta WHERE key = 'store_id'";
    Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

fn no_key(error: impl std::error::Error) -> StoreError {
    let source = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    StoreError::NoKey { problem: format!("{error}{source}") }
}

/// Sets credentials aside for one store.
pub(crate) struct Aside<'a> {
    secrets: &'a Secrets,
    connection: &'a Connection,
    mode: SecretMode,
}

impl Aside<'_> {
    /// The name that a value has here already, or a new one.
    fn name_of(&self, mark: &[u8]) -> Result<Name, StoreError> {
        let sql = "SELECT name FROM secrets WHERE mark = ?1 LIMIT 1";
        let known: Option<String> =
            self.connection.prepare_cached(sql)?.query_row([mark], |row| row.get(0)).optional()?;
        if let Some(name) = known.and_then(|name| Name::parse(&name)) {
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

    fn keep(&mut self, memory: MemoryId, kind: &str, value: &str) -> Result<Option<Secret>, StoreError> {
        match self.mode {
            SecretMode::Drop => return Ok(None),
            SecretMode::Refuse => return Err(StoreError::Credential { field: "content", kind: kind.to_owned() }),
            SecretMode::Encrypt | SecretMode::Vault => {}
        }
        let keys = self.secrets.keys(self.connection)?;
        let mark = keys.current.mark(value);
        let name = self.name_of(&mark)?;
        let (user, of) = (whose(self.connection)?, memory.to_string());
        let sealed = seal(&keys.current, Bound { user: &user, memory: &of, name: name.as_str() }, value)
            .map_err(|source| StoreError::Sealed { name: name.to_string(), source })?;
        Ok(Some(Secret { name, kind: kind.to_owned(), mark, sealed }))
    }
}
