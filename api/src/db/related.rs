//! Which memories still have to be compared with older ones, and the links that a comparison found.

use std::collections::{BTreeMap, BTreeSet};

use sqlx::Row as _;
use tessera_engine::domain::{Link, LinkKind, MemoryUuid};
use tessera_engine::embedding::ENCODER_VERSION;
use uuid::Uuid;

use super::memories::uuid;
use super::verbs::{Ask as _, args};
use super::{Db, DbError, UserId, UserTx, unless_overtaken};

/// A memory that was compared.
#[derive(Debug)]
pub(crate) struct Related {
    pub(crate) memory: MemoryUuid,
    /// The rev of the compared text.
    pub(crate) rev: u64,
    /// The links that the comparison found.
    pub(crate) links: Vec<Link>,
}

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

    /// Writes the found links, and marks the memories as compared. A memory that changed, disappeared or was compared
    /// meanwhile stays as it is. Returns the number of marked memories.
    pub(crate) async fn keep_related(&self, user: &UserId, related: &[Related]) -> Result<u64, DbError> {
        unless_overtaken(|| async {
            let mut tx = self.writing(user).await?;
            let ids: Vec<Uuid> = related.iter().map(|related| uuid(related.memory)).collect();
            tx.hold_shares(user.as_str()).await?;
            // All rows are locked before the counters.
            let sql =
                "SELECT id, rev FROM memories WHERE owner = $1 AND id = ANY ($2) AND NOT related AND state = 'live'
                 ORDER BY id FOR NO KEY UPDATE";
            let rows = tx.tx.all(sql, args![user.as_str(), &ids]).await?;
            let revs = rows.iter().map(|row| Ok((row.try_get::<Uuid, _>("id")?, row.try_get::<i64, _>("rev")?)));
            let revs: BTreeMap<Uuid, i64> = revs.collect::<Result<_, sqlx::Error>>()?;
            let mut marked = 0;
            for one in related {
                let rev = revs.get(&uuid(one.memory)).and_then(|rev| u64::try_from(*rev).ok());
                if rev == Some(one.rev) {
                    tx.keep_links(one).await?;
                    marked += 1;
                }
            }
            tx.commit().await?;
            Ok(marked)
        })
        .await
    }
}

impl UserTx {
    /// Nobody changed the memory, so only `rev` increases: a machine can still delete the memory.
    async fn keep_links(&mut self, related: &Related) -> Result<(), DbError> {
        let mut links = BTreeSet::new();
        for link in &related.links {
            let sql = "SELECT EXISTS (SELECT FROM memories WHERE owner = $1 AND id = $2 AND state = 'live')";
            let is_live: bool = self.tx.value(sql, args![self.user.as_str(), uuid(link.to)]).await?;
            let mut is_newer = false;
            for kind in [LinkKind::Updates, LinkKind::Supersedes] {
                is_newer |= self.leads_to(&kind, [link.to, related.memory]).await?;
            }
            if is_live && !is_newer {
                links.insert(format!("{}:{}", link.kind, link.to));
            }
        }
        let (user, memory) = (self.user.as_str().to_owned(), related.memory);
        let links: Vec<String> = links.into_iter().collect();
        let sql = "UPDATE memories SET related = true, links = links || $3::text[],
                 rev = rev + CASE WHEN cardinality($3::text[]) > 0 THEN 1 ELSE 0 END WHERE owner = $1 AND id = $2";
        self.tx.run(sql, args![&user, uuid(memory), &links]).await?;
        if !links.is_empty() {
            let those = self.audience(&user, memory).await?;
            self.told.add(those, &user, memory);
        }
        Ok(())
    }
}
