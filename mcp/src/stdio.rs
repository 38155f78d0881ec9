//! Serves one client over stdin and stdout until it disconnects or a signal arrives.

use rmcp::ServiceExt;

use crate::error::ServeError;
use crate::lines::Lines;
use crate::server::Server;
use tessera_desk::team::Team;

/// Serves until stdin ends, or SIGINT or SIGTERM arrives. Acknowledged writes are already on disk.
///
/// # Errors
/// Returns an error if the client violates the handshake, or signals cannot be received.
pub async fn serve_stdio(server: Server) -> Result<(), ServeError> {
    let store = server.store().clone();
    store.work_in_background(server.plugin_rules());
    store.watch_files_in_background();
    let worker = server.team().map(Team::worker);
    let serving = async {
        match server.serve(Lines::of(rmcp::transport::stdio_pipes())).await {
            // The network is used only after the client has its answer.
            Ok(running) => match &worker {
                None => drop(running.waiting().await),
                Some(worker) => tokio::select! {
                    ended = running.waiting() => drop(ended),
                    () = worker.run() => {}
                },
            },
            // A client that connected and left without a request.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => {}
            Err(error) => return Err(ServeError::Handshake(error.to_string())),
        }
        Ok(())
    };
    let ended = tokio::select! {
        ended = serving => ended,
        () = store.keep_tidy() => Ok(()),
        signal = ended_by_signal() => signal,
    };
    if let Some(worker) = &worker {
        worker.finish().await;
    }
    store.close().await;
    ended
}

/// Waits for SIGINT or SIGTERM.
pub(crate) async fn ended_by_signal() -> Result<(), ServeError> {
    let failed = |source| ServeError::Io { what: "signals".into(), source };
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        tokio::select! {
            interrupted = tokio::signal::ctrl_c() => interrupted.map_err(failed),
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.map_err(failed)
}
