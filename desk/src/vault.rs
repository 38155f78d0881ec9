//! A vault for the secrets of one machine. Tessera first encrypts values in the store. After the commit, it moves them
//! to the vault, and later reads them there.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use tessera_engine::Store;
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{ForVault, SecretRef, StoreError, UnavailableBecause, try_lock};
use tessera_vault::{Config, Fields, Vault, VaultError};
use tokio_util::sync::CancellationToken;

pub use tessera_vault::VARIABLES;

use crate::caller::Caller;
use crate::shared::SharedStore;
use crate::team::FromServer;

/// The maximum number of attempts to get the lock for sending to the vault.
const MOST_TRIES: u32 = 400;
const NAP: Duration = Duration::from_millis(50);

/// An error of the vault or the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SafeError {
    /// The vault, or its connection.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The process ends.
    #[error("the process is shutting down")]
    Ended,
}

/// The configured vault.
#[derive(Clone)]
pub struct Safe(Vault);

impl std::fmt::Debug for Safe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Safe").finish_non_exhaustive()
    }
}

impl Safe {
    /// The configured vault; `None` if there is none. Nothing is sent yet.
    ///
    /// # Errors
    /// Returns an error if a setting is invalid.
    pub fn of(value: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, VaultError> {
        Config::read(value)?.map(|config| Vault::new(config).map(Self)).transpose()
    }

    /// Sends all changes to the vault. Returns the number of values that were moved to the vault.
    ///
    /// # Errors
    /// Returns an error if the vault does not answer, or rejects a change. Values that were not sent stay encrypted in
    /// the store, and are sent again.
    pub async fn settle(&self, store: &SharedStore) -> Result<u64, SafeError> {
        // One process at a time, because one may delete what another is writing.
        let lock = on(store, |store| Ok(store.home().vault_lock())).await?;
        let Some(_turn) = turn(&lock).await? else { return Ok(0) };
        let owner = on(store, |store| store.vault_owner()).await?;
        let mut moved = 0;
        loop {
            let news = on(store, Store::for_vault).await?;
            let mut has_learned = false;
            for news in news {
                if news.values.is_empty() && news.leaving.is_empty() {
                    continue;
                }
                self.tell(&owner, &news).await?;
                moved += on(store, move |store| store.vault_has(&news)).await?;
                has_learned = true;
            }
            if !has_learned {
                return Ok(moved);
            }
        }
    }

    async fn tell(&self, owner: &str, news: &ForVault) -> Result<(), VaultError> {
        let path = self.0.template().path(owner, &news.memory.to_string())?;
        if news.is_over {
            return self.0.delete(&path).await;
        }
        let change = |fields: &mut Fields| {
            for (name, value) in &news.values {
                fields.insert(name.as_str(), value.as_str());
            }
            news.leaving.iter().for_each(|name| drop(fields.remove(name)));
        };
        self.0.update(&path, change).await.map(drop)
    }

    /// Shows values in the vault. The request is recorded before the value is shown.
    ///
    /// # Errors
    /// Returns an error if there is no such secret, if the vault does not answer or rejects the request, or if the
    /// value is not in the vault.
    pub async fn reveal(
        &self,
        store: &SharedStore,
        which: &SecretRef,
        caller: &Caller,
    ) -> Result<FromServer, SafeError> {
        let (asked, actor) = (which.clone(), caller.actor(None));
        let (name, memory) = match on(store, move |store| Ok(store.reveal(&asked, &actor))).await? {
            Err(StoreError::ValueElsewhere { name, memory, why: UnavailableBecause::InVault }) => (name, memory),
            Err(error) => return Err(error.into()),
            // The value is available here.
            Ok(revealed) => return Ok(FromServer::here(which, revealed)),
        };
        let owner = on(store, |store| store.vault_owner()).await?;
        let path = self.0.template().path(&owner, &memory.to_string())?;
        let fields = self.0.read(&path).await?.map(|found| found.data).unwrap_or_default();
        let wanted: Vec<String> = match which {
            SecretRef::Name(_) => vec![name.clone()],
            SecretRef::Memory(_) => fields.names().map(str::to_owned).collect(),
        };
        let values: Vec<(String, String)> =
            wanted.iter().filter_map(|name| Some((name.clone(), fields.get(name)?.to_owned()))).collect();
        if values.is_empty() {
            let why = UnavailableBecause::NotInVault;
            return Err(StoreError::ValueElsewhere { name, memory, why }.into());
        }
        let actor = caller.actor(None);
        let given: Vec<String> = values.iter().map(|(name, _)| name.clone()).collect();
        on(store, move |store| given.iter().try_for_each(|name| store.note_secret_use(memory, name, "shown", &actor)))
            .await?;
        let reference = MemoryRef::Id(memory);
        let memory = on(store, move |store| store.get(reference)?.ok_or(StoreError::NotFound(reference))).await?;
        let value = match (which, values.as_slice()) {
            (SecretRef::Name(_), [(_, value)]) => value.clone().into(),
            _ => tessera_engine::store::put_back(&memory.content, |name| {
                values.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
            }),
        };
        Ok(FromServer { memory, value, missing: Vec::new() })
    }
}

/// Runs work on the store on another thread.
async fn on<T: Send + 'static>(
    store: &SharedStore,
    work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, SafeError> {
    Ok(store.run(&CancellationToken::new(), work).await.ok_or(SafeError::Ended)??)
}

/// The lock for sending to the vault; `None` if another process does not release it. Without the lock, the values stay
/// encrypted in the store, and the next call sends them.
async fn turn(lock: &Path) -> Result<Option<File>, StoreError> {
    for _ in 0..MOST_TRIES {
        let turn = try_lock(lock).map_err(|source| StoreError::File { path: lock.to_path_buf(), source })?;
        if turn.is_some() {
            return Ok(turn);
        }
        tokio::time::sleep(NAP).await;
    }
    Ok(None)
}
