//! The door: a store is opened, made, or refused.

use std::sync::Arc;

use super::connection::{self, Opened};
use super::replacement;
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
        let Opened { connection, file } = connection::open(&config.home, config.usage, config.clock.now())?;
        let secrets = Secrets::of(config.secrets, &config.home);
        Ok(Self {
            connection,
            file,
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

    /// Opens the store again where another database took the place of the one that is open. A write does so by itself.
    ///
    /// # Errors
    /// When the one that is there now cannot be opened.
    pub fn follow(&mut self) -> Result<(), StoreError> {
        if self.file.is_some_and(|file| !replacement::is_in_place(&self.home, file)) {
            *self = Self::open(self.config(self.usage))?;
        }
        Ok(())
    }

    /// How another thread opens the same store once more: neither waits for what the other does with its own.
    pub fn opener(&self, usage: Usage) -> impl Fn() -> Result<Self, StoreError> + Send + use<> {
        let config = self.config(usage);
        move || Self::open(config.clone())
    }

    fn config(&self, usage: Usage) -> StoreConfig {
        let (home, clock, weights) = (self.home.clone(), Arc::clone(&self.clock), self.weights.clone());
        StoreConfig { home, clock, weights, usage, meaning: self.meaning, secrets: self.secrets.rules() }
    }
}
