//! Which memories still have to be compared with older ones, and the links that a comparison found.

use std::collections::BTreeSet;

use tessera_engine::Timestamp;
use tessera_engine::domain::{Link, MemoryUuid};
use tessera_engine::embedding::ENCODER_VERSION;
use tessera_engine::screen::Screened;
use tessera_engine::sync::{Action, Edit};
use uuid::Uuid;

use super::memories::uuid;
use super::verbs::{Ask as _, args};
use super::{Ask, Db, DbError, UserId, unless_overtaken};

/// A memory that was compared, and its new links.
pub(crate) type Related = (MemoryUuid, Vec<Link>);

impl Db {
    /// Returns the short IDs of a user's memories that were not compared yet and have an embedding, the oldest first.
    pub(crate) async fn to_relate(&self, user: &UserId, most: i64) -> Result<Vec<u32>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = "SELECT id FROM memories WHERE owner = $1 AND NOT related AND state = 'live'
                 AND embedding_rev = content_rev AND substring(embedding FROM 1 FOR 1) = $2 ORDER BY created, id LIMIT $3";
        let found: Vec<Uuid> = tx.tx.values(sql, args![user.as_str(), [ENCODER_VERSION].as_slice(), most]).await?;
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let sql = "SELECT short_id FROM feed WHERE user_id = $1 AND owner = $1 AND memory = ANY ($2)
             ORDER BY array_position($2, memory)";
        let short_ids: Vec<i64> = tx.tx.values(sql, args![user.as_str(), found]).await?;
        Ok(short_ids.into_iter().filter_map(|short_id| u32::try_from(short_id).ok()).collect())
    }

    /// Writes the found links, and marks the memories as compared. Nobody changed them, so nothing else is written.
    pub(crate) async fn keep_related(&self, user: &UserId, related: &[Related], at: Timestamp) -> Result<(), DbError> {
        let linked = related.iter().filter(|(_, links)| !links.is_empty());
        let asks: Vec<Ask> = linked.filter_map(|(memory, links)| adding(*memory, links, at)).collect();
        let memories: Vec<Uuid> = related.iter().map(|(memory, _)| uuid(*memory)).collect();
        let foreseen = self.foresee_all(user, &asks).await?;
        let (asks, foreseen, memories) = (&asks, &foreseen, &memories);
        unless_overtaken(|| async {
            let mut tx = self.writing(user).await?;
            tx.ask_each(asks, foreseen).await?;
            let sql = "UPDATE memories SET related = true WHERE owner = $1 AND id = ANY ($2)";
            tx.tx.run(sql, args![user.as_str(), memories]).await?;
            tx.commit().await
        })
        .await
    }
}

/// The change that adds links to a memory.
fn adding(memory: MemoryUuid, links: &[Link], at: Timestamp) -> Option<Ask> {
    let edit = Edit { links_added: BTreeSet::from_iter(links.iter().cloned()), ..Edit::default() };
    let action: Screened<Action> = Screened::of(Screened::clean(edit)?);
    Some(Ask { memory, is_unheard: false, action, only_at: None, idempotency: None, at })
}
