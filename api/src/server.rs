//! The server: its state, start and end.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use futures_util::FutureExt as _;
use tessera_engine::domain::{Clock, SystemClock};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::address::Proxy;
use crate::contract::exact;
use crate::db::{Chore, Cleaned, Db, DbError, derived_form};
use crate::keys::Heard;
use crate::limits::{Gate, Limits};
use crate::recall::Recaller;
use crate::secrets::{Secrets, reap, state_of};
use crate::tls::Tls;
use crate::{embedding, layers, listener, routes};

/// How often the limits forget inactive callers.
const PRUNE: Duration = Duration::from_secs(5);
/// The default interval for re-indexing rows that an earlier version wrote. Re-indexing is repeated, because a replica
/// with an earlier version may still write rows.
const REANALYSE: Duration = Duration::from_hours(1);
/// The pause after a database error during re-indexing.
const REANALYSE_AGAIN: Duration = Duration::from_mins(1);
/// The default interval of the clean-up by one replica.
const CLEAN: Duration = Duration::from_hours(6);
/// How often a replica checks whether a clean-up is due.
const CLEAN_LOOK: Duration = Duration::from_mins(10);
/// The default interval of vault maintenance.
const TEND_VAULT: Duration = Duration::from_secs(20);
/// The pause before a panicked background task starts again.
const RESTART: Duration = Duration::from_secs(5);
/// The default interval of writing access counts.
const FLUSH: Duration = Duration::from_secs(5);

/// How a server uses embeddings. In every mode, the server stores the embeddings that a user's machines send, and sends
/// them to the user's other machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SemanticSearch {
    /// Recall uses words only, and no embeddings are computed.
    Off,
    /// Recall uses existing embeddings; missing ones are not computed.
    Kept,
    /// Recall uses embeddings; missing ones are computed in the background.
    On,
}

/// How a server behaves.
#[derive(Clone)]
pub struct Settings {
    /// The maximum total size of all indexes and cached texts, in bytes.
    pub index_bytes: usize,
    /// The interval at which access counts are written.
    pub count_uses_every: Duration,
    /// The interval for re-indexing rows that an earlier version wrote. The first run is at the start of the server.
    /// `None` disables these runs.
    pub reanalyse_every: Option<Duration>,
    /// How the server uses embeddings.
    pub embedding: SemanticSearch,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The limits of a caller.
    pub limits: Limits,
    /// The handling of credentials.
    pub secrets: Arc<Secrets>,
    /// The interval of vault checks and of removing orphans.
    pub tend_vault_every: Duration,
    /// How often one of the replicas cleans up; `None` for never.
    pub clean_every: Option<Duration>,
    /// How long requests are still accepted after the server was told to stop.
    pub drain_delay: Duration,
    /// True to serve metrics on the API's port too.
    pub has_metrics: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            index_bytes: 256 * 1024 * 1024,
            count_uses_every: FLUSH,
            reanalyse_every: Some(REANALYSE),
            embedding: SemanticSearch::On,
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            secrets: Arc::new(Secrets::refusing()),
            tend_vault_every: TEND_VAULT,
            clean_every: Some(CLEAN),
            drain_delay: Duration::ZERO,
            has_metrics: false,
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Settings");
        shown.field("index_bytes", &self.index_bytes).field("count_uses_every", &self.count_uses_every);
        shown.field("reanalyse_every", &self.reanalyse_every).field("embedding", &self.embedding);
        shown.field("limits", &self.limits).field("secrets", &self.secrets).finish_non_exhaustive()
    }
}

/// The state that every request uses.
#[derive(Clone)]
pub struct App {
    pub(crate) db: Db,
    pub(crate) recaller: Arc<Recaller>,
    pub(crate) clock: Arc<dyn Clock>,
    gate: Arc<Gate>,
    pub(crate) secrets: Arc<Secrets>,
    tend_vault_every: Duration,
    clean_every: Option<Duration>,
    pub(crate) embedding: SemanticSearch,
    count_uses_every: Duration,
    reanalyse_every: Option<Duration>,
    is_draining: Arc<AtomicBool>,
    drain_delay: Duration,
    has_metrics: bool,
    pub(crate) heard: Arc<Heard>,
    pub(crate) vault_state: VaultState,
}

/// The last known state of the vault.
#[derive(Debug, Clone, Default)]
pub(crate) struct VaultState(Arc<Mutex<&'static str>>);

impl VaultState {
    fn replace(&self, state: &'static str) -> &'static str {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), state)
    }

    /// `None` before the first check.
    pub(crate) fn known(&self) -> Option<&'static str> {
        Some(*self.0.lock().unwrap_or_else(PoisonError::into_inner)).filter(|state| !state.is_empty())
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("gate", &self.gate).finish_non_exhaustive()
    }
}

impl App {
    /// A server on a database.
    pub fn new(db: Db, settings: Settings) -> Self {
        Self {
            db,
            recaller: Arc::new(Recaller::new(
                settings.clock.clone(),
                settings.index_bytes,
                settings.embedding != SemanticSearch::Off,
            )),
            embedding: settings.embedding,
            clock: settings.clock,
            gate: Arc::new(Gate::new(settings.limits)),
            secrets: settings.secrets,
            tend_vault_every: settings.tend_vault_every,
            clean_every: settings.clean_every,
            count_uses_every: settings.count_uses_every,
            reanalyse_every: settings.reanalyse_every,
            is_draining: Arc::default(),
            drain_delay: settings.drain_delay,
            has_metrics: settings.has_metrics,
            heard: Arc::default(),
            vault_state: VaultState::default(),
        }
    }

    /// The trusted proxies.
    pub(crate) fn proxies(&self) -> &[Proxy] {
        &self.gate.limits().proxies
    }

    /// True once the server was told to stop.
    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }

    /// Every route, with its layers.
    fn router(&self) -> Router {
        let (router, contract) = routes::router(self.clone());
        let contract = Arc::new(exact(&contract).0.to_string());
        let json = [(axum::http::header::CONTENT_TYPE, "application/json")];
        let router = router.route("/openapi.json", get(move || async move { (json, contract.as_str().to_owned()) }));
        let probes = routes::probes(self.clone());
        let probes = if self.has_metrics { probes.merge(metrics()) } else { probes };
        layers::around(router, probes, &self.gate)
    }
}

/// The OpenAPI 3.1 contract as JSON.
///
/// # Errors
/// Returns an error if the contract cannot be written as JSON.
pub fn openapi(app: &App) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(&exact(&routes::router(app.clone()).1).0)
}

/// Serves until `stop` resolves, and finishes running requests.
pub async fn serve(listener: TcpListener, app: App, tls: Option<Tls>, stop: impl Future<Output = ()>) {
    let draining = app.clone();
    let stopped = async move {
        stop.await;
        draining.is_draining.store(true, Ordering::Relaxed);
        // `/ready` answers 503, and requests are served until load balancers have noticed.
        tokio::time::sleep(draining.drain_delay).await;
    };
    let mut tasks = JoinSet::new();
    watched(&mut tasks, "uses", &app, count_uses);
    watched(&mut tasks, "limits", &app, prune);
    watched(&mut tasks, "reanalysis", &app, reanalyse);
    watched(&mut tasks, "embedding", &app, embedding::make);
    watched(&mut tasks, "vault", &app, keep_vault);
    watched(&mut tasks, "cleaning", &app, clean);
    listener::take(listener, app.router(), app.gate.limits(), tls, stopped).await;
    tasks.shutdown().await;
    app.recaller.flush(&app.db).await;
}

/// Runs a background task, and restarts it after a panic.
fn watched<F>(tasks: &mut JoinSet<()>, name: &'static str, app: &App, task: impl Fn(App) -> F + Send + 'static)
where
    F: Future<Output = ()> + Send + 'static,
{
    let app = app.clone();
    tasks.spawn(async move {
        while AssertUnwindSafe(task(app.clone())).catch_unwind().await.is_err() {
            tracing::error!(task = name, "a background task panicked; restarting it");
            metrics::counter!("tessera_background_restarts_total", "task" => name).increment(1);
            tokio::time::sleep(RESTART).await;
        }
    });
}

/// Counts uses, now and then.
async fn count_uses(app: App) {
    let mut count = tokio::time::interval(app.count_uses_every);
    loop {
        count.tick().await;
        app.recaller.flush(&app.db).await;
    }
}

/// Forgets inactive callers at intervals.
async fn prune(app: App) {
    let mut prune = tokio::time::interval(PRUNE);
    loop {
        prune.tick().await;
        app.gate.prune();
    }
}

/// Renews the vault token, and removes orphans from the vault.
async fn keep_vault(app: App) {
    let Some(vault) = app.secrets.vault().cloned() else { return };
    let reaping = async {
        loop {
            let state = state_of(&vault).await;
            metrics::gauge!("tessera_vault_up").set(if state == "ok" { 1.0 } else { 0.0 });
            if app.vault_state.replace(state) != state {
                tracing::info!(state, "the vault");
            }
            // Each replica checks the vault; one of them removes orphans.
            let reaped = match app.db.is_due(Chore::Vault, "", app.tend_vault_every).await {
                Ok(true) => reap(&app.db, &app.secrets).await,
                Ok(false) => Ok(0),
                Err(error) => Err(error.into()),
            };
            match reaped {
                Ok(0) => {}
                Ok(values) => tracing::info!(values, "removed orphaned secrets from the vault"),
                Err(error) => {
                    tracing::warn!(%error, "cannot remove orphaned secrets from the vault; trying again later");
                }
            }
            tokio::time::sleep(app.tend_vault_every).await;
        }
    };
    tokio::join!(vault.keep_token(), reaping);
}

/// Deletes obsolete rows at intervals, unless another replica has done so.
async fn clean(app: App) {
    let Some(every) = app.clean_every else { return };
    loop {
        let cleaned = match app.db.is_to_clean(every).await {
            Ok(true) => app.db.clean_all().await,
            Ok(false) => Ok(Cleaned::default()),
            Err(error) => Err(error),
        };
        match cleaned {
            Ok(cleaned) if cleaned.is_empty() => {}
            Ok(Cleaned { ops, gone, checkpoints, machines }) => {
                tracing::info!(ops, gone, checkpoints, machines, "deleted obsolete rows");
            }
            Err(error) => tracing::warn!(%error, "deleting obsolete rows failed; trying again later"),
        }
        tokio::time::sleep(CLEAN_LOOK.min(every)).await;
    }
}

/// Re-indexes rows that an earlier version wrote, one user after another; requests have priority.
async fn reanalyse(app: App) {
    let Some(every) = app.reanalyse_every else { return };
    loop {
        let wait = match reanalyse_if_due(&app.db, every).await {
            Ok(0) => every,
            Ok(rows) => {
                tracing::info!(rows, "re-indexed rows from an earlier version");
                every
            }
            Err(error) => {
                tracing::warn!(%error, "re-indexing rows from an earlier version failed; trying again later");
                if let Err(error) = app.db.is_still_due(Chore::Reanalysis).await {
                    tracing::warn!(%error, "another replica continues this work");
                }
                REANALYSE_AGAIN.min(every)
            }
        };
        tokio::time::sleep(wait).await;
    }
}

/// Looks for rows to re-index, unless a replica of the same version has looked recently.
async fn reanalyse_if_due(db: &Db, every: Duration) -> Result<usize, DbError> {
    if !db.is_due(Chore::Reanalysis, &derived_form(), every).await? {
        return Ok(0);
    }
    reanalyse_all(db).await
}

async fn reanalyse_all(db: &Db) -> Result<usize, DbError> {
    let mut rows = 0;
    for user in db.users().await? {
        rows += db.reanalyse(&user.parse()?).await?;
    }
    Ok(rows)
}

/// Serves metrics and health on a separate address.
///
/// # Errors
/// Returns an error if the listener fails.
pub async fn serve_metrics(listener: TcpListener, app: App) -> std::io::Result<()> {
    axum::serve(listener, routes::probes(app).merge(metrics())).await
}

fn metrics() -> Router {
    let text = || async { ([(axum::http::header::CONTENT_TYPE, "text/plain; version=0.0.4")], layers::metrics_text()) };
    Router::new().route("/metrics", get(text))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[tokio::test]
    async fn every_bound_of_the_contract_is_of_a_field_that_is_there() {
        let app = App::new(Db::unconnected(), Settings::default());
        let (contract, missing) = exact(&routes::router(app).1);
        assert!(missing.is_empty(), "{missing:?}");
        assert!(contract["paths"]["/api/memories/{id}"]["put"]["parameters"][0]["schema"]["pattern"].is_string());
    }

    #[tokio::test(start_paused = true)]
    async fn a_background_task_that_panics_starts_again() {
        let starts = Arc::new(AtomicUsize::new(0));
        let (counted, mut tasks) = (Arc::clone(&starts), JoinSet::new());
        let app = App::new(Db::unconnected(), Settings::default());
        watched(&mut tasks, "test", &app, move |_| {
            let counted = Arc::clone(&counted);
            async move {
                let before = counted.fetch_add(1, Ordering::Relaxed);
                assert!(before >= 2, "the first two fail");
            }
        });
        tasks.join_next().await.unwrap().unwrap();
        assert_eq!(starts.load(Ordering::Relaxed), 3);
    }
}
