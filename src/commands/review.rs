//! `review`: the user accepts, edits or drops what Tessera proposes.

mod keys;
mod sheet;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use tessera_desk::Desk;
use tessera_desk::use_cases::{Decide, Proposal, ReviewId, ReviewItem, ReviewQueue, Reviewed, Verdict};
use tessera_engine::domain::{Candidate, Memory, ShortId, Timestamp, Trust};

use super::{Access, Context, editor, text_or_stdin};
use crate::cli::ReviewTask;
use crate::exit::{UsageError, UserError};
use crate::shapes::{Decision, Proposals, ReviewResults};
use crate::{config, output};

/// Runs the command. Without an action, a person at a terminal decides with keys. For the other actions, the exit code is
/// 1 if a decision failed.
pub(super) fn run(context: &Context, task: Option<ReviewTask>) -> anyhow::Result<ExitCode> {
    let is_at_terminal = || std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && output::is_terminal();
    match task {
        None if !context.json && is_at_terminal() => keys::run(context),
        None | Some(ReviewTask::List) => list(context),
        Some(ReviewTask::Accept { ids, content }) => decide_all(context, accepting(ids, content)?),
        Some(ReviewTask::Drop { ids }) => {
            let drop = |id| Decide { id, verdict: Verdict::Drop };
            decide_all(context, ids.into_iter().map(drop).collect())
        }
        Some(ReviewTask::Edit) => edit(context),
    }
}

fn queue(context: &Context) -> anyhow::Result<Vec<ReviewItem>> {
    context.perform_here(Access::Read, ReviewQueue)
}

fn list(context: &Context) -> anyhow::Result<ExitCode> {
    let items = queue(context)?;
    let now = config::clock()?.now();
    let proposals = if context.json { items.iter().cloned().map(Into::into).collect() } else { Vec::new() };
    context.print_text(&Proposals { proposals }, || {
        if items.is_empty() {
            return "Nothing waits for review.\n".to_owned();
        }
        let listed: Vec<String> = items.iter().map(|item| described(item, now)).collect();
        let count = output::counted(items.len(), "proposal waits", "proposals wait");
        let how = "`tessera review accept ID` does what is proposed; `tessera review drop ID` drops the proposal";
        format!("{}\n{count}. {how}.\n", listed.join("\n"))
    })?;
    Ok(ExitCode::SUCCESS)
}

fn accepting(ids: Vec<ReviewId>, content: Option<String>) -> anyhow::Result<Vec<Decide>> {
    let Some(content) = content else {
        return Ok(ids.into_iter().map(|id| Decide { id, verdict: Verdict::Accept }).collect());
    };
    let [id] = <[ReviewId; 1]>::try_from(ids)
        .map_err(|_| UsageError("--content needs exactly one ID; use one command for each line".to_owned()))?;
    Ok(vec![Decide { id, verdict: Verdict::Edit(text_or_stdin(content)?) }])
}

/// Carries out the decisions. A failed one is reported, and the others are carried out all the same.
fn decide_all(context: &Context, decisions: Vec<Decide>) -> anyhow::Result<ExitCode> {
    let results = context.at_desk(Access::Change, |desk| {
        let results: Vec<Decision> = decisions.into_iter().map(|decide| decided(desk, decide)).collect();
        desk.embed();
        Ok(results)
    })?;
    let has_failed = results.iter().any(|result| result.error.is_some());
    if context.json {
        output::json(&ReviewResults { results })?;
    } else {
        for result in &results {
            match &result.error {
                Some(error) => output::error(error),
                None => output::say(&result.text)?,
            }
        }
    }
    Ok(if has_failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Carries out one decision.
fn decided(desk: &mut Desk<'_>, decide: Decide) -> Decision {
    let id = decide.id.clone();
    let failed =
        |error: String| Decision { id: id.clone(), done: None, memory: None, text: String::new(), error: Some(error) };
    let reviewed = match desk.perform(decide) {
        Ok(reviewed) => reviewed,
        Err(error) => return failed(format!("{id}: {error}")),
    };
    let (done, memory, text) = match &reviewed {
        Reviewed::Stored { stored, replaces } => {
            let memory = &stored.memory;
            let how = if stored.existed { "is already stored" } else { "is now stored" };
            let replaces = replaces.map(|old| format!(" (replaces {old})")).unwrap_or_default();
            let text = format!("{id} {how} as {}{replaces}: {}", memory.short_id, memory.summary);
            ("stored", Some(memory.short_id), text)
        }
        Reviewed::Outdated { older, newer } => {
            let text = format!("{older} is now marked as outdated; `tessera undo {}` reverts this", newer.get());
            ("outdated", Some(*older), text)
        }
        Reviewed::Deleted(deleted) => {
            let text = format!("Deleted {deleted}; `tessera restore {}` restores it", deleted.get());
            ("deleted", Some(*deleted), text)
        }
        Reviewed::Dropped => ("dropped", None, format!("Dropped {id}; it is not proposed again")),
    };
    let memory = memory.map(ShortId::get);
    Decision { id, done: Some(done), memory, text: output::shown(&text), error: None }
}

/// Lets the user decide about the whole list in the editor.
fn edit(context: &Context) -> anyhow::Result<ExitCode> {
    let items = queue(context)?;
    if items.is_empty() {
        output::say("Nothing waits for review.")?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(edited) = editor::Edited::of(&sheet::written(&items))? else {
        output::say("Nothing was changed.")?;
        return Ok(ExitCode::SUCCESS);
    };
    edited.keep_if_lost(|text| {
        let decisions = sheet::decisions(&text, &items).map_err(UserError)?;
        let has_texts = decisions.iter().any(|decide| matches!(decide.verdict, Verdict::Edit(_)));
        let code = decide_all(context, decisions)?;
        // Without edited texts, the file contains nothing that could be lost.
        let is_lost = code != ExitCode::SUCCESS && has_texts;
        if is_lost { Err(UserError("some decisions failed".to_owned()).into()) } else { Ok(code) }
    })
}

/// A proposal as text: its ID, what is proposed, and why.
fn described(item: &ReviewItem, now: Timestamp) -> String {
    let (first, rest) = match &item.proposal {
        Proposal::Line { line, replaces } => {
            let replaced = replaces.as_ref().map(|old| format!("replaces {}", shown_memory(old, now)));
            (line.content.clone(), [Some(facts(line, now)), replaced].into_iter().flatten().collect())
        }
        Proposal::Contradiction { newer, older } => {
            let first = format!("Mark {} as outdated? {} may contradict it", older.short_id, newer.short_id);
            (first, vec![shown_memory(newer, now), shown_memory(older, now)])
        }
        Proposal::Duplicate { deletes, keeps } => {
            let first = format!("Delete {}? {} says the same", deletes.short_id, keeps.short_id);
            (first, vec![shown_memory(keeps, now), shown_memory(deletes, now)])
        }
        Proposal::Unused { memory } => {
            (format!("Delete {}? It was never used", memory.short_id), vec![shown_memory(memory, now)])
        }
    };
    let rest: String = rest.iter().map(|line| format!("        {}\n", output::shown(line))).collect();
    format!("{:<8}{}\n{rest}", item.id.to_string(), output::shown(&one_line(&first)))
}

fn facts(line: &Candidate, now: Timestamp) -> String {
    let certainty = line.certainty.map(|certainty| format!("{certainty} % certain"));
    let said = format!("said {}", output::age(line.created, now));
    let category = line.category.as_ref().map(ToString::to_string);
    let facts = [category, Some(line.scope.to_string()), Some(said), certainty];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn shown_memory(memory: &Memory, now: Timestamp) -> String {
    let tags: Vec<String> = memory.tags.iter().map(|tag| format!("#{tag}")).collect();
    let foreign = if memory.trust == Trust::Foreign { "not confirmed by you" } else { "" };
    let facts = [&output::age(memory.created, now), foreign, &tags.join(" ")].map(str::to_owned);
    let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
    format!("{} ({}) {}", memory.short_id, facts.join(", "), memory.summary)
}

/// A text without line breaks.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
