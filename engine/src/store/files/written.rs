//! Writes the new state of a file: its memory, parts, names and relations.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};
use tessera_markdown::Note;

use super::folders::{Before, FileStamp, MEMORIES, Made, SeenFile, TakenFile, doubt_directory, is_observation};
use super::names;
use super::told::tell_or_keep;
use crate::compose::{self, Composed, Known};
use crate::domain::{FilePath, Link, Memory, MemoryUuid, file_of_content};
use crate::store::base::config::Actor;
use crate::store::base::transaction::Change;
use crate::store::change::erase::delete;
use crate::store::change::links;
use crate::store::change::write::{Written, write_row};
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::Run as _;
use crate::store::rows::memory as row;

/// Writes the new state of a file. Returns `None` if the memory changed meanwhile.
pub(super) fn write(
    change: &Change<'_>,
    file: &SeenFile,
    before: &Before,
    made: Option<&Made>,
    over: Option<u64>,
) -> Result<Option<TakenFile>, StoreError> {
    let Some(made) = made else {
        let Some(whole) = &before.whole else { return Ok(None) };
        stamp(change, &file.path, &file.stamp)?;
        if file_of_content(&whole.memory.content) == file.text {
            // The memory was changed, but not its text.
            let sql = "UPDATE files SET seen = (SELECT rev FROM memories WHERE id = memory) WHERE path = ?1";
            change.tx.run(sql, [file.path.as_str()])?;
        }
        let (id, short_id) = (whole.memory.id, whole.memory.short_id);
        return Ok(Some(TakenFile { path: file.path.clone(), id, short_id, parts: (0, 0, 0) }));
    };
    if !is_as_read(change, before)? || is_news_to_it(change, before, made, over)? {
        return Ok(None);
    }
    doubt_directory(change, &file.path)?;
    let whole = put(change, before.whole.as_ref(), &made.whole, &made.actor)?;
    change.tx.run("DELETE FROM intents WHERE path = ?1", [file.path.as_str()])?;
    let mut counts = (0, 0, made.removed.len());
    for known in &made.removed {
        remove_part(change, known, &made.actor)?;
    }
    let mut first = None;
    for (at, (known, composed)) in made.parts.iter().enumerate() {
        let is_told = at == 0 && made.tells_memory && known.is_none();
        let Some(composed) = (if is_told { under_own_id(change, composed)? } else { Some(Cow::Borrowed(composed)) })
        else {
            continue;
        };
        let is_new = known.as_ref().is_none_or(|known| known.memory.deleted.is_some());
        let rev = known.as_ref().map(|known| known.memory.rev);
        let memory = put(change, known.as_ref(), &composed, &made.actor)?;
        counts.0 += usize::from(is_new);
        counts.1 += usize::from(!is_new && rev != Some(memory.rev));
        place(change, whole.id, (at, memory.id), made)?;
        first = first.or((at == 0 && made.tells_memory).then_some(memory));
    }
    note_file(change, file, made, &whole)?;
    let linked = names::links(change, whole.id)?;
    names::note(change, &whole, made)?;
    if let Some(memory) = first {
        link(change, &memory, &linked, &names::links(change, whole.id)?)?;
    }
    tell_or_keep(change, whole.id, before.folder.is_told && made.is_kept)?;
    Ok(Some(TakenFile { path: file.path.clone(), id: whole.id, short_id: whole.short_id, parts: counts }))
}

/// True if the `rev` of the file's memory is unchanged since the file was read.
fn is_as_read(change: &Change<'_>, before: &Before) -> Result<bool, StoreError> {
    let Some(whole) = &before.whole else { return Ok(true) };
    let now = row::remains(change.tx, whole.memory.id)?.map(|(known, _)| known.memory.rev);
    Ok(now == Some(whole.memory.rev))
}

/// True if the memory was changed by another program or machine and the file does not contain the change yet. In this
/// case, the change and the file must be merged first. After a merge, `over` is the rev of the memory that was merged
/// into the file.
fn is_news_to_it(change: &Change<'_>, before: &Before, made: &Made, over: Option<u64>) -> Result<bool, StoreError> {
    let Some(whole) = before.whole.as_ref().map(|known| &known.memory).filter(|whole| whole.deleted.is_none()) else {
        return Ok(false);
    };
    if whole.content == made.whole.memory().content || over == Some(whole.rev) {
        return Ok(false);
    }
    let sql = "SELECT seen, kept FROM files WHERE memory = ?1";
    let mut statement = change.tx.prepare_cached(sql)?;
    let known: Option<(i64, bool)> =
        statement.query_row([whole.id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    // If the memory contains less than the file, the file lacks nothing of it.
    Ok(known.is_none_or(|(seen, is_kept)| is_kept && u64::try_from(seen).ok() != Some(whole.rev)))
}

/// Gives a new section the UUID from its note. If another memory has this UUID, the section gets a new one. A note may
/// come from an export. Returns `None` if the exported memory still exists with the same text, so that the text is not
/// stored twice.
fn under_own_id<'a>(change: &Change<'_>, part: &'a Composed) -> Result<Option<Cow<'a, Composed>>, StoreError> {
    let Some((there, mark)) = row::remains(change.tx, part.memory().id)? else { return Ok(Some(Cow::Borrowed(part))) };
    let there = there.memory;
    let is_it =
        mark == row::HERE && there.deleted.is_none() && there.file.is_none() && there.content == part.memory().content;
    Ok((!is_it).then(|| Cow::Owned(part.under(MemoryUuid::generate(change.now)))))
}

/// Updates the links of a memory according to its note. Links that were never in the note stay.
fn link(change: &Change<'_>, memory: &Memory, before: &BTreeSet<Link>, now: &BTreeSet<Link>) -> Result<(), StoreError> {
    if before == now {
        return Ok(());
    }
    let known: BTreeSet<Link> = row::links_of(change.tx, memory.id)?.into_iter().collect();
    let stay = known.difference(before).chain(now).filter(|link| link.to != memory.id).cloned();
    links::replace(change, memory, &stay.collect())
}

/// Writes a memory from a file, unless it is unchanged.
fn put(change: &Change<'_>, known: Option<&Known>, composed: &Composed, actor: &Actor) -> Result<Memory, StoreError> {
    let Some(known) = known else {
        let placed = composed.placed(change.next_short_id()?, change.next_rev()?);
        write_row(change, &placed, Written::New)?;
        history::record(change, placed.memory(), Operation::Create, actor, None)?;
        return Ok(placed.into_memory());
    };
    let before = &known.memory;
    if compose::is_as_it_was(before, composed.memory()) {
        return Ok(before.clone());
    }
    let placed = composed.placed(before.short_id, change.next_rev()?);
    let memory = placed.memory();
    write_row(change, &placed, Written::Again)?;
    if before.deleted != memory.deleted || before.trust != memory.trust {
        links::elect_around(change, memory)?;
    }
    let operation = if before.deleted.is_some() { Operation::Restore } else { Operation::Update };
    history::record(change, memory, operation, actor, Some(before))?;
    history::thin_out(change, memory.id)?;
    Ok(placed.into_memory())
}

/// Removes a part from recall, and forgets its position.
pub(super) fn remove_part(change: &Change<'_>, known: &Known, actor: &Actor) -> Result<(), StoreError> {
    delete(change, known, actor)?;
    change.tx.run("UPDATE parts SET n = -1 WHERE memory = ?1", [known.memory.id])?;
    Ok(())
}

fn place(
    change: &Change<'_>,
    file: MemoryUuid,
    (at, memory): (usize, MemoryUuid),
    made: &Made,
) -> Result<(), StoreError> {
    let Some(part) = made.note.parts.get(at) else { return Ok(()) };
    let kind = if is_observation(part) { "observation" } else { "text" };
    let sql =
        "INSERT OR REPLACE INTO parts (memory, file, n, kind, category, context, begins, ends, first_line, last_line)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let (begins, ends) = (part.text.start as u64, part.text.end as u64);
    let (first, last) = part.lines;
    let values = params![memory, file, at as u64, kind, part.category, part.context, begins, ends, first, last];
    change.tx.run(sql, values)?;
    Ok(())
}

/// A file whose content did not change.
fn stamp(change: &Change<'_>, path: &FilePath, stamp: &FileStamp) -> Result<(), StoreError> {
    let sql = "UPDATE files SET size = ?2, modified = ?3, inode = ?4 WHERE path = ?1";
    let modified = stamp.noted_time(change.now);
    let values = params![path.as_str(), stamp.size.cast_signed(), modified, stamp.inode.cast_signed()];
    change.tx.run(sql, values)?;
    change.tx.run("DELETE FROM intents WHERE path = ?1", [path.as_str()])?;
    Ok(())
}

/// Deletes the record of another file with this path. The other file is then written to its own path.
pub(super) fn free_path(change: &Change<'_>, path: &FilePath, whole: MemoryUuid) -> Result<(), StoreError> {
    let sql = "DELETE FROM files WHERE path = ?1 AND memory <> ?2";
    change.tx.run(sql, params![path.as_str(), whole])?;
    Ok(())
}

/// The type of a note. In the store's own folder, the default type is `memory`.
fn kind_of<'a>(note: &'a Note, folder: &str) -> &'a str {
    if note.is_kind_said || folder != MEMORIES { &note.kind } else { "memory" }
}

fn note_file(change: &Change<'_>, file: &SeenFile, made: &Made, whole: &Memory) -> Result<(), StoreError> {
    let (note, stamp) = (&made.note, &file.stamp);
    let permalink = names::permalink(change, file, note, whole.id)?;
    free_path(change, &file.path, whole.id)?;
    let sql =
        "INSERT OR REPLACE INTO files (memory, path, seen, size, modified, inode, hash, kept, title, kind, permalink,
                   tags, fields, problem)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let json = |value: serde_json::Result<String>| crate::screen::dropped(&value.unwrap_or_default()).into_owned();
    let said = |text: &str| crate::screen::dropped(text).into_owned();
    let values = params![
        whole.id,
        file.path.as_str(),
        whole.rev,
        stamp.size.cast_signed(),
        stamp.noted_time(change.now),
        stamp.inode.cast_signed(),
        stamp.hash.cast_signed(),
        made.is_kept,
        said(&note.title),
        said(kind_of(note, file.path.folder())),
        permalink,
        json(serde_json::to_string(&note.tags)),
        json(serde_json::to_string(&note.fields)),
        note.problem.as_deref().map(said),
    ];
    change.tx.run(sql, values)?;
    Ok(())
}
