//! What there is of a memory when somebody wants to change it.

use tessera_engine::domain::MemoryId;

use super::memories::{Stored, uuid};
use super::{DbError, UserTx};

/// What there is of a memory that is to be changed.
#[derive(Debug)]
pub(super) enum Current {
    /// It, locked where the user may change it.
    Found(Box<Stored>),
    /// Another user's, which this one may not see any more.
    Anothers,
    /// Nothing that the user was ever told of.
    Nothing,
    /// Its id was made for this very change.
    Unheard,
}

impl Current {
    pub(super) fn stored(&self) -> Option<&Stored> {
        if let Self::Found(found) = self { Some(found) } else { None }
    }

    pub(super) fn into_stored(self) -> Option<Stored> {
        if let Self::Found(found) = self { Some(*found) } else { None }
    }
}

impl UserTx {
    /// What is there of a memory, locked where the user may change it.
    pub(super) async fn current(&mut self, memory: MemoryId) -> Result<Current, DbError> {
        match self.memory_to_change(memory).await? {
            Some(found) => Ok(Current::Found(Box::new(found))),
            None if self.is_anothers(memory).await? => Ok(Current::Anothers),
            None => Ok(Current::Nothing),
        }
    }

    /// True for the id of a memory of another user that this one was told of: it is not theirs to use.
    async fn is_anothers(&mut self, id: MemoryId) -> Result<bool, DbError> {
        let sql = "SELECT EXISTS (SELECT FROM feed WHERE user_id = $1 AND memory = $2 AND owner <> $1)";
        let query = sqlx::query_scalar(sql).bind(self.user.as_str()).bind(uuid(id));
        Ok(query.fetch_one(&mut *self.tx).await?)
    }
}
