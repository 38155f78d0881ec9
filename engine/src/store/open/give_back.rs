//! Once, for a store of an older version: what a rule of lifetimes took, or would take, is given back, and derived
//! fields that no server takes are made anew.
//!
//! Until schema 3 every fact of little importance got an end when it was written, and was deleted a month after it.
//! Nobody had asked for that.

use std::collections::HashSet;

use rusqlite::params;

use crate::compose::{self, Known};
use crate::domain::{Category, Handle, Memory, MemoryRef, Origin, Timestamp};
use crate::store::base::config::Actor;
use crate::store::base::transaction::Change;
use crate::store::change::links;
use crate::store::change::outbox::tell;
use crate::store::change::write::{Written, write_row};
use crate::store::file::error::StoreError;
use crate::store::logs::history::{self, Operation};
use crate::text::O200k;

/// From this schema on nothing is left to give back.
pub(crate) const GIVEN_BACK: i64 = 4;

/// The older rule: no end from this importance on (hundredths).
const NEVER_FROM: u8 = 60;
/// The older rule: so many days, and so many more for every hundredth of importance.
const FEWEST_DAYS: i64 = 90;
const DAYS_PER_POINT: i64 = 5;
/// The name that the history has for what the rule deleted.
const EXPIRE: &str = "expire";

pub(crate) fn give_back(change: &Change<'_>) -> Result<(), StoreError> {
    let times = times(change)?;
    let sql = "SELECT handle, (SELECT op FROM history WHERE memory = id ORDER BY rev DESC LIMIT 1),
                   EXISTS (SELECT 1 FROM history WHERE memory = id AND op = 'update')
               FROM memories WHERE purged = 0 AND expires IS NOT NULL ORDER BY handle";
    let mut statement = change.tx.prepare(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?, row.get(2)?));
    let rows: Vec<(Handle, Option<String>, bool)> = statement.query_map([], read)?.collect::<Result<_, _>>()?;
    for (handle, last, was_updated) in rows {
        let Some(known) = readable(change, handle)? else { continue };
        let before = &known.memory;
        let expires = before.expires.filter(|end| is_asked_for(before, *end, was_updated, &times));
        let was_taken = before.deleted.is_some() && last.as_deref() == Some(EXPIRE) && before.share.is_none();
        if was_taken && !was_said_again(change, before)? {
            bring_back(change, &known, expires)?;
        } else if expires != before.expires {
            let sql = "UPDATE memories SET expires = NULL, rev = ?2 WHERE handle = ?1";
            change.tx.prepare_cached(sql)?.execute(params![handle, change.next_rev()?])?;
        } else {
            // A server knows of it under a name that is not read any more.
            tell(change, before.id)?;
        }
    }
    shorten(change)
}

/// A row that cannot be read is left as it is: that is for the doctor, and no reason not to open.
fn readable(change: &Change<'_>, handle: Handle) -> Result<Option<Known>, StoreError> {
    match change.known(MemoryRef::Handle(handle)) {
        Err(StoreError::Sqlite { source: rusqlite::Error::FromSqlConversionFailure(..), .. }) => Ok(None),
        other => other.map(Some),
    }
}

/// A memory that the rule deleted is there again, and a server is told so.
fn bring_back(change: &Change<'_>, before: &Known, expires: Option<Timestamp>) -> Result<(), StoreError> {
    let composed = compose::given_back(before, expires, &O200k).placed(before.memory.handle, change.next_rev()?);
    write_row(change, &composed, Written::Again)?;
    links::elect_around(change, composed.memory())?;
    let actor = Actor { reason: Some("nothing expires by itself".into()), ..Actor::default() };
    history::record(change, composed.memory(), Operation::Restore, &actor, Some(&before.memory))?;
    // It shows again of its directory what it showed when it was made.
    let sql = "INSERT INTO places (path, project, how, since) SELECT cwd, scope, 'made', created FROM memories
               WHERE handle = ?1 AND cwd IS NOT NULL AND scope <> 'global' AND shared_by IS NULL
                   AND origin IN ('user', 'agent', 'auto_learn') AND trust <> 'foreign'
               ON CONFLICT (path, project) DO UPDATE SET since = min(since, excluded.since)";
    change.tx.prepare_cached(sql)?.execute([before.memory.handle])?;
    tell(change, before.memory.id)
}

/// True when the very same text was stored again later, whatever became of that: it speaks for both. Captured turns
/// and imports are kept as they come.
fn was_said_again(change: &Change<'_>, before: &Memory) -> Result<bool, StoreError> {
    if !matches!(before.origin, Origin::User | Origin::Agent | Origin::AutoLearn) {
        return Ok(false);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM memories WHERE content = ?1 AND scope = ?2 AND handle > ?3 AND purged = 0
               AND origin IN ('user', 'agent', 'auto_learn') AND trust <> 'foreign' AND conflict_of IS NULL)";
    let mut statement = change.tx.prepare_cached(sql)?;
    Ok(statement.query_row(params![before.content, before.scope.as_str(), before.handle], |row| row.get(0))?)
}

/// Every time at which a lifetime can have begun here.
fn times(change: &Change<'_>) -> Result<HashSet<Timestamp>, StoreError> {
    let sql = "SELECT at FROM history UNION SELECT created FROM memories UNION SELECT updated FROM memories
               UNION SELECT last_accessed FROM memories WHERE last_accessed IS NOT NULL";
    let mut statement = change.tx.prepare(sql)?;
    Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// True when only a person or their program can have set this end. In doubt it was the rule: what would vanish
/// is worse than what stays.
fn is_asked_for(memory: &Memory, end: Timestamp, was_updated: bool, times: &HashSet<Timestamp>) -> bool {
    let begun = |points: u8| end.plus_days(-(FEWEST_DAYS + DAYS_PER_POINT * i64::from(points)));
    if memory.share.is_some() || (0..NEVER_FROM).any(|points| times.contains(&begun(points))) {
        return false;
    }
    let category = memory.category.as_str();
    let is_kept_by_rule = matches!(category, Category::PREFERENCES | Category::DECISIONS | "people")
        || (memory.importance.percent() >= NEVER_FROM && !was_updated);
    // People and programs name whole seconds; a clock hardly ever reads one.
    is_kept_by_rule || end.as_micros() % 1_000_000 == 0
}

/// Named things that are too long to be names were taken from texts, and refused by every server.
fn shorten(change: &Change<'_>) -> Result<(), StoreError> {
    let sql = "SELECT handle FROM memories WHERE purged = 0 AND shared_by IS NULL
               AND (octet_length(entities) > 200 OR octet_length(scope) > 200 OR octet_length(tags) > 200)";
    let mut statement = change.tx.prepare(sql)?;
    let handles: Vec<Handle> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for handle in handles {
        let Some(known) = readable(change, handle)? else { continue };
        // Labels of more than 255 bytes were left out of the index.
        let composed = compose::shortened(&known, &O200k).placed(handle, change.next_rev()?);
        write_row(change, &composed, Written::Again)?;
        if composed.memory().entities != known.memory.entities {
            tell(change, known.memory.id)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Draft;
    use crate::store::open::in_memory::InMemory;

    #[test]
    fn an_end_that_a_rule_gave_is_taken_back_and_one_that_was_asked_for_stays() {
        let mut store = InMemory::new();
        store.run("UPDATE meta SET value = value");
        let made = Timestamp::from_micros(store.now().as_micros() + 7);
        let remember = |store: &mut InMemory, text: &str, expires| {
            let draft = Draft { created: Some(made), expires: Some(expires), ..Draft::new(text) };
            store.remember(draft).unwrap().memory
        };
        let by_rule = remember(&mut store, "by the rule", made.plus_days(FEWEST_DAYS + DAYS_PER_POINT * 30));
        let asked = remember(&mut store, "asked for", Timestamp::from_micros(1_900_000_000_000_000));
        store.write(give_back).unwrap();
        assert_eq!(store.now_of(&by_rule).expires, None);
        assert_eq!(store.now_of(&asked).expires, asked.expires);
    }

    #[test]
    fn what_the_rule_deleted_is_there_again_unless_it_was_said_since() {
        let mut store = InMemory::new();
        let made = Timestamp::from_micros(store.now().as_micros() + 7);
        let end = made.plus_days(FEWEST_DAYS);
        for text in ["taken", "taken and said again"] {
            let draft = Draft { created: Some(made), expires: Some(end), ..Draft::new(text) };
            store.remember(draft).unwrap();
        }
        store.run(
            "UPDATE memories SET deleted = expires, forward = x'';
             INSERT INTO history (rev, op_id, memory, op, at, origin)
                 SELECT rev + 100, randomblob(16), id, 'expire', deleted, 'user' FROM memories;
             UPDATE meta SET value = 300 WHERE key = 'rev'",
        );
        store.said("taken and said again");
        store.write(give_back).unwrap();
        let live =
            "SELECT group_concat(handle) FROM (SELECT handle FROM memories WHERE deleted IS NULL ORDER BY handle)";
        assert_eq!(store.one::<String>(live), "1,3");
        assert_eq!(store.recalled("taken").len(), 2);
        assert_eq!(store.one::<u32>("SELECT count(*) FROM history WHERE op = 'restore'"), 1);
    }
}
