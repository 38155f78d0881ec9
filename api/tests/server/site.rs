//! A server on the loopback interface, and users with keys.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use tessera_api::{App, Db, Limits, NewKey, Patience, SecretRules, Secrets, SemanticSearch, Settings, UserId};
use tessera_engine::sync::Checkpoint;
use tokio::net::TcpListener;

use crate::cluster::Cluster;

/// A server that is up, with its database.
pub(crate) struct Site {
    pub(crate) cluster: Arc<Cluster>,
    pub(crate) db: Db,
    pub(crate) address: SocketAddr,
    pub(crate) client: Client,
}

impl Site {
    /// `None` where PostgreSQL is not installed.
    pub(crate) async fn start(settings: Settings, patience: &Patience) -> Option<Self> {
        Some(Self::on(Cluster::start()?, settings, patience).await)
    }

    /// On a cluster that is there.
    pub(crate) async fn on(cluster: Cluster, settings: Settings, patience: &Patience) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let db = Db::connect_with(&cluster.url("server"), patience).await.unwrap();
        // Two servers that start at once.
        let (one, other) = tokio::join!(db.migrate(), db.migrate());
        one.and(other).unwrap();
        db.check().await.unwrap();
        Self::serve(Arc::new(cluster), db, settings).await
    }

    pub(crate) async fn serve(cluster: Arc<Cluster>, db: Db, settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = App::new(db.clone(), settings);
        tokio::spawn(tessera_api::serve(listener, app, None, std::future::pending()));
        Self { cluster, db, address, client: Client::builder().no_proxy().build().unwrap() }
    }

    /// Adds a user and gives a key.
    pub(crate) async fn user(&self, name: &str) -> String {
        let user: UserId = name.parse().unwrap();
        self.db.add_user(&user).await.unwrap();
        self.key(name).await
    }

    /// A key of a user who is there.
    pub(crate) async fn key(&self, name: &str) -> String {
        self.db.add_key(&name.parse().unwrap(), &NewKey::default()).await.unwrap().reveal()
    }

    pub(crate) async fn get(&self, key: &str, path: &str) -> Response {
        self.client.get(format!("http://{}{path}", self.address)).bearer_auth(key).send().await.unwrap()
    }

    /// As a machine asks that was given these checkpoints.
    pub(crate) async fn get_knowing(&self, key: &str, path: &str, checkpoints: &[Checkpoint]) -> Response {
        let request = self.client.get(format!("http://{}{path}", self.address)).bearer_auth(key);
        let request = if checkpoints.is_empty() {
            request
        } else {
            request.header(Checkpoint::HEADER, Checkpoint::header(checkpoints))
        };
        request.send().await.unwrap()
    }

    pub(crate) async fn post(&self, key: &str, path: &str, body: &Value) -> Response {
        self.client.post(format!("http://{}{path}", self.address)).bearer_auth(key).json(body).send().await.unwrap()
    }

    /// Stores under a name for the request.
    pub(crate) async fn post_with(&self, key: &str, path: &str, name: &str, body: &Value) -> Response {
        let request = self.client.post(format!("http://{}{path}", self.address)).bearer_auth(key);
        request.header("idempotency-key", name).json(body).send().await.unwrap()
    }

    pub(crate) async fn put(&self, key: &str, path: &str, rev: &str, body: &Value) -> Response {
        let request = self.client.put(format!("http://{}{path}", self.address)).bearer_auth(key);
        at(request, rev).json(body).send().await.unwrap()
    }

    pub(crate) async fn delete(&self, key: &str, path: &str, rev: &str) -> Response {
        let request = self.client.delete(format!("http://{}{path}", self.address)).bearer_auth(key);
        at(request, rev).send().await.unwrap()
    }

    pub(crate) async fn delete_with(&self, key: &str, path: &str, body: &Value) -> Response {
        let request = self.client.delete(format!("http://{}{path}", self.address)).bearer_auth(key);
        request.json(body).send().await.unwrap()
    }

    /// Another server on the same database.
    pub(crate) async fn replica(&self) -> Self {
        self.replica_of(Settings::default()).await
    }

    /// The same with these settings.
    pub(crate) async fn replica_of(&self, settings: Settings) -> Self {
        let db = Db::connect(&self.cluster.url("server")).await.unwrap();
        Self::serve(Arc::clone(&self.cluster), db, settings).await
    }

    /// Another server on the same database that keeps secrets by these rules.
    pub(crate) async fn keeping(&self, rules: SecretRules) -> Self {
        let secrets = Arc::new(Secrets::open(&self.db, rules).await.unwrap());
        let limits = Limits { key_per_second: 100_000, address_per_second: 100_000, ..Limits::default() };
        let tend_vault_every = Duration::from_millis(100);
        let settings =
            Settings { secrets, limits, tend_vault_every, embedding: SemanticSearch::Kept, ..Settings::default() };
        self.replica_of(settings).await
    }

    /// The same with a key that encrypts.
    pub(crate) async fn encrypting(&self) -> Self {
        self.keeping(key_rules("a passphrase of the tests")).await
    }

    /// A pool of connections that may do anything.
    pub(crate) async fn admin(&self) -> sqlx::PgPool {
        sqlx::PgPool::connect(&self.cluster.url("admin")).await.unwrap()
    }

    /// The JSON of an answer that must be 200.
    pub(crate) async fn ok(response: Response) -> Value {
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{text}");
        serde_json::from_str(&text).unwrap()
    }
}

/// Rules with a key.
pub(crate) fn key_rules(key: &str) -> SecretRules {
    SecretRules { key: Some(key.to_owned().into()), ..SecretRules::default() }
}

/// A request on a rev, unless none is given.
fn at(request: RequestBuilder, rev: &str) -> RequestBuilder {
    if rev.is_empty() { request } else { request.header("if-match", rev) }
}

/// Runs a test with a server, where there can be one.
pub(crate) fn with_site<F: Future<Output = ()>>(test: impl FnOnce(Site) -> F) {
    with_site_of(unlimited(), test);
}

/// The same on a database that is spread over machines.
pub(crate) fn with_spread_site<F: Future<Output = ()>>(test: impl FnOnce(Site) -> F) {
    let Some(cluster) = Cluster::start_spread() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { test(Site::on(cluster, unlimited(), &Patience::default()).await).await });
}

/// Settings without a rate.
pub(crate) fn unlimited() -> Settings {
    let limits = Limits { key_per_second: 100_000, address_per_second: 100_000, ..Limits::default() };
    // Nobody makes vectors beside a test that writes rows itself.
    Settings { limits, embedding: SemanticSearch::Kept, ..Settings::default() }
}

/// The same with these limits.
pub(crate) fn with_limits<F: Future<Output = ()>>(limits: Limits, test: impl FnOnce(Site) -> F) {
    // Nobody makes vectors beside a test that writes rows itself.
    with_site_of(Settings { limits, embedding: SemanticSearch::Kept, ..Settings::default() }, test);
}

/// The same with a server of these settings.
pub(crate) fn with_site_of<F: Future<Output = ()>>(settings: Settings, test: impl FnOnce(Site) -> F) {
    with_patience(settings, &Patience::default(), test);
}

/// The same with a database of this patience.
pub(crate) fn with_patience<F: Future<Output = ()>>(
    settings: Settings,
    patience: &Patience,
    test: impl FnOnce(Site) -> F,
) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        if let Some(site) = Site::start(settings, patience).await {
            test(site).await;
        }
    });
}
