//! `statusline`: one line for the status line of a client.

use std::io::{IsTerminal as _, Read as _};

use serde_json::Value;
use tessera_desk::use_cases::{SessionTotals, Totals};

use super::{Access, Context};
use crate::shapes::StatusLine;
use crate::{config, output};

/// Maximum bytes of the client's input.
const MOST_BYTES: u64 = 1 << 20;

/// Prints what the session and its subagents received, and how many lines wait for review. A client shows the line all the time, so a
/// missing store is not an error.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let session = session();
    let totals = match context.perform_here(Access::Read, SessionTotals { session: session.clone() }) {
        Ok(totals) => totals,
        Err(_) if !context.json => return output::line(problem(context)),
        Err(error) => return Err(error),
    };
    let Totals { memories, tokens, waiting } = totals;
    context.print(&StatusLine { session, memories, tokens, waiting }, || {
        let mut line = format!("tessera: {} added, {tokens} tokens", output::memories(memories));
        if waiting > 0 {
            line.push_str(&format!(", {waiting} to review"));
        }
        line
    })
}

/// Why there are no numbers.
fn problem(context: &Context) -> &'static str {
    let is_missing = config::home(context.home.clone()).is_ok_and(|home| !home.holds_store());
    if is_missing { "tessera: no memories yet" } else { "tessera: cannot read the store; `tessera doctor` shows why" }
}

/// The session in the client's input. Without input, it is empty.
fn session() -> String {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin();
    if !stdin.is_terminal() && stdin.by_ref().take(MOST_BYTES).read_to_end(&mut bytes).is_err() {
        return String::new();
    }
    let input: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    input.get("session_id").and_then(Value::as_str).unwrap_or_default().to_owned()
}
