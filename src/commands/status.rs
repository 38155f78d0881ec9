//! `status`, and `tessera` alone: what Tessera holds, and what is set up.

use tessera_desk::Desk;
use tessera_desk::folders::CountFiles;
use tessera_desk::use_cases::{Count, CountWaiting, Counts, List};
use tessera_engine::Timestamp;
use tessera_engine::domain::Scope;
use tessera_engine::store::Stats;
use tessera_setup::connected;

use super::{Access, Context, caller};
use crate::output::{self, Style};
use crate::shapes::StatusShown;
use crate::{config, exit};

/// Prints the status.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let status = status(context)?;
    context.print_text(&status, || text(&status))
}

/// `tessera` alone: the status, or how to begin.
pub(super) fn alone(context: &Context) -> anyhow::Result<std::process::ExitCode> {
    if !output::is_terminal() && !context.json {
        return Ok(exit::no_command());
    }
    let status = status(context)?;
    context.print_text(&status, || if status.exists { text(&status) } else { welcome() })?;
    Ok(std::process::ExitCode::SUCCESS)
}

fn welcome() -> String {
    let lines = [
        ("", "Tessera remembers for your coding agents, on this machine. Nothing is stored yet."),
        ("tessera demo", "shows what it does, with sample notes"),
        ("tessera setup claude-code", "connects Claude Code (or cursor, codex, gemini, vscode, claude-desktop)"),
        ("tessera remember I prefer tabs", "stores a memory yourself; `tessera recall tabs` finds it"),
        ("tessera help", "lists all commands"),
    ];
    let line = |(command, text): &(&str, &str)| match *command {
        "" => format!("{text}\n"),
        command => {
            let name = output::paint(command, Style::Bold);
            format!("  {name}{}{text}\n", " ".repeat(32_usize.saturating_sub(command.len())))
        }
    };
    lines.iter().map(line).collect()
}

fn status(context: &Context) -> anyhow::Result<StatusShown> {
    let home = config::home(context.home.clone())?;
    let project = caller().scope().unwrap_or(Scope::Global);
    let exists = home.holds_store();
    let (stats, folders, newest, waiting) = if exists { counted(context)? } else { Default::default() };
    let places = config::places(context.home.as_deref())?;
    Ok(StatusShown {
        version: env!("CARGO_PKG_VERSION"),
        home: home.dir().to_owned(),
        exists,
        memories: stats.memories,
        memories_of_project: stats.by_scope.get(project.as_str()).copied().unwrap_or(0),
        project: project.to_string(),
        newest,
        deleted: stats.deleted,
        folders,
        clients: connected(&places).iter().map(|client| client.as_str().to_owned()).collect(),
        learning: config::extractor(context.home.clone()),
        waiting,
        server: config::team(context.home.clone()).ok().flatten().map(|(remote, _)| remote.address().to_owned()),
        problem: config::problem(context.home.clone()),
    })
}

type Counted = (Stats, usize, Option<Timestamp>, usize);

fn counted(context: &Context) -> anyhow::Result<Counted> {
    let counted = |desk: &mut Desk<'_>| {
        let Counts { stats, .. } = desk.perform(Count)?;
        let newest = desk.perform(List { limit: 1, ..List::default() })?.memories;
        let folders = desk.perform(CountFiles)?.folders;
        let waiting = desk.perform(CountWaiting)?;
        Ok((stats, folders, newest.first().map(|memory| memory.created), waiting))
    };
    context.at_local_desk(Access::Read, counted)
}

fn text(status: &StatusShown) -> String {
    let mut held = output::memories(status.memories);
    if status.project != "global" {
        held = format!("{held}, {} of them in this project ({})", status.memories_of_project, status.project);
    }
    let now = config::clock().map(|clock| clock.now());
    if let (Some(newest), Ok(now)) = (status.newest, now) {
        held = format!("{held}; the newest is from {}", output::age(newest, now));
    }
    let clients = match status.clients.as_slice() {
        [] => "none; `tessera setup claude-code` connects Claude Code".to_owned(),
        clients => clients.join(", "),
    };
    let learning = match status.learning.as_str() {
        "off" => "off; `tessera settings set learn.extractor heuristic` switches it on".to_owned(),
        on => format!("on ({on}), in connected clients"),
    };
    let mut rows = vec![("memories", held), ("clients", clients), ("learning", learning)];
    if status.waiting > 0 {
        let waiting = output::counted(status.waiting, "line waits", "lines wait");
        rows.push(("review", format!("{waiting}; `tessera review` shows them")));
    }
    if status.deleted > 0 {
        rows.push(("deleted", format!("{}; `tessera list --deleted` lists them", status.deleted)));
    }
    if status.folders > 0 {
        rows.push(("folders", format!("{}; `tessera files list` lists them", status.folders)));
    }
    let server = status.server.clone().unwrap_or_else(|| "none; the memories stay on this machine".to_owned());
    rows.push(("team server", server));
    rows.push(("store", status.home.display().to_string()));
    rows.extend(status.problem.iter().map(|problem| ("problem", problem.clone())));
    rows.push(("version", status.version.to_owned()));
    output::rows(&rows)
}
