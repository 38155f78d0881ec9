//! What storing and changing a memory have in common.

use tessera_engine::domain::{DomainError, Importance};
use tessera_engine::pack::neutral_line;
use tessera_engine::store::Stored;

use crate::args::Args;

/// The importance that was given, if it is one.
pub(super) fn importance(args: &Args) -> Result<Option<Importance>, DomainError> {
    args.number(&["importance"])?.map(Importance::try_from).transpose()
}

/// One line about a memory that was written.
pub(super) fn told(verb: &str, stored: &Stored) -> String {
    let memory = &stored.memory;
    format!(
        "{verb} {} in {} (importance {:.2}, {} tokens): {}",
        memory.handle,
        neutral_line(memory.category.as_str()),
        f64::from(memory.importance),
        stored.tokens,
        neutral_line(&memory.summary)
    )
}
