//! Reads data of claude-memory-mcp by ViktorBarzin: its SQLite file, including changes that were not sent yet, and
//! exported rows of its server.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::copy::Copy;
use crate::draft::{Draft, Told};
use crate::fields::Fields;
use crate::json::{JsonRow, skipped};
use crate::source::RowSink;
use crate::system;

/// Columns that it always had.
const NEEDS: [&str; 7] = ["id", "content", "category", "tags", "expanded_keywords", "is_sensitive", "created_at"];
/// How its server marks a redacted credential.
const REDACTED: &str = "[REDACTED:";
/// The text that its server returns instead of a secret.
const HIDDEN: &str = "[SENSITIVE - use secret_get";

/// True for its database.
pub(crate) fn is_here(copy: &Copy) -> rusqlite::Result<bool> {
    let columns = copy.columns("memories")?;
    Ok(NEEDS.iter().all(|name| columns.iter().any(|column| column == name)))
}

/// True for a row of claude-memory-mcp's server, or of an export of its table. Tessera's exports also contain `uuid`,
/// so they do not match.
pub(crate) fn is_row(row: &Map<String, Value>) -> bool {
    let has = |name: &str| row.contains_key(name);
    has("content")
        && !has("uuid")
        && (has("expanded_keywords") || has("is_sensitive") || row.get("id").is_some_and(Value::is_i64))
}

/// The queued changes that were never sent to the server.
#[derive(Default)]
struct Waiting {
    /// New memories, by local row ID.
    stores: BTreeMap<i64, (String, Fields)>,
    /// Queued changes of existing rows, by the local ID or the server ID.
    updates: BTreeMap<(bool, i64), Fields>,
    /// Server IDs of memories to delete.
    deletes: BTreeSet<i64>,
    /// Unreadable entries.
    unread: Vec<(String, String)>,
}

/// Reports the rows of the database, and then queued changes that match no row.
pub(crate) fn tell_database(copy: &Copy, place: &str, tell: &mut RowSink<'_>) -> Result<(), rusqlite::Error> {
    let mut waiting = waiting(copy)?;
    let columns = copy.columns("memories")?;
    let mut statement = copy.connection.prepare("SELECT * FROM memories ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut fields = Fields::of_row(row, &columns)?;
        let id = fields.whole_number("id").ok().flatten();
        let server = fields.whole_number("server_id").ok().flatten();
        if let Some(id) = id {
            waiting.stores.remove(&id);
        }
        for key in [id.map(|id| (false, id)), server.map(|id| (true, id))].into_iter().flatten() {
            if let Some(update) = waiting.updates.remove(&key) {
                fields = fields.with(&update);
            }
        }
        let at = id.map_or_else(|| "row".to_owned(), |id| format!("row {id}"));
        tell.told(told(at, &fields, Numbers::Here, place))?;
    }
    for (id, (at, fields)) in waiting.stores {
        let fields = match waiting.updates.remove(&(false, id)) {
            Some(update) => fields.with(&update),
            None => fields,
        };
        let row = match draft(&fields, Numbers::Waiting { id }, place) {
            Ok(mut draft) => {
                draft.remarks.push("was queued for the server, but its row no longer exists".to_owned());
                Told::Row(Box::new(draft))
            }
            Err(problem) => Told::Skipped(skipped(at, problem)),
        };
        tell.told(row)?;
    }
    for (is_server, id) in waiting.updates.into_keys() {
        let of = if is_server { "the server's row" } else { "row" };
        let problem = format!("a queued change refers to {of} {id}, which the database does not contain");
        tell.told(Told::Skipped(skipped("what waits", problem)))?;
    }
    for id in waiting.deletes {
        tell.told(Told::Gone(gone_key(place, id)))?;
    }
    for (at, problem) in waiting.unread {
        tell.told(Told::Skipped(skipped(at, problem)))?;
    }
    Ok(())
}

/// Reports rows of its server.
pub(crate) fn tell_rows(rows: &[JsonRow], place: &str, tell: &mut RowSink<'_>) -> Result<(), rusqlite::Error> {
    let mut times = system::Times::default();
    for (at, row) in rows {
        let row = match row {
            Ok(object) => {
                // An export of its table has both IDs.
                let numbers = if object.contains_key("server_id") { Numbers::Here } else { Numbers::OfServer };
                told(at.clone(), &Fields::of_object(object.clone()), numbers, place)
            }
            Err(problem) => Told::Skipped(skipped(at.clone(), problem.clone())),
        };
        tell.told(match row {
            Told::Row(mut draft) => {
                draft.key = times.next_in_part(draft.key);
                Told::Row(draft)
            }
            other => other,
        })?;
    }
    Ok(())
}

fn told(at: String, fields: &Fields, numbers: Numbers, place: &str) -> Told {
    match draft(fields, numbers, place) {
        Ok(draft) => Told::Row(Box::new(draft)),
        Err(problem) => Told::Skipped(skipped(at, problem)),
    }
}

/// Which system the IDs of rows belong to.
#[derive(Clone, Copy)]
enum Numbers {
    /// The IDs are local to this file; server IDs are a separate field.
    Here,
    /// The server's.
    OfServer,
    /// The row with this local ID no longer exists, and the server gave the memory no ID.
    Waiting { id: i64 },
}

fn draft(fields: &Fields, numbers: Numbers, place: &str) -> Result<Draft, String> {
    let content = fields.needed_text("content")?;
    if content.starts_with(HIDDEN) {
        return Err("content: is only on the server; get it with secret_get, and store it here".into());
    }
    let created = fields.time("created_at")?;
    let Keys { key, also, gone_as, name } = keys(fields, numbers, created, &content, place)?;
    let is_sensitive = fields.flag("is_sensitive")? || fields.flag("force_sensitive")?;
    let mut remarks = Vec::new();
    let is_redacted = is_sensitive && content.contains(REDACTED);
    if is_redacted {
        remarks.push("the credential is only on the server; the text contains a placeholder".to_owned());
    }
    let owner = fields.text("owner").ok().flatten().or(fields.text("user_id").ok().flatten());
    Ok(Draft {
        key,
        also,
        gone_as,
        name,
        content,
        category: fields.text("category")?,
        importance: fields.number("importance")?.map(|importance| importance.clamp(0.0, 1.0)),
        tags: fields.words("tags", |letter| letter == ',')?,
        keywords: fields.words("expanded_keywords", |letter| letter == ',' || letter.is_whitespace())?,
        created,
        updated: fields.time_or_told("updated_at", &mut remarks),
        deleted: fields.time("deleted_at")?,
        is_secret: is_sensitive && !is_redacted,
        shared_by: fields.text("shared_by")?,
        metadata: owner.map(|owner| Map::from_iter([("owner".to_owned(), Value::String(owner))])),
        remarks,
        ..Draft::default()
    })
}

/// The keys of a row.
struct Keys {
    /// Its permanent key.
    key: String,
    /// Its other keys.
    also: Vec<String>,
    /// The key by which a queued deletion of the same database refers to the row.
    gone_as: Option<String>,
    /// Its name for people.
    name: String,
}

fn keys(
    fields: &Fields,
    numbers: Numbers,
    created: Option<Timestamp>,
    content: &str,
    place: &str,
) -> Result<Keys, String> {
    let id = fields.whole_number("id")?;
    let made = || created.ok_or("created_at: is missing");
    // The same ID may belong to another row in another file or on another server. The server records its own time, so a
    // row with another time but the same text is the same.
    let of_server = |id: i64| -> Result<(String, Vec<String>), String> {
        let by_text = format!("claude-memory-mcp:server:{id}:{}", system::of_text(content, place));
        Ok(match created {
            Some(created) => (format!("claude-memory-mcp:server:{id}:{created}"), vec![by_text]),
            None => (by_text, Vec::new()),
        })
    };
    let (key, also, server, name) = match (numbers, id) {
        (Numbers::Here, Some(id)) => {
            let here = format!("claude-memory-mcp:here:{}:{id}", made()?);
            match fields.whole_number("server_id")? {
                Some(server) => {
                    let (key, mut also) = of_server(server)?;
                    also.push(here);
                    (key, also, Some(server), id.to_string())
                }
                None => (here, Vec::new(), None, id.to_string()),
            }
        }
        (Numbers::OfServer, Some(id)) => {
            let (key, also) = of_server(id)?;
            (key, also, Some(id), id.to_string())
        }
        (Numbers::Waiting { id }, _) => {
            (format!("claude-memory-mcp:waits:{}:{id}", made()?), Vec::new(), None, format!("{id} (waits)"))
        }
        (_, None) => (
            format!("claude-memory-mcp:text:{}", system::of_text(content, place)),
            Vec::new(),
            None,
            "without an ID".to_owned(),
        ),
    };
    Ok(Keys { key, also, gone_as: server.map(|id| gone_key(place, id)), name })
}

/// Returns the key by which a queued deletion refers to a memory.
fn gone_key(place: &str, server: i64) -> String {
    format!("claude-memory-mcp:gone:{place}:{server}")
}

/// Reads the queued operations in order. If two updates change the same field, the later one wins.
fn waiting(copy: &Copy) -> rusqlite::Result<Waiting> {
    let mut waiting = Waiting::default();
    let columns = copy.columns("pending_ops")?;
    if !["id", "op_type", "payload"].iter().all(|name| columns.iter().any(|column| column == name)) {
        return Ok(waiting);
    }
    let mut statement = copy.connection.prepare("SELECT * FROM pending_ops ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let op = Fields::of_row(row, &columns)?;
        let at = format!("pending_ops {}", op.whole_number("id").ok().flatten().unwrap_or_default());
        if let Err(problem) = waiting.take(&at, &op) {
            waiting.unread.push((at, problem));
        }
    }
    Ok(waiting)
}

impl Waiting {
    fn take(&mut self, at: &str, op: &Fields) -> Result<(), String> {
        let payload: Map<String, Value> = serde_json::from_str(&op.needed_text("payload")?)
            .map_err(|error| format!("payload: is not a JSON object: {error}"))?;
        let payload = Fields::of_object(payload);
        let (local, server) = (payload.whole_number("local_id")?, payload.whole_number("server_id")?);
        match (op.needed_text("op_type")?.as_str(), local, server) {
            ("store", Some(local), _) => {
                let made: Map<String, Value> =
                    op.value("created_at").map(|at| ("created_at".to_owned(), at.clone())).into_iter().collect();
                let fields = Fields::of_object(made).with(&payload);
                self.stores.insert(local, (at.to_owned(), fields));
            }
            ("update", local, server) if local.or(server).is_some() => {
                let key = server.map_or((false, local.unwrap_or_default()), |server| (true, server));
                let before = self.updates.remove(&key).unwrap_or_default();
                self.updates.insert(key, before.with(&payload.without(&["id", "local_id", "server_id"])));
            }
            ("delete", _, Some(server)) => {
                self.deletes.insert(server);
            }
            ("store" | "update" | "delete", ..) => return Err("payload: contains no row ID".into()),
            (other, ..) => return Err(format!("op_type: {other} is unknown")),
        }
        Ok(())
    }
}
