//! `mcp`: serves MCP clients until they go away.

use std::net::SocketAddr;

use tessera_engine::store::Usage;

use super::Context;

/// Serves over stdio, or over HTTP on a loopback address.
pub(super) fn run(context: &Context, http: Option<SocketAddr>) -> anyhow::Result<()> {
    let store = context.open(Usage::Serve)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let _ = (store, runtime, http);
    anyhow::bail!("not yet")
}
