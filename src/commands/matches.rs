//! The memories that match words, for commands that let the user choose among them.

use tessera_desk::Desk;
use tessera_desk::use_cases::Glimpse;
use tessera_engine::domain::{Breadth, MAX_LIMIT, Memory, RecallRequest, TokenBudget};

/// The largest budget. Memories that do not fit in full follow as summaries.
const TOKENS: u32 = 100_000;

/// Returns up to `MAX_LIMIT` matching memories, best first. Does not count as an access.
pub(super) fn matches(desk: &mut Desk<'_>, request: RecallRequest) -> anyhow::Result<Vec<Memory>> {
    let budget = TokenBudget::try_from(TOKENS)?;
    let request = RecallRequest { budget, limit: MAX_LIMIT, breadth: Breadth::Off, ..request };
    let reply = desk.perform(Glimpse { request })?;
    let details = reply.details.into_iter().map(|detail| detail.memory);
    Ok(details.chain(reply.index.into_iter().map(|entry| entry.memory)).collect())
}
