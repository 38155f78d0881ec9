//! Finding out what memories mean, in the background: one batch at a time, on a thread of the lowest priority, for users
//! with activity first. Whatever ends it, what was done is done; what waits is found again by the next round.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use tessera_engine::meaning::{Encoder, Meaning, meanings};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use crate::db::{Db, DbError, Kept, PendingEmbedding, UserId};
use crate::{App, SemanticSearch};

/// Memories of a batch.
const BATCH: i64 = 16;
/// Between two batches: whoever asks meanwhile goes first.
const PAUSE: Duration = Duration::from_millis(20);
/// How often all users are looked through: rows may wait of which another server knows, or an older program's.
const ROUND: Duration = Duration::from_hours(1);
/// Between two tries, where the database was in the way.
const AGAIN: Duration = Duration::from_secs(30);
/// The priority of a thread that nobody waits for.
#[cfg(target_os = "linux")]
const NICE: i32 = 19;

/// Makes what waits, for as long as the server runs.
pub(crate) async fn make(app: App) {
    if app.meaning != SemanticSearch::On {
        return app.db.active().close();
    }
    let mut work = Work { db: app.db, rest: VecDeque::new(), later: HashMap::new(), waiting: HashMap::new() };
    let mut round = Instant::now();
    loop {
        let Some(user) = work.next() else {
            let again = work.later.values().min().copied().unwrap_or(round);
            tokio::select! {
                () = work.db.active().some() => {}
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
            tracing::warn!(%error, user = user.as_str(), "what memories mean is found out later");
            work.later.insert(user, Instant::now() + AGAIN);
        }
        sleep(PAUSE).await;
    }
}

/// What is left to do.
struct Work {
    db: Db,
    /// Users of this round whose turn has not come.
    rest: VecDeque<UserId>,
    /// Users whose work failed, and when it is tried again.
    later: HashMap<UserId, Instant>,
    /// How many rows waited, when it was last looked.
    waiting: HashMap<UserId, u64>,
}

impl Work {
    /// The next user: with activity, of this round, or to be tried again.
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
            let user = self.db.active().next().or_else(|| self.rest.pop_front())?;
            if !self.later.contains_key(&user) {
                return Some(user);
            }
        }
    }

    /// Looks through all users; gives the time until the next round.
    async fn begin_round(&mut self) -> Duration {
        match self.db.users().await {
            Ok(users) => {
                self.rest = users.iter().filter_map(|user| user.parse().ok()).collect();
                ROUND
            }
            Err(error) => {
                tracing::warn!(%error, "users are looked through later");
                AGAIN
            }
        }
    }

    /// A batch of one user's. They are noted again where there is more.
    async fn some_of(&mut self, user: &UserId) -> Result<(), DbError> {
        let mut rows = self.db.to_make(user, BATCH).await?;
        if rows.is_empty() && self.db.check_shared(user).await? > 0 {
            rows = self.db.to_make(user, BATCH).await?;
        }
        if !rows.is_empty() {
            let kept = self.db.keep_made(user, &made_or_none(user, rows).await?).await?;
            note(user, kept);
            self.db.active().note(user.clone());
        }
        let waiting = self.db.waiting(user).await?;
        self.waiting.insert(user.clone(), waiting);
        self.waiting.retain(|_, waiting| *waiting > 0);
        metrics::gauge!("tessera_meanings_waiting").set(self.waiting.values().sum::<u64>() as f64);
        Ok(())
    }
}

/// What became of a batch, for whoever watches the server.
fn note(user: &UserId, kept: Kept) {
    metrics::counter!("tessera_meanings_made_total").increment(kept.made);
    metrics::counter!("tessera_meanings_checked_total").increment(kept.checked);
    metrics::counter!("tessera_meanings_differing_total").increment(kept.differing);
    metrics::counter!("tessera_keys_distrusted_total").increment(kept.distrusted);
    if kept.differing > 0 {
        let (rows, keys) = (kept.differing, kept.distrusted);
        tracing::warn!(user = user.as_str(), rows, keys, "a machine sent vectors that are not what its texts mean");
    }
}

/// Makes the vectors of some texts. If the encoder panics, each text is tried alone: one that makes it panic gets none, and is
/// found by its words.
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
                all.push((row, Meaning::of(&[]).into_bytes()));
            }
        }
    }
    Ok(all)
}

/// Makes the vectors of some texts, on a thread of its own that gives way to all others.
async fn made(rows: Vec<PendingEmbedding>) -> Result<Vec<(PendingEmbedding, Vec<u8>)>, DbError> {
    let (tell, told) = oneshot::channel();
    let work = move || {
        // On Linux alone a thread has a priority of its own. If the system refuses, the work has the priority of the rest.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(None, NICE);
        let texts: Vec<&str> = rows.iter().map(|row| row.content.as_str()).collect();
        let made: Vec<Vec<u8>> =
            meanings(Encoder::shared(), &texts, || true).into_iter().map(Meaning::into_bytes).collect();
        // Nobody listens any more when the server ends.
        let _ = tell.send(rows.into_iter().zip(made).collect());
    };
    let failed = |problem: &dyn std::fmt::Display| DbError::Row(format!("the work on what memories mean: {problem}"));
    std::thread::Builder::new().name("meaning".into()).spawn(work).map_err(|error| failed(&error))?;
    told.await.map_err(|error| failed(&error))
}
