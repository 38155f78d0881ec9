//! A store shared by many calls in an async process, and the use cases that need a team server.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tessera_engine::Store;
use tessera_engine::domain::{DomainError, Memory, MemoryRef, MemoryUuid, Permission, ShortId, Tag};
use tessera_engine::store::{
    ListRequest, Revealed, RevealedSecret, SecretRef, SecretValue, StoreError, UnavailableBecause,
};
use tessera_engine::sync::{Invitation, Missing, PurgeReport, ShownSecret};
use tokio_util::sync::CancellationToken;

use crate::caller::Caller;
use crate::desk::Desk;
use crate::folders::ChangeWait;
use crate::shared::SharedStore;
use crate::sync::{EVERY, Mode, Remote, RemoteError, SharedTag, Shares, SyncError, SyncProblem, Worker};

/// How often, and at which interval, to try again while another process is syncing.
const TURNS: u32 = 40;
const TURN: Duration = Duration::from_millis(250);

/// A team server, and the store that syncs with it.
#[derive(Debug, Clone)]
pub struct Team {
    store: SharedStore,
    remote: Arc<Remote>,
    mode: Mode,
    every: Duration,
    trouble: SyncProblem,
}

/// The outcome of work in direct mode. If changes were not exchanged, also the reason.
#[derive(Debug)]
pub struct Done<T> {
    /// The outcome.
    pub outcome: T,
    /// Why the outcome was not sent. The next successful exchange sends the changes.
    pub not_sent: Option<SyncError>,
    /// Why the server's changes are missing, if the work continued without them.
    pub not_heard: Option<SyncError>,
}

impl Team {
    /// Creates a connection of a store to a server.
    pub fn new(store: SharedStore, remote: Remote, mode: Mode) -> Self {
        Self { store, remote: Arc::new(remote), mode, every: EVERY, trouble: SyncProblem::default() }
    }

    /// Sets the interval of background syncs.
    #[must_use]
    pub fn exchanging_every(self, every: Duration) -> Self {
        Self { every, ..self }
    }

    /// The background client.
    pub fn worker(&self) -> Worker {
        Worker::new(self.store.clone(), Arc::clone(&self.remote), self.trouble.clone()).exchanging_every(self.every)
    }

    /// The server's last error.
    pub fn trouble(&self) -> Option<String> {
        self.trouble.get()
    }

    /// Waits until the store and the server are in sync.
    ///
    /// # Errors
    /// Returns an error if the server does not answer or rejects the request, or another process syncs for too long.
    pub async fn exchange(&self) -> Result<(), SyncError> {
        // Another process may be syncing since before the present changes were made.
        for _ in 0..TURNS {
            match self.worker().round().await {
                Err(SyncError::Busy) => tokio::time::sleep(TURN).await,
                other => return other.map(drop),
            }
        }
        Err(SyncError::Busy)
    }

    /// Performs a use case of the server. All of them pass here.
    ///
    /// # Errors
    /// Returns the errors of the use case.
    pub async fn perform<V: TeamUseCase>(&self, verb: V) -> Result<V::Outcome, SyncError> {
        // A variable may name another server than the joined one.
        if let Some(joined) = self.on(|store| store.server()).await?
            && joined.url != self.remote.address()
        {
            return Err(StoreError::OtherServer { url: joined.url, user: joined.user }.into());
        }
        verb.run(self).await
    }

    /// Runs work on the store.
    async fn on<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, SyncError> {
        Ok(self.store.run(&CancellationToken::new(), work).await.ok_or(SyncError::Ended)??)
    }

    async fn memory(&self, reference: MemoryRef) -> Result<Memory, SyncError> {
        self.on(move |store| store.get(reference)?.ok_or(StoreError::NotFound(reference))).await
    }
}

/// Performs work on a shared store. In direct mode, syncs first and does not start the work if that fails; syncs again
/// after work that may have changed something. `None` if the caller no longer waits.
pub async fn at_desk<T: Send + 'static>(
    store: &SharedStore,
    team: Option<&Team>,
    caller: Caller,
    cancelled: &CancellationToken,
    work: impl FnOnce(&mut Desk<'_>) -> T + Send + 'static,
) -> Option<Result<Done<T>, SyncError>> {
    let direct = team.filter(|team| team.mode == Mode::Direct);
    if let Some(team) = direct
        && let Err(error) = team.exchange().await
    {
        return Some(Err(error));
    }
    if direct.is_none() && team.is_some() {
        store.note_asked();
    }
    let looks = store.looks();
    let work = move |store: &mut Store| {
        let mut desk = Desk::new(store, &caller).looking(looks);
        (work(&mut desk), desk.has_changed(), desk.has_spooled())
    };
    let Some((outcome, has_changed, has_spooled)) = store.run(cancelled, work).await else {
        // Work that has begun is finished anyway.
        store.note_change();
        return None;
    };
    if has_changed {
        store.note_change();
    } else if has_spooled {
        store.wake_background();
    }
    let not_sent = match direct {
        Some(team) if has_changed => team.exchange().await.err(),
        _ => None,
    };
    Some(Ok(Done { outcome, not_sent, not_heard: None }))
}

/// Performs work in direct mode for a program without a runtime. If the server's changes cannot be downloaded,
/// `goes_on` decides whether to continue.
///
/// # Errors
/// Returns an error if no runtime can be created, or if the server does not answer and `goes_on` returns false. Then nothing was done.
pub fn directly<T>(
    store: Store,
    remote: Remote,
    caller: &Caller,
    goes_on: impl FnOnce(&SyncError) -> bool,
    work: impl FnOnce(&mut Desk<'_>) -> T,
) -> Result<Done<T>, SyncError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|_| SyncError::Ended)?;
    let team = Team::new(SharedStore::new(store), remote, Mode::Direct);
    let not_heard = runtime.block_on(team.exchange()).err();
    if let Some(error) = not_heard.as_ref()
        && !goes_on(error)
    {
        return Err(not_heard.unwrap_or(SyncError::Ended));
    }
    let (outcome, has_changed) = team.store.here(|store| {
        let mut desk = Desk::new(store, caller).looking(Some(ChangeWait::Long));
        (work(&mut desk), desk.has_changed())
    });
    let is_heard = not_heard.is_none();
    let not_sent = if has_changed && is_heard { runtime.block_on(team.exchange()).err() } else { None };
    Ok(Done { outcome, not_sent, not_heard })
}

/// A use case of a team server.
pub trait TeamUseCase: Send {
    /// Its result.
    type Outcome;

    /// Performs it. Only [`Team::perform`] calls this.
    fn run(self, team: &Team) -> impl Future<Output = Result<Self::Outcome, SyncError>> + Send;
}

/// The server's report on which devices have applied a permanent deletion.
#[derive(Debug, Clone, Copy)]
pub struct PurgedThere {
    /// The memory.
    pub memory: MemoryUuid,
}

impl TeamUseCase for PurgedThere {
    type Outcome = PurgeReport;

    async fn run(self, team: &Team) -> Result<PurgeReport, SyncError> {
        Ok(team.remote.purged(self.memory).await?)
    }
}

/// Requests a secret from the team server if this machine does not have the value. Both sides record the request.
#[derive(Debug, Clone)]
pub struct RevealFromServer {
    /// The secret.
    pub which: SecretRef,
    /// The caller.
    pub caller: Caller,
}

/// The result of [`RevealFromServer`].
#[derive(Debug, Clone)]
pub struct FromServer {
    /// The memory.
    pub memory: Memory,
    /// The value of the requested secret. For a memory, its text with the values of its secrets.
    pub value: SecretValue,
    /// The names of missing values.
    pub missing: Vec<String>,
}

impl FromServer {
    /// Returns a value that this machine stores.
    pub(crate) fn here(which: &SecretRef, revealed: Revealed) -> Self {
        let Revealed { memory, secrets, content } = revealed;
        let value = match (which, secrets.into_iter().next()) {
            (SecretRef::Name(_), Some(RevealedSecret { value: Ok(value), .. })) => value,
            _ => content,
        };
        Self { memory, value, missing: Vec::new() }
    }
}

impl TeamUseCase for RevealFromServer {
    type Outcome = FromServer;

    async fn run(self, team: &Team) -> Result<FromServer, SyncError> {
        let (which, actor) = (self.which.clone(), self.caller.actor(None));
        // A value that is now here is not requested from the server.
        let here = team.on(move |store| Ok(store.reveal(&which, &actor))).await?;
        let (name, memory) = match here {
            Ok(revealed) => return Ok(FromServer::here(&self.which, revealed)),
            Err(StoreError::ValueElsewhere { name, memory, why: UnavailableBecause::NeverHere }) => (name, memory),
            Err(error) => return Err(error.into()),
        };
        let shown = match team.remote.secrets_of(memory).await {
            // The server has no such memory, or stores no secrets.
            Err(RemoteError::Refused(_) | RemoteError::NotFound(_)) => {
                let why = UnavailableBecause::NorOnServer;
                return Err(StoreError::ValueElsewhere { name, memory, why }.into());
            }
            other => other?,
        };
        let has = |secret: &&ShownSecret| secret.value.is_some();
        let wanted = |secret: &&ShownSecret| match self.which {
            SecretRef::Name(_) => secret.name.as_deref() == Some(name.as_str()),
            SecretRef::Memory(_) => true,
        };
        let given: Vec<String> =
            shown.secrets.iter().filter(wanted).filter(has).filter_map(|secret| secret.name.clone()).collect();
        if given.is_empty() {
            let lacks_key = shown.secrets.iter().filter(wanted).any(|secret| secret.missing == Some(Missing::Key));
            let why = if lacks_key { UnavailableBecause::ServerLacksKey } else { UnavailableBecause::NorOnServer };
            return Err(StoreError::ValueElsewhere { name, memory, why }.into());
        }
        let actor = self.caller.actor(None);
        team.on(move |store| given.iter().try_for_each(|name| store.note_secret_use(memory, name, "shown", &actor)))
            .await?;
        let missing = shown.secrets.iter().filter(|secret| secret.value.is_none());
        let missing = missing.map(|secret| secret.name.clone().unwrap_or_else(|| "dropped".into())).collect();
        let one = shown.secrets.iter().find(wanted).and_then(|secret| secret.value.clone());
        let value = match self.which {
            SecretRef::Name(_) => one.unwrap_or_default(),
            SecretRef::Memory(_) => shown.content.clone(),
        };
        Ok(FromServer { memory: team.memory(MemoryRef::Id(memory)).await?, value: value.into(), missing })
    }
}

/// The shared memory or tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// One memory.
    Memory(MemoryRef),
    /// All present and future memories with a tag.
    Tag(Tag),
}

/// Shares with a teammate, or stops sharing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// The shared memory or tag.
    pub what: What,
    /// The teammate.
    pub with: String,
    /// The permission; `None` to stop sharing.
    pub permission: Option<Permission>,
}

impl TeamUseCase for Share {
    /// The ID of the memory; `None` for a tag.
    type Outcome = Option<ShortId>;

    async fn run(self, team: &Team) -> Result<Option<ShortId>, SyncError> {
        let memory = match &self.what {
            What::Memory(reference) => Some(team.memory(*reference).await?),
            What::Tag(_) => None,
        };
        if let Some(share) = memory.as_ref().and_then(|memory| memory.share.as_ref()) {
            let problem = format!("belongs to {}", share.by);
            return Err(StoreError::from(DomainError::invalid("id", problem, "only its owner can share it")).into());
        }
        // The server must have its present version first.
        team.exchange().await?;
        match (&memory, &self.what) {
            (Some(memory), _) => team.remote.share(memory.id, &self.with, self.permission).await?,
            (None, What::Tag(tag)) => team.remote.share_tag(tag, &self.with, self.permission).await?,
            (None, What::Memory(_)) => {}
        }
        Ok(memory.map(|memory| memory.short_id))
    }
}

/// Hides a memory of another user, or shows it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HideShared {
    /// The memory. A hidden memory is not stored on this machine and has no ID here, so its UUID is necessary.
    pub memory: MemoryRef,
    /// False to show it again.
    pub is_muted: bool,
}

impl TeamUseCase for HideShared {
    type Outcome = MemoryUuid;

    async fn run(self, team: &Team) -> Result<MemoryUuid, SyncError> {
        let memory = match self.memory {
            MemoryRef::Id(id) => id,
            short_id @ MemoryRef::ShortId(_) => team.memory(short_id).await?.id,
        };
        team.remote.mute(memory, self.is_muted).await?;
        team.exchange().await?;
        Ok(memory)
    }
}

/// Accepts or declines another user's invitation to a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerInvitation {
    /// The owner.
    pub owner: String,
    /// The tag.
    pub tag: Tag,
    /// False to decline.
    pub is_accepted: bool,
}

impl TeamUseCase for AnswerInvitation {
    /// False if there is no such invitation, or it already has this answer.
    type Outcome = bool;

    async fn run(self, team: &Team) -> Result<bool, SyncError> {
        let changed = team.remote.answer_invitation(&self.owner, &self.tag, self.is_accepted).await?;
        team.exchange().await?;
        Ok(changed)
    }
}

/// What others share with the user, and their invitations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedWithMe {
    /// Memories, 1 to 200.
    pub limit: u32,
}

/// The result of [`SharedWithMe`].
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// Memories of others.
    pub memories: Vec<Memory>,
    /// Unanswered invitations.
    pub invitations: Vec<Invitation>,
}

impl TeamUseCase for SharedWithMe {
    type Outcome = Received;

    async fn run(self, team: &Team) -> Result<Received, SyncError> {
        let request = ListRequest { shared: true, limit: self.limit, ..ListRequest::default() };
        let memories = team.on(move |store| store.list(&request)).await?.memories;
        Ok(Received { memories, invitations: team.remote.invitations().await? })
    }
}

/// What the user shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MyShares;

/// The result of [`MyShares`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Given {
    /// The server's list.
    #[serde(flatten)]
    pub shares: Shares,
    /// The ID of each memory in the server's list; `None` for a memory that this machine does not have yet.
    #[serde(skip)]
    #[serde(rename = "ids")]
    pub short_ids: Vec<Option<ShortId>>,
}

impl Given {
    /// The tags.
    pub fn tags(&self) -> &[SharedTag] {
        &self.shares.tag_shares
    }
}

impl TeamUseCase for MyShares {
    type Outcome = Given;

    async fn run(self, team: &Team) -> Result<Given, SyncError> {
        let shares = team.remote.my_shares().await?;
        let ids: Vec<MemoryUuid> = shares.memory_shares.iter().map(|share| share.memory_id).collect();
        let known = move |store: &mut Store| {
            let short_id = |id| Ok(store.get(MemoryRef::Id(id))?.map(|memory| memory.short_id));
            ids.into_iter().map(short_id).collect()
        };
        Ok(Given { shares, short_ids: team.on(known).await? })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Arc as Shared;

    use tessera_engine::domain::{FixedClock, Origin};
    use tessera_engine::score::Weights;
    use tessera_engine::store::{SecretRules, StoreConfig, Usage};

    use super::*;
    use crate::use_cases::{Count, Remember};

    fn opened(home: &std::path::Path) -> Store {
        let clock = Shared::new(FixedClock("2026-11-20".parse().unwrap()));
        Store::open(StoreConfig {
            home: home.into(),
            clock,
            weights: Weights::default(),
            usage: Usage::Write,
            embedding: true,
            secrets: SecretRules::default(),
        })
        .unwrap()
    }

    /// A server at an unused address.
    fn nobody() -> Remote {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Remote::new(&format!("http://127.0.0.1:{port}"), "key").unwrap()
    }

    #[test]
    fn in_direct_mode_nothing_is_done_while_the_server_does_not_answer() {
        let dir = tempfile::tempdir().unwrap();
        let (caller, was_asked) = (Caller::new(Origin::User), Cell::new(false));
        let strictly = |_: &SyncError| false;
        let done = directly(opened(dir.path()), nobody(), &caller, strictly, |desk| {
            was_asked.set(true);
            desk.perform(Remember { content: "not stored".into(), ..Remember::default() })
        });
        assert!(matches!(done, Err(SyncError::Remote(_))) && !was_asked.get());
        // Work that may continue without the server does, and reports it.
        let known = directly(opened(dir.path()), nobody(), &caller, |_| true, |desk| desk.perform(Count)).unwrap();
        assert!(matches!(known.not_heard, Some(SyncError::Remote(_))) && known.not_sent.is_none());
        assert_eq!(known.outcome.unwrap().stats.memories, 0);
        let mut store = opened(dir.path());
        assert_eq!(Desk::new(&mut store, &caller).perform(Count).unwrap().stats.memories, 0);
    }

    #[tokio::test]
    async fn a_desk_that_is_shared_wakes_the_background_client_after_a_change_alone() {
        let dir = tempfile::tempdir().unwrap();
        let store = SharedStore::new(opened(dir.path()));
        let (caller, never) = (Caller::new(Origin::Agent), CancellationToken::new());
        let woken = async || tokio::time::timeout(Duration::ZERO, store.changed()).await.is_ok();
        let looked = at_desk(&store, None, caller.clone(), &never, |desk| desk.perform(Count).map(drop)).await;
        assert!(looked.unwrap().unwrap().outcome.is_ok() && !woken().await);
        let stored = at_desk(&store, None, caller, &never, |desk| {
            desk.perform(Remember { content: "a fact".into(), ..Remember::default() }).map(drop)
        });
        assert!(stored.await.unwrap().unwrap().outcome.is_ok() && woken().await);
    }
}
