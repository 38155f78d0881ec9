//! Hides and allows the texts of a memory that another machine has hidden or allowed.
//!
//! This machine receives the changed text with the name of the secret. By comparing it with its own text, it learns the
//! value and hides it too. So no message contains the value. In the same way, it learns that a text was declared not to be
//! a secret.

use rusqlite::params;

use crate::domain::MemoryUuid;
use crate::screen::probable::PROBABLE;
use crate::screen::{KnownValues, MARKED, Place, places};
use crate::store::base::allowed_texts::allow;
use crate::store::base::config::{Actor, SecretMode};
use crate::store::base::kept;
use crate::store::base::transaction::Change;
use crate::store::change::clean::HELD;
use crate::store::change::hide::{
    Base, forget_digests, hold, holds, in_history, in_logs, in_row, in_sync_state, mark, must_sweep, refresh_copies,
    save, sync_state, without,
};
use crate::store::change::write::tell;
use crate::store::file::error::StoreError;
use crate::store::logs::traces;
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::store::rows::memory as row;
use crate::sync::BaseVersion;

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
/// hides them here too. Also learns which texts were declared not to be secrets.
pub(crate) fn learn(change: &Change<'_>, arrived: &BaseVersion) -> Result<Learned, StoreError> {
    let id = arrived.row.memory;
    let Some(now) = arrived.row.state.document().map(|document| document.content.as_str()) else {
        return Ok(Learned::Nothing);
    };
    // Most rows have neither a hidden nor an allowed text.
    let sql = "SELECT 1 FROM secrets WHERE memory = ?1 AND kind IN (?2, ?3)";
    let may_be_allowed = change.tx.prepare_cached(sql)?.exists(params![id, MARKED.as_str(), PROBABLE.as_str()])?;
    if !may_be_allowed && !now.contains(MARKED.as_str()) {
        return Ok(Learned::Nothing);
    }
    let Some((known, row::HERE)) = row::remains(change.tx, id)? else { return Ok(Learned::Nothing) };
    // A local change that the server does not know yet is no difference between the two.
    let base = sync_state(change, id)?.unwrap_or_default().base_content().map(|content| content.as_str().to_owned());
    let old = base.filter(|base| base != HELD).unwrap_or_else(|| known.memory.content.clone());
    let is_own = known.memory.share.is_none();
    if is_own {
        learn_allowed(change, id, &old, now)?;
    }
    if !now.contains(MARKED.as_str()) {
        return Ok(Learned::Nothing);
    }
    let mut new = Vec::new();
    for (_, place) in places(now) {
        if place.kind == MARKED.as_str()
            && !places(&old).iter().any(|(_, has)| *has == place)
            && !is_told(change, id, &place)?
        {
            new.push(place);
        }
    }
    if new.is_empty() {
        return Ok(Learned::Nothing);
    }
    let mut found = replaced(&old, now);
    found.retain(|(place, _)| new.contains(place));
    for (place, value) in &found {
        if is_other(change, id, place, value)? {
            // The text names the secret of another memory, so nothing was hidden here.
            return Ok(Learned::Nothing);
        }
    }
    if found.is_empty() {
        let hides_itself = !kept::marks_of(change, id)?.is_empty();
        return Ok(if hides_itself { Learned::Nothing } else { Learned::NotWhich });
    }
    let is_kept = is_own && change.secrets.rules().mode != SecretMode::Drop;
    let mut marks = KnownValues::default();
    for (place, value) in &found {
        mark(&mut marks, &place.kind, value);
        if let (true, Some(name)) = (is_kept, &place.name) {
            kept::write_named(change, id, place, value)?;
            must_sweep(change.tx, id, name.as_str())?;
        } else {
            refresh_copies(change, id)?;
        }
    }
    in_logs(change, &found.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>())?;
    in_row(change, &known, &marks, &Actor::by_sync())?;
    in_history(change, id, &marks)?;
    in_sync_state(change, id, &marks, Base::IsNew)?;
    forget_digests(change, id)?;
    traces::note(change)?;
    Ok(Learned::Texts)
}

/// Deletes secrets that another machine has allowed: the arriving text contains their values again.
fn learn_allowed(change: &Change<'_>, id: MemoryUuid, old: &str, now: &str) -> Result<(), StoreError> {
    for (place, value) in replaced(now, old) {
        let is_kind = [MARKED, PROBABLE].iter().any(|kind| place.kind == kind.as_str());
        let Some(name) = place.name.as_ref().filter(|_| is_kind) else { continue };
        if kept::value(change, id, name.as_str())?.is_some_and(|has| *has == value) {
            kept::let_go(change, id, Some(name.as_str()))?;
            kept::note(change, id, name.as_str(), "allowed", &Actor::by_sync())?;
            allow(change, &value)?;
        }
    }
    Ok(())
}

/// True if a name belongs to this memory already, for example in an earlier version that was restored.
fn is_told(change: &Change<'_>, id: MemoryUuid, place: &Place) -> Result<bool, StoreError> {
    let name = place.name.as_ref().map(ToString::to_string);
    let sql = "SELECT EXISTS (SELECT 1 FROM secrets WHERE memory = ?1 AND name = ?2)
               OR EXISTS (SELECT 1 FROM history WHERE memory = ?1 AND instr(before, '[secret ' || ?2 || ':') > 0)";
    Ok(change.tx.one(sql, params![id, name], |row| row.get(0))?)
}

/// True if another memory has a secret of this name with another value.
fn is_other(change: &Change<'_>, id: MemoryUuid, place: &Place, value: &str) -> Result<bool, StoreError> {
    let Some(name) = &place.name else { return Ok(false) };
    let sql = "SELECT memory FROM secrets WHERE name = ?1 AND memory <> ?2 AND sealed IS NOT NULL LIMIT 1";
    let other: Option<MemoryUuid> = change.tx.maybe(sql, params![name.as_str(), id], |row| row.get(0))?;
    let Some(other) = other else { return Ok(false) };
    Ok(kept::value(change, other, name.as_str())?.is_none_or(|has| *has != value))
}

/// Erases the earlier versions of a memory after a row was applied, because one of them may contain a hidden text.
pub(crate) fn erase_earlier(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    change.tx.run("UPDATE history SET before = NULL WHERE memory = ?1", [id])?;
    refresh_copies(change, id)?;
    forget_digests(change, id)?;
    Ok(traces::note(change)?)
}

/// Before a row from the server is applied: hides the texts that this machine has hidden, because another machine may
/// have edited the memory before it learned of them. True if there were any.
pub(crate) fn apply(change: &Change<'_>, arrived: &mut BaseVersion) -> Result<bool, StoreError> {
    // A conflict copy contains the other text of the same memory.
    let original = arrived.row.state.document().and_then(|document| document.details.conflict_of);
    let id = arrived.row.memory;
    let mut is_changed = false;
    for of in [Some(id), original].into_iter().flatten() {
        let marks = kept::marks_of(change, of)?;
        if holds(&arrived.row.state, &marks) {
            arrived.row.state = without(change, (id, arrived.is_own()), arrived.row.state.clone(), &marks)?;
            is_changed = true;
        }
    }
    Ok(is_changed)
}

/// After such a row was applied: makes this machine send the text without the hidden texts.
pub(crate) fn tell_again(change: &Change<'_>, id: MemoryUuid) -> Result<(), StoreError> {
    let Some(mut state) = sync_state(change, id)? else { return Ok(()) };
    hold(&mut state);
    save(change, id, &state)?;
    tell(change, id)
}

/// The texts that placeholders replaced: `old` is a text, and `new` the same text in which names of secrets replace some
/// parts. Empty if the texts differ in anything else, or if several parts may have been replaced.
fn replaced(old: &str, new: &str) -> Vec<(Place, String)> {
    let known = places(old);
    let is_new = |place: &Place| place.name.is_some() && known.iter().all(|(_, has)| has != place);
    let (mut found, mut at, mut after): (Vec<(Place, String)>, _, _) = (Vec::new(), 0, 0);
    let mut open: Option<Place> = None;
    let spans = places(new).into_iter().filter(|(_, place)| is_new(place)).map(|(span, place)| (span, Some(place)));
    for (span, place) in spans.chain([(new.len()..new.len(), None)]) {
        let same = new.get(after..span.start).unwrap_or_default();
        let rest = old.get(at..).unwrap_or_default();
        let start = match (&open, &place) {
            (None, _) => rest.starts_with(same).then_some(0),
            // The last part must end the text.
            (Some(_), None) => rest.ends_with(same).then(|| rest.len() - same.len()),
            (Some(_), Some(_)) => {
                let mut starts = rest.match_indices(same).map(|(start, _)| start);
                starts.next().filter(|_| !same.is_empty() && starts.next().is_none())
            }
        };
        let Some(start) = start else { return Vec::new() };
        if let Some(place) = open.take() {
            let value = rest.get(..start).unwrap_or_default();
            let is_same = found.iter().all(|(has, known)| *has != place || known == value);
            if value.trim().is_empty() || !places(value).is_empty() || !is_same {
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
        let list = format!("pins {name}, [secret s7k4q3: marked secret]");
        assert_eq!(said("pins 1-2, 34", &list), ["s7k4q2 1-2", "s7k4q3 34"]);
        assert_eq!(said("pins 1-2, 3, 4", &list), Vec::<String>::new(), "either comma may be the one");
        let twice = format!("{name} or {name}");
        assert_eq!(said("12 or 34", &twice), Vec::<String>::new(), "one name has one value");
        let own = "code [secret s9zzzz: marked secret]";
        assert_eq!(said(own, &format!("code {name}")), Vec::<String>::new(), "a placeholder is no value");
    }
}
