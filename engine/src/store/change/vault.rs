//! Moves values to a vault. A value is first stored here, encrypted, in the transaction of its text. The value is
//! deleted here when the vault has stored it. If the vault is down, the move is delayed and nothing is lost.

use rusqlite::params;
use tessera_seal::Value;

use crate::domain::MemoryUuid;
use crate::store::base::config::{Actor, SecretMode};
use crate::store::base::kept::{LEAVING, note};
use crate::store::base::secrets::whose;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};

/// Memories per batch.
const AT_ONCE: u32 = 200;

/// The changes to the secrets of one memory, which a vault must store.
#[derive(Debug, Clone)]
pub struct ForVault {
    /// The memory.
    pub memory: MemoryUuid,
    /// Values to store, by name.
    pub values: Vec<(String, Value)>,
    /// Names of values to delete.
    pub leaving: Vec<String>,
    /// True if all secrets of this memory must be deleted from the vault.
    pub is_over: bool,
}

impl Store {
    /// The owner of the secrets in a vault path: the store's own UUID.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn vault_owner(&self) -> Result<String, StoreError> {
        Ok(format!("store-{}", whose(&self.connection)?))
    }

    /// True if there are changes for a vault.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn has_news_for_vault(&self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM secrets WHERE place = 'leaving' OR (sealed IS NOT NULL AND ?1))";
        self.one(sql, [self.uses_vault()], |row| row.get(0))
    }

    fn uses_vault(&self) -> bool {
        self.secrets.rules().mode == SecretMode::Vault
    }

    /// The changes for a vault, per memory. Before a value is sent, the store records that the vault may have it. So a
    /// deletion in the store also deletes it in the vault. Values that cannot be decrypted are not moved.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn for_vault(&mut self) -> Result<Vec<ForVault>, StoreError> {
        let uses_vault = self.uses_vault();
        self.write(|change| {
            if uses_vault {
                change
                    .tx
                    .execute("UPDATE secrets SET place = 'vault' WHERE place = 'here' AND sealed IS NOT NULL", [])?;
            }
            Ok(())
        })?;
        let sql =
            "SELECT DISTINCT memory FROM secrets WHERE place = 'leaving' OR (place = 'vault' AND sealed IS NOT NULL)
                       LIMIT ?1";
        let memories = self.all(sql, [AT_ONCE], |row| row.get(0))?;
        memories.into_iter().map(|memory| self.news_of(memory)).collect()
    }

    fn news_of(&self, memory: MemoryUuid) -> Result<ForVault, StoreError> {
        let sql = "SELECT name, place, sealed FROM secrets WHERE memory = ?1";
        let rows = self.all(sql, [memory], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, Option<Vec<u8>>>(2)?))
        })?;
        let is_over = rows.iter().all(|(_, place, _)| place == LEAVING);
        let mut news = ForVault { memory, values: Vec::new(), leaving: Vec::new(), is_over };
        for (name, place, sealed) in rows {
            match sealed {
                _ if place == LEAVING => news.leaving.push(name),
                Some(sealed) => {
                    let value = self.secrets.opened(&self.connection, memory, &name, &sealed);
                    news.values.extend(value.ok().map(|value| (name, value)));
                }
                None => {}
            }
        }
        Ok(news)
    }

    /// Records that the vault has stored the changes. From now on, only the vault has the values.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. In case of an error, the vault receives the same changes again
    /// later.
    pub fn vault_has(&mut self, news: &ForVault) -> Result<u64, StoreError> {
        let actor = Actor { client: Some("vault".into()), ..Actor::default() };
        self.write(|change| {
            for name in &news.leaving {
                let sql = "DELETE FROM secrets WHERE memory = ?1 AND name = ?2 AND place = 'leaving'";
                change.tx.run(sql, params![news.memory, name])?;
            }
            let mut moved = 0;
            for (name, _) in &news.values {
                let sql = "UPDATE secrets SET sealed = NULL WHERE memory = ?1 AND name = ?2 AND place = 'vault'";
                if change.tx.run(sql, params![news.memory, name])? > 0 {
                    moved += 1;
                    note(change, news.memory, name, "moved", &actor)?;
                }
            }
            Ok(moved)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Draft;
    use crate::store::base::config::SecretRules;
    use crate::store::base::secrets::Secrets;
    use crate::store::change::erase::Erase;
    use crate::store::open::in_memory::{InMemory, named};

    fn with_vault() -> InMemory {
        let mut store = InMemory::new();
        let rules = SecretRules { mode: SecretMode::Vault, ..SecretRules::default() };
        let secrets = Secrets::of(rules, store.home());
        store.secrets = secrets;
        store
    }

    #[test]
    fn a_value_is_sealed_here_until_the_vault_has_it_and_is_not_here_after_that() {
        let mut store = with_vault();
        let memory = store.remember(Draft::new("the staging password is hunter2!X9")).unwrap().memory;
        assert!(store.has_news_for_vault().unwrap());
        let which = "1".parse().unwrap();
        for _ in 0..2 {
            let news = store.for_vault().unwrap();
            let [news] = news.as_slice() else { panic!("{news:?}") };
            assert_eq!((news.values[0].1.as_str(), news.leaving.len(), news.is_over), ("hunter2!X9", 0, false));
            // The vault was down, so the value is still here and waits.
            assert!(store.reveal(&which, &Actor::default()).is_ok());
        }
        let news = store.for_vault().unwrap().remove(0);
        assert_eq!(store.vault_has(&news).unwrap(), 1);
        assert!(!store.has_news_for_vault().unwrap() && store.for_vault().unwrap().is_empty());
        let told = store.reveal(&which, &Actor::default()).unwrap_err().to_string();
        assert!(told.contains("it is in a vault"), "{told}");
        assert_eq!(store.secret_uses(None).unwrap()[0].what, "moved");
        // A repeated value keeps its name and is not encrypted again.
        assert!(store.remember(Draft::new("the staging password is hunter2!X9")).unwrap().existed);
        store.forget(&[named(&memory)], Erase::Hard, &Actor::default()).unwrap();
        assert!(store.secrets(None).unwrap().is_empty(), "what leaves is none");
        let news = store.for_vault().unwrap().remove(0);
        assert!(news.is_over && news.values.is_empty() && news.leaving.len() == 1);
        store.vault_has(&news).unwrap();
        assert_eq!(store.one::<u32>("SELECT count(*) FROM secrets"), 0);
    }

    #[test]
    fn what_is_removed_while_the_vault_is_told_leaves_it_again() {
        let mut store = with_vault();
        let memory = store.said("the staging password is hunter2!X9");
        let news = store.for_vault().unwrap().remove(0);
        store.forget_secrets(&"1".parse().unwrap(), &Actor::default()).unwrap();
        assert_eq!(store.vault_has(&news).unwrap(), 0);
        let after = store.for_vault().unwrap().remove(0);
        assert_eq!((after.memory, after.leaving.len(), after.is_over), (memory.id, 1, true));
        assert!(store.reveal(&"1".parse().unwrap(), &Actor::default()).unwrap_err().to_string().contains("deleted"));
    }
}
