//! Recall on the server: the engine ranks with one index in RAM per user. The server builds an index from stored terms
//! at the user's first question, and refreshes it from the user's feed. Any replica may have one.
//!
//! `index` and `news` import each other, because an index receives changes, and the changes depend on the index.

mod cache;
mod encoding;
mod index;
mod news;
mod related;
mod texts;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::Row as _;
use tessera_engine::Timestamp;
use tessera_engine::compose::{Beside, memory_of};
use tessera_engine::domain::{Clock, Memory, RecallRequest, ShortId};
use tessera_engine::embedding::Vector;
use tessera_engine::pack::{JsonRows, LineCosts, Ranked, Recall, Row};
use tessera_engine::recall::{Form, Ranking, answer, semantic_query};
use tessera_engine::score::Weights;
use tessera_engine::text::O200k;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::db::{Caller, Db, DbError, Position, Stored, Use, UserId, UserTx, believed, columns, costs, stored};
use cache::{Cache, Room, Slot};
use encoding::Encoding;
use index::UserIndex;
use news::News;
use texts::{Label, Texts};

/// Why a question cannot be answered.
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
    texts: Arc<Texts>,
    clock: Arc<dyn Clock>,
    /// If semantic search is off, indexes contain no embeddings.
    weights: Arc<Weights>,
    encoding: Encoding,
    /// The limit of simultaneous questions is higher than the number of processors, because each question also waits
    /// for the database. A waiting question holds no connection.
    turns: Arc<Semaphore>,
    /// Indexes that are being kept.
    keeping: Arc<Semaphore>,
    /// Access counts that are not written to the database yet.
    uses: Mutex<HashMap<UserId, HashMap<u32, u32>>>,
}

impl std::fmt::Debug for Recaller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recaller").finish_non_exhaustive()
    }
}

/// The cache of texts gets this fraction of the total size: one divided by this number.
const TEXTS: usize = 4;

/// The two permits to process a question: one of the server's, and one of the user's. Both permits last as long as the
/// work, even after the caller has left.
type Turn = Arc<[Option<OwnedSemaphorePermit>; 2]>;

/// Runs work on a thread that serves no requests.
async fn apart<T: Send + 'static>(turn: &Turn, work: impl FnOnce() -> T + Send + 'static) -> Result<T, DbError> {
    let turn = Arc::clone(turn);
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        drop(turn);
        done
    });
    done.await.map_err(|error| DbError::Row(format!("answering a question failed: {error}")))
}

impl Slot {
    /// Adds new access counts to the index; the caller holds `refreshing`.
    async fn count(self: &Arc<Self>, turn: &Turn, uses: Vec<Use>) -> Result<(), DbError> {
        if uses.is_empty() {
            return Ok(());
        }
        let of = Arc::clone(self);
        apart(turn, move || of.index.write().unwrap_or_else(PoisonError::into_inner).count(&uses)).await
    }
}

/// A memory for display.
struct Found {
    stored: Stored,
    memory: Memory,
    /// The token counts of the memory's lines; `None` if they are not stored.
    costs: Option<LineCosts>,
    signature: u64,
    /// The embeddings of the memory's passages; empty if this user may use none for the present text.
    embedding: Vec<u8>,
}

impl Found {
    /// Counts tokens if necessary. Call this function on a thread that may block.
    fn row(self) -> Arc<Row> {
        let Self { memory, costs, signature, embedding, .. } = self;
        let costs = costs.unwrap_or_else(|| LineCosts::measure(&memory, &O200k));
        Arc::new(Row { memory, costs, signature, embedding })
    }
}

/// The ranking for a question, with the cached rows of its page.
struct Asked {
    request: RecallRequest,
    form: JsonRows,
    weights: Arc<Weights>,
    ranking: Ranking,
    page: Vec<Ranked>,
    rows: Vec<Arc<Row>>,
    /// The IDs of the rows that must be read, and the version for caching them.
    others: Vec<u32>,
    label: Label,
}

impl Asked {
    fn answer(self) -> Result<Recall, RecallError> {
        let Self { request, form, weights, ranking, page, rows, .. } = self;
        let rows = rows.iter().map(|row| Row::clone(row)).collect();
        Ok(answer(&request, &ranking, page, rows, &weights, Form::Json(form))?)
    }
}

/// The result of processing a question without the database.
enum Outcome {
    Answered(Box<Recall>),
    Lacking(Box<Asked>),
}

impl Recaller {
    /// `most_bytes` limits all caches; without `by_embedding`, recall uses words only.
    pub(crate) fn new(clock: Arc<dyn Clock>, most_bytes: usize, by_embedding: bool) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let turns = (2 * processors).max(4);
        let weights = Weights::default();
        let embedding = if by_embedding { weights.embedding } else { 0.0 };
        Self {
            // One user gets at most half of the turns.
            cache: Cache::new(most_bytes - most_bytes / TEXTS, turns / 2),
            texts: Arc::new(Texts::new(most_bytes / TEXTS)),
            clock,
            weights: Arc::new(Weights { embedding, ..weights }),
            encoding: Encoding::new(processors),
            turns: Arc::new(Semaphore::new(turns)),
            keeping: Arc::new(Semaphore::new(1)),
            uses: Mutex::default(),
        }
    }

    /// Waits first for the user's own permit and then for a permit of the server, so one user cannot block others.
    async fn turn(&self, slot: &Slot) -> Turn {
        let own = Arc::clone(&slot.turns).acquire_owned().await.ok();
        Arc::new([own, Arc::clone(&self.turns).acquire_owned().await.ok()])
    }

    /// Refreshes the index of a user. The connection is released before the work begins.
    /// Another task may have done it meanwhile: then the index is at the position `at`.
    async fn refresh(
        &self,
        db: &Db,
        user: &UserId,
        at: Option<&Position>,
        slot: &Arc<Slot>,
        turn: &Turn,
    ) -> Result<(), DbError> {
        let _refreshing = slot.refreshing.lock().await;
        if at.is_some_and(|at| slot.is_at(at)) {
            return Ok(());
        }
        let taken = if slot.is_loaded() { None } else { self.take_kept(db, user, slot, turn).await? };
        let (mut news, used) = {
            let mut tx = db.of(user).await?;
            let news = News::read(&slot.index, &mut tx).await?;
            let used = match taken {
                Some(time) if !matches!(news, News::TooMuch(_)) => tx.used_since(time).await?,
                _ => Vec::new(),
            };
            (news, used)
        };
        let mut room = None;
        if let News::TooMuch(bytes) = news {
            // A task that waits for memory holds no connection.
            room = Some(self.cache.room(bytes).await);
            news = News::everything(&slot.index, &mut db.of(user).await?).await?;
        }
        match news.short_ids() {
            Some(short_ids) => self.texts.take(&slot.shelf, short_ids),
            None => slot.shelf.clear(),
        }
        let is_built = matches!(news, News::All(..));
        self.put(db, user, slot, turn, news, room).await?;
        slot.count(turn, used).await?;
        if is_built {
            self.keep(db, user, slot);
        }
        // A caller who asks for pending rows waits for them.
        let waited_for = slot.index.read().unwrap_or_else(PoisonError::into_inner).waited_for();
        waited_for.iter().filter_map(|owner| owner.parse().ok()).for_each(|owner| db.active().note(owner));
        Ok(())
    }

    /// Loads a stored index, and returns the time of the latest access count that it includes. The caller must still
    /// read later changes and access counts.
    async fn take_kept(&self, db: &Db, user: &UserId, slot: &Arc<Slot>, turn: &Turn) -> Result<Option<i64>, DbError> {
        let kept = db.of(user).await?.kept_index(self.weights.embedding > 0.0).await?;
        let Some(kept) = kept else { return Ok(None) };
        let to = Arc::clone(slot);
        let taken = apart(turn, move || {
            let index = UserIndex::of_kept(kept)?;
            let (used, bytes) = (index.used(), index.bytes());
            *to.index.write().unwrap_or_else(PoisonError::into_inner) = index;
            to.index.clear_poison();
            Some((used, bytes))
        });
        let Some((used, bytes)) = taken.await? else { return Ok(None) };
        self.cache.resized(user, slot, bytes);
        Ok(Some(used))
    }

    /// Stores a new index after the question was answered. Only one index is stored at a time. An index that changes or
    /// is removed meanwhile is not stored.
    fn keep(&self, db: &Db, user: &UserId, slot: &Arc<Slot>) {
        let (db, user, slot) = (db.clone(), user.clone(), Arc::downgrade(slot));
        let (keeping, by_embedding) = (Arc::clone(&self.keeping), self.weights.embedding > 0.0);
        tokio::spawn(async move {
            let Ok(_place) = keeping.acquire().await else { return };
            let Some(slot) = slot.upgrade() else { return };
            let kept = tokio::task::spawn_blocking(move || {
                slot.index.read().unwrap_or_else(PoisonError::into_inner).kept(by_embedding)
            });
            let Ok(Some(kept)) = kept.await else { return };
            if let Err(error) = db.keep_index(&user, &kept).await {
                // It is built again at the next question.
                tracing::warn!(%error, "an index could not be stored");
            }
        });
    }

    /// Adds changes to an index. The caller holds the lock `refreshing` of the user's entry.
    async fn put(
        &self,
        db: &Db,
        user: &UserId,
        slot: &Arc<Slot>,
        turn: &Turn,
        news: News,
        room: Option<Room>,
    ) -> Result<(), DbError> {
        if matches!(news, News::None) {
            return Ok(());
        }
        let news = if self.weights.embedding > 0.0 { news } else { news.without_embedding() };
        let (to, of) = (Arc::clone(slot), user.clone());
        let (remade, bytes) = apart(turn, move || {
            let remade = news.put(&to.index, &of)?;
            Ok::<_, DbError>((remade, to.index.read().unwrap_or_else(PoisonError::into_inner).bytes()))
        })
        .await??;
        // From here on, the index itself counts.
        drop(room);
        self.cache.resized(user, slot, bytes);
        if let Err(error) = db.keep(user, &remade).await {
            // They are computed again at the next build.
            tracing::warn!(%error, "the stored terms of rows could not be saved");
        }
        Ok(())
    }

    /// The embedding of a question; `None` if only words are compared. It is computed before the question takes a
    /// permit, so that all waiting questions can be encoded together.
    async fn meant(&self, request: &RecallRequest) -> Result<Option<Arc<Vector>>, DbError> {
        match semantic_query(request, self.clock.now(), &self.weights) {
            Some(query) => self.encoding.of(&query).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns a permit, and the caller's index with all changes before the request.
    async fn ready(&self, db: &Db, caller: &Caller) -> Result<(Arc<Slot>, Turn), DbError> {
        let slot = self.cache.of(&caller.user);
        let turn = self.turn(&slot).await;
        if !slot.is_at(&caller.at) {
            self.refresh(db, &caller.user, Some(&caller.at), &slot, &turn).await?;
        }
        Ok((slot, turn))
    }

    /// Ranks a user's memories, and loads the first page.
    pub(crate) async fn page(
        &self,
        db: &Db,
        caller: &Caller,
        request: &RecallRequest,
    ) -> Result<Vec<(Ranked, Stored)>, RecallError> {
        let meant = self.meant(request).await?;
        let (slot, turn) = self.ready(db, caller).await?;
        let (request, now, weights) = (request.clone(), self.clock.now(), Arc::clone(&self.weights));
        let page = apart(&turn, move || slot.rank(&request, meant.as_deref(), now, &weights).page(&request)).await??;
        let mut tx = db.of(&caller.user).await?;
        let short_ids: Vec<u32> = page.iter().map(|ranked| ranked.short_id.get()).collect();
        let mut found = found(&mut tx, &short_ids).await?;
        let stored = |ranked: Ranked| found.remove(&ranked.short_id.get()).map(|found| (ranked, found.stored));
        Ok(page.into_iter().filter_map(stored).collect())
    }

    /// Answers with one JSON payload that is within a budget. Access counts change without a feed entry, so rows with
    /// access counts are always read from the database.
    pub(crate) async fn recall(
        &self,
        db: &Db,
        caller: &Caller,
        request: &RecallRequest,
        form: JsonRows,
    ) -> Result<Recall, RecallError> {
        let meant = self.meant(request).await?;
        let (slot, turn) = self.ready(db, caller).await?;
        let (request, now, weights) = (request.clone(), self.clock.now(), Arc::clone(&self.weights));
        let (at, texts) = (Arc::clone(&slot), Arc::clone(&self.texts));
        let ranked = apart(&turn, move || {
            let ranking = at.rank(&request, meant.as_deref(), now, &weights);
            let page = ranking.page(&request)?;
            let short_ids = page.iter().map(|ranked| ranked.short_id.get());
            let (mut rows, mut others, label) = texts.of(&at.shelf, short_ids);
            if form.full {
                others.extend(rows.drain(..).map(|row| row.memory.short_id.get()));
            }
            let asked = Asked { request, form, weights, ranking, page, rows, others, label };
            let is_whole = asked.others.is_empty();
            Ok::<_, RecallError>(if is_whole {
                Outcome::Answered(Box::new(asked.answer()?))
            } else {
                Outcome::Lacking(Box::new(asked))
            })
        });
        let recall = match ranked.await?? {
            Outcome::Answered(recall) => *recall,
            Outcome::Lacking(mut asked) => {
                let found = {
                    let mut tx = db.of(&caller.user).await?;
                    found(&mut tx, &asked.others).await?
                };
                let texts = Arc::clone(&self.texts);
                apart(&turn, move || {
                    let read: Vec<Arc<Row>> = found.into_values().map(Found::row).collect();
                    texts.keep(&slot.shelf, asked.label, read.iter().cloned());
                    asked.rows.extend(read);
                    asked.answer()
                })
                .await??
            }
        };
        self.note(&caller.user, recall.details.iter().map(|detail| detail.ranked.short_id.get()));
        Ok(recall)
    }

    /// Records memories that were delivered in full.
    pub(crate) fn note(&self, user: &UserId, short_ids: impl Iterator<Item = u32>) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let of_user = uses.entry(user.clone()).or_default();
        short_ids.for_each(|short_id| *of_user.entry(short_id).or_default() += 1);
    }

    /// Writes access counts to the database and to the cached indexes.
    pub(crate) async fn flush(&self, db: &Db) {
        let uses = std::mem::take(&mut *self.uses.lock().unwrap_or_else(PoisonError::into_inner));
        let now = self.clock.now();
        for (user, short_ids) in uses.into_iter().filter(|(_, short_ids)| !short_ids.is_empty()) {
            if let Err(error) = self.flush_one(db, &user, short_ids, now).await {
                // A lost count only lowers the rank of a memory a little.
                tracing::warn!(%error, "access counts could not be stored");
            }
        }
    }

    async fn flush_one(
        &self,
        db: &Db,
        user: &UserId,
        short_ids: HashMap<u32, u32>,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let (short_ids, counts): (Vec<i64>, Vec<i32>) = short_ids
            .into_iter()
            .map(|(short_id, count)| (i64::from(short_id), i32::try_from(count).unwrap_or(1)))
            .unzip();
        let uses = db.count_uses(user, &short_ids, &counts, now).await?;
        // Rows are no longer locked, so waiting for the index blocks no writer.
        let Some(slot) = self.cache.known(user) else { return Ok(()) };
        let turn = self.turn(&slot).await;
        let _refreshing = slot.refreshing.lock().await;
        slot.count(&turn, uses).await
    }
}

/// Memories by ID, with stored line costs.
async fn found(tx: &mut UserTx, short_ids: &[u32]) -> Result<HashMap<u32, Found>, DbError> {
    let short_ids: Vec<i64> = short_ids.iter().map(|short_id| i64::from(*short_id)).collect();
    let sql = concat!(
        "SELECT feed.short_id, feed.uses, feed.used, signature, costs, passages, ",
        believed!("memories"),
        ", ",
        columns!(),
        " FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory AND state = 'live'
          WHERE feed.user_id = $1 AND feed.short_id = ANY ($2)"
    );
    let found = tx.fed(sql, |query| query.bind(&short_ids)).await?;
    let mut rows = HashMap::with_capacity(found.len());
    for row in &found {
        let stored = stored(row)?;
        let short_id = u32::try_from(row.try_get::<i64, _>("short_id")?).unwrap_or(u32::MAX);
        let Some(document) = stored.row.state.live() else { continue };
        let Ok(short) = ShortId::try_from(short_id) else { continue };
        let (share, edited_by) = (stored.share(), stored.row.edited_by.clone());
        // The counted summary, even if a new one would differ.
        let summary = stored.summary.clone();
        let beside =
            Beside { id: stored.row.memory, short_id: short, summary, share, edited_by, stands_for_file: false };
        let mut memory = memory_of(document, beside);
        memory.updated = stored.updated;
        memory.access_count = u32::try_from(row.try_get::<i32, _>("uses")?).unwrap_or(0);
        memory.last_accessed = row.try_get::<Option<i64>, _>("used")?.map(Timestamp::from_micros);
        let costs = costs(row, &memory)?;
        let signature = row.try_get::<i64, _>("signature")?.cast_unsigned();
        let embedding = row.try_get("embedding")?;
        rows.insert(short_id, Found { stored, memory, costs, signature, embedding });
    }
    Ok(rows)
}
