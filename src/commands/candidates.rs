//! Values that shell completions offer.

use clap_complete::CompletionCandidate;
use clap_complete::env::CompleteEnv;
use tessera_desk::use_cases::{Count, List};
use tessera_engine::domain::{MAX_LIMIT, MemoryType, Packing, Sort, Trust};
use tessera_engine::store::Stats;

use super::{Access, Context};
use crate::{cli, config};

/// Answers a shell that asks for completions, and ends the program then. Without such a question, does nothing.
pub(crate) fn complete() {
    CompleteEnv::with_factory(cli::command).complete();
}

/// Without a store, there are no values. Errors are not shown, because the user is typing.
fn here<T: Default>(work: impl FnOnce(&Context) -> anyhow::Result<T>) -> T {
    work(&Context { json: false, home: None }).unwrap_or_default()
}

fn memories(deleted: bool) -> Vec<CompletionCandidate> {
    let asked = List { limit: MAX_LIMIT, deleted, ..List::default() };
    let listing = here(|context| Ok(Some(context.perform_here(Access::Read, asked)?)));
    let memories = listing.into_iter().flat_map(|listing| listing.memories);
    memories
        .map(|memory| CompletionCandidate::new(memory.short_id.get().to_string()).help(Some(memory.summary.into())))
        .collect()
}

/// The IDs of the newest memories.
pub(crate) fn ids() -> Vec<CompletionCandidate> {
    memories(false)
}

/// The IDs of deleted memories.
pub(crate) fn deleted() -> Vec<CompletionCandidate> {
    memories(true)
}

fn counted(names: impl FnOnce(Stats) -> Vec<String>) -> Vec<CompletionCandidate> {
    let counts = here(|context| Ok(Some(context.perform_here(Access::Read, Count)?)));
    counts.map(|counts| names(counts.stats)).unwrap_or_default().into_iter().map(CompletionCandidate::new).collect()
}

/// The tags in the store.
pub(crate) fn tags() -> Vec<CompletionCandidate> {
    counted(|stats| stats.by_tag.into_keys().collect())
}

/// The categories in the store, and the usual ones.
pub(crate) fn categories() -> Vec<CompletionCandidate> {
    const USUAL: [&str; 5] = ["facts", "preferences", "projects", "people", "decisions"];
    let mut all =
        counted(|stats| stats.by_category.into_keys().filter(|name| !USUAL.contains(&name.as_str())).collect());
    all.extend(USUAL.map(CompletionCandidate::new));
    all
}

/// The scopes in the store, and `global`.
pub(crate) fn scopes() -> Vec<CompletionCandidate> {
    let mut all = counted(|stats| stats.by_scope.into_keys().filter(|name| name != "global").collect());
    all.push(CompletionCandidate::new("global"));
    all
}

fn fixed(names: impl IntoIterator<Item = &'static str>) -> Vec<CompletionCandidate> {
    names.into_iter().map(CompletionCandidate::new).collect()
}

/// The types of memories.
pub(crate) fn types() -> Vec<CompletionCandidate> {
    fixed(MemoryType::ALL.map(MemoryType::as_str))
}

/// The orders of results.
pub(crate) fn sorts() -> Vec<CompletionCandidate> {
    fixed(Sort::ALL.map(Sort::as_str))
}

/// The ways to fill the budget.
pub(crate) fn packings() -> Vec<CompletionCandidate> {
    fixed(Packing::ALL.map(Packing::as_str))
}

/// The values of `--breadth`.
pub(crate) fn breadths() -> Vec<CompletionCandidate> {
    fixed(["auto", "on", "off"])
}

/// The trust levels.
pub(crate) fn trusts() -> Vec<CompletionCandidate> {
    fixed(Trust::ALL.map(Trust::as_str))
}

/// The usual kinds of links.
pub(crate) fn links() -> Vec<CompletionCandidate> {
    fixed(["supersedes", "updates", "resolved_by", "part_of", "see_also"])
}

/// The keys of the settings.
pub(crate) fn settings() -> Vec<CompletionCandidate> {
    let with_key = config::SETTINGS.iter().filter_map(|setting| Some((setting.key?, setting.help)));
    with_key.map(|(key, help)| CompletionCandidate::new(key).help(Some(help.into()))).collect()
}

/// The names of the commands.
pub(crate) fn commands() -> Vec<CompletionCandidate> {
    let command = cli::command();
    let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
    visible.map(|one| CompletionCandidate::new(one.get_name()).help(one.get_about().cloned())).collect()
}
