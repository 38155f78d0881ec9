//! Hides a text that a person marks as secret: in its memory and the memory's history, in logs, and in the state of
//! sync. `hidden_files` removes it from files and copies, and `sync::hidden` from other machines.

use rusqlite::{Connection, params};
use serde::Serialize;

use super::clean;
use super::write::tell;
use crate::compose::{self, Known};
use crate::domain::{Content, MAX_CONTENT_BYTES, MemoryRef, MemoryUuid, ShortId};
use crate::enrich;
use crate::screen::{Keeper as _, Kind, KnownValues, MARKED, Texts, Version, screened_for};
use crate::store::base::allowed_texts::disallow;
use crate::store::base::config::Actor;
use crate::store::base::kept;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::earlier;
use crate::store::logs::{beside, candidates, purges, questions, traces};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::sync::SyncState;
use crate::text::O200k;

/// The reason in the history.
const REASON: &str = "a text was hidden";

/// A hidden text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Hidden {
    /// The memory.
    #[serde(rename = "id")]
    pub memory: ShortId,
    /// The name that replaces the text; `None` if the value is not stored.
    pub name: Option<String>,
    /// The number of earlier versions that contained it.
    pub versions: usize,
    /// Files and copies that contained it.
    pub files: Vec<CleanedFile>,
    /// Other memories that contain the same text; they were not changed.
    pub also_in: Vec<ShortId>,
}

/// A file or a copy of the store that contained a hidden text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct CleanedFile {
    /// Its path in the home directory.
    pub path: String,
    /// Why it still contains the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Where texts were hidden in the database.
pub(crate) struct Done {
    /// The names of the secrets; empty if values are not stored.
    pub(crate) names: Vec<String>,
    /// The number of changed earlier versions.
    pub(crate) versions: usize,
    is_in_row: bool,
}

/// Hides a text of a memory in the database. Returns the memory before.
pub(crate) fn hide(
    change: &Change<'_>,
    reference: MemoryRef,
    text: &str,
    actor: &Actor,
) -> Result<(Known, Done), StoreError> {
    let known = change.known(reference)?;
    let refused = |problem: &'static str| Err(StoreError::Conflict { memory: reference, problem });
    if known.memory.share.is_some() {
        return refused("belongs to another user; ask its owner to hide the text");
    }
    if known.memory.file.is_some() {
        return refused("is a file; remove the text from the file, because Tessera does not change it");
    }
    let was_hidden = is_hidden(change, known.memory.id, text)?;
    let done = hide_all(change, &known, MARKED, &[text], actor)?;
    if !done.is_in_row && done.versions == 0 && !was_hidden {
        return refused("does not contain this text; copy a part of the text without placeholders");
    }
    if change.existing(MemoryRef::Id(known.memory.id))?.content.len() > MAX_CONTENT_BYTES {
        return refused("would become too long, because the name of the secret is longer; shorten the memory first");
    }
    in_logs(change, &[text])?;
    Ok((known, done))
}

/// True if the text was already hidden in this memory. Then an earlier run may have left files unchanged.
fn is_hidden(change: &Change<'_>, id: MemoryUuid, text: &str) -> Result<bool, StoreError> {
    let Some(held) = change.secrets.known_keys(change.tx)? else { return Ok(false) };
    let sql = "SELECT 1 FROM secrets WHERE memory = ?1 AND kind = ?2 AND mark = ?3";
    let mark = held.keys.current.mark(text);
    Ok(change.tx.prepare_cached(sql)?.exists(params![id, MARKED.as_str(), mark])?)
}

/// Hides some texts of a memory: in its row, its earlier versions and its sync state.
pub(crate) fn hide_all(
    change: &Change<'_>,
    known: &Known,
    kind: Kind,
    texts: &[&str],
    actor: &Actor,
) -> Result<Done, StoreError> {
    let id = known.memory.id;
    let mut marks = KnownValues::default();
    let mut names = Vec::new();
    for text in texts {
        mark(&mut marks, kind.as_str(), text);
        let secret = change.secrets.keeper_of_old(change.tx, true).keep(id, kind.as_str(), text)?;
        kept::write_all(change, id, secret.as_slice())?;
        match secret {
            Some(secret) => {
                kept::note(change, id, secret.name.as_str(), "hidden", actor)?;
                must_sweep(change.tx, id, secret.name.as_str())?;
                names.push(secret.name.to_string());
            }
            // Without the value, only the memory as a whole can be replaced in copies.
            None => refresh_copies(change, id)?,
        }
    }
    let is_in_row = in_row(change, known, &marks, actor)?;
    let versions = in_history(change, id, &marks)?;
    in_sync_state(change, id, &marks, Base::IsOld)?;
    forget_digests(change, id)?;
    traces::note(change)?;
    tell(change, id)?;
    Ok(Done { names, versions, is_in_row })
}

/// Marks a text. Keywords and tags are in lower case.
pub(crate) fn mark(marks: &mut KnownValues, kind: &str, text: &str) {
    marks.mark(kind, text);
    marks.mark(kind, &text.to_lowercase());
}

/// Records that files and copies may contain the value of a secret.
pub(crate) fn must_sweep(connection: &Connection, id: MemoryUuid, name: &str) -> Result<(), StoreError> {
    connection.run("INSERT OR IGNORE INTO hidden_secrets (memory, name) VALUES (?1, ?2)", params![id, name])?;
    Ok(())
}

/// Makes copies get the present state of the memory, without its history.
pub(crate) fn refresh_copies(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    purges::step(change, id, purges::COPIES, false, "backups were not checked yet")
}

/// Forgets digests of earlier texts. With the rest of the text, a short value could be guessed from them.
pub(crate) fn forget_digests(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    change.tx.run("DELETE FROM clean_texts WHERE memory = ?1", [id])?;
    change.tx.run("UPDATE imported_rows SET said = 0, held = 0 WHERE memory = ?1", [id])?;
    Ok(())
}

/// A value without the marked texts. Their secrets are stored.
pub(crate) fn without<T: Texts>(
    change: &Change<'_>,
    (id, is_own): (MemoryUuid, bool),
    value: T,
    marks: &KnownValues,
) -> Result<T, StoreError> {
    let mut keeper = change.secrets.keeper_of_old(change.tx, is_own);
    let (clean, found) = screened_for(value, id, &mut keeper, marks)?.into_parts();
    kept::write_all(change, id, &found)?;
    Ok(clean)
}

/// True if a value contains a marked text.
pub(crate) fn holds(value: &impl Texts, marks: &KnownValues) -> bool {
    let mut is_in_it = false;
    value.each_text(&mut |_, text| is_in_it |= marks.stands_in(text));
    is_in_it
}

pub(crate) fn in_row(
    change: &Change<'_>,
    known: &Known,
    marks: &KnownValues,
    actor: &Actor,
) -> Result<bool, StoreError> {
    let before = &known.memory;
    if !holds(before, marks) {
        return Ok(false);
    }
    let memory = without(change, (before.id, before.share.is_none()), before.clone(), marks)?;
    let actor = Actor { reason: Some(REASON.to_owned()), ..actor.clone() };
    clean::write(change, known, memory, &actor)?;
    Ok(true)
}

/// Returns the number of changed versions.
pub(crate) fn in_history(change: &Change<'_>, id: MemoryUuid, marks: &KnownValues) -> Result<usize, StoreError> {
    let mut changed = 0;
    for (rev, before) in earlier(change, id)? {
        if let Some(clean) = cleaned(&before, marks, |version| {
            let is_own = version.0.share.is_none();
            without(change, (id, is_own), version, marks)
        })? {
            change.tx.run("UPDATE history SET before = ?2 WHERE rev = ?1", params![rev, clean])?;
            changed += 1;
        }
    }
    // Who made the change, and why.
    let sql = "SELECT rev, reason, session, client FROM history WHERE memory = ?1";
    let texts: Vec<(u64, [Option<String>; 3])> =
        change.tx.all(sql, [id], |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?])))?;
    for (rev, texts) in texts {
        let clean = texts.each_ref().map(|text| {
            let text = text.as_ref()?;
            Some(marks.cleaned(text).unwrap_or_else(|| text.clone()))
        });
        if clean != texts {
            let [reason, session, client] = clean;
            let sql = "UPDATE history SET reason = ?2, session = ?3, client = ?4 WHERE rev = ?1";
            change.tx.run(sql, params![rev, reason, session, client])?;
        }
    }
    Ok(changed)
}

/// The JSON of an earlier version without marked texts; `None` if it contains none. Its summary is derived again,
/// because the old one may end within a value.
pub(crate) fn cleaned<E>(
    before: &Version,
    marks: &KnownValues,
    without: impl FnOnce(Version) -> Result<Version, E>,
) -> Result<Option<String>, E> {
    if !holds(before, marks) {
        return Ok(None);
    }
    let mut clean = without(before.clone())?;
    if clean.0.content != before.0.content {
        clean.0.summary.clone_from(&compose::carried(clean.0.clone(), &O200k).memory().summary);
        if before.0.entities == enrich::entities(&before.0.content) {
            clean.0.entities = enrich::entities(&clean.0.content);
        }
    }
    Ok(serde_json::to_string(&clean).ok())
}

/// Whether the server still has the text with the marked value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// The server has the old text, so the memory must be sent.
    IsOld,
    /// The server already has the new text.
    IsNew,
}

/// The state of sync of a memory; the default if it cannot be read.
pub(crate) fn sync_state(change: &Change<'_>, id: MemoryUuid) -> Result<Option<SyncState>, StoreError> {
    let sql = "SELECT sync_state FROM sync_states WHERE memory = ?1";
    let stored: Option<String> = change.tx.maybe(sql, [id], |row| row.get(0))?;
    Ok(stored.map(|text| serde_json::from_str(&text).unwrap_or_default()))
}

pub(crate) fn save(change: &Change<'_>, id: MemoryUuid, state: &SyncState) -> Result<(), StoreError> {
    let text = serde_json::to_string(state).unwrap_or_default();
    change.tx.run("UPDATE sync_states SET sync_state = ?2 WHERE memory = ?1", params![id, text])?;
    Ok(())
}

pub(crate) fn in_sync_state(
    change: &Change<'_>,
    id: MemoryUuid,
    marks: &KnownValues,
    base: Base,
) -> Result<(), StoreError> {
    let Some(before) = sync_state(change, id)? else { return Ok(()) };
    let mut clean = without(change, (id, true), before.clone(), marks)?;
    let is_changed = clean.base_content().cloned() != before.clone().base_content().cloned();
    if base == Base::IsOld && is_changed {
        hold(&mut clean);
    }
    // A state that could not be read is replaced; the memory is compared with the server again.
    save(change, id, &clean)
}

/// Replaces the text that the server has, so that this machine sends its own text.
pub(crate) fn hold(state: &mut SyncState) {
    if let (Some(content), Ok(held)) = (state.base_content(), Content::try_from(clean::HELD.to_owned())) {
        *content = held;
    }
}

/// Removes hidden texts from everything in the database that belongs to no memory.
pub(crate) fn in_logs(change: &Change<'_>, texts: &[&str]) -> Result<(), StoreError> {
    let mut words = KnownValues::default();
    for text in texts {
        words.note_marked(MARKED.as_str(), text);
        questions::forget_those_saying(change.tx, text)?;
        candidates::forget_those_saying(change.tx, text)?;
        disallow(change.tx, text)?;
    }
    Ok(beside::fix_marked(change.tx, &words)?)
}
