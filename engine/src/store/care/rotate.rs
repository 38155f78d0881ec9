//! Key rotation: all secrets are encrypted again with a new key, in batches. The old key is deleted after all secrets
//! have the new key.
//!
//! Both keys are stored until the last batch is complete. So a killed process leaves nothing that cannot be decrypted,
//! and the next rotation continues.

use rusqlite::params;
use tessera_seal::{Key, Keys, key_of};

use crate::domain::MemoryUuid;
use crate::store::base::kept::note_sealing;
use crate::store::base::secrets::{Held, KeyPlace, Secrets, no_key};
use crate::store::base::store::Store;
use crate::store::change::erase::Erase;
use crate::store::file::error::StoreError;
use crate::store::logs::traces;
use crate::store::rows::codec::Run as _;

/// The key in `meta` for the ID of the new key during a rotation.
const ROTATING: &str = "rotating";
/// Values per transaction.
const AT_ONCE: usize = 200;

/// The result of a rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotated {
    /// Values encrypted with the new key.
    pub sealed_anew: usize,
    /// Secrets that no available key decrypts. They stay unchanged.
    pub closed: Vec<String>,
    /// The ID of the encryption key after the rotation.
    pub key: String,
    /// The place of the key.
    pub place: KeyPlace,
    /// True if this rotation completed an interrupted one.
    pub resumed: bool,
}

/// A value and its memory.
type Sealed = (MemoryUuid, String, Vec<u8>);

impl Store {
    /// Encrypts all secrets with a new key: a generated one, or the one from the settings. The old key is used for
    /// decryption. The rotation can be repeated at any time.
    ///
    /// # Errors
    /// Returns an error if the keys are not available or cannot be stored, or the store cannot be written. Run it again to continue.
    pub fn rotate_secret_key(&mut self, mut progress: impl FnMut(usize)) -> Result<Rotated, StoreError> {
        // If there is no key yet, one is created before taking the lock, because creating one takes the same lock.
        self.secrets.keys(&self.connection)?;
        let turn = self.secrets.turn()?;
        let (held, resumed) = self.begin_rotation()?;
        let mut after = None;
        let (mut sealed_anew, mut closed) = (0, Vec::new());
        loop {
            let batch = self.sealed_otherwise(&held.keys, after.take()).map_err(|error| self.failed(error))?;
            let Some(last) = batch.last().map(|(memory, name, _)| (*memory, name.clone())) else { break };
            let not_opened = self.seal_anew(&held.keys, &batch)?;
            sealed_anew += batch.len() - not_opened.len();
            closed.extend(not_opened);
            progress(sealed_anew);
            after = Some(last);
        }
        self.end_rotation(&held.keys)?;
        drop(turn);
        let (key, place) = (held.keys.current.id().to_string(), held.place);
        self.scrubbed(Erase::Hard);
        Ok(Rotated { sealed_anew, closed, key, place, resumed })
    }

    /// Stores the new key in addition to the old ones. All processes then encrypt with the new key.
    fn begin_rotation(&mut self) -> Result<(Held, bool), StoreError> {
        let now = self.secrets.keys_anew(&self.connection)?;
        let current = now.keys.current.id().to_string();
        let sql = "SELECT 1 FROM meta WHERE key = ?1 AND value = ?2";
        let begun = self.connection.prepare_cached(sql).and_then(|mut query| query.exists([ROTATING, &current]));
        let resumed = begun.map_err(|error| self.failed(error))? && now.place != KeyPlace::Given;
        let held = if resumed || now.place == KeyPlace::Given {
            now
        } else {
            let fresh = Key::generate().map_err(no_key)?;
            self.secrets.replace(&self.connection, &Keys::clone(&now.keys).followed_by(fresh))?
        };
        self.write(|change| {
            let sql = "INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)";
            change.tx.execute(sql, params![ROTATING, held.keys.current.id().to_string()])?;
            note_sealing(change, held.keys.current.id())
        })?;
        Ok((held, resumed))
    }

    /// Returns some values that another key encrypted.
    fn sealed_otherwise(&self, keys: &Keys, after: Option<(MemoryUuid, String)>) -> rusqlite::Result<Vec<Sealed>> {
        let sql = "SELECT memory, name, sealed FROM secrets
                   WHERE sealed IS NOT NULL AND (?1 IS NULL OR (memory, name) > (?1, ?2)) ORDER BY memory, name";
        let (memory, name) = after.unzip();
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![memory, name])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let sealed: Vec<u8> = row.get(2)?;
            if key_of(&sealed).is_ok_and(|key| key == keys.current.id()) {
                continue;
            }
            found.push((row.get(0)?, row.get(1)?, sealed));
            if found.len() == AT_ONCE {
                break;
            }
        }
        Ok(found)
    }

    /// Encrypts values with the present key in one transaction. Returns the names of values that cannot be decrypted.
    fn seal_anew(&mut self, keys: &Keys, batch: &[Sealed]) -> Result<Vec<String>, StoreError> {
        self.write(|change| {
            let mut closed = Vec::new();
            for (memory, name, sealed) in batch {
                let value = match change.secrets.opened(change.tx, *memory, name, sealed) {
                    Ok(value) => value,
                    Err(StoreError::Sealed { .. }) => {
                        closed.push(name.clone());
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                let (fresh, mark) = Secrets::sealed_anew(change.tx, keys, (*memory, name), &value)?;
                let sql = "UPDATE secrets SET sealed = ?3, mark = ?4 WHERE memory = ?1 AND name = ?2 AND sealed = ?5";
                change.tx.run(sql, params![memory, name, fresh, mark, sealed])?;
            }
            traces::note(change)?;
            Ok(closed)
        })
    }

    /// Deletes keys that are no longer needed.
    fn end_rotation(&mut self, keys: &Keys) -> Result<(), StoreError> {
        let needed = self.needed_keys().map_err(|error| self.failed(error))?;
        let before = keys.before.iter().filter(|key| needed.contains(&key.id().to_string())).cloned().collect();
        self.secrets.replace(&self.connection, &Keys { current: keys.current.clone(), before })?;
        self.write(|change| Ok(change.tx.execute("DELETE FROM meta WHERE key = ?1", [ROTATING]).map(drop)?))
    }

    /// The IDs of the keys that encrypted stored secrets.
    pub(crate) fn needed_keys(&self) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare_cached("SELECT sealed FROM secrets WHERE sealed IS NOT NULL")?;
        let sealed = statement.query_map([], |row| row.get::<_, Vec<u8>>(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
        let mut ids: Vec<String> = sealed.iter().filter_map(|sealed| Some(key_of(sealed).ok()?.to_string())).collect();
        ids.sort();
        ids.dedup();
        Ok(ids)
    }
}

#[cfg(test)]
mod tests;
