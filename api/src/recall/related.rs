//! Compares memories that were created through REST with older ones. Machines compare their own memories.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use tessera_engine::domain::{Link, Memory};
use tessera_engine::embedding::{Embedding, Vector};
use tessera_engine::relation::{ComparedWhen, Comparison, found_links, is_compared};
use tessera_engine::screen::places;

use super::cache::Slot;
use super::{Found, Recaller, Turn, apart, found};
use crate::db::{Db, DbError, Related, UserId};

impl Recaller {
    /// The links from some of a user's memories to the older ones that they probably update.
    pub(crate) async fn relate(&self, db: &Db, user: &UserId, short_ids: &[u32]) -> Result<Vec<Related>, DbError> {
        let slot = self.cache.of(user);
        let turn = self.turn(&slot).await;
        // The first refresh reads changes. The second one reads the embeddings that were computed meanwhile.
        for _ in 0..2 {
            slot.index.read().unwrap_or_else(PoisonError::into_inner).look_now();
            self.refresh(db, user, None, &slot, &turn).await?;
        }
        let mut new = found(&mut db.of(user).await?, short_ids).await?;
        let mut related = Vec::with_capacity(new.len());
        for short_id in short_ids {
            let Some(new) = new.remove(short_id) else { continue };
            let (memory, rev) = (new.memory.id, new.stored.row.rev);
            // Texts with secrets resemble one another.
            let is_plain = places(&new.memory.content).is_empty();
            let links = if is_compared(&new.memory) && is_plain {
                match self.updated_by(db, user, (&slot, &turn), new).await {
                    Err(DbError::Row(error)) => {
                        tracing::error!(%error, %memory, "a memory cannot be compared with older ones");
                        Vec::new()
                    }
                    links => links?,
                }
            } else {
                Vec::new()
            };
            related.push(Related { memory, rev, links });
        }
        Ok(related)
    }

    async fn updated_by(
        &self,
        db: &Db,
        user: &UserId,
        (slot, turn): (&Arc<Slot>, &Turn),
        new: Found,
    ) -> Result<Vec<Link>, DbError> {
        let (at, Found { memory, embedding, .. }) = (Arc::clone(slot), new);
        let (memory, comparison) = apart(turn, move || {
            let meant = Embedding::vectors(&embedding).next().and_then(Vector::of_bytes);
            let index = at.index.read().unwrap_or_else(PoisonError::into_inner);
            let comparison = Comparison::new(&index.view(), &memory.content, &memory.scope, meant.as_ref());
            (memory, comparison)
        })
        .await?;
        let short_ids: Vec<u32> = comparison.short_ids().collect();
        let mut older: HashMap<u32, Memory> = {
            let found = found(&mut db.of(user).await?, &short_ids).await?;
            found.into_iter().map(|(short_id, found)| (short_id, found.memory)).collect()
        };
        let now = self.clock.now();
        older.retain(|_, older| is_compared(older) && older.id != memory.id && !older.is_over(now));
        let (at, weights) = (Arc::clone(slot), Arc::clone(&self.weights));
        apart(turn, move || {
            let index = at.index.read().unwrap_or_else(PoisonError::into_inner);
            let read = |short_id| Ok::<_, DbError>(older.remove(&short_id));
            let compared = comparison.with(&index.view(), read, &weights.updates)?;
            Ok(found_links(&memory, &compared, weights.updates_least, ComparedWhen::Stored))
        })
        .await?
    }
}
