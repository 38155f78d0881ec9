//! `stats`, `doctor`, `backup`: the state of the store.

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tessera_engine::Store;
use tessera_engine::store::{Usage, Verdict};

use super::Context;
use crate::config;
use crate::output::{self, Style};

/// Counts what is there.
pub(super) fn stats(context: &Context) -> anyhow::Result<()> {
    let mut store = context.open(Usage::ReadOnce)?;
    let stats = store.stats()?;
    if context.json {
        return output::json(&stats);
    }
    let mut rows = vec![
        vec!["memories".to_owned(), stats.memories.to_string()],
        vec!["forgotten, restorable".to_owned(), stats.deleted.to_string()],
        vec!["expired".to_owned(), stats.expired.to_string()],
    ];
    for (title, counts) in
        [("category", &stats.by_category), ("type", &stats.by_type), ("scope", &stats.by_scope), ("tag", &stats.by_tag)]
    {
        rows.extend(counts.iter().map(|(name, count)| vec![format!("{title} {name}"), count.to_string()]));
    }
    let kib = |bytes: u64| format!("{} KiB", bytes.div_ceil(1024));
    rows.push(vec!["database".to_owned(), kib(stats.database_bytes)]);
    rows.push(vec!["snapshot".to_owned(), format!("{}, {} changes since", kib(stats.snapshot_bytes), stats.tail_rows)]);
    rows.push(vec!["home".to_owned(), store.home().display().to_string()]);
    output::text(&output::table(&["what", "how much"], rows))
}

/// Examines the store. Exits with 1 when something is bad.
pub(super) fn doctor(context: &Context, repair: bool) -> anyhow::Result<ExitCode> {
    let health = Store::examine(config::store(context.home.clone(), Usage::Write)?, repair)?;
    if context.json {
        output::json(&json!({ "good": health.is_good(), "checks": health.checks, "salvage": health.salvage }))?;
    } else {
        let rows = health.checks.iter().map(|check| {
            let (word, style) = match check.verdict {
                Verdict::Ok => ("ok", Style::Green),
                Verdict::Mended => ("mended", Style::Green),
                Verdict::Warning => ("look", Style::Yellow),
                Verdict::Bad => ("bad", Style::Red),
            };
            output::line(&format!(
                "{:<6} {:<12} {}",
                output::paint(word, style),
                check.name,
                output::shown(&check.detail)
            ))
        });
        rows.collect::<anyhow::Result<()>>()?;
    }
    Ok(if health.is_good() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Copies the store.
pub(super) fn backup(context: &Context, file: Option<&Path>) -> anyhow::Result<()> {
    let target = context.open(Usage::Write)?.backup(file)?;
    if context.json {
        return output::json(&json!({ "file": target }));
    }
    output::line(&target.display().to_string())
}
