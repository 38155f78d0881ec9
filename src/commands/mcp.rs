//! `mcp`: serves MCP clients until they go away.

use std::io::IsTerminal;
use std::net::SocketAddr;

use anyhow::Context as _;
use tessera_desk::Caller;
use tessera_engine::domain::Origin;
use tessera_engine::store::Usage;
use tessera_mcp::{HttpKey, Server, serve_http, serve_stdio};

use super::Context;
use crate::{config, output};

/// Serves over stdio, or over HTTP on a loopback address.
pub(super) fn run(context: &Context, http: Option<SocketAddr>) -> anyhow::Result<()> {
    let (session, project) = config::client_session();
    let caller = Caller { session, project, plugins: config::plugin_rules(), ..Caller::new(Origin::Agent) };
    let caller = config::asking(caller, None, context.home.clone())?;
    let server = Server::new(context.open(Usage::Serve)?, caller);
    // The tools of both would stand side by side, each with its cost.
    let server = if config::leaves_tools_to_settings() { server.without_tools() } else { server };
    let server = server.with_files(config::memory_files(context.home.clone())?);
    let server = match config::team(context.home.clone()) {
        Ok(Some((remote, used))) => server.with_team(remote, used.mode, used.every),
        Ok(None) => server,
        // The memories of this machine are served all the same.
        Err(problem) => {
            output::note(&format!("the team server is not in use: {problem}"));
            server.without_team(problem.to_string())
        }
    };
    let server = match config::vault(context.home.clone()) {
        Ok(Some(safe)) => server.with_vault(safe),
        Ok(None) => server,
        Err(problem) => {
            output::note(&format!("the vault is not in use: {problem}"));
            server
        }
    };
    let key = match http {
        None => None,
        Some(address) => Some((address, http_key(context)?)),
    };
    if http.is_none() && std::io::stdin().is_terminal() {
        output::note(
            "MCP is spoken here, on stdin and stdout: this command is for a client to start (`tessera setup`)",
        );
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        match key {
            None => serve_stdio(server).await,
            Some((address, key)) => {
                let path = key.path().display().to_string();
                let ready = |at| {
                    output::note(&format!("http://{at}/mcp"));
                    output::note(&format!("clients send the key in {path} as \"Authorization: Bearer KEY\""));
                };
                serve_http(server, address, key, ready).await
            }
        }
    });
    // A reader thread may still wait for stdin; it must not keep the process.
    runtime.shutdown_background();
    Ok(ended?)
}

fn http_key(context: &Context) -> anyhow::Result<HttpKey> {
    let home = config::home(context.home.clone())?;
    HttpKey::of_home(&home).with_context(|| format!("the key in {}", home.dir().display()))
}
