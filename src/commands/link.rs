//! `link`: what one memory is to another.

use tessera_engine::domain::{LinkKind, MemoryRef};

use super::{Context, user};
use crate::output;

/// Makes a link, or takes it away.
pub(super) fn run(context: &Context, id: MemoryRef, kind: LinkKind, to: MemoryRef, remove: bool) -> anyhow::Result<()> {
    let mut store = context.open_existing()?;
    let actor = user(None);
    let memory = if remove { store.unlink(id, kind, to, &actor)? } else { store.link(id, kind, to, &actor)? };
    if context.json {
        return output::json(&memory);
    }
    let verb = if remove { "no longer" } else { "now" };
    output::line(&format!("{} {verb} {kind} {to}", memory.handle))
}
