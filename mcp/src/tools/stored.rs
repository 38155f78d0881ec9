//! What storing and changing a memory have in common.

use tessera_desk::Desk;
use tessera_desk::views::told_aside;
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

/// What was taken out of the text because it is a credential, a line each.
pub(super) fn aside(desk: &Desk<'_>, stored: &Stored) -> String {
    let told = told_aside(stored, desk.secret_key().as_ref(), |name| format!("secret_get {name}"));
    told.iter().map(|told| format!("\n{}", neutral_line(told))).collect()
}
