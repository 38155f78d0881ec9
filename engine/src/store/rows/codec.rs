//! The columns of a memory, each once: its name, what is written there, and how it is read. A new column is one line.

use std::sync::LazyLock;

use rusqlite::Row as SqlRow;
use rusqlite::types::{FromSql, Value};

use crate::compose::{Composed, Known};
use crate::domain::{DomainError, Handle, Importance, Memory, MemoryId, Share, Timestamp, Trust};
use crate::pack::{LineCosts, Passage};

macro_rules! codec {
    (
        said($m:ident) { $($field:ident: $name:literal = $put:expr $(, $more:literal = $more_put:expr)* => $take:expr;)* }
        derived($c:ident) { $($of:ident: $d:literal = $d_put:expr $(, $d_more:literal = $d_more_put:expr)* => $d_take:expr;)* }
    ) => {
        /// What a memory says, in the order [`memory`] reads it.
        pub(crate) const MEMORY: &str = concat!("handle" $(, ", ", $name $(, ", ", $more)*)*);
        /// What is derived from it, after [`MEMORY`], and the row's mark.
        pub(crate) const DERIVED: &str = concat!($($d, ", ", $($d_more, ", ",)*)* "purged");

        const SAID: &[&str] = &[$($name $(, $more)*),*];
        const KEPT: &[&str] = &[$($d $(, $d_more)*),*];

        fn said($m: &Memory) -> Vec<Value> {
            vec![$($put.put() $(, $more_put.put())*),*]
        }

        fn derived($c: &Composed) -> Vec<Value> {
            vec![$($d_put.put() $(, $d_more_put.put())*),*]
        }

        /// Reads [`MEMORY`]: a memory without its links.
        pub(crate) fn memory(row: &SqlRow<'_>) -> rusqlite::Result<Memory> {
            Ok(Memory {
                handle: row.get(0)?,
                links: Vec::new(),
                $($field: {
                    let take: fn(&SqlRow<'_>, usize) -> rusqlite::Result<_> = $take;
                    take(row, const { at(SAID, $name) + 1 })?
                },)*
            })
        }

        /// Reads [`MEMORY`] and [`DERIVED`]: a memory with what was derived from it, without its links.
        pub(crate) fn known(row: &SqlRow<'_>) -> rusqlite::Result<Known> {
            Ok(Known {
                memory: memory(row)?,
                $($of: {
                    let take: fn(&SqlRow<'_>, usize) -> rusqlite::Result<_> = $d_take;
                    take(row, const { SAID.len() + 1 + at(KEPT, $d) })?
                },)*
            })
        }
    };
}

codec! {
    said(m) {
    id: "id" = m.id => plain;
    content: "content" = m.content.as_str() => plain;
    summary: "summary" = m.summary.as_str() => plain;
    category: "category" = m.category.as_str() => parsed;
    kind: "type" = m.kind.as_str() => parsed;
    importance: "importance" = m.importance.percent() => |row, at| Ok(Importance::from_percent(row.get(at)?));
    tags: "tags" = json(&m.tags) => listed;
    keywords: "keywords" = json(&m.keywords) => listed;
    entities: "entities" = json(&m.entities) => listed;
    scope: "scope" = m.scope.as_str() => parsed;
    created: "created" = m.created => plain;
    updated: "updated" = m.updated => plain;
    last_accessed: "last_accessed" = m.last_accessed => plain;
    access_count: "access_count" = m.access_count => plain;
    expires: "expires" = m.expires => plain;
    origin: "origin" = m.origin.to_string() => parsed;
    trust: "trust" = m.trust.as_str() => trust;
    session: "session" = m.session.as_deref() => plain;
    cwd: "cwd" = m.cwd.as_deref() => plain;
    client: "client" = m.client.as_deref() => plain;
    sensitive: "sensitive" = m.sensitive => plain;
    rev: "rev" = m.rev => plain;
    deleted: "deleted" = m.deleted => plain;
    share: "shared_by" = m.share.as_ref().map(|share| share.by.as_str()),
        "share_permission" = m.share.as_ref().map(|share| share.permission.as_str()) => share;
    conflict_of: "conflict_of" = m.conflict_of => plain;
    edited_by: "edited_by" = m.edited_by.as_deref() => plain;
    vouched: "vouched" = m.vouched.map(Trust::as_str) => parsed_if_any;
    }

    derived(c) {
    is_standing: "standing" = c.is_standing() => plain;
    length: "length" = c.length() => plain;
    signature: "signature" = c.signature().cast_signed() => |row, at| Ok(row.get::<_, i64>(at)?.cast_unsigned());
    forward: "forward" = c.forward() => plain;
    costs: "detail_tokens" = c.costs().detail, "index_tokens" = c.costs().index,
        "json_detail_tokens" = c.costs().json_detail, "json_index_tokens" = c.costs().json_index,
        "passages" = Passage::encode_all(&c.costs().passages).as_slice(),
        "attribution_tokens" = c.costs().attribution => costs;
    }
}

/// Adds a row: the handle, then what it says, then what is derived from it.
static INSERT: LazyLock<String> = LazyLock::new(|| {
    let (names, places) = (names().join(", "), places(2, SAID.len() + KEPT.len()));
    format!("INSERT INTO memories (handle, {names}) VALUES (?1, {places})")
});

/// Writes a row again, bound in the same order.
static REPLACE: LazyLock<String> = LazyLock::new(|| {
    let (names, places) = (names().join(", "), places(2, SAID.len() + KEPT.len()));
    format!("UPDATE memories SET ({names}) = ({places}) WHERE handle = ?1")
});

/// Writes what is derived from a row, unless that was changed meanwhile: handle, its rev as it was and as it is to be.
static REDERIVE: LazyLock<String> = LazyLock::new(|| {
    let (names, places) = (KEPT.join(", "), places(4, KEPT.len()));
    format!("UPDATE memories SET (rev, {names}) = (?3, {places}) WHERE handle = ?1 AND rev = ?2 AND deleted IS NULL")
});

fn names() -> Vec<&'static str> {
    SAID.iter().chain(KEPT).copied().collect()
}

fn places(from: usize, count: usize) -> String {
    let places: Vec<String> = (from..from + count).map(|n| format!("?{n}")).collect();
    places.join(", ")
}

/// The statement that adds a row, what it binds.
pub(crate) fn insert(composed: &Composed) -> (&'static str, Vec<Value>) {
    (INSERT.as_str(), written(composed))
}

/// The statement that writes a row again, and what it binds.
pub(crate) fn replace(composed: &Composed) -> (&'static str, Vec<Value>) {
    (REPLACE.as_str(), written(composed))
}

/// The statement that writes what is derived from a row of a rev, and what it binds.
pub(crate) fn rederive(composed: &Composed, rev: u64) -> (&'static str, Vec<Value>) {
    let memory = composed.memory();
    let mut values = vec![memory.handle.put(), rev.put(), memory.rev.put()];
    values.extend(derived(composed));
    (REDERIVE.as_str(), values)
}

fn written(composed: &Composed) -> Vec<Value> {
    let mut values = vec![composed.memory().handle.put()];
    values.extend(said(composed.memory()));
    values.extend(derived(composed));
    values
}

/// Where a name stands in a list, known when this is compiled.
const fn at(names: &[&str], name: &str) -> usize {
    match names.split_first() {
        Some((first, _)) if is_same(first.as_bytes(), name.as_bytes()) => 0,
        Some((_, rest)) => 1 + at(rest, name),
        None => panic!("the name is in the list"),
    }
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    match (one.split_first(), other.split_first()) {
        (None, None) => true,
        (Some((a, one)), Some((b, other))) => *a == *b && is_same(one, other),
        _ => false,
    }
}

fn plain<T: FromSql>(row: &SqlRow<'_>, at: usize) -> rusqlite::Result<T> {
    row.get(at)
}

/// A text column that a type parses.
pub(crate) fn parsed<T>(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err = DomainError>,
{
    row.get_ref(column)?.as_str()?.parse().map_err(unreadable(column))
}

fn unreadable(column: usize) -> impl Fn(DomainError) -> rusqlite::Error {
    move |error| rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
}

fn listed<T: serde::de::DeserializeOwned>(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Vec<T>> {
    let text = row.get_ref(column)?.as_str()?;
    if text == "[]" {
        return Ok(Vec::new());
    }
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

/// A JSON array column.
pub(crate) fn json<T: serde::Serialize>(list: &[T]) -> String {
    serde_json::to_string(list).unwrap_or_else(|_| "[]".into())
}

fn parsed_if_any<T>(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T: std::str::FromStr<Err = DomainError>,
{
    row.get_ref(column)?.as_str_or_null()?.map(str::parse).transpose().map_err(unreadable(column))
}

fn trust(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Trust> {
    Ok(match row.get_ref(column)?.as_str()? {
        "user" => Trust::User,
        "model" => Trust::Model,
        _ => Trust::Foreign,
    })
}

fn share(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Option<Share>> {
    let by: Option<String> = row.get(column)?;
    by.map(|by| Ok(Share { by, permission: parsed(row, column + 1)? })).transpose()
}

fn costs(row: &SqlRow<'_>, column: usize) -> rusqlite::Result<Option<LineCosts>> {
    Ok(Some(LineCosts {
        detail: row.get(column)?,
        index: row.get(column + 1)?,
        json_detail: row.get(column + 2)?,
        json_index: row.get(column + 3)?,
        passages: Passage::decode_all(row.get_ref(column + 4)?.as_blob()?),
        attribution: row.get(column + 5)?,
    }))
}

/// A value as SQLite holds it.
trait Put {
    fn put(self) -> Value;
}

macro_rules! put_number {
    ($($number:ty),*) => {
        $(impl Put for $number {
            fn put(self) -> Value {
                Value::Integer(self.into())
            }
        })*
    };
}

put_number!(u8, u16, u32, i64, bool);

impl Put for u64 {
    fn put(self) -> Value {
        Value::Integer(self.cast_signed())
    }
}

impl Put for &str {
    fn put(self) -> Value {
        Value::Text(self.to_owned())
    }
}

impl Put for String {
    fn put(self) -> Value {
        Value::Text(self)
    }
}

impl Put for &[u8] {
    fn put(self) -> Value {
        Value::Blob(self.to_vec())
    }
}

impl Put for MemoryId {
    fn put(self) -> Value {
        Value::Blob(self.as_bytes().to_vec())
    }
}

impl Put for Timestamp {
    fn put(self) -> Value {
        Value::Integer(self.as_micros())
    }
}

impl Put for Handle {
    fn put(self) -> Value {
        self.get().put()
    }
}

impl<T: Put> Put for Option<T> {
    fn put(self) -> Value {
        self.map_or(Value::Null, Put::put)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rusqlite::{Connection, params_from_iter};

    use super::*;
    use crate::compose::{created, edited, reanalysed};
    use crate::domain::{Draft, Origin, Patch, Permission};
    use crate::store::file::home::Home;
    use crate::store::open::migrate::migrate;
    use crate::text::O200k;

    fn now() -> Timestamp {
        "2026-11-20".parse().unwrap()
    }

    fn store() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &Home::new("t"), 0).unwrap();
        connection
    }

    fn full() -> Composed {
        let draft = Draft {
            tags: vec!["port".parse().unwrap()],
            keywords: vec!["jib".into()],
            expires: Some(now().plus_days(9)),
            origin: Origin::Conversation,
            vouched: Some(Trust::Model),
            session: Some("s".into()),
            cwd: Some("/w".into()),
            client: Some("c".into()),
            ..Draft::new(format!("The crane of Mara is serviced. {}", "It takes a day. ".repeat(60)))
        };
        let composed = created(&draft, now(), &O200k).unwrap();
        let memory = Memory {
            share: Some(Share { by: "mara".into(), permission: Permission::Write }),
            edited_by: Some("jon".into()),
            conflict_of: Some(MemoryId::from_key("other")),
            last_accessed: Some(now()),
            access_count: 7,
            sensitive: true,
            ..composed.memory().clone()
        };
        crate::compose::carried(memory, &O200k).placed(Handle::try_from(42).unwrap(), 9)
    }

    fn read(connection: &Connection) -> Known {
        let sql = format!("SELECT {MEMORY}, {DERIVED} FROM memories");
        connection.query_row(&sql, [], known).unwrap()
    }

    fn same(known: &Known, composed: &Composed) {
        assert_eq!(&known.memory, composed.memory());
        assert_eq!((known.is_standing, known.length), (composed.is_standing(), composed.length()));
        assert_eq!((known.signature, &*known.forward), (composed.signature(), composed.forward()));
        assert_eq!(known.costs.as_ref(), Some(composed.costs()));
    }

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let (connection, composed) = (store(), full());
        let (sql, values) = insert(&composed);
        connection.execute(sql, params_from_iter(values)).unwrap();
        same(&read(&connection), &composed);
        let patch = Patch { content: Some("I prefer cranes, always".into()), ..Patch::default() };
        let other = edited(&read(&connection), &patch, now(), &O200k).unwrap().placed(composed.memory().handle, 10);
        let (sql, values) = replace(&other);
        connection.execute(sql, params_from_iter(values)).unwrap();
        same(&read(&connection), &other);
    }

    #[test]
    fn what_is_derived_is_written_alone_unless_the_row_was_changed() {
        let (connection, composed) = (store(), full());
        let (sql, values) = insert(&composed);
        connection.execute(sql, params_from_iter(values)).unwrap();
        connection.execute("UPDATE memories SET forward = x'00', length = 1, signature = 1", []).unwrap();
        let again = reanalysed(&read(&connection), &O200k).placed(composed.memory().handle, 11);
        for (rev, written) in [(8, 0), (9, 1), (9, 0)] {
            let (sql, values) = rederive(&again, rev);
            assert_eq!(connection.execute(sql, params_from_iter(values)).unwrap(), written, "at rev {rev}");
        }
        same(&read(&connection), &again);
        assert_eq!(again.forward(), composed.forward());
    }

    #[test]
    fn every_column_of_the_table_is_in_the_list() {
        let connection = store();
        let mut statement = connection.prepare("SELECT name FROM pragma_table_info('memories')").unwrap();
        let there: BTreeSet<String> = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let listed = names().into_iter().chain(["handle", "purged", "superseded_by"]);
        assert_eq!(there, listed.map(str::to_owned).collect());
    }
}
