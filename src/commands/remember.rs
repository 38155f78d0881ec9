//! `remember`, `update`, `forget`, `restore`: the commands that change memories.

use std::io::IsTerminal as _;

use serde_json::json;
use tessera_desk::Desk;
use tessera_desk::folders::{DropCopies, PutBack};
use tessera_desk::use_cases::{
    Alike, Forget, Get, Gone, LinkBy, Meant, Named, Remember as Stores, RemovedSection, Restore, Update as Changes,
    Which, described, told_near,
};
use tessera_desk::views::{StoredView, told_aside, told_kept, told_scope};
use tessera_engine::domain::{Category, FilePath, Memory, MemoryRef, Patch, Scope, Tag};
use tessera_engine::store::{Ahead, Erase, Near, StoreError, Stored};

use super::{Access, Context, all_or_stdin, text_or_stdin, without_last_newline};
use crate::cli::{Remember, Update};
use crate::exit::UserError;
use crate::{config, output};

/// Stores a memory.
pub(super) fn run(context: &Context, args: Remember) -> anyhow::Result<()> {
    let content = text_or_stdin(args.text)?;
    let is_chosen = args.scope.is_some();
    let is_encoded = !args.sensitive && config::is_semantic(context.home.clone());
    let ahead = if is_encoded { Ahead::memory(&content) } else { None };
    context.at_desk(Access::Add, |desk| {
        desk.expect(ahead);
        let named: Vec<Named> = args.supersedes.into_iter().collect();
        let supersedes = desk.perform(Meant { named })?.pop();
        let expires = args.expires.map(|expiry| expiry.seen_from(desk.now())).transpose()?.flatten();
        let created = args.created.map(|time| time.of("created").beginning(desk.now())).transpose()?;
        let sensitive = args.sensitive.then(|| described(args.described, args.category.as_ref()));
        let stored = desk.perform(Stores {
            sensitive,
            content,
            category: args.category,
            kind: args.kind,
            importance: args.importance,
            tags: args.tags,
            keywords: args.keywords,
            entities: args.entities,
            scope: args.scope,
            created,
            expires,
            session: args.session,
            metadata: args.metadata,
            reason: args.reason,
            supersedes,
            owner_trust: None,
        })?;
        let near = if stored.existed || !context.json { Vec::new() } else { alike(desk, &stored) };
        print(desk, context, if stored.existed { "Already stored as" } else { "Stored" }, &stored, near)?;
        if !context.json {
            let id = stored.memory.short_id.get();
            let change = |scope: &Scope| format!("`tessera update {id} --scope {}`", output::shown(scope.as_str()));
            let told = told_scope(&stored, desk.caller(), is_chosen, change);
            told.iter().try_for_each(|told| output::line(told))?;
        }
        if !stored.existed && !context.json {
            // The memory is already stored and reported. Similar memories are reported afterwards.
            let told = |near: &Near| output::shown(&told_near(near, stored.memory.short_id, LinkBy::Command));
            alike(desk, &stored).iter().try_for_each(|near| output::line(&told(near)))?;
        }
        desk.embed();
        Ok(())
    })
}

/// Changes fields of a memory.
pub(super) fn update(context: &Context, args: Update) -> anyhow::Result<()> {
    let words =
        |list: String| list.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let now = config::clock()?.now();
    let is_stdin = args.content.as_deref() == Some("-");
    let mut patch = Patch {
        sensitive: args.sensitive.then(|| described(args.described, args.category.as_ref())),
        content: args.content.map(all_or_stdin).transpose()?,
        category: args.category,
        kind: args.kind,
        importance: args.importance,
        tags: args.tags.map(|tags| Tag::list(&tags)).transpose()?,
        keywords: args.keywords.map(words),
        entities: None,
        scope: args.scope,
        expires: args.expires.map(|expiry| expiry.seen_from(now)).transpose()?,
        metadata: args.metadata,
        owner_trust: args.trust,
    };
    if patch.is_empty() {
        anyhow::bail!(UserError("nothing to change; pass --content, --tags, --importance or another field".into()));
    }
    let (named, is_imported, reason) = (args.ids, args.imported, args.reason);
    context.at_desk(Access::Change, |desk| {
        let which = if is_imported { Which::Imported } else { Which::Named(desk.perform(Meant { named })?) };
        // The newline at the end belongs to a file, but not to a text from a pipe.
        if is_stdin && !is_whole_file(desk, &which)? {
            patch.content = patch.content.take().map(without_last_newline);
        }
        let updated = desk.perform(Changes { which, patch, reason })?;
        if let Some(stored) = &updated.only {
            print(desk, context, "Updated", stored, Vec::new())?;
            desk.embed();
            return Ok(());
        }
        if context.json {
            return output::json(&json!({ "updated": updated.count }));
        }
        output::line(&format!("Updated {} memories", updated.count))
    })
}

fn is_whole_file(desk: &mut Desk<'_>, which: &Which) -> anyhow::Result<bool> {
    let Which::Named(ids) = which else { return Ok(false) };
    let [id] = ids.as_slice() else { return Ok(false) };
    let memory = desk.perform(Get { ids: vec![*id] })?;
    Ok(memory.first().is_some_and(Memory::is_whole_file))
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

/// Deletes memories.
pub(super) fn forget(
    context: &Context,
    named: Vec<Named>,
    erase: Erase,
    yes: bool,
    reason: Option<String>,
) -> anyhow::Result<()> {
    let hard = erase == Erase::Hard;
    if hard && !yes && std::io::stdin().is_terminal() {
        let ids = context.perform_here(Access::Change, Meant { named: named.clone() })?;
        let list = ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let question = format!("Permanently delete {list}, also from the history and the backups?");
        if !super::agreed_or(false, &question, "")? {
            return output::line("Nothing was deleted.");
        }
    }
    let (copies, Gone { forgotten, left, taken_out }) = context.at_desk(Access::Change, |desk| {
        let (copies, named) = if hard { without_copies(desk, named)? } else { (Vec::new(), named) };
        if named.is_empty() && !copies.is_empty() {
            return Ok((copies, Gone::default()));
        }
        let ids = desk.perform(Meant { named })?;
        Ok((copies, desk.perform(Forget { ids, erase, reason })?))
    })?;
    if context.json {
        let ids: Vec<_> = forgotten.iter().map(|one| one.id).collect();
        let short_ids: Vec<_> = forgotten.iter().map(|one| one.short_id).collect();
        return output::json(
            &json!({ "deleted_count": forgotten.len(), "deleted_ids": short_ids, "deleted_uuids": ids, "hard": hard, "left": left }),
        );
    }
    for path in copies {
        output::line(&format!("Deleted the copy of {} permanently", output::shown(path.as_str())))?;
    }
    for one in forgotten {
        let how = match taken_out.get(&one.id) {
            _ if hard => "for good".to_owned(),
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
        let how = output::shown(&how);
        let what = if one.again {
            format!("{} was already deleted", one.short_id)
        } else {
            format!("Forgot {}", one.short_id)
        };
        output::line(&format!("{what} ({how})"))?;
    }
    left.told().iter().for_each(|told| output::note(told));
    Ok(())
}

/// Restores a deleted memory, or an earlier text.
pub(super) fn restore(context: &Context, ids: Vec<Named>, before: Option<u64>) -> anyhow::Result<()> {
    if before.is_some() && ids.len() > 1 {
        return Err(UserError("--before accepts one memory; restore each with its own command".into()).into());
    }
    ids.into_iter().try_for_each(|id| restore_one(context, id, before))
}

fn restore_one(context: &Context, id: Named, before: Option<u64>) -> anyhow::Result<()> {
    context.at_desk(Access::Change, |desk| {
        let id = match (desk.perform(Meant { named: vec![id.clone()] }), id) {
            (Ok(found), id) => found.into_iter().next().map_or(id, Named::Memory),
            (Err(StoreError::InFile { .. }), id) => id,
            (Err(error), _) => return Err(error.into()),
        };
        let id = match id {
            Named::Memory(id) => id,
            Named::Older(name) => return Err(StoreError::NotCameOver(name).into()),
            // A path without a memory may still have a kept copy of a deleted file.
            Named::File(path) => {
                let back = desk.perform(PutBack { path })?;
                desk.embed();
                if context.json {
                    let failed = back.failed.iter().map(|(path, problem)| json!({ "path": path, "problem": problem }));
                    let failed: Vec<_> = failed.collect();
                    output::json(&json!({ "restored": back.restored, "failed": failed }))?;
                } else {
                    let mut restored = back.restored.iter().map(|path| output::shown(&format!("Restored {path}")));
                    restored.try_for_each(|line| output::line(&line))?;
                    back.failed.iter().for_each(|(_, problem)| output::note(&output::shown(problem)));
                }
                return match back.failed.len() {
                    0 => Ok(()),
                    stay => Err(UserError(format!("{stay} files stay deleted")).into()),
                };
            }
        };
        let stored = desk.perform(Restore { id, before })?;
        if let Some(file) = stored.memory.file.as_ref().filter(|_| stored.memory.deleted.is_some() && !context.json) {
            // Bytes that are not text cannot be a memory, but the file is restored.
            return output::line(&output::shown(&format!(
                "Restored {}; it is not text, so recall cannot find it",
                file.path
            )));
        }
        print(desk, context, "Restored", &stored, Vec::new())?;
        desk.embed();
        Ok(())
    })
}

/// Existing memories that say nearly the same. If the search for similar memories fails, the new memory is stored
/// anyway.
fn alike(desk: &mut Desk<'_>, stored: &Stored) -> Vec<Near> {
    desk.perform(Alike { id: MemoryRef::ShortId(stored.memory.short_id) }).unwrap_or_default()
}

fn print(desk: &Desk<'_>, context: &Context, verb: &str, stored: &Stored, near: Vec<Near>) -> anyhow::Result<()> {
    if context.json {
        return output::json(&StoredView::of(stored, near));
    }
    let memory = &stored.memory;
    let category: &Category = &memory.category;
    let importance = f64::from(memory.importance);
    let of = match &memory.scope {
        Scope::Global => String::new(),
        Scope::Project(_) => format!(" of {}", output::shown(memory.scope.as_str())),
    };
    if let (true, Some(file)) = (memory.is_whole_file(), &memory.file) {
        return output::line(&format!("{verb} {} {}", memory.short_id, output::shown(file.path.as_str())));
    }
    let facts = format!("{category}{of}, importance {importance:.2}, {} tokens", stored.tokens);
    output::line(&format!("{verb} {} ({facts}): {}", memory.short_id, output::shown(&memory.summary)))?;
    let kept = told_kept(stored, &format!("`tessera update {}`", memory.short_id.get()));
    kept.iter().try_for_each(|told| output::line(told))?;
    let aside = told_aside(stored, desk.secret_key().as_ref(), |name| format!("`tessera secret show {name}`"));
    aside.iter().try_for_each(|told| output::line(&output::shown(told)))
}
