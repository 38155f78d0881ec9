//! Removes credentials from content that was stored before they could be detected. The cleaned content is stored as an
//! edit. Credentials of the user's own memories become secrets.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value;

use super::write::{Written, tell, write_row};
use crate::compose::Known;
use crate::domain::{Memory, MemoryRef, MemoryUuid, Origin};
use crate::screen::{KnownValues, Part, Texts, Words, findings, is_clean, screened_for};
use crate::store::base::config::Actor;
use crate::store::base::kept;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;
use crate::text::O200k;
use crate::{compose, enrich};

/// The number of credentials by kind.
pub(crate) type Kinds = BTreeMap<String, u64>;

/// In the sync state, this placeholder replaces the text of the base version if it contains a credential. The server
/// already has the original text. The placeholder differs from the local text, so the server gets an update.
pub(crate) const HELD: &str = "(a text with a credential)";

/// Counts the credentials in all texts of a value.
pub(crate) fn kinds_in(value: &impl Texts, known: &KnownValues) -> Kinds {
    let mut kinds = Kinds::new();
    value.each_text(&mut |_, text| count(&mut kinds, text, known));
    kinds
}

/// Counts the credentials of a text.
pub(crate) fn count(kinds: &mut Kinds, text: &str, known: &KnownValues) {
    let found = findings(text);
    for finding in &found {
        *kinds.entry(finding.kind.as_str().to_owned()).or_default() += 1;
    }
    let is_found =
        |value: &str| found.iter().any(|finding| text.get(finding.span.clone()).is_some_and(|has| has.contains(value)));
    for (_, kind) in known.in_text(text).filter(|(value, _)| !is_found(value)) {
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    if let (true, Some(kind)) = (found.is_empty(), known.piece(text)) {
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
}

/// The values of columns exactly as stored, because parsing may change them. For example, parsing removes a password
/// from a scope.
pub(crate) fn raw(connection: &Connection, id: MemoryUuid) -> rusqlite::Result<Words> {
    let sql = "SELECT scope, origin, category FROM memories WHERE id = ?1
               UNION ALL SELECT value, NULL, NULL FROM json_each((SELECT tags FROM memories WHERE id = ?1))";
    let mut words = Vec::new();
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        for at in 0..3 {
            words.extend(row.get::<_, Option<String>>(at)?.map(|text| (Part::Slug, text)));
        }
    }
    Ok(Words(words))
}

/// The credentials of a row.
pub(crate) fn kinds_of(memory: &Memory, known: &KnownValues) -> Kinds {
    let mut kinds = kinds_in(memory, known);
    count(&mut kinds, memory.scope.as_str(), known);
    kinds
}

/// Removes credentials from the row and the sync state of a memory that is not permanently deleted. Returns true if
/// there were credentials, so that the server needs an update.
pub(crate) fn memory(change: &Change<'_>, id: MemoryUuid, values: &KnownValues) -> Result<bool, StoreError> {
    let Some(known) = row::find_known(change.tx, MemoryRef::Id(id))? else { return Ok(false) };
    let is_trail = sync_state(change, id, known.memory.share.is_none(), values)?;
    Ok(this_row(change, &known, values)? || is_trail)
}

/// Does the same. If the user's own memory changed, also queues an update for the server.
pub(crate) fn memory_and_tell(change: &Change<'_>, memory: &Memory, values: &KnownValues) -> Result<bool, StoreError> {
    let is_changed = self::memory(change, memory.id, values)?;
    if is_changed && memory.share.is_none() {
        tell(change, memory.id)?;
    }
    Ok(is_changed)
}

fn this_row(change: &Change<'_>, known: &Known, values: &KnownValues) -> Result<bool, StoreError> {
    let before = &known.memory;
    let raw = raw(change.tx, before.id)?;
    if kinds_of(before, values).is_empty() && kinds_in(&raw, values).is_empty() {
        return Ok(false);
    }
    let is_own = before.share.is_none();
    let mut keeper = change.secrets.keeper_of_old(change.tx, is_own);
    let (clean, found) = screened_for(before.clone(), before.id, &mut keeper, values)?.into_parts();
    kept::write_all(change, before.id, &screened_for(raw, before.id, &mut keeper, values)?.into_parts().1)?;
    let scope = values.taken_out_of(clean.scope.as_str());
    let scope = scope.map_or_else(|| Ok(clean.scope.clone()), |scope| scope.parse())?;
    let reason = Some("a credential was redacted".to_owned());
    let actor = Actor { origin: Origin::User, reason, ..Actor::default() };
    write(change, known, Memory { scope, ..clean }, &actor)?;
    kept::write_all(change, before.id, &found)?;
    Ok(true)
}

/// Writes a memory with other texts. The history does not record the text before.
pub(super) fn write(change: &Change<'_>, known: &Known, memory: Memory, actor: &Actor) -> Result<(), StoreError> {
    let before = &known.memory;
    let is_derived = before.entities == enrich::entities(&before.content);
    let entities = if is_derived { enrich::entities(&memory.content) } else { memory.entities.clone() };
    let composed = compose::carried(Memory { updated: change.now, entities, ..memory }, &O200k);
    let composed = composed.placed(before.short_id, change.next_rev()?);
    write_row(change, &composed, Written::Again)?;
    history::record(change, composed.memory(), Operation::Update, actor, None)
}

/// The same for the sync state.
fn sync_state(change: &Change<'_>, id: MemoryUuid, is_own: bool, values: &KnownValues) -> Result<bool, StoreError> {
    let sql = "SELECT sync_state FROM sync_states WHERE memory = ?1";
    let text: Option<String> = change.tx.maybe(sql, [id], |row| row.get(0))?;
    let Some(Ok(value)) = text.map(|text| serde_json::from_str::<Value>(&text)) else { return Ok(false) };
    let is_held = ["live", "deleted"].map(|state| {
        let held = value.pointer(&format!("/base_version/row/state/{state}/content")).and_then(Value::as_str);
        (state, held.is_some_and(|held| !is_clean(held) || values.stands_in(held)))
    });
    let Some(mut value) = json(change, id, value, is_own, values)? else { return Ok(false) };
    for (state, is_held) in is_held {
        if let (true, Some(content)) = (is_held, value.pointer_mut(&format!("/base_version/row/state/{state}/content")))
        {
            *content = Value::String(HELD.to_owned());
        }
    }
    let sql = "UPDATE sync_states SET sync_state = ?2 WHERE memory = ?1";
    change.tx.run(sql, params![id, value.to_string()])?;
    Ok(true)
}

/// Returns JSON about a memory without its credentials; `None` if it contains none.
pub(crate) fn json(
    change: &Change<'_>,
    id: MemoryUuid,
    value: Value,
    is_own: bool,
    values: &KnownValues,
) -> Result<Option<Value>, StoreError> {
    if kinds_in(&value, values).is_empty() {
        return Ok(None);
    }
    let mut keeper = change.secrets.keeper_of_old(change.tx, is_own);
    let (value, found) = screened_for(value, id, &mut keeper, values)?.into_parts();
    kept::write_all(change, id, &found)?;
    Ok(Some(value))
}

/// Removes credentials from the previous version and the reason in the history entry `rev`. True if there was a
/// credential.
pub(crate) fn history(change: &Change<'_>, rev: u64, values: &KnownValues) -> Result<bool, StoreError> {
    let sql = "SELECT memory, before FROM history WHERE rev = ?1";
    let found = change.tx.one(sql, [rev], |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?)));
    let Some((id, before)) = found.optional()? else { return Ok(false) };
    let Some(before) = before else { return Ok(false) };
    let owner = "SELECT shared_by IS NULL AND purged = 0 FROM memories WHERE id = ?1";
    let is_own = change.tx.maybe(owner, [id], |row| row.get(0))?.unwrap_or(false);
    let clean = match serde_json::from_str(&before) {
        Ok(value) => json(change, id, value, is_own, values)?.map(|value| value.to_string()),
        Err(_) => values.taken_out_of(&before),
    };
    let Some(clean) = clean else { return Ok(false) };
    change.tx.run("UPDATE history SET before = ?2 WHERE rev = ?1", params![rev, clean])?;
    Ok(true)
}
