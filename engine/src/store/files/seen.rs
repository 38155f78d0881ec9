//! Turns the changes of files into changes of memories.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rusqlite::params;
use tessera_markdown::{Note, Part};

use super::asked::memory_for;
use super::folders::{Before, Folder, Intent, Made, PartBefore, SeenFile, TakenFile, Writer, is_observation};
use super::said::Said;
use super::written::write;
use crate::compose::{self, Composed, Filed, Known, PartText, Told};
use crate::domain::{DomainError, Draft, MemoryUuid, Origin, Timestamp, Trust, content_of_file};
use crate::screen::{KnownValues, ProbableSecrets, Screened, Secret, findings, screened_closely};
use crate::store::base::allowed_texts;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::change::secrets;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Reader, Run as _, sql};
use crate::store::rows::columns::{KNOWN, read_known};
use crate::store::rows::memory as row;
use crate::text::Remembered;
use crate::threads::processors;

/// Files per transaction.
const STEP: usize = 200;
/// Files per thread and batch.
const TOGETHER: usize = 8;
/// The maximum number of deleted sections that are compared with a new section.
const REMEMBERED: usize = 200;

/// The files of one transaction: their indexed and their new states.
#[derive(Default)]
struct Step<'a> {
    files: Vec<(&'a SeenFile, Before)>,
    made: Vec<Option<Made>>,
}

impl Store {
    /// Records which files are about to be written, and by whom. So the author is known even if the program is killed
    /// before it reports the write.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written. If this fails, the files must not be written.
    pub fn intend(&mut self, intents: &[Intent], actor: &Actor) -> Result<(), StoreError> {
        self.write(|change| {
            for intent in intents {
                let sql = "INSERT OR REPLACE INTO intents VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
                let origin = actor.origin.to_string();
                let (path, hash) = (intent.path.as_str(), intent.hash.cast_signed());
                let values = params![path, hash, origin, actor.session, actor.client, intent.memory];
                change.tx.run(sql, values)?;
                secrets::write_all(change, intent.memory, &intent.secrets)?;
            }
            Ok(())
        })
    }

    /// Prepares a text for a file: removes its credentials, and returns them encrypted for the file's memory.
    ///
    /// # Errors
    /// Returns an error if the settings reject texts with credentials, or encryption fails.
    pub fn screened_for_file(&self, text: &str, memory: MemoryUuid) -> Result<(String, Vec<Secret>), StoreError> {
        let draft = Draft::new(text);
        let probable = ProbableSecrets::of(&draft);
        let probable = allowed_texts::excepted(&self.connection, probable).map_err(|error| self.failed(error))?;
        if findings(text).is_empty() && probable.is_empty() {
            return Ok((text.to_owned(), Vec::new()));
        }
        let (keeper, known) = (&mut self.secrets.keeper(&self.connection), KnownValues::default());
        let (draft, secrets) = screened_closely(draft, memory, keeper, &known, probable)?.into_parts();
        Ok((draft.content, secrets))
    }

    /// Indexes files that were read. New sections become memories, and changed sections update their memories. Recall
    /// no longer returns sections that are missing now. If the memory of a file changed at the same time, the next scan
    /// indexes the file.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written. Files indexed before stay.
    pub fn take_files(&mut self, seen: &[SeenFile]) -> Result<Vec<TakenFile>, StoreError> {
        let taken = self.take(seen, None)?;
        self.maintain();
        Ok(taken)
    }

    /// Indexes some of many files. At the end, the caller must call [`Store::maintain`], so that the index is rebuilt
    /// only once.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::take_files`].
    pub fn take_some_files(&mut self, seen: &[SeenFile]) -> Result<Vec<TakenFile>, StoreError> {
        self.with_room(|store| store.take(seen, None))
    }

    /// Indexes a file that contains the memory's text at `rev`. The changes of the file are already merged into it.
    ///
    /// # Errors
    /// Returns the same errors as [`Store::take_files`].
    pub fn take_file_over(&mut self, seen: SeenFile, rev: u64) -> Result<Option<TakenFile>, StoreError> {
        let taken = self.take(&[seen], Some(rev))?.pop();
        self.maintain();
        Ok(taken)
    }

    fn take(&mut self, seen: &[SeenFile], over: Option<u64>) -> Result<Vec<TakenFile>, StoreError> {
        let mut taken = Vec::new();
        let folders: BTreeMap<String, Folder> =
            self.folders()?.into_iter().map(|folder| (folder.name.clone(), folder)).collect();
        let mut counters = Vec::new();
        let mut chunks = seen.chunks(STEP);
        let (mut made, mut known) = (None, self.step(chunks.next(), &folders)?);
        while made.is_some() || known.is_some() {
            let now = self.clock.now();
            let files = known.as_ref().map(|step: &Step<'_>| step.files.as_slice()).unwrap_or_default();
            let mut make = || made_in_parallel(files, &mut counters, now);
            let to_write = made.take();
            let is_alone = to_write.is_none() || files.is_empty();
            let go_on = |store: &mut Self| {
                let done = to_write.map_or_else(|| Ok(Vec::new()), |step| store.write_step(&step, over));
                (done, store.step(chunks.next(), &folders))
            };
            // The next batch is prepared while the previous one is written, and the one after is read.
            let (making, (done, next)) = if is_alone {
                (make(), go_on(self))
            } else {
                thread::scope(|scope| {
                    let making = scope.spawn(make);
                    let gone_on = go_on(self);
                    (making.join().expect("composing does not panic"), gone_on)
                })
            };
            taken.extend(done?);
            let made_now = making?;
            made = known.map(|step| Step { made: made_now, ..step });
            known = next?;
        }
        Ok(taken)
    }

    /// Returns the files of one transaction with their state in the index; `None` if no files are left.
    fn step<'a>(
        &self,
        files: Option<&'a [SeenFile]>,
        folders: &BTreeMap<String, Folder>,
    ) -> Result<Option<Step<'a>>, StoreError> {
        let Some(files) = files else { return Ok(None) };
        let before = files.iter().map(|file| self.before(file, folders)).collect::<rusqlite::Result<Vec<_>>>();
        let before = before.map_err(|error| self.failed(error))?;
        let files = files.iter().zip(before).filter_map(|(file, before)| Some((file, before?))).collect();
        Ok(Some(Step { files, made: Vec::new() }))
    }

    fn write_step(&mut self, step: &Step<'_>, over: Option<u64>) -> Result<Vec<TakenFile>, StoreError> {
        if step.files.is_empty() {
            return Ok(Vec::new());
        }
        self.write(|change| {
            let mut taken = Vec::new();
            for ((file, before), made) in step.files.iter().zip(&step.made) {
                taken.extend(write(change, file, before, made.as_ref(), over)?);
            }
            Ok(taken)
        })
    }

    /// Returns `None` if the file belongs to no folder.
    fn before(&self, file: &SeenFile, folders: &BTreeMap<String, Folder>) -> rusqlite::Result<Option<Before>> {
        let Some(folder) = folders.get(file.path.folder()).cloned() else { return Ok(None) };
        let connection = &self.connection;
        // A permanently deleted file that is still on disk is not indexed as a new one.
        let sql = "SELECT EXISTS (SELECT 1 FROM files JOIN memories ON memories.id = files.memory
                   WHERE files.hash = ?1 AND memories.purged <> 0)";
        let hash = file.stamp.hash.cast_signed();
        if connection.one(sql, [hash], |row| row.get(0))? {
            return Ok(None);
        }
        let id = memory_for(connection, &file.path)?;
        let whole = id.map(|id| row::remains(connection, id)).transpose()?.flatten().map(|(known, _)| known);
        let sql = "SELECT hash FROM files WHERE path = ?1";
        let hash: Option<i64> = connection.maybe(sql, [file.path.as_str()], |row| row.get(0))?;
        let (parts, gone) = match id {
            Some(id) => (parts_before(connection, id, true)?, parts_before(connection, id, false)?),
            None => (Vec::new(), Vec::new()),
        };
        let sql = "SELECT origin, session, client, memory FROM intents WHERE path = ?1 AND hash = ?2";
        let key = params![file.path.as_str(), file.stamp.hash.cast_signed()];
        let read = |row: &rusqlite::Row<'_>| {
            let origin: String = row.get(0)?;
            let origin = origin.parse().unwrap_or(Origin::Agent);
            let actor = Actor { origin, session: row.get(1)?, client: row.get(2)?, ..Actor::default() };
            Ok(Writer { actor, memory: row.get(3)? })
        };
        let writer = connection.maybe(sql, key, read)?;
        Ok(Some(Before { folder, hash: hash.map(i64::cast_unsigned), whole, parts, gone, writer }))
    }
}

fn parts_before(
    connection: &rusqlite::Connection,
    id: MemoryUuid,
    are_there: bool,
) -> rusqlite::Result<Vec<PartBefore>> {
    const THERE: &str = sql!(
        "SELECT ",
        KNOWN,
        ", (SELECT kind = 'observation' FROM parts WHERE parts.memory = id) FROM memories
         WHERE id IN (SELECT memory FROM parts WHERE parts.file = ?1 AND n >= 0) AND deleted IS NULL
         ORDER BY (SELECT n FROM parts WHERE parts.memory = id) LIMIT -1 OFFSET ?2"
    );
    const GONE: &str = sql!(
        "SELECT ",
        KNOWN,
        ", (SELECT kind = 'observation' FROM parts WHERE parts.memory = id) FROM memories
         WHERE id IN (SELECT memory FROM parts WHERE parts.file = ?1) AND purged = 0 AND deleted IS NOT NULL
         ORDER BY rev DESC LIMIT ?2"
    );
    let (sql, number) = if are_there { (THERE, 0) } else { (GONE, REMEMBERED) };
    let mut parts: Vec<PartBefore> = connection.all(sql, params![id, number as u64], |row| {
        let mut from = Reader::new(row);
        Ok(PartBefore { known: read_known(&mut from)?, is_observation: from.take()? })
    })?;
    for part in &mut parts {
        part.known.memory.links = row::links_of(connection, part.known.memory.id)?;
    }
    Ok(parts)
}

/// The new states of some files, with their positions.
type PreparedFiles = Vec<(usize, Vec<Option<Made>>)>;

/// Computes the new state of each file on all processors, because a new folder has many texts. `None` for an unchanged
/// file.
fn made_in_parallel(
    known: &[(&SeenFile, Before)],
    counters: &mut Vec<Remembered>,
    now: Timestamp,
) -> Result<Vec<Option<Made>>, StoreError> {
    let processors = processors().min(4);
    let chunks: Vec<_> = known.chunks(TOGETHER).collect();
    let threads = processors.min(chunks.len()).max(1);
    counters.resize_with(threads.max(counters.len()), Remembered::default);
    let next = AtomicUsize::new(0);
    // A thread that finishes takes the next batch, because one processor writes meanwhile.
    let work = |counter: &Remembered| -> Result<PreparedFiles, DomainError> {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(some) = chunks.get(at) else { return Ok(done) };
            let made: Result<_, _> = some.iter().map(|(file, before)| made(file, before, now, counter)).collect();
            done.push((at, made?));
        }
    };
    let done: Vec<Result<Vec<_>, DomainError>> = match counters.as_slice() {
        [counter] => vec![work(counter)],
        _ => thread::scope(|scope| {
            let work = &work;
            let started: Vec<_> =
                counters.iter_mut().take(threads).map(|counter| scope.spawn(move || work(counter))).collect();
            started.into_iter().map(|thread| thread.join().expect("composing does not panic")).collect()
        }),
    };
    let mut done: Vec<_> = done.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    done.sort_by_key(|(at, _)| *at);
    Ok(done.into_iter().flat_map(|(_, made)| made).collect())
}

fn made(file: &SeenFile, before: &Before, now: Timestamp, counter: &Remembered) -> Result<Option<Made>, DomainError> {
    let is_there = before.whole.as_ref().is_some_and(|whole| whole.memory.deleted.is_none());
    if is_there && before.hash == Some(file.stamp.hash) {
        return Ok(None);
    }
    let said = Said::of(&file.text);
    let (note, told) = said.read(&file.path);
    let filed = filed(file, before, &note, now);
    let (parts, removed) = parts(&said, before, &note, (&filed, told.as_ref()), (now, counter))?;
    let id = before.writer.as_ref().map(|writer| writer.memory);
    let id = before.whole.as_ref().map(|whole| whole.memory.id).or(id).unwrap_or_else(|| MemoryUuid::generate(now));
    let whole = said.whole_draft(&filed, id, &note);
    let is_kept = whole.content == content_of_file(&file.text);
    let whole = compose::filed(before.whole.as_ref(), &whole, None, now, counter)?;
    let by_hand = || Actor { origin: Origin::File, ..Actor::default() };
    let actor = before.writer.as_ref().map_or_else(by_hand, |writer| writer.actor.clone());
    Ok(Some(Made { note, whole, parts, removed, is_kept, tells_memory: told.is_some(), actor }))
}

fn filed(file: &SeenFile, before: &Before, note: &Note, now: Timestamp) -> Filed {
    let (origin, session, client) = match &before.writer {
        Some(Writer { actor, .. }) => (actor.origin.clone(), actor.session.clone(), actor.client.clone()),
        None => (Origin::File, None, None),
    };
    // The folder determines the trust of texts written by hand.
    let is_by_hand = before.writer.is_none() && before.folder.trust != Trust::User;
    let said = note.created.map(|time| Timestamp::from_micros(time.as_microsecond()));
    let modified = Timestamp::from_micros(file.stamp.modified / 1_000);
    Filed {
        path: file.path.clone(),
        scope: before.folder.scope.clone(),
        origin,
        owner_trust: is_by_hand.then_some(before.folder.trust),
        created: said.unwrap_or(modified).min(now),
        session,
        client,
    }
}

type Parts = (Vec<(Option<Known>, Composed)>, Vec<Known>);

fn parts(
    said: &Said<'_>,
    before: &Before,
    note: &Note,
    (filed, told): (&Filed, Option<&Told>),
    (now, counter): (Timestamp, &Remembered),
) -> Result<Parts, DomainError> {
    let is_own = before.writer.is_none() && before.folder.trust == Trust::User;
    let narrowed = told.map(|told| told.narrowed(filed, is_own));
    let filed = narrowed.as_ref().unwrap_or(filed);
    let draft = |(at, part): (usize, &Part)| {
        let told = told.filter(|_| at == 0);
        let draft = compose::part_draft(filed, note, part, said.text(), told);
        said.without_credentials(Draft { content: said.shown(part.text.clone()), ..draft })
    };
    let drafts: Vec<Screened<Draft>> = note.parts.iter().enumerate().map(draft).collect();
    let now_texts: Vec<PartText<'_>> = note
        .parts
        .iter()
        .zip(&drafts)
        .map(|(part, draft)| PartText { is_observation: is_observation(part), text: &draft.content })
        .collect();
    let before_texts: Vec<PartText<'_>> = before.parts.iter().map(PartBefore::text).collect();
    let found = compose::known_again(&before_texts, &now_texts);
    let mut left: Vec<Option<PartText<'_>>> = before.gone.iter().map(|part| Some(part.text())).collect();
    let mut made = Vec::new();
    for (at, ((draft, text), found)) in drafts.iter().zip(&now_texts).zip(&found).enumerate() {
        let known = match found {
            Some(at) => before.parts.get(*at).map(|part| part.known.clone()),
            None => back(&mut left, text).and_then(|at| before.gone.get(at)).map(|part| part.known.clone()),
        };
        let changed = told.filter(|_| at == 0).and_then(|told| told.changed);
        let composed = compose::filed(known.as_ref(), draft, changed, now, counter)?;
        made.push((known, composed));
    }
    let is_left = |at: &usize| !found.contains(&Some(*at));
    let removed = (0..before.parts.len()).filter(is_left).filter_map(|at| before.parts.get(at));
    Ok((made, removed.map(|part| part.known.clone()).collect()))
}

/// An earlier part with the same text, which is restored.
fn back(left: &mut [Option<PartText<'_>>], text: &PartText<'_>) -> Option<usize> {
    let at = left.iter().position(|gone| gone.as_ref() == Some(text))?;
    *left.get_mut(at)? = None;
    Some(at)
}
