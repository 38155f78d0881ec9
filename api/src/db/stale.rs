//! Re-indexes rows of an earlier version of the analyzer, and rows with token counts for an earlier form of the reply
//! lines. Code that reads such a row recomputes the data. This module stores the result in the background.

use std::time::Duration;

use tessera_engine::compose::{Composed, Known, reanalysed};
use tessera_engine::index::{CURRENT_HEAD, Freshness};
use tessera_engine::pack::{LineCosts, Passage};
use tessera_engine::text::O200k;
use uuid::Uuid;

use super::memories::{columns, counts, derived_columns, known, stored, uuid};
use super::verbs::{Ask as _, args};
use super::{Db, DbError, UserId, UserTx, unless_overtaken};

/// Rows of one transaction.
const BATCH: usize = 100;
/// The pause between two transactions, so that requests go first.
const PAUSE: Duration = Duration::from_millis(20);

/// New derived data for a row.
pub(crate) struct Remade {
    old: Vec<u8>,
    pub(crate) composed: Composed,
}

impl Remade {
    /// Analyses the text again and counts its tokens. Call it on a thread that may block.
    pub(crate) fn of(known: &Known) -> Self {
        Self { old: known.forward.clone(), composed: reanalysed(known, &O200k) }
    }
}

/// The version of the data that this program derives from a text.
pub(crate) fn derived_form() -> String {
    format!("{} {CURRENT_HEAD:?}", LineCosts::FORM)
}

/// True if an earlier version computed the data. Data of a newer server stays.
fn is_older(known: &Known) -> bool {
    match Freshness::of(&known.forward) {
        Freshness::Older => true,
        Freshness::Current => known.costs.is_none(),
        Freshness::Newer => false,
    }
}

impl UserTx {
    /// Stores new derived data of one memory, unless the memory was changed in between. True if it was stored.
    async fn keep_remade(&mut self, Remade { old, composed }: &Remade) -> Result<bool, DbError> {
        let sql =
            "UPDATE memories SET forward = $4, length = $5, signature = $6, is_instruction = $7, costs = $8, passages = $9
             WHERE owner = $1 AND id = $2 AND forward = $3";
        let args = args![
            self.user.as_str(),
            uuid(composed.memory().id),
            old,
            composed.forward(),
            i32::from(composed.length()),
            composed.signature().cast_signed(),
            composed.is_instruction(),
            counts(composed.costs()),
            Passage::encode_all(&composed.costs().passages)
        ];
        Ok(self.tx.run(sql, args).await?.rows_affected() > 0)
    }

    /// Live memories that the user may see, by UUID, with all derived data and their owners.
    pub(crate) async fn known(&mut self, ids: &[Uuid]) -> Result<Vec<(String, Box<Known>)>, DbError> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            ", ",
            derived_columns!(),
            " FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
              WHERE feed.user_id = $1 AND feed.memory = ANY ($2) AND state = 'live'"
        );
        let rows = self.fed(sql, |query| query.bind(ids)).await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let stored = stored(row)?;
            found.extend(known(row, &stored)?.map(|known| (stored.owner, known)));
        }
        Ok(found)
    }
}

impl Db {
    /// Returns the user's own memories whose derived data seems to come from an earlier version, most recently changed
    /// first.
    async fn stale(&self, user: &UserId) -> Result<Vec<Uuid>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = "SELECT id FROM memories WHERE owner = $1 AND state = 'live'
                 AND (coalesce(costs[5], 1) <> $3 OR substring(forward FROM 1 FOR length($2::bytea)) IS DISTINCT FROM $2)
             ORDER BY updated DESC, id";
        let form = i32::try_from(LineCosts::FORM).unwrap_or(i32::MAX);
        Ok(tx.values(sql, args![user.as_str(), &CURRENT_HEAD[..], form]).await?)
    }

    /// Re-indexes a user's memories in short transactions. After an interruption, finished transactions are kept.
    /// Returns the number of written rows.
    pub(crate) async fn reanalyse(&self, user: &UserId) -> Result<usize, DbError> {
        let mut done = 0;
        for ids in self.stale(user).await?.chunks(BATCH) {
            let found = self.of(user).await?.known(ids).await?;
            let own = found.into_iter().filter(|(owner, _)| owner == user.as_str()).map(|(_, known)| known);
            let own: Vec<Box<Known>> = own.filter(|known| is_older(known)).collect();
            let remade = tokio::task::spawn_blocking(move || own.iter().map(|known| Remade::of(known)).collect());
            let remade: Vec<Remade> =
                remade.await.map_err(|error| DbError::Row(format!("cannot analyse older rows: {error}")))?;
            done += self.keep(user, &remade).await?;
            tokio::time::sleep(PAUSE).await;
        }
        Ok(done)
    }

    /// Stores new derived data of a user's memories, except memories that have changed since it was computed. Returns
    /// the number of written rows.
    pub(crate) async fn keep(&self, user: &UserId, remade: &[Remade]) -> Result<usize, DbError> {
        let mut written = 0;
        for batch in remade.chunks(BATCH) {
            written += unless_overtaken(|| async {
                let (mut tx, mut kept) = (self.of(user).await?, 0);
                for one in batch {
                    kept += usize::from(tx.keep_remade(one).await?);
                }
                tx.commit().await?;
                Ok::<_, DbError>(kept)
            })
            .await?;
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use tessera_engine::Draft;
    use tessera_engine::Timestamp;
    use tessera_engine::compose::created;

    use super::*;
    use tessera_engine::screen::Screened;

    #[test]
    fn what_an_older_program_made_is_made_anew_and_a_newer_ones_is_left() {
        let composed = created(
            &Screened::clean(Draft::new("The crane is serviced")).unwrap(),
            None,
            Timestamp::from_micros(0),
            &O200k,
        )
        .unwrap();
        let of = |forward: Vec<u8>, costs: Option<LineCosts>| Known {
            memory: composed.memory().clone(),
            is_instruction: composed.is_instruction(),
            length: composed.length(),
            signature: composed.signature(),
            forward,
            embedding: Vec::new(),
            costs,
        };
        let (blob, costs) = (composed.forward().to_vec(), Some(composed.costs().clone()));
        assert!(!is_older(&of(blob.clone(), costs.clone())));
        assert!(is_older(&of(blob.clone(), None)), "its lines are shown otherwise");
        assert!(is_older(&of(Vec::new(), costs.clone())) && is_older(&of(vec![0], costs.clone())));
        assert!(!is_older(&of(vec![200], None)), "a newer program's");
        let remade = Remade::of(&of(vec![0], None));
        assert_eq!((remade.composed.forward(), Some(remade.composed.costs())), (&*blob, costs.as_ref()));
    }
}
