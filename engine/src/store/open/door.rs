//! The door: a store is opened, made, or refused.

use std::sync::Arc;

use super::connection;
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
        let connection = connection::open(&config.home, config.usage, config.clock.now())?;
        let secrets = Secrets::of(config.secrets, &config.home);
        Ok(Self {
            connection,
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
        let (home, clock, weights) = (self.home.clone(), Arc::clone(&self.clock), self.weights.clone());
        let config = StoreConfig { home, clock, weights, usage, meaning: self.meaning, secrets: self.secrets.rules() };
        move || Self::open(config.clone())
    }
}
