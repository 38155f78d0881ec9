//! The door: a store is opened, made, or refused.

use super::connection;
use crate::store::base::config::StoreConfig;
use crate::store::base::index_cache::IndexCache;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;

impl Store {
    /// Opens the store in `config.home`, making it if it is not there yet.
    ///
    /// # Errors
    /// When the file is foreign, newer, damaged or gone: it is then left as it is.
    pub fn open(config: StoreConfig) -> Result<Self, StoreError> {
        let connection = connection::open(&config.home, config.usage, config.clock.now())?;
        Ok(Self {
            connection,
            index: IndexCache::new(config.usage),
            path: config.home.database(),
            home: config.home,
            clock: config.clock,
            weights: config.weights,
            usage: config.usage,
        })
    }
}
