//! What there is of a memory when somebody wants to change it.

use sqlx::Row as _;
use tessera_engine::domain::MemoryId;

use super::memories::{Stored, uuid};
use super::verbs::{Ask as _, args};
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

/// What `op_begin` returns.
#[derive(Debug)]
pub(super) struct Begun {
    /// The digest and the refusal of an op that was carried out before.
    pub(super) known: Option<(Vec<u8>, Option<String>)>,
    /// The owners of the memories that the user knows by the id, the user first.
    owners: Vec<String>,
    /// The user's short number of the first of them.
    handle: Option<u32>,
    /// The newest place in the user's feed.
    pub(super) seq: Option<u64>,
    /// True for a key whose vectors are not used.
    pub(super) is_distrusted: bool,
}

impl UserTx {
    /// Registers an op and locks the shares of the memory's owner; without an op, only the latter.
    pub(super) async fn begin_op(
        &mut self,
        op: Option<(MemoryId, &[u8])>,
        memory: MemoryId,
        key: Option<&str>,
    ) -> Result<Begun, sqlx::Error> {
        let (op, hash) = op.map(|(op, hash)| (uuid(op), hash)).unzip();
        let sql = "SELECT * FROM op_begin($1, $2, $3, $4, $5)";
        let row = self.tx.one(sql, args![self.user.as_str(), op, hash, uuid(memory), key]).await?;
        let is_new: bool = row.try_get("is_new")?;
        let known = if is_new { None } else { Some((row.try_get("known_hash")?, row.try_get("known_refusal")?)) };
        let number = |name: &str| row.try_get::<Option<i64>, _>(name);
        Ok(Begun {
            known,
            owners: row.try_get::<Option<_>, _>("owners")?.unwrap_or_default(),
            handle: number("handle")?.and_then(|handle| u32::try_from(handle).ok()),
            seq: number("seq")?.and_then(|seq| u64::try_from(seq).ok()),
            is_distrusted: row.try_get::<Option<_>, _>("is_distrusted")?.unwrap_or(false),
        })
    }

    /// What is there of a memory, locked where the user may change it.
    pub(super) async fn current(&mut self, memory: MemoryId, begun: &Begun) -> Result<Current, DbError> {
        let Some(owner) = begun.owners.first() else { return Ok(Current::Nothing) };
        if let Some(found) = self.locked(owner, memory).await? {
            return Ok(Current::Found(Box::new(Stored { handle: begun.handle, ..found })));
        }
        // The first owner's is not there for the user, or only to be read.
        match self.memory_to_change(memory).await? {
            Some(found) => {
                self.hold_shares(&found.owner).await?;
                Ok(Current::Found(Box::new(found)))
            }
            None if begun.owners.iter().any(|owner| owner != self.user.as_str()) => Ok(Current::Anothers),
            None => Ok(Current::Nothing),
        }
    }
}
