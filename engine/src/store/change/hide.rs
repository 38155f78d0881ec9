//! Hides a text that a person marks as secret: in its memory and the memory's history, in logs, and in the state of
//! sync. `care::hidden` removes it from files and copies.
//!
//! Another machine receives the changed text with the name of the secret. By comparing it with its own text, the machine
//! learns the value and hides it too. So no message contains the value.

use rusqlite::params;
use serde::Serialize;

use super::allowed::earlier;
use super::clean;
use super::erase::Erase;
use super::write::tell;
use crate::compose::Known;
use crate::domain::{Content, DomainError, MemoryRef, MemoryUuid, ShortId};
use crate::screen::probable::PROBABLE;
use crate::screen::{Keeper as _, Kind, KnownValues, MARKED, Place, Texts, places, screened_for};
use crate::store::base::config::{Actor, SecretMode};
use crate::store::base::kept;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::{beside, purges, traces};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::{memory as row, tables};
use crate::sync::{BaseVersion, SyncState};

/// The minimum length of a text to hide, in characters. A shorter text would be found in too many places.
const LEAST: usize = 3;
/// Columns of logs that contain no words of a memory.
const NAMES: [&str; 4] = ["origin", "session", "client", "scope"];
/// Secrets that no rule finds, so other machines have their values in clear text.
const KINDS: [Kind; 2] = [MARKED, PROBABLE];
/// The reason in the history.
const REASON: &str = "a text was hidden";

/// A hidden text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CleanedFile {
    /// Its path in the home directory.
    pub path: String,
    /// Why it still contains the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Store {
    /// Hides a text of a memory: encrypts it, and replaces it with a name in the memory, its history, the logs, backups
    /// and other files. Other machines do the same when they sync.
    ///
    /// # Errors
    /// Returns an error if the text is too short or not in the memory, if the memory belongs to somebody else or is a
    /// file, or if the store cannot be written. An interrupted run continues with the next one.
    pub fn hide(&mut self, reference: MemoryRef, text: &str, actor: &Actor) -> Result<Hidden, StoreError> {
        let text = text.trim();
        if text.chars().count() < LEAST {
            let fix = "pass at least 3 characters";
            return Err(DomainError::invalid("text", "is too short to be hidden", fix).into());
        }
        // Recorded texts are also in spools.
        self.fold_questions()?;
        self.fold_deliveries()?;
        let (known, done) = self.write(|change| hide(change, reference, text, actor))?;
        let files = self.sweep(&[(known.memory.id, text.to_owned())])?;
        self.scrubbed(Erase::Hard);
        let also_in = self.also_in(known.memory.id, text)?;
        let name = done.names.into_iter().next();
        Ok(Hidden { memory: known.memory.short_id, name, versions: done.versions, files, also_in })
    }

    /// The user's other memories that contain a text.
    fn also_in(&self, id: MemoryUuid, text: &str) -> Result<Vec<ShortId>, StoreError> {
        let sql = "SELECT short_id FROM memories WHERE id <> ?1 AND purged = 0 AND shared_by IS NULL
                   AND instr(content, ?2) > 0 ORDER BY short_id";
        self.all(sql, params![id, text], |row| row.get(0))
    }
}

/// Hides a text of a memory in the database. Returns the memory before.
fn hide(change: &Change<'_>, reference: MemoryRef, text: &str, actor: &Actor) -> Result<(Known, Done), StoreError> {
    let known = change.known(reference)?;
    if known.memory.share.is_some() {
        let problem = "belongs to another user; ask its owner to hide the text";
        return Err(StoreError::Conflict { memory: reference, problem });
    }
    if known.memory.file.is_some() {
        let problem = "is a file; remove the text from the file, because Tessera does not change it";
        return Err(StoreError::Conflict { memory: reference, problem });
    }
    let done = hide_all(change, &known, MARKED, &[text], actor)?;
    if !done.is_in_row && done.versions == 0 {
        let problem = "does not contain this text; copy the text exactly as `tessera get` shows it";
        return Err(StoreError::Conflict { memory: reference, problem });
    }
    let sql = "DELETE FROM allowed_texts WHERE instr(value, ?1) > 0 OR instr(?1, value) > 0";
    change.tx.run(sql, [text])?;
    Ok((known, done))
}

/// Where texts were hidden in the database.
pub(crate) struct Done {
    /// The names of the secrets; empty if values are not stored.
    pub(crate) names: Vec<String>,
    is_in_row: bool,
    versions: usize,
}

/// Hides some texts of a memory in the database.
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
        marks.mark(kind.as_str(), text);
        let secret = change.secrets.keeper_of_old(change.tx, true).keep(id, kind.as_str(), text)?;
        kept::write_all(change, id, secret.as_slice())?;
        if let Some(secret) = secret {
            kept::note(change, id, secret.name.as_str(), "hidden", actor)?;
            must_sweep(change, id, secret.name.as_str())?;
            names.push(secret.name.to_string());
        }
        in_logs(change, text)?;
    }
    let is_in_row = in_row(change, known, &marks, actor)?;
    let versions = in_history(change, id, &marks)?;
    in_sync_state(change, id, &marks, Base::IsOld)?;
    traces::note(change)?;
    tell(change, id)?;
    Ok(Done { names, is_in_row, versions })
}

/// Records that files and copies may contain the value of a secret.
fn must_sweep(change: &Change<'_>, id: MemoryUuid, name: &str) -> Result<(), StoreError> {
    change.tx.run("INSERT OR IGNORE INTO hidden_secrets (memory, name) VALUES (?1, ?2)", params![id, name])?;
    Ok(())
}

/// A value without the marked texts. Their secrets are stored.
fn without<T: Texts>(
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

fn in_row(change: &Change<'_>, known: &Known, marks: &KnownValues, actor: &Actor) -> Result<bool, StoreError> {
    let before = &known.memory;
    let memory = without(change, (before.id, before.share.is_none()), before.clone(), marks)?;
    let is_changed = memory != *before;
    if is_changed {
        let actor = Actor { reason: Some(REASON.to_owned()), ..actor.clone() };
        clean::write(change, known, memory, &actor)?;
    }
    Ok(is_changed)
}

/// Returns the number of changed versions.
fn in_history(change: &Change<'_>, id: MemoryUuid, marks: &KnownValues) -> Result<usize, StoreError> {
    let mut changed = 0;
    for (rev, before) in earlier(change, id)? {
        let clean = without(change, (id, before.0.share.is_none()), before.clone(), marks)?;
        if clean != before {
            let text = serde_json::to_string(&clean).unwrap_or_default();
            change.tx.run("UPDATE history SET before = ?2 WHERE rev = ?1", params![rev, text])?;
            changed += 1;
        }
    }
    Ok(changed)
}

/// Whether the server still has the text with the marked value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The server has the old text, so the memory must be sent.
    IsOld,
    /// The server already has the new text.
    IsNew,
}

fn in_sync_state(change: &Change<'_>, id: MemoryUuid, marks: &KnownValues, base: Base) -> Result<(), StoreError> {
    let sql = "SELECT sync_state FROM sync_states WHERE memory = ?1";
    let stored: Option<String> = change.tx.maybe(sql, [id], |row| row.get(0))?;
    let Some(Ok(before)) = stored.map(|text| serde_json::from_str::<SyncState>(&text)) else { return Ok(()) };
    let mut clean = without(change, (id, true), before.clone(), marks)?;
    if clean == before {
        return Ok(());
    }
    if base == Base::IsOld {
        hold(&mut clean, &before);
    }
    let text = serde_json::to_string(&clean).unwrap_or_default();
    change.tx.run("UPDATE sync_states SET sync_state = ?2 WHERE memory = ?1", params![id, text])?;
    Ok(())
}

/// Replaces the text that the server has, so that this machine sends its own text.
fn hold(state: &mut SyncState, before: &SyncState) {
    let was = before.clone().base_content().cloned();
    if let (Some(content), Ok(held)) = (state.base_content(), Content::try_from(clean::HELD.to_owned()))
        && was.as_ref() != Some(&*content)
    {
        *content = held;
    }
}

fn in_logs(change: &Change<'_>, text: &str) -> Result<(), StoreError> {
    let mut words = KnownValues::default();
    words.note_word(MARKED.as_str(), text);
    for (table, key, column) in tables::texts(false).filter(|(.., column)| !NAMES.contains(column)) {
        beside::fix(change.tx, table, key, column, &words)?;
    }
    Ok(())
}

/// What a machine learns from a row of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Learned {
    /// No text was hidden.
    Nothing,
    /// Some texts were hidden, and were removed here too.
    Texts,
    /// Some texts were hidden, but this machine does not know which. It must erase the earlier versions of the memory.
    NotWhich,
}

/// Before a row from the server is applied: learns from it which texts of the memory another machine has hidden, and
/// hides them here too.
pub(crate) fn learn(change: &Change<'_>, arrived: &BaseVersion) -> Result<Learned, StoreError> {
    let id = arrived.row.memory;
    let Some(now) = arrived.row.state.document() else { return Ok(Learned::Nothing) };
    if !KINDS.iter().any(|kind| now.content.as_str().contains(kind.as_str())) {
        return Ok(Learned::Nothing);
    }
    let Some((known, row::HERE)) = row::remains(change.tx, id)? else { return Ok(Learned::Nothing) };
    let sql = "SELECT sync_state FROM sync_states WHERE memory = ?1";
    let stored: Option<String> = change.tx.maybe(sql, [id], |row| row.get(0))?;
    let mut state = stored.and_then(|text| serde_json::from_str::<SyncState>(&text).ok()).unwrap_or_default();
    // A local change that the server does not know yet is no difference between the two.
    let base = state.base_content().map(|content| content.as_str().to_owned()).filter(|base| base != clean::HELD);
    let old = base.unwrap_or_else(|| known.memory.content.clone());
    let mut found = replaced(&old, now.content.as_str());
    found.retain(|(place, _)| KINDS.iter().any(|kind| place.kind == kind.as_str()));
    let is_kept = known.memory.share.is_none() && change.secrets.rules().mode != SecretMode::Drop;
    let mut marks = KnownValues::default();
    for (place, value) in &found {
        marks.mark(&place.kind, value);
        if let (true, Some(name)) = (is_kept, &place.name) {
            kept::write_named(change, id, place, value)?;
            must_sweep(change, id, name.as_str())?;
        }
        in_logs(change, value)?;
    }
    let is_new = |place: &Place| place.kind == MARKED.as_str() && places(&old).iter().all(|(_, has)| has != place);
    if found.is_empty() {
        let is_hidden = places(now.content.as_str()).iter().any(|(_, place)| is_new(place));
        return Ok(if is_hidden { Learned::NotWhich } else { Learned::Nothing });
    }
    if !is_kept {
        refresh_copies(change, id)?;
    }
    let actor = Actor { client: Some("sync".to_owned()), ..Actor::default() };
    in_row(change, &known, &marks, &actor)?;
    in_history(change, id, &marks)?;
    in_sync_state(change, id, &marks, Base::IsNew)?;
    traces::note(change)?;
    Ok(Learned::Texts)
}

/// Erases the earlier versions of a memory after a row was applied, because one of them may contain a hidden text.
pub(crate) fn erase_earlier(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    change.tx.run("UPDATE history SET before = NULL WHERE memory = ?1", [id])?;
    refresh_copies(change, id)?;
    Ok(traces::note(change)?)
}

/// Replaces the memory in copies by its present state, without its history.
fn refresh_copies(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    purges::step(change, id, purges::COPIES, false, "backups were not checked yet")
}

/// Before a row from the server is applied: hides the texts that this machine has hidden, because another machine may
/// have edited the memory before it learned of them. True if there were any.
pub(crate) fn apply(change: &Change<'_>, arrived: &mut BaseVersion) -> Result<bool, StoreError> {
    let before = arrived.row.state.clone();
    // A conflict copy contains the other text of the same memory.
    let original = before.document().and_then(|document| document.details.conflict_of);
    let id = arrived.row.memory;
    for of in [Some(id), original].into_iter().flatten() {
        let marks = kept::marks_of(change, of)?;
        if !marks.is_empty() {
            arrived.row.state = without(change, (id, arrived.is_own()), arrived.row.state.clone(), &marks)?;
        }
    }
    Ok(arrived.row.state != before)
}

/// After such a row was applied: makes this machine send the text without the hidden texts.
pub(crate) fn tell_again(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    let sql = "SELECT sync_state FROM sync_states WHERE memory = ?1";
    let stored: Option<String> = change.tx.maybe(sql, [id], |row| row.get(0))?;
    let Some(Ok(mut state)) = stored.map(|text| serde_json::from_str::<SyncState>(&text)) else { return Ok(()) };
    if let (Some(content), Ok(held)) = (state.base_content(), Content::try_from(clean::HELD.to_owned())) {
        *content = held;
    }
    let text = serde_json::to_string(&state).unwrap_or_default();
    change.tx.run("UPDATE sync_states SET sync_state = ?2 WHERE memory = ?1", params![id, text])?;
    tell(change, id)
}

/// The texts that placeholders replaced: `old` is a text, and `new` the same text in which names of secrets replace some
/// parts. Empty if the texts differ in anything else.
fn replaced(old: &str, new: &str) -> Vec<(Place, String)> {
    let known = places(old);
    let is_new = |place: &Place| place.name.is_some() && known.iter().all(|(_, has)| has != place);
    let (mut found, mut at, mut after) = (Vec::new(), 0, 0);
    let mut open: Option<Place> = None;
    let spans = places(new).into_iter().filter(|(_, place)| is_new(place)).map(|(span, place)| (span, Some(place)));
    for (span, place) in spans.chain([(new.len()..new.len(), None)]) {
        let same = new.get(after..span.start).unwrap_or_default();
        let rest = old.get(at..).unwrap_or_default();
        let start = match (&open, &place) {
            (None, _) => rest.starts_with(same).then_some(0),
            // The last part must end the text.
            (Some(_), None) => rest.ends_with(same).then(|| rest.len() - same.len()),
            (Some(_), Some(_)) => rest.find(same).filter(|_| !same.is_empty()),
        };
        let Some(start) = start else { return Vec::new() };
        if let Some(place) = open.take() {
            let value = rest.get(..start).unwrap_or_default();
            if value.trim().is_empty() {
                return Vec::new();
            }
            found.push((place, value.to_owned()));
        }
        at += start + same.len();
        after = span.end;
        open = place;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_text_is_found_by_comparing_and_other_changes_find_nothing() {
        let said = |old: &str, new: &str| {
            let found = replaced(old, new).into_iter();
            found.map(|(place, value)| format!("{} {value}", place.name.unwrap())).collect::<Vec<_>>()
        };
        let name = "[secret s7k4q2: marked secret]";
        assert_eq!(said("the gate opens with 73 05", &format!("the gate opens with {name}")), ["s7k4q2 73 05"]);
        assert_eq!(said("pumpkin opens it", &format!("{name} opens it")), ["s7k4q2 pumpkin"]);
        let both = format!("user {name}, code [secret s7k4q3: marked secret].");
        assert_eq!(said("user anna, code 73.", &both), ["s7k4q2 anna", "s7k4q3 73"]);
        let edited = format!("the door opens with {name}");
        assert_eq!(said("the gate opens with 7305", &edited), Vec::<String>::new());
        assert_eq!(said(&both, &both), Vec::<String>::new());
        assert_eq!(said("the gate", "the gate"), Vec::<String>::new());
        assert_eq!(said("a b", &format!("a {name}b")), Vec::<String>::new(), "nothing was replaced");
    }
}
