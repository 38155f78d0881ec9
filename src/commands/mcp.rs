//! `mcp`: serves MCP clients until they go away.

use std::net::SocketAddr;

use tessera_engine::store::Usage;
use tessera_mcp::{Server, serve_http, serve_stdio};

use super::Context;
use crate::{config, output};

/// Serves over stdio, or over HTTP on a loopback address.
pub(super) fn run(context: &Context, http: Option<SocketAddr>) -> anyhow::Result<()> {
    let (session, project) = config::client_session();
    let server = Server::new(context.open(Usage::Serve)?, config::profile(None)?).in_session(session, project);
    let server = match config::team(context.home.clone())? {
        Some((remote, mode)) => server.with_team(remote, mode),
        None => server,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        match http {
            None => serve_stdio(server).await,
            Some(address) => serve_http(server, address, |at| output::note(&format!("http://{at}/mcp"))).await,
        }
    });
    // A reader thread may still wait for stdin; it must not keep the process.
    runtime.shutdown_background();
    Ok(ended?)
}
