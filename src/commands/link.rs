//! `link`: what one memory is to another.

use tessera_desk::verbs::SetLink;
use tessera_engine::domain::{LinkKind, MemoryRef};

use super::{Access, Context};
use crate::output;

/// Makes a link, or takes it away.
pub(super) fn run(context: &Context, id: MemoryRef, kind: LinkKind, to: MemoryRef, remove: bool) -> anyhow::Result<()> {
    let link = SetLink { id, kind, to, holds: !remove };
    let memory = context.at_desk(Access::Change, |desk| Ok(desk.perform(link)?))?;
    if context.json {
        return output::json(&memory);
    }
    let verb = if remove { "no longer" } else { "now" };
    output::line(&format!("{} {verb} {kind} {to}", memory.handle))
}
