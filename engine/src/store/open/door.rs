//! The door: a store is opened, made, or refused.

use super::connection::{self, Opened};
use crate::store::base::config::{StoreConfig, Usage};
use crate::store::base::encoded::Encoded;
use crate::store::base::index_cache::IndexCache;
use crate::store::base::secrets::Secrets;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;

impl Store {
    /// Opens the store in `config.home`, making it if it is not there yet.
    ///
    /// # Errors
    /// When the file is foreign, newer, damaged or gone: it is then left as it is.
    pub fn open(config: StoreConfig) -> Result<Self, StoreError> {
        let Opened { connection, file } = connection::open(&config.home, config.usage)?;
        let secrets = Secrets::of(config.secrets, &config.home);
        Ok(Self {
            connection,
            file,
            open: Self::open,
            index: IndexCache::new(config.usage),
            path: config.home.database(),
            home: config.home,
            clock: config.clock,
            weights: config.weights,
            usage: config.usage,
            meaning: config.meaning,
            encoded: Encoded::default(),
            is_marked: false,
            secrets,
        })
    }

    /// How another thread opens the same store once more: neither waits for what the other does with its own.
    pub fn opener(&self, usage: Usage) -> impl Fn() -> Result<Self, StoreError> + Send + use<> {
        let config = self.config(usage);
        move || Self::open(config.clone())
    }
}
