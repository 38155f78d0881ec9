//! Serving over HTTP on a loopback address, at `/mcp`, to those who have the key, with Host and Origin checked.

use std::net::SocketAddr;

use axum::extract::{Request, State};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use crate::error::ServeError;
use crate::http_key::HttpKey;
use crate::server::Server;
use crate::stdio::ended_by_signal;
use tessera_desk::team::Team;

/// Pages of this machine alone may ask.
const ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "http://127.0.0.1:*",
    "http://[::1]:*",
    "http://localhost",
    "http://127.0.0.1",
    "http://[::1]",
];

/// Serves until SIGINT or SIGTERM, and answers nobody who does not send the key. `ready` is told the address, once it is listened on.
///
/// # Errors
/// When the address is not a loopback one, or cannot be listened on.
pub async fn serve_http(
    server: Server,
    address: SocketAddr,
    key: HttpKey,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback(address));
    }
    let failed = |source| ServeError::Io { what: address.to_string(), source };
    let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
    ready(listener.local_addr().map_err(failed)?);
    let store = server.store().clone();
    store.work_in_background(server.plugin_rules());
    store.watch_files_in_background();
    let worker = server.team().map(Team::worker);
    let syncing = async {
        match &worker {
            Some(worker) => worker.run().await,
            None => std::future::pending().await,
        }
    };
    let stop = CancellationToken::new();
    let mut config = StreamableHttpServerConfig::default().with_cancellation_token(stop.child_token());
    config.allowed_origins = ORIGINS.map(str::to_owned).to_vec();
    let service = StreamableHttpService::new(move || Ok(server.clone()), LocalSessionManager::default().into(), config);
    let router = axum::Router::new().nest_service("/mcp", service).layer(from_fn_with_state(key, with_key));
    let stopping = stop.clone();
    let serving = axum::serve(listener, router).with_graceful_shutdown(async move { stopping.cancelled().await });
    let mut serving = Box::pin(serving.into_future());
    let ended = tokio::select! {
        ended = &mut serving => ended.map_err(failed),
        () = store.keep_tidy() => Ok(()),
        () = syncing => Ok(()),
        signal = ended_by_signal() => signal,
    };
    stop.cancel();
    if let Some(worker) = &worker {
        worker.finish().await;
    }
    store.close().await;
    ended
}

/// Lets a request through that carries the key; it is asked before anything of the request is read.
async fn with_key(State(key): State<HttpKey>, headers: HeaderMap, request: Request, next: Next) -> Response {
    if key.admits(&headers) {
        return next.run(request).await;
    }
    let words = "this server asks for its key: Authorization: Bearer KEY; `tessera mcp --help` says where it is\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")], words).into_response()
}
