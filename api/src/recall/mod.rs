//! Recall on the server: the engine's one pipeline on an index of each user in memory, built from forward
//! blobs when it is first asked and kept fresh by the user's feed. The index is a cache: any replica may
//! hold one, or none.

mod cache;
mod index;
mod news;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::Row as _;
use tessera_engine::compose::{Beside, memory_of};
use tessera_engine::domain::{Clock, Handle, Memory, RecallRequest};
use tessera_engine::pack::{JsonRows, LineCosts, Ranked, Recall, Row};
use tessera_engine::recall::{Form, Ranking, answer, meant};
use tessera_engine::score::Weights;
use tessera_engine::text::O200k;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::db::{Db, DbError, Stored, UserId, UserTx, believed, columns, costs, stored, unless_overtaken};
use cache::{Cache, Slot};
use news::News;

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
    /// Without a weight for it, no index keeps what memories mean.
    weights: Arc<Weights>,
    /// Questions that are worked on at one time: some more than there are processors, as each waits for the database
    /// as well. Whoever waits for a turn holds no connection.
    turns: Arc<Semaphore>,
    /// Deliveries in full that the database was not told of yet.
    uses: Mutex<HashMap<UserId, HashMap<u32, u32>>>,
}

impl std::fmt::Debug for Recaller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recaller").finish_non_exhaustive()
    }
}

/// A turn to work on a question: among all, and among the user's own. It lasts as long as any of the work does, also
/// when whoever asked has gone.
type Turn = Arc<[Option<OwnedSemaphorePermit>; 2]>;

/// Works on a thread that serves no requests.
async fn apart<T: Send + 'static>(turn: &Turn, work: impl FnOnce() -> T + Send + 'static) -> Result<T, DbError> {
    let turn = Arc::clone(turn);
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    });
    done.await.map_err(|error| DbError::Row(format!("the work on a question: {error}")))
}

/// A match with its memory and what shows of it. What its lines cost is not known yet where nothing is kept of it.
struct Found {
    ranked: Ranked,
    stored: Stored,
    memory: Memory,
    costs: Option<LineCosts>,
    signature: u64,
    /// The vectors of its passages; empty where words alone decide, or it waits.
    meaning: Vec<u8>,
}

impl Found {
    /// Counts tokens where need be: for a thread that may work for a while.
    fn row(self) -> (Ranked, Row) {
        let Self { ranked, memory, costs, signature, meaning, .. } = self;
        let costs = costs.unwrap_or_else(|| LineCosts::measure(&memory, &O200k));
        (ranked, Row { memory, costs, signature, meaning })
    }
}

impl Recaller {
    /// `most_bytes` is what the indexes may hold together; without `by_meaning` words alone decide.
    pub(crate) fn new(clock: Arc<dyn Clock>, most_bytes: usize, by_meaning: bool) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let turns = (2 * processors).max(4);
        let weights = Weights::default();
        let meaning = if by_meaning { weights.meaning } else { 0.0 };
        Self {
            // Half for one user: there is a turn for others, whatever one asks.
            cache: Cache::new(most_bytes, turns / 2),
            clock,
            weights: Arc::new(Weights { meaning, ..weights }),
            turns: Arc::new(Semaphore::new(turns)),
            uses: Mutex::default(),
        }
    }

    /// A turn for a question of a user: first among their own, so that nobody waits for all of one user's.
    async fn turn(&self, slot: &Slot) -> Turn {
        let own = Arc::clone(&slot.turns).acquire_owned().await.ok();
        Arc::new([own, Arc::clone(&self.turns).acquire_owned().await.ok()])
    }

    /// Brings the index of a user up to date. The connection is given back before the work begins.
    async fn refresh(&self, db: &Db, user: &UserId, slot: &Arc<Slot>, turn: &Turn) -> Result<(), DbError> {
        let _refreshing = slot.refreshing.lock().await;
        let news = {
            let mut tx = db.of(user).await?;
            News::read(&slot.index, &mut tx).await?
        };
        self.take(db, user, slot, turn, news).await?;
        // Whoever asks for what waits is waited for themselves.
        let waited_for = slot.index.read().unwrap_or_else(PoisonError::into_inner).waited_for();
        waited_for.iter().filter_map(|owner| owner.parse().ok()).for_each(|owner| db.active().note(owner));
        Ok(())
    }

    /// Puts news into an index; the caller holds its `refreshing`.
    async fn take(&self, db: &Db, user: &UserId, slot: &Arc<Slot>, turn: &Turn, news: News) -> Result<(), DbError> {
        if matches!(news, News::None) {
            return Ok(());
        }
        let news = if self.weights.meaning > 0.0 { news } else { news.without_meaning() };
        let (to, of) = (Arc::clone(slot), user.clone());
        let (remade, bytes) = apart(turn, move || {
            let remade = news.put(&to.index, &of)?;
            Ok::<_, DbError>((remade, to.index.read().unwrap_or_else(PoisonError::into_inner).bytes()))
        })
        .await??;
        self.cache.resized(user, slot, bytes);
        if let Err(error) = db.keep(user, &remade).await {
            // They are made again at the next build.
            tracing::warn!(%error, "forward blobs were not kept");
        }
        Ok(())
    }

    /// Ranks a user's memories, and fetches the first page.
    async fn found(
        &self,
        db: &Db,
        user: &UserId,
        request: &RecallRequest,
    ) -> Result<(Turn, Ranking, Vec<Found>), RecallError> {
        let slot = self.cache.of(user);
        let turn = self.turn(&slot).await;
        let mut tx = db.of(user).await?;
        // Where somebody is changing it, it is waited for below, without a connection.
        let known = slot.index.try_read().map(|index| index.known()).unwrap_or_default();
        let position = tx.history(&known).await?;
        let is_fresh = slot.index.try_read().is_ok_and(|index| {
            let is_known = index.known() == known;
            is_known && index.cursor_in(position.epoch, position.head) == Some(position.head) && !index.is_look_due()
        });
        if !is_fresh || !position.knows(&known) {
            drop(tx);
            self.refresh(db, user, &slot, &turn).await?;
            tx = db.of(user).await?;
        }
        let (request_of, now, weights) = (request.clone(), self.clock.now(), Arc::clone(&self.weights));
        let ranking = apart(&turn, move || {
            let meant = meant(&request_of, &weights);
            let index = slot.index.read().unwrap_or_else(PoisonError::into_inner);
            index.rank(&request_of, meant.as_ref(), now, &weights)
        })
        .await?;
        let page = ranking.page(request)?;
        let found = rows(&mut tx, page).await?;
        Ok((turn, ranking, found))
    }

    /// Ranks a user's memories, and fetches the first page.
    pub(crate) async fn page(
        &self,
        db: &Db,
        user: &UserId,
        request: &RecallRequest,
    ) -> Result<Vec<(Ranked, Stored)>, RecallError> {
        let (_, _, found) = self.found(db, user, request).await?;
        Ok(found.into_iter().map(|found| (found.ranked, found.stored)).collect())
    }

    /// Answers within a budget: one JSON payload whose tokens were counted.
    pub(crate) async fn recall(&self, db: &Db, user: &UserId, request: &RecallRequest) -> Result<Recall, RecallError> {
        let (turn, ranking, found) = self.found(db, user, request).await?;
        let (request, weights) = (request.clone(), Arc::clone(&self.weights));
        let recall = apart(&turn, move || {
            let (page, rows): (Vec<Ranked>, Vec<Row>) = found.into_iter().map(Found::row).unzip();
            answer(&request, &ranking, page, rows, &weights, Form::Json(JsonRows::default()))
        })
        .await??;
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
        let (handles, counts): (Vec<i64>, Vec<i32>) =
            handles.into_iter().map(|(handle, count)| (i64::from(handle), i32::try_from(count).unwrap_or(1))).unzip();
        unless_overtaken(|| count_uses(db, user, &handles, &counts, now)).await?;
        // Rows are locked no longer: whoever waits for the index keeps nobody from writing.
        let Some(slot) = self.cache.known(user) else { return Ok(()) };
        let turn = self.turn(&slot).await;
        let _refreshing = slot.refreshing.lock().await;
        if !slot.index.read().unwrap_or_else(PoisonError::into_inner).is_loaded() {
            return Ok(());
        }
        let news = {
            let mut tx = db.of(user).await?;
            News::used(&handles, &mut tx).await?
        };
        self.take(db, user, &slot, &turn, news).await
    }
}

async fn count_uses(db: &Db, user: &UserId, handles: &[i64], counts: &[i32], now: i64) -> Result<(), DbError> {
    let mut tx = db.of(user).await?;
    sqlx::query(
        "UPDATE feed SET uses = uses + told.count, used = $4
         FROM unnest($2, $3) AS told (handle, count) WHERE feed.user_id = $1 AND feed.handle = told.handle",
    )
    .bind(user.as_str())
    .bind(handles)
    .bind(counts)
    .bind(now)
    .execute(&mut *tx.tx)
    .await?;
    tx.commit().await
}

/// The memories of a page, with what is kept of their lines' costs.
async fn rows(tx: &mut UserTx, page: Vec<Ranked>) -> Result<Vec<Found>, DbError> {
    let handles: Vec<i64> = page.iter().map(|ranked| i64::from(ranked.handle.get())).collect();
    let sql = concat!(
        "SELECT feed.handle, feed.uses, feed.used, signature, costs, passages, ",
        believed!("memories"),
        ", ",
        columns!(),
        " FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory AND state = 'live'
          WHERE feed.user_id = $1 AND feed.handle = ANY ($2)"
    );
    let found = tx.fed(sql, |query| query.bind(&handles)).await?;
    let mut rows = HashMap::new();
    for row in &found {
        let stored = stored(row)?;
        let handle = u32::try_from(row.try_get::<i64, _>("handle")?).unwrap_or(u32::MAX);
        let Some(document) = stored.row.state.live() else { continue };
        let Ok(short) = Handle::try_from(handle) else { continue };
        let (share, edited_by) = (stored.share(), stored.row.edited_by.clone());
        // The summary that was counted, however one would be made today.
        let summary = stored.summary.clone();
        let beside = Beside { id: stored.row.memory, handle: short, summary, share, edited_by, stands_for_file: false };
        let mut memory = memory_of(document, beside);
        let (uses, used): (i32, Option<i64>) = (row.try_get("uses")?, row.try_get("used")?);
        memory.access_count = u32::try_from(uses).unwrap_or(0);
        memory.last_accessed = used.map(tessera_engine::Timestamp::from_micros);
        memory.updated = stored.updated;
        let costs = costs(row, &memory)?;
        let signature: i64 = row.try_get("signature")?;
        rows.insert(handle, (stored, memory, costs, signature.cast_unsigned(), row.try_get("meaning")?));
    }
    let found = page.into_iter().filter_map(|ranked| {
        let (stored, memory, costs, signature, meaning) = rows.remove(&ranked.handle.get())?;
        Some(Found { ranked, stored, memory, costs, signature, meaning })
    });
    Ok(found.collect())
}
