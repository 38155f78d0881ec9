//! `forget`: deletes memories that the user names, or that contain the given words.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;

use tessera_desk::Desk;
use tessera_desk::folders::DropCopies;
use tessera_desk::use_cases::{Forget as Deletes, Get, Gone, Meant, Named, RemovedSection};
use tessera_engine::domain::{FilePath, MAX_LIMIT, Memory, RecallRequest, Scope};
use tessera_engine::store::{Erase, StoreError};
use tessera_engine::text::{TokenKind, tokenize};

use super::matches::matches;
use super::{Access, Context};
use crate::cli::{Forget, Ids};
use crate::exit::UserError;
use crate::output;
use crate::shapes::Forgotten;

/// Deletes memories.
pub(super) fn run(context: &Context, args: Forget) -> anyhow::Result<()> {
    let erase = if args.hard { Erase::Hard } else { Erase::Soft };
    let (named, mut shown) = (Ids::all(args.ids), Vec::new());
    let named = if args.matching.is_empty() {
        named
    } else {
        let words = args.matching.join(" ");
        let found = context.at_desk(Access::Read, |desk| matching(desk, &words))?;
        if found.len() >= MAX_LIMIT as usize {
            let problem = format!("{MAX_LIMIT} or more memories contain all words of `{words}`; add more words");
            return Err(UserError(problem).into());
        }
        if found.is_empty() {
            let fix = format!("`tessera recall {words}` also finds memories with similar words");
            return Err(UserError(format!("no memory contains all words of `{words}`; {fix}")).into());
        }
        if !context.json {
            for memory in &found {
                output::say(&output::shown(&format!("{} {}", memory.short_id, memory.summary)))?;
            }
        }
        shown = found;
        shown.iter().map(|memory| Named::Memory(memory.short_id.into())).collect()
    };
    if !is_agreed(context, &named, args.hard, args.yes, !args.matching.is_empty())? {
        return output::line("Nothing was deleted.");
    }
    unchanged(context, &shown)?;
    delete(context, named, erase, args.reason)
}

/// Checks that memories still have the texts that the user saw before the answer.
fn unchanged(context: &Context, shown: &[Memory]) -> anyhow::Result<()> {
    if shown.is_empty() {
        return Ok(());
    }
    let ids = shown.iter().map(|memory| memory.short_id.into()).collect();
    let now = context.at_desk(Access::Read, |desk| Ok(desk.perform(Get { ids })?))?;
    match now.iter().zip(shown).find(|(now, shown)| now.content != shown.content) {
        None => Ok(()),
        Some((now, _)) => {
            Err(UserError(format!("{} was changed in the meantime, so nothing was deleted", now.short_id)).into())
        }
    }
}

/// The memories that contain all words, in all projects.
fn matching(desk: &mut Desk<'_>, words: &str) -> anyhow::Result<Vec<Memory>> {
    let terms = |text: &str| -> BTreeSet<String> {
        let tokens = tokenize(text).into_iter().filter(|token| token.kind != TokenKind::Part);
        tokens.map(|token| token.term).collect()
    };
    let asked = terms(words);
    let request = RecallRequest { scope: Some(Scope::Global), weak: true, ..RecallRequest::new(words) };
    let all = matches(desk, request)?.into_iter();
    Ok(all.filter(|memory| asked.is_subset(&terms(&memory.content))).collect())
}

/// Asks before a permanent deletion, and before memories are deleted that the user did not name.
fn is_agreed(context: &Context, named: &[Named], hard: bool, yes: bool, is_found: bool) -> anyhow::Result<bool> {
    let count = output::memories(named.len());
    if is_found {
        let how = if hard { "permanently, also from the history and the backups" } else { "now" };
        let question = format!("Delete {count} {how}?");
        let nobody = format!("{count} would be deleted; there is no terminal to confirm on, so add --yes");
        return super::agreed_or(yes, &question, &nobody);
    }
    // A script that names memories to delete permanently needs no confirmation.
    if !hard || yes || !std::io::stdin().is_terminal() {
        return Ok(true);
    }
    let ids = context.perform_here(Access::Change, Meant { named: named.to_vec() })?;
    let list = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    super::agreed_or(false, &format!("Permanently delete {list}, also from the history and the backups?"), "")
}

/// Permanently deletes the stored copies of deleted files that have no memory. Returns the paths of the deleted copies,
/// and the other arguments.
fn without_copies(desk: &mut Desk<'_>, named: Vec<Named>) -> anyhow::Result<(Vec<FilePath>, Vec<Named>)> {
    let (mut copies, mut rest) = (Vec::new(), Vec::new());
    for named in named {
        let Named::File(path) = &named else {
            rest.push(named);
            continue;
        };
        let dropped = desk.perform(DropCopies { path: path.clone() })?;
        if dropped.is_empty() || desk.perform(Meant { named: vec![named.clone()] }).is_ok() {
            rest.push(named);
        }
        copies.extend(dropped);
    }
    Ok((copies, rest))
}

fn delete(context: &Context, named: Vec<Named>, erase: Erase, reason: Option<String>) -> anyhow::Result<()> {
    let hard = erase == Erase::Hard;
    let (copies, Gone { forgotten, left, taken_out }) = context.at_desk(Access::Change, |desk| {
        let (copies, named) = if hard { without_copies(desk, named)? } else { (Vec::new(), named) };
        if named.is_empty() && !copies.is_empty() {
            return Ok((copies, Gone::default()));
        }
        let is_several = named.len() > 1;
        let ids = desk.perform(Meant { named })?;
        let gone = desk.perform(Deletes { ids, erase, reason });
        let nothing = |error: StoreError| {
            let error = anyhow::Error::from(error);
            if is_several { error.context("nothing was deleted") } else { error }
        };
        Ok((copies, gone.map_err(nothing)?))
    })?;
    if context.json {
        return output::json(&Forgotten {
            deleted_count: forgotten.len(),
            deleted_ids: forgotten.iter().map(|one| one.short_id.get()).collect(),
            deleted_uuids: forgotten.iter().map(|one| one.id).collect(),
            hard,
            left,
        });
    }
    for path in copies {
        output::say(&format!("Deleted the copy of {} permanently", output::shown(path.as_str())))?;
    }
    for one in forgotten {
        let how = match taken_out.get(&one.id) {
            _ if hard => "permanently".to_owned(),
            Some(RemovedSection { path, rev: Some(rev) }) => {
                format!("`tessera restore {path} --before {rev}` restores {path} including this text")
            }
            Some(RemovedSection { path, rev: None }) => {
                format!(
                    "to restore it, write its lines into {path} again; Tessera has no complete copy of an earlier version of this file"
                )
            }
            None => format!("`tessera restore {}` restores it", one.short_id.get()),
        };
        let what = if one.again {
            format!("{} was already deleted", one.short_id)
        } else {
            format!("Deleted {}", one.short_id)
        };
        output::say(&output::shown(&format!("{what} ({how})")))?;
    }
    left.told().iter().for_each(|told| output::note(told));
    Ok(())
}
