//! `mcp`: serves MCP clients until they disconnect.

use std::io::IsTerminal;
use std::net::SocketAddr;

use anyhow::Context as _;
use tessera_desk::project::{DetectedBy, claim_of};
use tessera_desk::{Caller, Project};
use tessera_engine::Store;
use tessera_engine::domain::Origin;
use tessera_engine::store::Usage;
use tessera_mcp::{HttpKey, Server, serve_http, serve_stdio};

use super::Context;
use crate::{config, output};

/// Serves over stdio, or over HTTP on a loopback address.
pub(super) fn run(context: &Context, http: Option<SocketAddr>) -> anyhow::Result<()> {
    let (session, project) = config::client_session();
    let store = context.open(Usage::Serve)?;
    // A server over HTTP has clients in many directories.
    let project = project.or_else(|| if http.is_none() { trusted_project(&store) } else { None });
    let caller = Caller { session, project, plugins: config::plugin_rules(), ..Caller::new(Origin::Agent) };
    let caller = config::asking(caller, None, context.home.clone())?;
    let server = Server::new(store, caller);
    // With two Tessera servers in one client, the tools would appear and cost tokens twice.
    let server = if config::leaves_tools_to_settings() { server.without_tools() } else { server };
    let server = server.with_files(config::memory_files(context.home.clone())?);
    let server = match config::team(context.home.clone()) {
        Ok(Some((remote, used))) => server.with_team(remote, used.mode, used.every),
        Ok(None) => server,
        // The memories of this machine are served anyway.
        Err(problem) => {
            output::note(&format!("the team server is not used: {problem}"));
            server.without_team(problem.to_string())
        }
    };
    let server = match config::vault(context.home.clone()) {
        Ok(Some(safe)) => server.with_vault(safe),
        Ok(None) => server,
        Err(problem) => {
            output::note(&format!("the vault is not used: {problem}"));
            server
        }
    };
    let key = match http {
        None => None,
        Some(address) => Some((address, http_key(context)?)),
    };
    if http.is_none() && std::io::stdin().is_terminal() {
        output::note(
            "this command speaks MCP on stdin and stdout, and waits for a client; `tessera setup claude-code` lets Claude Code start it",
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
    // A thread may still wait for stdin, and must not keep the process alive.
    runtime.shutdown_background();
    Ok(ended?)
}

/// The project of the working directory, for a client that names no project. Some clients start servers in a directory
/// of their own, so only a trusted repository or a directory with a project file counts.
fn trusted_project(store: &Store) -> Option<Project> {
    let dir = std::env::current_dir().ok()?;
    let home = config::user_home();
    let claim = claim_of(&dir, home.as_deref());
    let is_named = claim.by != DetectedBy::Path || claim.root.join(".git").exists();
    let is_trusted = is_named && claim.is_believed(store).unwrap_or_default();
    if is_trusted { Project::of(&dir, home.as_deref()) } else { None }
}

fn http_key(context: &Context) -> anyhow::Result<HttpKey> {
    let home = config::home(context.home.clone())?;
    HttpKey::of_home(&home).with_context(|| format!("the key in {}", home.dir().display()))
}
