//! Recall on the server: the engine's one pipeline on an index of each user in memory, built from forward
//! blobs when it is first asked and kept fresh by the user's feed. The index is a cache: any replica may
//! hold one, or none.

mod cache;
mod index;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::Row as _;
use tessera_engine::domain::{Clock, Handle, RecallRequest};
use tessera_engine::pack::{JsonRows, LineCosts, Passage, Ranked, Recall, Row};
use tessera_engine::recall::{Form, Ranking, answer};
use tessera_engine::score::Weights;
use tessera_engine::text::number_tokens;

use crate::db::{COUNTER, Db, DbError, Stored, UserId, UserTx, columns, stored};
use cache::Cache;

/// Why a question is not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecallError {
    /// The question.
    #[error(transparent)]
    Domain(#[from] tessera_engine::domain::DomainError),
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Answers questions of all users.
pub(crate) struct Recaller {
    cache: Cache,
    clock: Arc<dyn Clock>,
    weights: Weights,
    /// Deliveries in full that the database was not told of yet.
    uses: Mutex<HashMap<UserId, HashMap<u32, u32>>>,
}

impl std::fmt::Debug for Recaller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recaller").finish_non_exhaustive()
    }
}

impl Recaller {
    /// `most_bytes` is what the indexes may hold together.
    pub(crate) fn new(clock: Arc<dyn Clock>, most_bytes: usize) -> Self {
        Self { cache: Cache::new(most_bytes), clock, weights: Weights::default(), uses: Mutex::default() }
    }

    /// Ranks a user's memories, and fetches the first page.
    pub(crate) async fn page(
        &self,
        db: &Db,
        user: &UserId,
        request: &RecallRequest,
    ) -> Result<(Ranking, Vec<(Ranked, Stored, Row)>), RecallError> {
        let mut tx = db.of(user).await?;
        let index = self.cache.of(user);
        let ranking = {
            let mut index = index.lock().await;
            let before = index.bytes();
            index.refresh(&mut tx).await?;
            self.cache.resized(user, before, index.bytes());
            index.rank(request, self.clock.now(), &self.weights)
        };
        let page = ranking.page(request)?;
        let handles: Vec<i64> = page.iter().map(|ranked| i64::from(ranked.handle.get())).collect();
        let mut rows = rows(&mut tx, &handles).await?;
        let found = page.into_iter().filter_map(|ranked| {
            let (stored, row) = rows.remove(&ranked.handle.get())?;
            Some((ranked, stored, row))
        });
        Ok((ranking, found.collect()))
    }

    /// Answers within a budget: one JSON payload whose tokens were counted.
    pub(crate) async fn recall(&self, db: &Db, user: &UserId, request: &RecallRequest) -> Result<Recall, RecallError> {
        let (ranking, found) = self.page(db, user, request).await?;
        let (page, rows): (Vec<Ranked>, Vec<Row>) = found.into_iter().map(|(ranked, _, row)| (ranked, row)).unzip();
        let form = Form::Json { counter: &*COUNTER, rows: JsonRows::default() };
        let recall = answer(request, &ranking, page, rows, &self.weights, form)?;
        self.note(user, recall.details.iter().map(|detail| detail.ranked.handle.get()));
        Ok(recall)
    }

    /// Counts memories that were given in full.
    pub(crate) fn note(&self, user: &UserId, handles: impl Iterator<Item = u32>) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let of_user = uses.entry(user.clone()).or_default();
        handles.for_each(|handle| *of_user.entry(handle).or_default() += 1);
    }

    /// Tells the database, and the indexes that are at hand, of what was used.
    pub(crate) async fn flush(&self, db: &Db) {
        let uses = std::mem::take(&mut *self.uses.lock().unwrap_or_else(PoisonError::into_inner));
        let now = self.clock.now().as_micros();
        for (user, handles) in uses.into_iter().filter(|(_, handles)| !handles.is_empty()) {
            if let Err(error) = self.flush_one(db, &user, handles, now).await {
                // A count that is lost ranks a memory a little lower: nothing that was written is.
                tracing::warn!(%error, "uses were not counted");
            }
        }
    }

    async fn flush_one(&self, db: &Db, user: &UserId, handles: HashMap<u32, u32>, now: i64) -> Result<(), DbError> {
        let mut tx = db.of(user).await?;
        let (handles, counts): (Vec<i64>, Vec<i32>) =
            handles.into_iter().map(|(handle, count)| (i64::from(handle), i32::try_from(count).unwrap_or(1))).unzip();
        sqlx::query(
            "UPDATE feed SET uses = uses + told.count, used = $4
             FROM unnest($2, $3) AS told (handle, count) WHERE feed.user_id = $1 AND feed.handle = told.handle",
        )
        .bind(user.as_str())
        .bind(&handles)
        .bind(counts)
        .bind(now)
        .execute(&mut *tx.tx)
        .await?;
        let index = self.cache.of(user);
        let mut index = index.lock().await;
        let before = index.bytes();
        index.take_again(&mut tx, &handles).await?;
        self.cache.resized(user, before, index.bytes());
        drop(index);
        tx.commit().await
    }
}

/// The memories of handles, with what their lines cost.
async fn rows(tx: &mut UserTx, handles: &[i64]) -> Result<HashMap<u32, (Stored, Row)>, DbError> {
    let found = sqlx::query(concat!(
        "SELECT feed.handle, feed.uses, feed.used, summary, signature, costs, passages, ",
        columns!(),
        " FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory AND state = 'live'
          WHERE feed.user_id = $1 AND feed.handle = ANY ($2)"
    ))
    .bind(tx.user.as_str())
    .bind(handles)
    .fetch_all(&mut *tx.tx)
    .await?;
    let mut rows = HashMap::new();
    for row in &found {
        let stored = stored(row)?;
        let handle = u32::try_from(row.try_get::<i64, _>("handle")?).unwrap_or(u32::MAX);
        let Some(document) = stored.row.state.live() else { continue };
        let Ok(short) = Handle::try_from(handle) else { continue };
        let mut memory = document.memory(stored.row.memory, short, stored.share(), stored.row.edited_by.clone());
        let (uses, used): (i32, Option<i64>) = (row.try_get("uses")?, row.try_get("used")?);
        memory.access_count = u32::try_from(uses).unwrap_or(0);
        memory.last_accessed = used.map(tessera_engine::Timestamp::from_micros);
        memory.updated = stored.updated;
        let costs = costs(row, &memory)?;
        let signature: i64 = row.try_get("signature")?;
        rows.insert(handle, (stored, Row { memory, costs, signature: signature.cast_unsigned() }));
    }
    Ok(rows)
}

/// What is kept was counted for the owner, and with a handle of one token: what shows more is counted here, and
/// what was counted under another form of the lines.
fn costs(row: &sqlx::postgres::PgRow, memory: &tessera_engine::Memory) -> Result<LineCosts, DbError> {
    let kept: Vec<i32> = row.try_get("costs")?;
    let tokens = |at: usize| kept.get(at).and_then(|count| u32::try_from(*count).ok()).unwrap_or(0);
    let is_own = memory.share.is_none() && memory.edited_by.is_none();
    // Rows of the first form do not name theirs.
    let form = if kept.len() > 4 { tokens(4) } else { 1 };
    if !is_own || !LineCosts::hold(form, memory) {
        return Ok(LineCosts::measure(memory, &*COUNTER));
    }
    let handle = number_tokens(memory.handle.get()) - number_tokens(Handle::FIRST.get());
    Ok(LineCosts {
        attribution: 0,
        detail: tokens(0),
        index: tokens(1),
        json_detail: tokens(2) + handle,
        json_index: tokens(3) + handle,
        passages: Passage::decode_all(&row.try_get::<Vec<u8>, _>("passages")?),
    })
}
