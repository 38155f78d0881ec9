//! `log`, `why`, `ledger`: what models were given, why, and what it cost.

use std::collections::BTreeMap;

use serde_json::json;
use tessera_engine::domain::{MemoryRef, Timestamp};
use tessera_engine::score::ScoreParts;
use tessera_engine::store::{Given, Receipt, ReceiptFilter, Spending, StoreError, Usage};

use super::Context;
use crate::output::{self, Style};

/// Shows the latest events, newest last.
pub(super) fn log(context: &Context, session: Option<String>, limit: usize) -> anyhow::Result<()> {
    let store = context.open(Usage::ReadOnce)?;
    let mut receipts = store.receipts(&ReceiptFilter { session, ..ReceiptFilter::default() })?;
    let older = receipts.len().saturating_sub(limit);
    receipts.drain(..older);
    if context.json {
        return output::json(&receipts);
    }
    for receipt in &receipts {
        output::line(&output::shown(&event_line(receipt)))?;
        for given in &receipt.given {
            let summary = store.get(MemoryRef::Handle(given.handle))?.map_or_else(String::new, |memory| memory.summary);
            output::line(&format!("    {}", output::shown(&format!("{} {}: {summary}", given.handle, form(given)))))?;
        }
    }
    if receipts.is_empty() {
        output::note("no event yet; `tessera doctor` says whether hooks are set up");
    }
    Ok(())
}

fn event_line(receipt: &Receipt) -> String {
    let Receipt { at, event, session, scope, .. } = receipt;
    let short: String = session.chars().take(8).collect();
    let what = match (&receipt.skipped, receipt.given.len()) {
        (Some(reason), _) => format!("not searched: {reason}"),
        (None, 0) if receipt.below_floor > 0 => format!(
            "searched {}, best {:.2} of {} below the floor, nothing given",
            receipt.searched, receipt.best_below_floor, receipt.below_floor
        ),
        (None, 0) => format!("searched {}, nothing given", receipt.searched),
        (None, count) => format!("{count} given, {} tokens, {} characters", receipt.tokens, receipt.characters),
    };
    format!("{at} {event} {short} [{scope}] {what}, {:.1} ms", receipt.took_micros as f64 / 1000.0)
}

fn form(given: &Given) -> String {
    let parts = ScoreParts::NAMES.iter().zip(given.parts.values()).filter(|(_, value)| *value > 0.0005);
    let parts: Vec<String> = parts.map(|(name, value)| format!("{name} {value:.2}")).collect();
    let score =
        if parts.is_empty() { String::new() } else { format!(" score {:.2} = {}", given.score, parts.join(" + ")) };
    format!("{} {} tokens{score}", given.form.as_str(), given.tokens)
}

/// Shows where a memory comes from, and when and why it was given.
pub(super) fn why(context: &Context, id: MemoryRef) -> anyhow::Result<()> {
    let store = context.open(Usage::ReadOnce)?;
    let memory = store.get(id)?.ok_or(StoreError::NotFound(id))?;
    let receipts = store.receipts(&ReceiptFilter { handle: Some(memory.handle), ..ReceiptFilter::default() })?;
    if context.json {
        return output::json(&json!({ "memory": memory, "given": receipts }));
    }
    let client = memory.client.as_deref().unwrap_or("?");
    let session = memory.session.as_deref().unwrap_or("none");
    output::line(&output::paint(&format!("{} {}", memory.handle, output::shown(&memory.summary)), Style::Bold))?;
    output::line(&output::shown(&format!(
        "from {} (trust {}) through {client}, session {session}, {}; scope {}, used {} times",
        memory.origin,
        memory.trust.as_str(),
        memory.created,
        memory.scope,
        memory.access_count
    )))?;
    if let Some(why) = memory.why_never_unasked() {
        output::line(&output::shown(&format!("never given unasked: {why}")))?;
    }
    if memory.is_over(store.now()) {
        let handle = memory.handle.get();
        output::line(&format!("hidden since its lifetime ended; `tessera restore {handle}` brings it back"))?;
    }
    for receipt in &receipts {
        for given in receipt.given.iter().filter(|given| given.handle == memory.handle) {
            let session: String = receipt.session.chars().take(8).collect();
            output::line(&output::shown(&format!("{} {} {session} {}", receipt.at, receipt.event, form(given))))?;
        }
    }
    if receipts.is_empty() {
        output::line("not given unasked so far")?;
    }
    Ok(())
}

/// One day: what was given, and what judges spent.
#[derive(Default)]
struct Day {
    events: u64,
    silent: u64,
    given: u64,
    judges: Vec<Spending>,
}

/// Shows tokens day by day.
pub(super) fn ledger(context: &Context, days: u32) -> anyhow::Result<()> {
    let store = context.open(Usage::ReadOnce)?;
    let day_micros = 86_400_000_000_i64;
    let today = store.now().as_micros().div_euclid(day_micros) * day_micros;
    let since = Timestamp::from_micros(today - i64::from(days.saturating_sub(1)) * day_micros);
    let mut ledger: BTreeMap<String, Day> = BTreeMap::new();
    for receipt in store.receipts(&ReceiptFilter { since: Some(since), ..ReceiptFilter::default() })? {
        let day = ledger.entry(receipt.at.date().to_string()).or_default();
        day.events += 1;
        day.silent += u64::from(receipt.tokens == 0);
        day.given += u64::from(receipt.tokens);
    }
    for spent in store.spending(since)? {
        ledger.entry(spent.day.clone()).or_default().judges.push(spent);
    }
    if context.json {
        let row = |(day, of): (&String, &Day)| json!({ "day": day, "events": of.events, "silent": of.silent, "given_tokens": of.given, "judges": of.judges });
        return output::json(&ledger.iter().rev().map(row).collect::<Vec<_>>());
    }
    let judged = |spent: &Spending| {
        let Spending { judge, calls, failures, input_tokens, output_tokens, learned, .. } = spent;
        format!(
            "{judge}: {learned} learned, {calls} calls ({failures} failed), {input_tokens} + {output_tokens} tokens"
        )
    };
    let row = |(day, of): (&String, &Day)| {
        let judges: Vec<String> = of.judges.iter().map(judged).collect();
        vec![day.clone(), of.events.to_string(), of.silent.to_string(), of.given.to_string(), judges.join("; ")]
    };
    let rows = ledger.iter().rev().map(row).collect();
    output::text(&output::table(&["day", "events", "silent", "tokens given", "judges"], rows))
}
