//! Compares a new text with the older memories of a store.

use crate::domain::{Memory, MemoryRef, MemoryUuid, Scope, ShortId};
use crate::relation::{Compared, Comparison, is_compared};
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;

impl Store {
    /// Compares a text with the older memories of its scope and of the global scope. The most likely updates come
    /// first. Nothing is compared if semantic search is off.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn compare(
        &mut self,
        content: &str,
        scope: &Scope,
        except: Option<MemoryUuid>,
    ) -> Result<Vec<Compared>, StoreError> {
        if !self.has_embedding() {
            return Ok(Vec::new());
        }
        let meant = self.embedding_key(content);
        self.refresh_index()?;
        let view = self.index.view();
        let comparison = Comparison::new(&view, content, scope, meant.as_ref());
        let read = |short_id| Ok(self.comparable(short_id)?.filter(|memory| Some(memory.id) != except));
        comparison.with(&view, read, &self.weights.updates)
    }

    /// The memory with an ID; `None` if it is not a live memory of this user.
    fn comparable(&self, short_id: u32) -> Result<Option<Memory>, StoreError> {
        let found = self.get(MemoryRef::ShortId(ShortId::try_from(short_id)?))?;
        Ok(found.filter(|older| is_compared(older) && !older.is_over(self.now())))
    }
}
