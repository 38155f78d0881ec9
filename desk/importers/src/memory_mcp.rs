//! Reads memory-mcp by WhenMoon-afk: its SQLite file, and rows that its tools returned.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Row, Statement};
use serde_json::{Map, Value, json};

use crate::copy::Copy;
use crate::draft::{Draft, Told};
use crate::fields::Fields;
use crate::json::{JsonRow, skipped};
use crate::source::RowSink;
use crate::{system, time};

/// Columns that it always had.
const NEEDS: [&str; 8] =
    ["id", "content", "type", "importance", "created_at", "last_accessed", "metadata", "is_deleted"];
/// The beginning of its IDs.
const ID: &str = "mem_";
/// Queries for the names of a memory's entities and for its provenance.
const NAMES: &str = "SELECT e.name FROM memory_entities me JOIN entities e ON e.id = me.entity_id
                     WHERE me.memory_id = ?1 AND typeof(e.name) = 'text' ORDER BY me.rowid";
/// memory-mcp adds a record for each read of a memory. These records are not imported.
const DONE: &str = "SELECT operation, timestamp, source, context, user_id FROM provenance
                    WHERE memory_id = ?1 AND operation <> 'access' ORDER BY timestamp, rowid";

/// True for its database.
pub(crate) fn is_here(copy: &Copy) -> rusqlite::Result<bool> {
    let columns = copy.columns("memories")?;
    Ok(NEEDS.iter().all(|name| columns.iter().any(|column| column == name)))
}

/// True for a row that comes from a tool of memory-mcp or from an export of its table.
pub(crate) fn is_row(row: &Map<String, Value>) -> bool {
    row.contains_key("content") && row.get("id").and_then(Value::as_str).is_some_and(|id| id.starts_with(ID))
}

/// Reports the rows of its database, oldest first.
pub(crate) fn tell_database(copy: &Copy, place: &str, tell: &mut RowSink<'_>) -> Result<(), rusqlite::Error> {
    let columns = copy.columns("memories")?;
    // Early versions lack some tables.
    let are_there = |tables: &[&str]| -> rusqlite::Result<bool> {
        tables.iter().try_fold(true, |are, table| Ok(are && !copy.columns(table)?.is_empty()))
    };
    let has_names = are_there(&["memory_entities", "entities"])?;
    let mut names = has_names.then(|| copy.connection.prepare(NAMES).ok()).flatten();
    let mut done = are_there(&["provenance"])?.then(|| copy.connection.prepare(DONE).ok()).flatten();
    let mut statement = copy.connection.prepare("SELECT * FROM memories ORDER BY created_at, rowid")?;
    let mut rows = statement.query([])?;
    let (mut number, mut times) = (0_u64, system::Times::default());
    while let Some(row) = rows.next()? {
        number += 1;
        let fields = Fields::of_row(row, &columns)?;
        let id = fields.text("id").ok().flatten();
        let at = id.clone().unwrap_or_else(|| format!("row {number}"));
        let told = draft(&fields, place).map(|mut draft| {
            let id = id.unwrap_or_default();
            draft.key = times.next_in_part(draft.key);
            if let Some(names) = &mut names {
                draft.entities = readable(named(names, &id), "entities", &mut draft.remarks);
            }
            if let Some(done) = &mut done {
                let done = readable(done_with(done, &id), "provenance", &mut draft.remarks);
                note_done(&mut draft, done);
            }
            draft
        });
        tell.told(match told {
            Ok(draft) => Told::Row(Box::new(draft)),
            Err(problem) => Told::Skipped(skipped(at, problem)),
        })?;
    }
    Ok(())
}

/// Reports rows of its tools.
pub(crate) fn tell_rows(rows: &[JsonRow], place: &str, tell: &mut RowSink<'_>) -> Result<(), rusqlite::Error> {
    let mut times = system::Times::default();
    for (at, row) in rows {
        let told = row.clone().and_then(|object| {
            let fields = Fields::of_object(object);
            draft(&fields, place).and_then(|draft| {
                let entities = fields.words("entities", |letter| letter == ',')?;
                Ok(Draft { entities, key: times.next_in_part(draft.key), ..draft })
            })
        });
        tell.told(match told {
            Ok(draft) => Told::Row(Box::new(draft)),
            Err(problem) => Told::Skipped(skipped(at.clone(), problem)),
        })?;
    }
    Ok(())
}

/// Returns the readable rows of another table that belong to a memory, and reports the number of unreadable rows.
fn readable<T>(read: rusqlite::Result<Vec<Option<T>>>, what: &str, remarks: &mut Vec<String>) -> Vec<T> {
    let rows = match read {
        Ok(rows) => rows,
        Err(error) => {
            remarks.push(format!("{what}: skipped: {error}"));
            return Vec::new();
        }
    };
    let all = rows.len();
    let good: Vec<T> = rows.into_iter().flatten().collect();
    if good.len() < all {
        remarks.push(format!("{what}: {} of {all} cannot be read and were skipped", all - good.len()));
    }
    good
}

fn draft(fields: &Fields, place: &str) -> Result<Draft, String> {
    let mut remarks = Vec::new();
    let content = fields.needed_text("content")?;
    let importance = fields.number("importance")?;
    let created = fields.time("created_at")?;
    let metadata = metadata(fields).unwrap_or_else(|problem| {
        remarks.push(format!("skipped: {problem}"));
        None
    });
    let tags = match &metadata {
        Some(kept) if kept.contains_key("tags") => {
            Fields::of_object(kept.clone()).words("tags", |letter| letter == ',').unwrap_or_default()
        }
        _ => fields.words("tags", |letter| letter == ',')?,
    };
    let (key, name) = match fields.text("id")? {
        Some(id) => (format!("memory-mcp:{id}"), id),
        None => (format!("memory-mcp:text:{}", system::of_text(&content, place)), "without an ID".to_owned()),
    };
    let asked = fields.time_or_told("expires_at", &mut remarks).filter(|end| !is_by_rule(*end, created, importance));
    let read = fields.whole_number("access_count")?.unwrap_or_default();
    // Its deletion time is only in the provenance.
    let deleted = fields.flag("is_deleted")?.then(|| created.unwrap_or(Timestamp::UNIX_EPOCH));
    let last_accessed = fields.time_or_told("last_accessed", &mut remarks).filter(|_| read > 0);
    Ok(Draft {
        key,
        name,
        content,
        kind: fields.text("type")?,
        importance: importance.map(|importance| importance.clamp(0.0, 10.0) / 10.0),
        tags,
        created,
        updated: created,
        last_accessed,
        access_count: u32::try_from(read).unwrap_or_default(),
        expires: asked,
        deleted,
        metadata,
        remarks,
        ..Draft::default()
    })
}

fn metadata(fields: &Fields) -> Result<Option<Map<String, Value>>, String> {
    let kept = match fields.value("metadata") {
        Some(Value::Object(kept)) => kept.clone(),
        _ => match fields.text("metadata")? {
            Some(text) if !text.trim().is_empty() => {
                serde_json::from_str(&text).map_err(|_| "metadata: is not a JSON object".to_owned())?
            }
            _ => Map::new(),
        },
    };
    Ok((!kept.is_empty()).then_some(kept))
}

/// True for an expiry that the system derived from the importance.
fn is_by_rule(end: Timestamp, created: Option<Timestamp>, importance: Option<f64>) -> bool {
    let (Some(created), Some(importance)) = (created, importance) else { return false };
    let base = match importance {
        at if at >= 8.0 => 365.0,
        at if at >= 6.0 => 180.0,
        at if at >= 4.0 => 90.0,
        at if at >= 2.0 => 30.0,
        _ => 7.0,
    };
    let share = importance / 10.0;
    let days = (base * (1.0 + share * 0.7_f64)).round().max(1.0) + share * 7.0;
    let ruled = SignedDuration::from_secs_f64(days * 86_400.0);
    end.duration_since(created).checked_sub(ruled).is_some_and(|off| off.abs() <= SignedDuration::from_secs(2))
}

fn named(names: &mut Statement<'_>, id: &str) -> rusqlite::Result<Vec<Option<String>>> {
    names.query_map([id], |row| Ok(row.get(0).ok()))?.collect()
}

/// An action on a memory.
struct Done {
    operation: String,
    at: Option<Timestamp>,
    source: Option<String>,
    context: Option<String>,
    user_id: Option<String>,
}

fn done_with(done: &mut Statement<'_>, id: &str) -> rusqlite::Result<Vec<Option<Done>>> {
    let read = |row: &Row<'_>| -> rusqlite::Result<Done> {
        Ok(Done {
            operation: row.get(0)?,
            at: time::of_number(row.get(1)?),
            source: row.get(2)?,
            context: row.get(3)?,
            user_id: row.get(4)?,
        })
    };
    done.query_map([id], |row| Ok(read(row).ok()))?.collect()
}

/// Takes the times of the last change and the deletion from the provenance. Keeps the provenance if it has a context or
/// a user.
fn note_done(draft: &mut Draft, done: Vec<Done>) {
    let last = |operation: &str| done.iter().rev().find(|done| done.operation == operation).and_then(|done| done.at);
    draft.updated = last("update").or(draft.updated);
    if draft.deleted.is_some() {
        draft.deleted = last("delete").or(draft.deleted);
    }
    let is_said = |done: &&Done| done.context.is_some() || done.user_id.is_some();
    if !done.iter().any(|done| is_said(&done)) {
        return;
    }
    let shown = |done: &Done| {
        let at = done.at.map(|at| at.to_string());
        json!({ "operation": done.operation, "timestamp": at, "source": done.source, "context": done.context, "user_id": done.user_id })
    };
    let kept = draft.metadata.get_or_insert_default();
    kept.entry("provenance").or_insert_with(|| done.iter().map(shown).collect());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_follows_from_the_importance_was_asked_for_by_nobody() {
        let at = |millis: i64| Timestamp::from_millisecond(millis).unwrap();
        let created = Some(at(1_795_287_273_961));
        assert!(is_by_rule(at(1_844_932_713_961), created, Some(8.0)));
        assert!(!is_by_rule(at(1_795_287_273_961 + 30 * 86_400_000), created, Some(8.0)));
        assert!(!is_by_rule(at(1_844_932_713_961), created, Some(5.0)));
        assert!(!is_by_rule(at(1_844_932_713_961), None, Some(8.0)));
    }
}
