//! `restore`: restores deleted memories and files, or an earlier text.

use tessera_desk::Desk;
use tessera_desk::folders::PutBack;
use tessera_desk::use_cases::{History, Meant, Named, Restore};
use tessera_desk::views::StoredView;
use tessera_engine::domain::{FilePath, MemoryRef};
use tessera_engine::store::{StoreError, Stored};

use super::remember::print_stored;
use super::{Access, Context};
use crate::exit::{UsageError, UserError};
use crate::output;
use crate::shapes::{FailedFile, RestoredFiles, RestoredMemories};

/// Restores deleted memories, or an earlier text of one.
pub(super) fn run(context: &Context, ids: Vec<Named>, before: Option<u64>) -> anyhow::Result<()> {
    if before.is_some() && ids.len() > 1 {
        let problem = "`--before` accepts one memory; restore each memory with its own command";
        return Err(UsageError(problem.into()).into());
    }
    let is_one = ids.len() == 1;
    let (mut restored, mut failed, mut problem) = (Vec::new(), 0, None);
    for id in ids {
        match one(context, id, before) {
            Ok(done) => {
                failed += done.failed();
                restored.push(done);
            }
            Err(error) if is_one => return Err(error),
            // The other memories are restored anyway; each problem is reported, and the last one decides the exit code.
            Err(error) => {
                if let Some(earlier) = problem.replace(error) {
                    output::error(&earlier.to_string());
                }
            }
        }
    }
    if context.json {
        match restored.pop() {
            Some(only) if is_one => output::json(&only)?,
            last => {
                restored.extend(last);
                output::json(&RestoredMemories::Several(restored))?;
            }
        }
    }
    match problem {
        Some(problem) => Err(problem),
        None if failed > 0 => Err(UserError(format!("{failed} files stay deleted")).into()),
        None => Ok(()),
    }
}

fn one(context: &Context, id: Named, before: Option<u64>) -> anyhow::Result<RestoredMemories> {
    context.at_desk(Access::Change, |desk| {
        let id = match (desk.perform(Meant { named: vec![id.clone()] }), id) {
            (Ok(found), id) => found.into_iter().next().map_or(id, Named::Memory),
            (Err(StoreError::InFile { .. }), id) => id,
            (Err(error), _) => return Err(error.into()),
        };
        match id {
            Named::Memory(id) => memory(context, desk, id, before),
            Named::Older(name) => Err(StoreError::NotCameOver(name).into()),
            // A path without a memory may still have a kept copy of a deleted file.
            Named::File(path) => files(context, desk, path),
        }
    })
}

fn memory(
    context: &Context,
    desk: &mut Desk<'_>,
    id: MemoryRef,
    before: Option<u64>,
) -> anyhow::Result<RestoredMemories> {
    let stored = desk.perform(Restore { id, before }).map_err(|error| with_revisions(desk, id, before, error))?;
    if !context.json {
        tell(context, desk, &stored)?;
    }
    desk.embed();
    Ok(RestoredMemories::One(serde_json::to_value(StoredView::of(&stored, Vec::new()))?))
}

/// Adds the revisions with an earlier text to the error about a wrong one.
fn with_revisions(desk: &mut Desk<'_>, id: MemoryRef, before: Option<u64>, error: StoreError) -> anyhow::Error {
    let is_wrong = before.is_some() && matches!(error, StoreError::Conflict { .. });
    let entries = if is_wrong { desk.perform(History { id }).unwrap_or_default() } else { Vec::new() };
    let revisions: Vec<String> =
        entries.iter().filter(|entry| entry.before.is_some()).take(8).map(|entry| entry.rev.to_string()).collect();
    match revisions.as_slice() {
        [] => error.into(),
        known => UserError(format!("{error} (with an earlier text: {})", known.join(", "))).into(),
    }
}

fn tell(context: &Context, desk: &Desk<'_>, stored: &Stored) -> anyhow::Result<()> {
    let memory = &stored.memory;
    if let Some(file) = memory.file.as_ref().filter(|_| memory.deleted.is_some()) {
        // Bytes that are not text cannot be a memory, but the file is restored.
        let path = &file.path;
        return output::say(&output::shown(&format!("Restored {path}; it is not text, so recall cannot find it")));
    }
    print_stored(desk, context, "Restored", stored)
}

fn files(context: &Context, desk: &mut Desk<'_>, path: FilePath) -> anyhow::Result<RestoredMemories> {
    let back = desk.perform(PutBack { path })?;
    desk.embed();
    if !context.json {
        let mut restored = back.restored.iter().map(|path| output::shown(&format!("Restored {path}")));
        restored.try_for_each(|line| output::say(&line))?;
        back.failed.iter().for_each(|(_, problem)| output::note(&output::shown(problem)));
    }
    let failed = back.failed.into_iter().map(|(path, problem)| FailedFile { path, problem });
    Ok(RestoredMemories::Files(RestoredFiles { failed: failed.collect(), restored: back.restored }))
}
