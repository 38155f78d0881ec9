//! `secret scan` finds credentials in clear text. `purged` shows where a permanently deleted memory has been erased,
//! and where not yet.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use tessera_desk::folders::{CredentialInFile, CredentialsInFiles};
use tessera_desk::team::PurgedThere;
use tessera_desk::use_cases::{Purged, ScanSecrets};
use tessera_engine::domain::MemoryRef;
use tessera_engine::store::{ClearCredential, Purged as Removal, Scan, Scanning, ServerDeletion, Step, Usage};
use tessera_engine::sync::PurgeReport;

use super::sync::runtime;
use super::{Access, Context, agreed_or};
use crate::exit::UserError;
use crate::output;
use crate::shapes::{Heard, Removal as RemovalFound, Scan as ScanFound};

/// Maximum number of listed places; `--json` lists all.
const MOST_TOLD: usize = 40;

/// Finds credentials in clear text. Exits with 1 if there are any. Before it changes something, it shows what it found
/// and asks.
pub(super) fn scan(context: &Context, fix: bool, yes: bool) -> anyhow::Result<ExitCode> {
    if fix && !yes {
        let found = look(context, Scanning::Look)?;
        if found.0.left() > 0 {
            if !context.json {
                report(context, &found, false)?;
            }
            let nobody = "there is no terminal to confirm on; check the findings, and add --yes";
            if !agreed_or(yes, "Redact these secrets? The values of your own memories stay available to you.", nobody)?
            {
                output::say("Nothing was redacted.")?;
                return Ok(ExitCode::from(1));
            }
        }
    }
    // A fix also runs without findings, because an interrupted run may have left work.
    let done = look(context, if fix { Scanning::Fix } else { Scanning::Look })?;
    report(context, &done, fix)?;
    Ok(if is_done(&done) { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The findings in the store, and those in files that people wrote.
type Findings = (Scan, Vec<CredentialInFile>);

fn is_done((scan, in_files): &Findings) -> bool {
    scan.left() == 0 && in_files.is_empty() && scan.residues.iter().all(|residue| residue.problem.is_none())
}

fn look(context: &Context, scanning: Scanning) -> anyhow::Result<Findings> {
    let bar = if std::io::stderr().is_terminal() { ProgressBar::new(0) } else { ProgressBar::hidden() };
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    let mut progress = |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    };
    let access = if scanning == Scanning::Fix { Access::Change } else { Access::Read };
    let verb = ScanSecrets { scanning, progress: &mut progress };
    let found = context.at_local_desk(access, |desk| {
        let scan = desk.perform(verb)?;
        Ok((scan, desk.perform(CredentialsInFiles)?))
    })?;
    bar.finish_and_clear();
    Ok(found)
}

fn report(context: &Context, (scan, in_files): &Findings, is_fixed: bool) -> anyhow::Result<()> {
    if context.json {
        return output::json(&ScanFound {
            looked_at: scan.looked_at,
            left: scan.left(),
            kinds: by_kind(scan),
            found: &scan.residues,
            in_files,
        });
    }
    tell(scan, is_fixed, in_files.is_empty())?;
    tell_files(in_files)
}

/// The number of findings by kind.
fn by_kind(scan: &Scan) -> BTreeMap<&str, u64> {
    let mut kinds = BTreeMap::new();
    for (kind, count) in scan.residues.iter().flat_map(|residue| &residue.kinds) {
        *kinds.entry(kind.as_str()).or_default() += count;
    }
    kinds
}

/// The findings at one place.
struct Found<'s> {
    kinds: BTreeMap<&'s str, u64>,
    is_fixed: bool,
    problem: Option<&'s str>,
}

fn tell(scan: &Scan, fix: bool, is_all: bool) -> anyhow::Result<()> {
    if scan.residues.is_empty() && !is_all {
        return Ok(());
    }
    if scan.residues.is_empty() {
        return output::say(&format!("No secrets in clear text in {} rows and files.", scan.looked_at));
    }
    let mut places: BTreeMap<(&str, &str), Found<'_>> = BTreeMap::new();
    for ClearCredential { place, which, kinds, fixed, problem } in &scan.residues {
        let new = || Found { kinds: BTreeMap::new(), is_fixed: true, problem: None };
        let known = places.entry((place, which)).or_insert_with(new);
        kinds.iter().for_each(|(kind, count)| *known.kinds.entry(kind).or_default() += count);
        known.is_fixed &= fixed;
        known.problem = known.problem.or(problem.as_deref());
    }
    let mut rows = Vec::new();
    for ((place, which), found) in places.iter().take(MOST_TOLD) {
        let kinds: Vec<String> = found.kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
        let state = found.problem.unwrap_or(if found.is_fixed { "redacted" } else { "in clear text" });
        rows.push(vec![(*place).to_owned(), (*which).to_owned(), kinds.join(", "), state.to_owned()]);
    }
    output::text(&output::table(&["where", "which", "what", "state"], rows))?;
    let all: Vec<String> = by_kind(scan).iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
    output::say(&format!("Found in {} places: {}", places.len(), all.join(", ")))?;
    if places.len() > MOST_TOLD {
        output::note(&format!("and {} more places; --json lists all", places.len() - MOST_TOLD));
    }
    if !fix {
        output::note(
            "`tessera secret scan --fix` redacts and encrypts secrets in your own memories (`tessera secret show` returns them), and deletes the other secrets that it finds in logs, files and copies",
        );
    }
    Ok(())
}

/// Reports credentials in files that people wrote. The files stay unchanged.
fn tell_files(found: &[CredentialInFile]) -> anyhow::Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let row = |found: &CredentialInFile| {
        let kinds: Vec<String> = found.kinds.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
        vec![output::shown(&found.path), found.line.to_string(), kinds.join(", ")]
    };
    let rows = found.iter().take(MOST_TOLD).map(row).collect();
    output::text(&output::table(&["file", "line", "what"], rows))?;
    if found.len() > MOST_TOLD {
        output::note(&format!("and {} more lines; --json lists all", found.len() - MOST_TOLD));
    }
    output::note(
        "files belong to you, so Tessera does not change them. Recall hides these secrets, and the files are not \
        synced. To encrypt a value, pass it to `tessera remember`, and write the placeholder [secret NAME: \
        kind] into the file. Files in the directory `deleted-files` are copies of deleted files; they disappear when the \
        file is restored or deleted permanently",
    );
    Ok(())
}

/// Reports where a permanently deleted memory has been erased. Exits with code 1 until the memory is erased everywhere.
pub(super) fn purged(context: &Context, id: MemoryRef) -> anyhow::Result<ExitCode> {
    let removal = context.perform_here(Access::Change, Purged { id })?;
    let Some(removal) = removal else {
        return Err(UserError(format!("{id} was not deleted permanently")).into());
    };
    // Only the server knows which devices have heard of the deletion. Without it, the local part is shown.
    let heard = match removal.server {
        Some(ServerDeletion::Done) => heard(context, &removal),
        _ => None,
    };
    let is_heard = match &heard {
        Some(Ok(report)) => {
            report.machines.iter().all(|machine| machine.confirmed)
                && report.others.iter().all(|other| other.confirmed >= other.machines)
        }
        Some(Err(_)) => false,
        None => true,
    };
    let is_done = removal.steps.iter().all(|step| step.done.is_some())
        && matches!(removal.server, None | Some(ServerDeletion::Done | ServerDeletion::NeverHadIt))
        && is_heard;
    if context.json {
        let heard = heard.map(|heard| match heard {
            Ok(report) => Heard::Report(report),
            Err(problem) => Heard::Problem { problem },
        });
        output::json(&RemovalFound { done: is_done, removal, heard })?;
    } else {
        told(&removal)?;
        tell_heard(heard.as_ref())?;
    }
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The server's report on the other devices; `None` if there is no server any more.
fn heard(context: &Context, removal: &Removal) -> Option<Result<PurgeReport, String>> {
    let team = context.team(Usage::Write).ok()?;
    let asked = runtime().ok()?.block_on(team.perform(PurgedThere { memory: removal.id }));
    Some(asked.map_err(|error| error.to_string()))
}

fn tell_heard(heard: Option<&Result<PurgeReport, String>>) -> anyhow::Result<()> {
    let report = match heard {
        None => return Ok(()),
        Some(Err(problem)) => {
            return output::say(&format!(
                "  It is unknown which machines have deleted it ({problem}); run the command again later."
            ));
        }
        Some(Ok(report)) => report,
    };
    for machine in &report.machines {
        let state = if machine.confirmed { "has deleted it too" } else { "has not synced since" };
        let name = format!("{} {}", machine.label, machine.machine);
        let asked = machine.asked.as_ref().map(|at| format!(" (last sync at {at})")).unwrap_or_default();
        output::say(&format!("  machine {}: {state}{asked}", output::shown(name.trim())))?;
    }
    for other in &report.others {
        let user = output::shown(&other.user);
        output::say(&format!("  {user}: {} of {} machines have deleted it", other.confirmed, other.machines))?;
    }
    Ok(())
}

fn told(removal: &Removal) -> anyhow::Result<()> {
    output::say(&format!("{} ({}) was deleted permanently:", removal.short_id, removal.id))?;
    for Step { place, done, how } in &removal.steps {
        let when = done.map_or_else(|| "not done yet".to_owned(), |at| at.to_string());
        output::say(&format!("  {when}  {}: {how}", output::shown(place)))?;
    }
    output::say(&match &removal.server {
        None => "  There is no team server, so only this machine had the memory.".to_owned(),
        Some(ServerDeletion::NeverHadIt) => "  The team server never had the memory.".to_owned(),
        Some(ServerDeletion::Waits) => {
            "  The team server is informed at the next sync; `tessera sync now` syncs.".to_owned()
        }
        Some(ServerDeletion::Refused(why)) => format!("  The team server rejects the deletion: {}", output::shown(why)),
        Some(ServerDeletion::Done) => "  The team server has deleted the memory too.".to_owned(),
    })
}
