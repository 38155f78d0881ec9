//! One exchange with the server.

use std::collections::BTreeSet;

use tessera_engine::Store;
use tessera_engine::domain::MemoryUuid;
use tessera_engine::store::{Anew, ServerState, StoreError, Whole};
use tessera_engine::sync::{Checkpoint, MOST_OPS, MOST_SECRETS, Op, Push, SentSecrets, Snapshot};
use tokio_util::sync::CancellationToken;

use super::{Remote, RemoteError, SyncError, Turn};
use crate::folders::refresh;
use crate::shared::SharedStore;

/// The number of rows per page. A page is stored in one transaction, during which calls wait.
const PAGE: u32 = 100;
/// The maximum number of pages and batches per exchange; the next exchange continues.
const MOST_STEPS: usize = 10_000;
/// The number of failing changes after which the exchange stops sending, because the server itself is at fault.
const MOST_FAILING: usize = 8;
/// The maximum number of timeouts per exchange; each takes twenty seconds. After each timeout, the batch is reduced to
/// a quarter. So one bad change among a hundred is found after four timeouts.
const MOST_TIMEOUTS: usize = 5;
/// After a timeout, the size of the batch is divided by this number.
const QUARTER: usize = 4;
/// The maximum number of attempts in one exchange if the server requests a complete download.
const MOST_REFETCHES: usize = 3;

/// The result of a sync.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exchanged {
    /// Changes that the server accepted or resolved.
    pub sent: u64,
    /// Changes that came from it.
    pub received: u64,
    /// Changes that the server rejected permanently.
    pub refused: u64,
    /// Changes that the server failed to process. The next exchange retries them.
    pub failing: u64,
}

/// Exchanges everything with the server, for a program with its own store.
///
/// # Errors
/// Returns an error if the server or the store fails. Changes that were exchanged before the error stay exchanged.
pub async fn exchange(store: Store, remote: &Remote) -> Result<Exchanged, SyncError> {
    run(&SharedStore::new(store), remote).await
}

/// Exchanges everything, and records the result.
pub(crate) async fn run(desk: &SharedStore, remote: &Remote) -> Result<Exchanged, SyncError> {
    let (home, machine) = on(desk, |store| Ok((store.home().clone(), store.machine()?))).await?;
    remote.speak_as(machine);
    let _turn = Turn::take(&home).ok_or(SyncError::Busy)?;
    settle_files(desk).await;
    let result = Round { desk, remote, done: Exchanged::default() }.run().await;
    settle_files(desk).await;
    let problem = match &result {
        Ok(_) => None,
        Err(SyncError::Remote(error) | SyncError::NotSent(error)) => Some(error.to_string()),
        Err(_) => return result,
    };
    let was_reached = matches!(result, Err(SyncError::NotSent(_)));
    on(desk, move |store| {
        if was_reached {
            store.note_server(None)?;
        }
        let known = store.server()?;
        // Records every success, and each problem once.
        if problem.is_none() || known.is_some_and(|known| known.problem != problem) {
            store.note_server(problem.as_deref())?;
        }
        Ok(())
    })
    .await?;
    result
}

/// Scans the files before the exchange, so that it sends their edits. After the exchange, writes the received edits to
/// the files.
async fn settle_files(desk: &SharedStore) {
    let beside = desk.beside().await;
    let settled = on(&beside, refresh);
    if let Err(error) = settled.await {
        tracing::debug!(%error, "checking the files failed");
    }
}

/// Runs work on the store, on another thread.
async fn on<T: Send + 'static>(
    desk: &SharedStore,
    work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, SyncError> {
    let never = CancellationToken::new();
    let done = desk.run(&never, work).await.ok_or(SyncError::Ended)?;
    Ok(done?)
}

struct Round<'a> {
    desk: &'a SharedStore,
    remote: &'a Remote,
    done: Exchanged,
}

impl Round<'_> {
    async fn run(mut self) -> Result<Exchanged, SyncError> {
        let state = self.state().await?;
        if state.url != self.remote.address() {
            return Err(StoreError::OtherServer { url: state.url, user: state.user }.into());
        }
        for _ in 0..MOST_REFETCHES {
            let tried = async {
                if !self.state().await?.is_whole {
                    self.refetch().await?;
                }
                // Unsent changes do not stop downloads.
                let not_sent = match self.push().await {
                    Ok(()) => None,
                    Err(SyncError::Remote(error)) if !matches!(error, RemoteError::MustRefetch) => Some(error),
                    Err(error) => return Err(error),
                };
                let keeps_secrets = self.pull().await?;
                // Failing changes do not stop secrets; a pause does.
                let is_pause = not_sent.as_ref().is_some_and(|error| !error.is_not_now());
                if keeps_secrets && !is_pause {
                    self.give_secrets().await?;
                }
                not_sent.map_or(Ok(()), |error| Err(SyncError::NotSent(error)))
            };
            match tried.await {
                Err(SyncError::Remote(RemoteError::MustRefetch)) => on(self.desk, Store::must_begin_anew).await?,
                other => return other.map(|()| self.done),
            }
        }
        Err(RemoteError::MustRefetch.into())
    }

    async fn state(&self) -> Result<ServerState, SyncError> {
        on(self.desk, |store| store.server()).await?.ok_or(SyncError::NotJoined)
    }

    /// The machine's newest checkpoints.
    async fn known(&self) -> Result<Vec<Checkpoint>, SyncError> {
        Ok(on(self.desk, |store| store.checkpoints()).await?.into_iter().take(1).collect())
    }

    /// Downloads the server's complete state, and restarts from it.
    async fn refetch(&mut self) -> Result<(), SyncError> {
        let (known, checkpoints) = (self.state().await?, on(self.desk, |store| store.checkpoints()).await?);
        // Another user's key would receive all local memories.
        if self.remote.user().await? != known.user {
            return Err(StoreError::OtherServer { url: known.url, user: known.user }.into());
        }
        let mut page = self.remote.snapshot(known.epoch, None, &checkpoints).await?;
        let Snapshot { epoch, restored_seq, head, checkpoint, .. } = page;
        let mut anew = Anew::default();
        let (mut pages, mut last) = (0, None);
        loop {
            if page.epoch != epoch {
                return Err(RemoteError::MustRefetch.into());
            }
            let Snapshot { rows, embeddings, next, .. } = page;
            self.done.received += rows.len() as u64;
            let whole = Whole { epoch, restored_seq, head, checkpoint, rows, embeddings };
            let taken = on(self.desk, move |store| anew.take(store, &whole).map(|()| (anew, whole)));
            let Some(after) = next else {
                let (anew, whole) = taken.await?;
                return on(self.desk, move |store| anew.end(store, &whole)).await;
            };
            pages += 1;
            if last.is_some_and(|last| after <= last) || pages >= MOST_STEPS {
                taken.await?;
                return Err(RemoteError::Failed(
                    "its snapshot never ends: each page announces another page".to_owned(),
                )
                .into());
            }
            last = Some(after);
            // Downloads the next page meanwhile.
            let (taken, following) = tokio::join!(taken, self.remote.snapshot(known.epoch, Some(after), &checkpoints));
            (anew, page) = (taken?.0, following?);
        }
    }

    /// Sends pending changes, oldest first.
    async fn push(&mut self) -> Result<(), SyncError> {
        let (mut most, mut cap) = (MOST_OPS, MOST_OPS);
        let mut before: Vec<Op> = Vec::new();
        let (mut skipped, mut failure, mut failed, mut timeouts) = (BTreeSet::new(), None, 0, 0);
        for _ in 0..MOST_STEPS {
            let skip = skipped.clone();
            let ops = on(self.desk, move |store| store.ops_without(&skip, most)).await?;
            // Changes that are still pending after an answer wait for the next exchange.
            if ops.is_empty() || ops == before {
                return failure.map_or(Ok(()), |error: RemoteError| Err(error.into()));
            }
            before.clone_from(&ops);
            let epoch = self.state().await?.epoch;
            let sent = ops.clone();
            let sent = on(self.desk, move |store| store.with_embeddings(sent)).await?;
            match self.remote.push(&Push { epoch, ops: sent }, &self.known().await?).await {
                Ok(pushed) => {
                    self.done.sent += pushed.answers.len() as u64;
                    most = (most * 2).min(cap);
                    on(self.desk, move |store| store.answered(epoch, &pushed)).await?;
                }
                // One of them is at fault; smaller batches find it.
                Err(error) if ops.len() > 1 && error.may_be_of_one(timeouts + 1 < MOST_TIMEOUTS) => {
                    let is_late = matches!(error, RemoteError::TimedOut);
                    timeouts += usize::from(is_late);
                    most = (ops.len() / if is_late { QUARTER } else { 2 }).max(1);
                    // The batch stays small after a timeout.
                    cap = if is_late { most } else { cap };
                    before.clear();
                }
                Err(error)
                    if ops.len() == 1
                        && error.is_not_now()
                        && timeouts < MOST_TIMEOUTS
                        && (matches!(error, RemoteError::Full(_)) || failed + 1 < MOST_FAILING) =>
                {
                    let Some(op) = ops.first() else { return Ok(()) };
                    failed += usize::from(!matches!(error, RemoteError::Full(_)));
                    timeouts += usize::from(matches!(error, RemoteError::TimedOut));
                    // If this single change is slow, the others continue in larger batches.
                    cap = MOST_OPS / QUARTER;
                    skipped.insert(op.memory);
                    self.note_failing(op, &error).await?;
                    failure = Some(error);
                    before.clear();
                }
                Err(error @ (RemoteError::TooLarge | RemoteError::Refused(_))) => {
                    let Some(op) = ops.first() else { return Ok(()) };
                    let (memory, why) = (op.memory, error.to_string());
                    self.done.refused += 1;
                    on(self.desk, move |store| store.set_aside(memory, &why)).await?;
                    before.clear();
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Records a change that the server failed to process; the next exchange sends it last.
    async fn note_failing(&mut self, op: &Op, error: &RemoteError) -> Result<(), SyncError> {
        let (memory, why) = (op.memory, error.to_string());
        self.done.failing += 1;
        on(self.desk, move |store| store.note_failing(memory, &why)).await
    }

    /// Sends missing secrets to the server, through their own route. [`Remote`] exists only for encrypted connections.
    async fn give_secrets(&mut self) -> Result<(), SyncError> {
        let mut after: Option<(MemoryUuid, String)> = None;
        let (mut most, mut timeouts, mut failed, mut failure) = (MOST_SECRETS, 0, 0, None);
        for _ in 0..MOST_STEPS {
            let last = after.clone();
            let secrets = on(self.desk, move |store| {
                store.untold_secrets(last.as_ref().map(|(memory, name)| (*memory, name.as_str())))
            });
            let mut secrets = secrets.await?;
            secrets.truncate(most);
            let Some(sent) = secrets.last() else {
                return failure.map_or(Ok(()), |error| Err(SyncError::NotSent(error)));
            };
            let (to, count) = ((sent.memory, sent.name.clone()), secrets.len());
            let kept = match self.remote.keep_secrets(&SentSecrets { secrets }).await {
                Ok(kept) => {
                    after = Some(to);
                    kept
                }
                Err(RemoteError::TimedOut) if count > 1 && timeouts + 1 < MOST_TIMEOUTS => {
                    timeouts += 1;
                    most = (count / QUARTER).max(1);
                    continue;
                }
                // One of them is at fault; smaller batches find it.
                Err(
                    RemoteError::Failed(_) | RemoteError::Blocked(_) | RemoteError::Refused(_) | RemoteError::TooLarge,
                ) if count > 1 => {
                    most = count / 2;
                    continue;
                }
                // This exchange skips it. It stays here, and `secret list` shows that the server does not have it.
                Err(error @ (RemoteError::Failed(_) | RemoteError::Blocked(_) | RemoteError::TimedOut))
                    if count == 1 && failed + 1 < MOST_FAILING =>
                {
                    failed += 1;
                    (after, failure) = (Some(to), Some(error));
                    continue;
                }
                Err(RemoteError::Refused(_) | RemoteError::TooLarge) if failed + 1 < MOST_FAILING => {
                    failed += 1;
                    after = Some(to);
                    continue;
                }
                // The server stores no secrets any more, or this key may not send them.
                Err(RemoteError::Refused(_) | RemoteError::Forbidden(_) | RemoteError::TooLarge) => return Ok(()),
                Err(error) => return Err(SyncError::NotSent(error)),
            };
            self.done.sent += on(self.desk, move |store| store.secrets_told(&kept)).await?;
        }
        Ok(())
    }

    /// Downloads changes. True if the server stores secrets.
    async fn pull(&mut self) -> Result<bool, SyncError> {
        let mut keeps_secrets = false;
        for _ in 0..MOST_STEPS {
            let ServerState { epoch, cursor, .. } = self.state().await?;
            let page = self.remote.changes(epoch, cursor, PAGE, &self.known().await?).await?;
            let more = page.more;
            if more && (page.next <= cursor || page.news.is_empty()) {
                return Err(RemoteError::Failed("it announces more changes, but sends no new ones".to_owned()).into());
            }
            keeps_secrets = page.keeps_secrets;
            self.done.received += page.news.len() as u64;
            on(self.desk, move |store| store.arrived(epoch, cursor, &page)).await?;
            if !more {
                return Ok(keeps_secrets);
            }
        }
        Ok(keeps_secrets)
    }
}
