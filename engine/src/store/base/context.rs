//! Maintains the context field: the stored terms of a captured turn also contain words of its neighbours.

use rusqlite::params;

use super::transaction::Change;
use crate::domain::{Memory, MemoryRef, Origin, ShortId};
use crate::index::{CONTEXT_REACH, ForwardDoc, Freshness, context_of};
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};

/// Updates the context of a changed turn and of its neighbours.
pub(crate) fn refresh_around(change: &Change<'_>, memory: &Memory) -> Result<(), StoreError> {
    let (Some(session), Origin::Conversation) = (&memory.session, &memory.origin) else { return Ok(()) };
    let (mut turns, centre) = around(change, session, memory)?;
    let documents: Vec<ForwardDoc> = turns.iter().map(|turn| turn.doc.clone()).collect();
    // A deleted memory is not among the turns; then `centre` is the turn after it.
    let last = centre + CONTEXT_REACH - usize::from(memory.deleted.is_some());
    let in_reach = turns.iter_mut().enumerate().skip(centre.saturating_sub(CONTEXT_REACH));
    for (at, turn) in in_reach.take_while(|(at, _)| *at <= last) {
        let (before, after) = documents.split_at(at);
        context_of(&mut turn.doc, before.iter().rev(), after.iter().skip(1));
        let blob = turn.doc.encode_into(&turn.blob);
        // A turn of another analyzer is rewritten separately, with all its derived data.
        if blob != turn.blob && Freshness::of(&turn.blob).is_current() {
            let rev = if turn.short_id == memory.short_id.get() { memory.rev } else { change.next_rev()? };
            let sql = "UPDATE memories SET forward = ?2, rev = ?3 WHERE short_id = ?1";
            change.tx.run(sql, params![turn.short_id, blob, rev])?;
        }
    }
    Ok(())
}

struct Turn {
    short_id: u32,
    blob: Vec<u8>,
    doc: ForwardDoc,
}

/// Returns the turns around a memory in the order of the conversation, and the memory's position among them. It returns
/// twice as many turns as the context needs.
fn around(change: &Change<'_>, session: &str, memory: &Memory) -> Result<(Vec<Turn>, usize), StoreError> {
    let reach = 2 * CONTEXT_REACH + 1;
    let side = |sql: &str| -> rusqlite::Result<Vec<(u32, Vec<u8>)>> {
        change
            .tx
            .all(sql, params![session, memory.created, memory.short_id, reach], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    let mut rows = side(
        "SELECT short_id, forward FROM memories WHERE session = ?1 AND (created, short_id) < (?2, ?3) AND deleted IS NULL
         AND origin = 'conversation' ORDER BY created DESC, short_id DESC LIMIT ?4",
    )?;
    rows.reverse();
    let centre = rows.len();
    rows.extend(side(
        "SELECT short_id, forward FROM memories WHERE session = ?1 AND (created, short_id) >= (?2, ?3) AND deleted IS NULL
         AND origin = 'conversation' ORDER BY created, short_id LIMIT ?4",
    )?);
    let turns =
        rows.into_iter().map(|(short_id, blob)| Ok(Turn { short_id, doc: read(change, short_id, &blob)?, blob }));
    Ok((turns.collect::<Result<_, StoreError>>()?, centre))
}

/// The terms of a turn; if its blob cannot be read, the terms of its text.
fn read(change: &Change<'_>, short_id: u32, blob: &[u8]) -> Result<ForwardDoc, StoreError> {
    if let Ok(doc) = ForwardDoc::decode(blob) {
        return Ok(doc);
    }
    let memory = change.existing(MemoryRef::ShortId(ShortId::try_from(short_id)?))?;
    Ok(ForwardDoc::analyze(&memory))
}
