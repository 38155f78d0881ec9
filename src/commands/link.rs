//! `link`: what one memory is to another.

use tessera_desk::verbs::{FindMemory, SetLink};
use tessera_engine::domain::LinkKind;

use super::{Access, Context};
use crate::output;

/// Makes a link, or takes it away. A file is meant by whatever it is called.
pub(super) fn run(context: &Context, id: String, kind: &LinkKind, to: String, remove: bool) -> anyhow::Result<()> {
    let (memory, to) = context.at_desk(Access::Change, |desk| {
        let (id, to) = (desk.perform(FindMemory { name: id })?, desk.perform(FindMemory { name: to })?);
        Ok((desk.perform(SetLink { id, kind: kind.clone(), to, holds: !remove })?, to))
    })?;
    if context.json {
        return output::json(&memory);
    }
    let verb = if remove { "no longer" } else { "now" };
    output::line(&format!("{} {verb} {kind} {to}", memory.handle))
}
