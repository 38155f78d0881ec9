//! `secret scan`, `purged`: what should not be there any more.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use tessera_desk::verbs::{Purged, ScanSecrets};
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{Purged as Removal, Residue, Scan, Scanning, Step, ToldServer};

use super::{Access, Context};
use crate::exit::UserError;
use crate::output;

/// Places that are told one by one, at most: the rest is in `--json`.
const MOST_TOLD: usize = 40;

/// Looks for credentials in clear. Exits with 1 while there are some.
pub(super) fn scan(context: &Context, fix: bool) -> anyhow::Result<ExitCode> {
    let scanning = if fix { Scanning::Fix } else { Scanning::Look };
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    let mut progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let access = if fix { Access::Change } else { Access::Read };
    let verb = ScanSecrets { scanning, progress: &mut progress };
    let scan = context.at_local_desk(access, |desk| Ok(desk.perform(verb)?))?;
    bar.finish_and_clear();
    if context.json {
        output::json(&json!({ "looked_at": scan.looked_at, "left": scan.left(), "found": scan.residues }))?;
    } else {
        tell(&scan, fix)?;
    }
    let is_done = scan.left() == 0 && scan.residues.iter().all(|residue| residue.problem.is_none());
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn tell(scan: &Scan, fix: bool) -> anyhow::Result<()> {
    if scan.residues.is_empty() {
        return output::line(&format!("No credential stands in clear in {} rows and files.", scan.looked_at));
    }
    let mut places: BTreeMap<(&str, &str), (BTreeMap<&str, u64>, bool, Option<&str>)> = BTreeMap::new();
    for Residue { place, which, kinds, fixed, problem } in &scan.residues {
        let known = places.entry((place, which)).or_insert_with(|| (BTreeMap::new(), true, None));
        kinds.iter().for_each(|(kind, count)| *known.0.entry(kind).or_default() += count);
        known.1 &= fixed;
        known.2 = known.2.or(problem.as_deref());
    }
    let row =
        |((place, which), (kinds, fixed, problem)): (&(&str, &str), &(BTreeMap<&str, u64>, bool, Option<&str>))| {
            let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
            let state = problem.unwrap_or(if *fixed { "taken out" } else { "in clear" });
            vec![(*place).to_owned(), (*which).to_owned(), kinds.join(", "), state.to_owned()]
        };
    let rows = places.iter().take(MOST_TOLD).map(row).collect();
    output::text(&output::table(&["where", "which", "what", "state"], rows))?;
    if places.len() > MOST_TOLD {
        output::note(&format!("and {} more places; --json lists them all", places.len() - MOST_TOLD));
    }
    if !fix {
        output::note(
            "`tessera secret scan --fix` sets values of your own memories aside, where `tessera secret show` gives them \
             back, and takes all others out of logs, files and copies for good",
        );
    }
    Ok(())
}

/// What was done about a memory that was removed for good. Exits with 1 while something is left to do.
pub(super) fn purged(context: &Context, id: MemoryRef) -> anyhow::Result<ExitCode> {
    let removal = context.at_local_desk(Access::Change, |desk| Ok(desk.perform(Purged { id })?))?;
    let Some(removal) = removal else {
        return Err(UserError(format!("{id}: was not removed for good here; `tessera forget --hard` does that")).into());
    };
    let is_done = removal.steps.iter().all(|step| step.done.is_some())
        && matches!(removal.server, None | Some(ToldServer::Done | ToldServer::NeverHadIt));
    if context.json {
        output::json(&json!({ "done": is_done, "removal": removal }))?;
    } else {
        told(&removal)?;
    }
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn told(removal: &Removal) -> anyhow::Result<()> {
    output::line(&format!("{} ({}) was removed for good:", removal.handle, removal.id))?;
    for Step { place, done, how } in &removal.steps {
        let when = done.map_or_else(|| "still to do".to_owned(), |at| at.to_string());
        output::line(&format!("  {when}  {}: {how}", output::shown(place)))?;
    }
    output::line(&match &removal.server {
        None => "  no team server: this machine alone had it".to_owned(),
        Some(ToldServer::NeverHadIt) => "  team server: never had it".to_owned(),
        Some(ToldServer::Waits) => "  team server: is told with the next exchange (`tessera sync now`)".to_owned(),
        Some(ToldServer::Refused(why)) => format!("  team server: will not take it: {}", output::shown(why)),
        Some(ToldServer::Done) => "  team server: has removed it too".to_owned(),
    })
}
