//! What becomes of credentials in texts that reach the server.

use std::convert::Infallible;

use tessera_engine::domain::MemoryId;
use tessera_engine::screen::{Keeper, Secret};

/// Keeps nothing: the text says that a credential was there.
pub(crate) struct Dropper;

impl Keeper for Dropper {
    type Error = Infallible;

    fn keep(&mut self, _: MemoryId, _: &str, _: &str) -> Result<Option<Secret>, Infallible> {
        Ok(None)
    }
}
