//! Accepts connections, adds TLS, serves HTTP, and closes the connections at the end.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::middleware::AddExtension;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as HyperService, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower_service::Service as _;

use crate::connections::{ConnectionState, Door};
use crate::limits::Limits;
use crate::reply_body::ReplyBody;
use crate::tls::Tls;

/// How long running requests may take after the server was told to stop.
const DRAIN: Duration = Duration::from_secs(20);
/// The time limit of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// The buffer size of a connection in bytes, and so the maximum size of a request's head.
const BUFFER: usize = 64 * 1024;

/// Accepts connections until `stop` resolves, then waits for running requests.
pub(crate) async fn take(
    mut listener: TcpListener,
    router: Router,
    limits: &Limits,
    tls: Option<Tls>,
    stop: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).max_buf_size(BUFFER);
    let mut services = router.into_make_service_with_connect_info::<SocketAddr>();
    let door = Door::new(limits);
    let (ending, mut held) = (GracefulShutdown::new(), JoinSet::new());
    let mut stop = pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            // Waits a moment if the system is out of files.
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut stop => break,
        };
        // Forgets ended connections.
        while held.try_join_next().is_some() {}
        let Some(connection) = door.let_in(stream, peer) else { continue };
        let Ok(service) = services.call(peer).await;
        let seat = connection.seat();
        let (service, of) = (TowerToHyperService::new(service), Arc::clone(&seat));
        let one = One { http: http.clone(), service, seat: of, watcher: ending.watcher() };
        let tls = tls.clone();
        held.spawn(async move {
            let served = async {
                match tls {
                    None => one.served(connection).await,
                    Some(tls) => {
                        if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE, tls.0.accept(connection)).await {
                            one.served(stream).await;
                        }
                    }
                }
            };
            tokio::select! {
                () = served => {}
                () = seat.given_up() => {}
            }
        });
    }
    // New connections are refused at once.
    drop(listener);
    if tokio::time::timeout(DRAIN, ending.shutdown()).await.is_err() {
        held.shutdown().await;
    }
}

/// The service of one connection.
struct One {
    http: http1::Builder,
    service: TowerToHyperService<AddExtension<Router, ConnectInfo<SocketAddr>>>,
    seat: Arc<ConnectionState>,
    watcher: Watcher,
}

impl One {
    async fn served(self, stream: impl AsyncRead + AsyncWrite + Unpin + 'static) {
        let Self { http, service, seat, watcher } = self;
        let service = service_fn(move |request: Request<Incoming>| {
            let (busy, answered) = (seat.busy(), HyperService::call(&service, request));
            async move { Ok::<_, Infallible>(answered.await?.map(|body| Body::from(ReplyBody::new(body, busy)))) }
        });
        let connection = http.serve_connection(TokioIo::new(stream), service);
        // A broken connection concerns only its client; internal errors were logged.
        let _ = watcher.watch(connection).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::sync::{Notify, oneshot};

    use super::*;

    #[tokio::test]
    async fn what_began_is_finished_after_the_stop_and_nobody_is_let_in_any_more() {
        let (began, may_end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begins, ends) = (began.clone(), may_end.clone());
        let slow = get(|| async move {
            begins.notify_one();
            ends.notified().await;
            "the whole answer"
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(async move {
            let router = Router::new().route("/", slow).route("/quick", get(|| async { "at once" }));
            take(listener, router, &Limits::default(), None, async { drop(stopped.await) }).await;
        });
        let mut idle = TcpStream::connect(address).await.unwrap();
        idle.write_all(b"GET /quick HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"at once") {
            assert_ne!(idle.read_buf(&mut answer).await.unwrap(), 0, "it is kept open");
        }
        let mut busy = TcpStream::connect(address).await.unwrap();
        busy.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        began.notified().await;
        stop.send(()).unwrap();
        // Idle connections are closed, and nobody listens any more.
        assert_eq!(idle.read(&mut [0; 16]).await.unwrap_or(0), 0);
        assert!(TcpStream::connect(address).await.is_err());
        may_end.notify_one();
        let mut answer = String::new();
        busy.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("the whole answer"), "{answer}");
        serving.await.unwrap();
    }
}
