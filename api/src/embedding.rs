//! Computes embeddings in the background: one batch at a time, on a thread of the lowest priority, active users first.
//! Afterwards, compares memories that were created through REST with older ones.
//! After an interruption, finished batches are kept, and the next round finds the remaining rows.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tessera_engine::embedding::{Embedding, Encoder, embeddings};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use crate::db::{DbError, Kept, PendingEmbedding, UserId};
use crate::{App, SemanticSearch};

/// Memories of a batch.
const BATCH: i64 = 16;
/// The pause between two batches, so that requests go first.
const PAUSE: Duration = Duration::from_millis(20);
/// The interval of scans over all users, because another server or an earlier version may have left rows without
/// embeddings.
const ROUND: Duration = Duration::from_hours(1);
/// The pause after a database error.
const AGAIN: Duration = Duration::from_secs(30);
/// The niceness of the thread.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

/// Computes missing embeddings while the server runs.
pub(crate) async fn make(app: App) {
    if app.embedding != SemanticSearch::On {
        return app.db.active().close();
    }
    let mut work = Work { app, rest: VecDeque::new(), later: HashMap::new(), waiting: HashMap::new() };
    let mut round = Instant::now();
    loop {
        let Some(user) = work.next() else {
            let again = work.later.values().min().copied().unwrap_or(round);
            tokio::select! {
                () = work.app.db.active().some() => {}
                () = sleep_until(round.min(again)) => {
                    if round <= Instant::now() {
                        round = Instant::now() + work.begin_round().await;
                    }
                }
            }
            continue;
        };
        if let Err(error) = work.some_of(&user).await {
            // The others go on meanwhile.
            tracing::warn!(%error, user = user.as_str(), "embeddings will be computed later");
            work.later.insert(user, Instant::now() + AGAIN);
        }
        sleep(PAUSE).await;
    }
}

/// The remaining work.
struct Work {
    app: App,
    /// Users that this round has not processed yet.
    rest: VecDeque<UserId>,
    /// Users whose work failed, and when to try again.
    later: HashMap<UserId, Instant>,
    /// The number of pending rows at the last check.
    waiting: HashMap<UserId, u64>,
}

impl Work {
    /// Returns the next user: a user whose last attempt failed, an active user, or a user who is still missing in this
    /// round.
    fn next(&mut self) -> Option<UserId> {
        let now = Instant::now();
        let due = |later: &HashMap<UserId, Instant>| {
            later.iter().filter(|(_, at)| **at <= now).map(|(user, _)| user.clone()).min()
        };
        if let Some(user) = due(&self.later) {
            self.later.remove(&user);
            return Some(user);
        }
        loop {
            let user = self.app.db.active().next().or_else(|| self.rest.pop_front())?;
            if !self.later.contains_key(&user) {
                return Some(user);
            }
        }
    }

    /// Begins a round over all users; returns the time until the next one.
    async fn begin_round(&mut self) -> Duration {
        match self.app.db.users().await {
            Ok(users) => {
                self.rest = users.iter().filter_map(|user| user.parse().ok()).collect();
                ROUND
            }
            Err(error) => {
                tracing::warn!(%error, "scanning users for missing embeddings failed; trying again later");
                AGAIN
            }
        }
    }

    /// Processes one batch of a user, and queues the user again if there is more.
    async fn some_of(&mut self, user: &UserId) -> Result<(), DbError> {
        let db = &self.app.db;
        let mut rows = db.to_make(user, BATCH).await?;
        if rows.is_empty() && db.check_shared(user).await? > 0 {
            rows = db.to_make(user, BATCH).await?;
        }
        if !rows.is_empty() {
            let kept = db.keep_made(user, &made_or_none(user, rows).await?).await?;
            note(user, kept);
            db.active().note(user.clone());
        } else if relate_some(&self.app, user).await? {
            db.active().note(user.clone());
        }
        let waiting = db.waiting(user).await?;
        self.waiting.insert(user.clone(), waiting);
        self.waiting.retain(|_, waiting| *waiting > 0);
        metrics::gauge!("tessera_embeddings_waiting").set(self.waiting.values().sum::<u64>() as f64);
        Ok(())
    }
}

/// Compares some of a user's memories with older ones. Returns false if none was waiting.
async fn relate_some(app: &App, user: &UserId) -> Result<bool, DbError> {
    let short_ids = app.db.to_relate(user, BATCH).await?;
    if short_ids.is_empty() {
        return Ok(false);
    }
    let related = app.recaller.relate(&app.db, user, &short_ids).await?;
    let marked = app.db.keep_related(user, &related).await?;
    metrics::counter!("tessera_memories_compared_total").increment(marked);
    // A memory that changed meanwhile is compared again later.
    Ok(marked > 0)
}

/// Records the result of a batch in the metrics.
fn note(user: &UserId, kept: Kept) {
    metrics::counter!("tessera_embeddings_made_total").increment(kept.made);
    metrics::counter!("tessera_embeddings_checked_total").increment(kept.checked);
    metrics::counter!("tessera_embeddings_differing_total").increment(kept.differing);
    metrics::counter!("tessera_keys_distrusted_total").increment(kept.distrusted);
    if kept.differing > 0 {
        let (rows, keys) = (kept.differing, kept.distrusted);
        tracing::warn!(user = user.as_str(), rows, keys, "a client sent wrong embeddings");
    }
}

/// Computes embeddings. If the encoder panics, each text is tried alone. A text that causes a panic gets no embedding,
/// so only its words can be found.
async fn made_or_none(user: &UserId, rows: Vec<PendingEmbedding>) -> Result<Vec<(PendingEmbedding, Vec<u8>)>, DbError> {
    if let Ok(made) = made(rows.clone()).await {
        return Ok(made);
    }
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        match made(vec![row.clone()]).await {
            Ok(made) => all.extend(made),
            Err(error) => {
                tracing::error!(%error, user = user.as_str(), "the encoder cannot read a text");
                all.push((row, Embedding::of(&[]).into_bytes()));
            }
        }
    }
    Ok(all)
}

/// Computes embeddings on a separate thread with the lowest priority.
async fn made(rows: Vec<PendingEmbedding>) -> Result<Vec<(PendingEmbedding, Vec<u8>)>, DbError> {
    let (tell, told) = oneshot::channel();
    let work = move || {
        // Only Linux has priorities per thread. If the system refuses, the thread has normal priority.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(None, NICE);
        let texts: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
        let made: Vec<Vec<u8>> =
            embeddings(Encoder::shared(), &texts, || true).into_iter().map(Embedding::into_bytes).collect();
        // Nobody receives the result if the server is stopping.
        let _ = tell.send(rows.into_iter().zip(made).collect());
    };
    let failed = |problem: &dyn std::fmt::Display| DbError::Row(format!("computing embeddings failed: {problem}"));
    std::thread::Builder::new().name("embedding".into()).spawn(work).map_err(|error| failed(&error))?;
    told.await.map_err(|error| failed(&error))
}
