//! Reads and writes memory rows, in the types that the rules of the sync use.

use std::collections::BTreeSet;
use std::str::FromStr;
use std::sync::LazyLock;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _};
use tessera_engine::compose::{Beside, Composed, Decided, Known, memory_of};
use tessera_engine::domain::{
    Category, Content, FilePath, Importance, Link, LinkKind, Memory, MemoryType, MemoryUuid, Origin, Permission, Scope,
    Share, Tag, Timestamp, Trust,
};
use tessera_engine::pack::{LineCosts, Passage};
use tessera_engine::sync::{Details, Document, Rights, Row, State};
use uuid::Uuid;

use super::embedding::Sent;
use super::verbs::{Ask as _, args};
use super::{DbError, UserTx};

/// The columns of a memory except owner, UUID and time: each with its name and the written value. The columns in the
/// second list of the macro are derived. Changes and re-indexing read all of them; other queries name the derived
/// columns that they need.
macro_rules! codec {
    (said: $($said:literal => $said_bind:expr;)* derived: $($derived:literal => $derived_bind:expr;)*) => {
        /// The columns for [`stored`].
        macro_rules! columns {
            () => {
                concat!(
                    "memories.owner, memories.id, memories.updated, summary, ",
                    $("memories.", $said, ", ",)*
                    "CASE WHEN memories.owner = uid() THEN 3
                     ELSE rights(memories.owner, memories.id, tags, state) END AS rights"
                )
            };
        }

        /// The additional columns for [`known`].
        macro_rules! derived_columns {
            () => { concat!("memories.owner AS whose" $(, ", memories.", $derived)*) };
        }

        pub(crate) use columns;
        pub(super) use derived_columns;

        const WRITTEN: &[Column] = &[
            $(Column { name: $said, bind: $said_bind },)*
            $(Column { name: $derived, bind: $derived_bind },)*
        ];
    };
}

type Query<'a> = sqlx::query::Query<'a, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// A written column, and how to bind its value.
struct Column {
    name: &'static str,
    bind: for<'a> fn(Query<'a>, &'a Written<'a>) -> Query<'a>,
}

codec! {
    said:
    "rev" => |query, it| query.bind(signed(it.row.rev));
    "people_rev" => |query, it| query.bind(signed(it.row.people_rev));
    "content_rev" => |query, it| query.bind(signed(it.row.content_rev));
    "details_at" => |query, it| query.bind(it.row.details_at.as_micros());
    "state" => |query, it| query.bind(state_of(&it.row.state));
    "edited_by" => |query, it| query.bind(it.row.edited_by.as_deref());
    "content" => |query, it| query.bind(it.document.map_or("", |of| of.content.as_str()));
    "tags" => |query, it| query.bind(texts(it.document.map(|of| &of.tags), |tag| tag.as_str().to_owned()));
    "links" => |query, it| query.bind(texts(it.document.map(|of| &of.links), |link| format!("{}:{}", link.kind, link.to)));
    "category" => |query, it| query.bind(it.details.map_or("", |of| of.category.as_str()));
    "type" => |query, it| query.bind(it.details.map_or("", |of| of.kind.as_str()));
    "importance" => |query, it| query.bind(it.details.map_or(0, |of| i16::from(of.importance.percent())));
    "importance_millionths" => |query, it| query.bind(it.details.and_then(|of| of.importance.beyond_percent()).map(u32::cast_signed));
    "keywords" => |query, it| query.bind(it.details.map_or_else(Vec::new, |of| of.keywords.clone()));
    "entities" => |query, it| query.bind(it.details.map_or_else(Vec::new, |of| of.entities.clone()));
    "scope" => |query, it| query.bind(it.details.map_or("", |of| of.scope.as_str()));
    "created" => |query, it| query.bind(it.details.map_or(0, |of| of.created.as_micros()));
    "expires" => |query, it| query.bind(it.details.and_then(|of| of.expires).map(Timestamp::as_micros));
    "owner_trust" => |query, it| query.bind(it.details.and_then(|of| of.owner_trust).map(Trust::as_str));
    "origin" => |query, it| query.bind(it.details.map_or_else(|| "user".to_owned(), |of| of.origin.to_string()));
    "session" => |query, it| query.bind(it.details.and_then(|of| of.session.as_deref()));
    "conflict_of" => |query, it| query.bind(it.details.and_then(|of| of.conflict_of).map(uuid));
    "file" => |query, it| query.bind(it.details.and_then(|of| of.file.as_ref()).map(FilePath::as_str));
    "metadata" => |query, it| query.bind(it.details.and_then(|of| of.metadata.as_ref()).map(ToString::to_string));
    derived:
    "summary" => |query, it| query.bind(it.composed.map_or("", |of| of.memory().summary.as_str()));
    "is_instruction" => |query, it| query.bind(it.composed.is_some_and(Composed::is_instruction));
    "length" => |query, it| query.bind(it.composed.map_or(0, |of| i32::from(of.length())));
    "signature" => |query, it| query.bind(it.composed.map_or(0, |of| of.signature().cast_signed()));
    "forward" => |query, it| query.bind(it.composed.map_or(&[][..], Composed::forward));
    "costs" => |query, it| query.bind(it.composed.map_or_else(Vec::new, |of| counts(of.costs())));
    "passages" => |query, it| query.bind(it.composed.map_or_else(Vec::new, |of| Passage::encode_all(&of.costs().passages)));
    "embedding" => |query, it| query.bind(it.composed.map_or(&[][..], Composed::embedding));
    "embedding_rev" => |query, it| query.bind(signed(it.row.content_rev));
}

/// Whether a new memory was compared with older ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Its machine has done it, or it is never compared.
    Done,
    /// The server must do it.
    Due,
}

/// A row to write. A permanently deleted memory has no fields.
struct Written<'a> {
    row: &'a Row,
    /// The key of the machine that sent the embedding, if a machine sent it.
    embedding_key: Option<&'a str>,
    document: Option<&'a Document>,
    details: Option<&'a Details>,
    composed: Option<&'a Composed>,
}

impl<'a> Written<'a> {
    fn of(decided: &'a Decided, embedding_key: Option<&'a str>) -> Self {
        let document = decided.row().state.document();
        let details = document.map(|document| &document.details);
        Self { row: decided.row(), embedding_key, document, details, composed: decided.composed() }
    }

    /// Binds the owner, the UUID, every column, the key that sent the embedding, and whether to check that embedding.
    fn bind(&'a self, query: Query<'a>, owner: &'a str) -> Query<'a> {
        let query = query.bind(owner).bind(uuid(self.row.memory));
        let query = WRITTEN.iter().fold(query, |query, column| (column.bind)(query, self));
        let is_checked = self.embedding_key.is_some() && Sent::is_sampled();
        query.bind(self.embedding_key).bind(is_checked)
    }
}

/// The statement's time in microseconds.
const NOW: &str = "(extract(epoch FROM now()) * 1000000)::bigint";

/// Inserts a row. [`Written::bind`] binds its parameters, and whether it was compared comes last.
static INSERT: LazyLock<String> = LazyLock::new(|| {
    let names: Vec<&str> =
        WRITTEN.iter().map(|column| column.name).chain(["embedding_key", "embedding_check", "related"]).collect();
    let places: Vec<String> = (3..).take(names.len()).map(|n| format!("${n}")).collect();
    let (names, places) = (names.join(", "), places.join(", "));
    format!(
        "INSERT INTO memories (owner, id, updated, {names}) VALUES ($1, $2, {NOW}, {places}) ON CONFLICT DO NOTHING"
    )
});

/// Replaces a row. Its parameters have the same order as those of the insert. If an embedding does not change, the row
/// keeps the API key of the machine that sent the embedding.
static REPLACE: LazyLock<String> = LazyLock::new(|| {
    let set: Vec<String> = (3..).zip(WRITTEN).map(|(n, column)| format!("{} = ${n}", column.name)).collect();
    let embedding = WRITTEN.iter().position(|column| column.name == "embedding").map_or(0, |at| at + 3);
    let (by, check) = (WRITTEN.len() + 3, WRITTEN.len() + 4);
    let kept = format!("${by}::text IS NULL AND embedding = ${embedding} AND embedding <> ''");
    format!(
        "UPDATE memories SET updated = {NOW}, {}, embedding_key = CASE WHEN {kept} THEN embedding_key ELSE ${by} END,
             embedding_check = CASE WHEN {kept} THEN embedding_check ELSE ${check} END WHERE owner = $1 AND id = $2",
        set.join(", ")
    )
});

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn state_of(state: &State) -> &'static str {
    match state {
        State::Live(_) => "live",
        State::Deleted(_) => "deleted",
        State::Purged => "purged",
    }
}

fn texts<T>(list: Option<&BTreeSet<T>>, text: impl Fn(&T) -> String) -> Vec<String> {
    list.into_iter().flatten().map(text).collect()
}

/// The stored form of line costs.
pub(super) fn counts(costs: &LineCosts) -> Vec<i32> {
    costs.kept().map(|count| i32::try_from(count).unwrap_or(i32::MAX)).to_vec()
}

/// The stored token counts of the memory's reply lines, if they are valid for the view of this reader.
pub(crate) fn costs(row: &PgRow, memory: &Memory) -> Result<Option<LineCosts>, DbError> {
    let kept: Vec<i32> = row.try_get("costs")?;
    let kept: Vec<u32> = kept.into_iter().map(|count| u32::try_from(count).unwrap_or(0)).collect();
    Ok(LineCosts::read(&kept, row.try_get("passages")?, memory))
}

/// A memory, its owner, and the rights of the transaction's user.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) owner: String,
    pub(crate) row: Row,
    pub(crate) rights: Rights,
    /// When a field last changed, by the server's clock.
    pub(crate) updated: Timestamp,
    /// The stored summary. The stored token counts of the reply lines belong to this summary.
    pub(crate) summary: String,
    /// The memory's short ID for the transaction's user, if the query read it.
    pub(crate) short_id: Option<u32>,
    /// All derived data, if the memory was read to be changed.
    pub(super) known: Option<Box<Known>>,
}

impl Stored {
    /// A new row of its owner.
    pub(super) fn new(owner: String, row: Row) -> Self {
        let updated = Timestamp::from_micros(0);
        Self { owner, row, rights: Rights::Owner, updated, summary: String::new(), short_id: None, known: None }
    }

    /// The share, if the user is not the owner.
    pub(crate) fn share(&self) -> Option<Share> {
        let permission = if self.rights == Rights::Write { Permission::Write } else { Permission::Read };
        (self.rights != Rights::Owner).then(|| Share { by: self.owner.clone(), permission })
    }
}

/// The memory as the user may see it: links and session of another user's memory are private.
pub(crate) fn seen(mut found: Stored) -> Stored {
    if found.rights != Rights::Owner
        && let State::Live(document) | State::Deleted(document) = &mut found.row.state
    {
        document.links.clear();
        document.details.session = None;
        document.details.owner_trust = None;
    }
    found
}

pub(crate) fn uuid(id: MemoryUuid) -> Uuid {
    Uuid::from_bytes(*id.as_bytes())
}

fn wrong(what: &str) -> impl Fn(&dyn std::fmt::Display) -> DbError + '_ {
    move |problem| DbError::Row(format!("{what}: {problem}"))
}

fn number(what: &'static str, value: i64) -> Result<u64, DbError> {
    u64::try_from(value).map_err(|error| wrong(what)(&error))
}

fn read<T: FromStr>(what: &'static str, text: &str) -> Result<T, DbError>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| wrong(what)(&error))
}

/// Reads [`columns`].
pub(crate) fn stored(row: &PgRow) -> Result<Stored, DbError> {
    let rights = match row.try_get::<i32, _>("rights")? {
        0 => Rights::None,
        1 => Rights::Read,
        2 => Rights::Write,
        _ => Rights::Owner,
    };
    let state = match row.try_get::<&str, _>("state")? {
        "live" => State::Live(document(row)?),
        "deleted" => State::Deleted(document(row)?),
        _ => State::Purged,
    };
    let row_of = Row {
        memory: MemoryUuid::from_uuid(row.try_get("id")?),
        rev: number("rev", row.try_get("rev")?)?,
        people_rev: number("people_rev", row.try_get("people_rev")?)?,
        content_rev: number("content_rev", row.try_get("content_rev")?)?,
        details_at: Timestamp::from_micros(row.try_get("details_at")?),
        state,
        edited_by: row.try_get("edited_by")?,
    };
    let updated = Timestamp::from_micros(row.try_get("updated")?);
    let (owner, summary) = (row.try_get("owner")?, row.try_get("summary")?);
    Ok(Stored { owner, row: row_of, rights, updated, summary, short_id: None, known: None })
}

/// Reads [`columns`] and `short_id` of the user's feed.
pub(crate) fn numbered(row: &PgRow) -> Result<Stored, DbError> {
    let short_id: Option<i64> = row.try_get("short_id")?;
    Ok(Stored { short_id: short_id.and_then(|short_id| u32::try_from(short_id).ok()), ..stored(row)? })
}

/// Reads [`derived_columns`], which do not depend on who reads them. `None` for a permanently deleted memory.
pub(super) fn known(row: &PgRow, stored: &Stored) -> Result<Option<Box<Known>>, DbError> {
    let Some(document) = stored.row.state.document() else { return Ok(None) };
    let memory = memory_of(document, Beside { summary: stored.summary.clone(), ..Beside::of(stored.row.memory) });
    Ok(Some(Box::new(Known {
        costs: costs(row, &memory)?,
        memory,
        is_instruction: row.try_get("is_instruction")?,
        length: u16::try_from(row.try_get::<i32, _>("length")?).unwrap_or(u16::MAX),
        signature: row.try_get::<i64, _>("signature")?.cast_unsigned(),
        forward: row.try_get("forward")?,
        // An earlier server version changed the text and kept the old embedding.
        embedding: if row.try_get::<i64, _>("embedding_rev")? == signed(stored.row.content_rev) {
            row.try_get("embedding")?
        } else {
            Vec::new()
        },
    })))
}

fn document(row: &PgRow) -> Result<Document, DbError> {
    let tags: Vec<String> = row.try_get("tags")?;
    let importance: i16 = row.try_get("importance")?;
    let expires: Option<i64> = row.try_get("expires")?;
    let conflict_of: Option<Uuid> = row.try_get("conflict_of")?;
    let links: Vec<String> = row.try_get("links")?;
    let details = Details {
        category: Category::try_from(row.try_get::<String, _>("category")?).map_err(|e| wrong("category")(&e))?,
        kind: read::<MemoryType>("type", row.try_get("type")?)?,
        importance: Importance::kept(
            u8::try_from(importance).unwrap_or(100),
            row.try_get::<Option<i32>, _>("importance_millionths")?.map(i32::cast_unsigned),
        ),
        keywords: row.try_get("keywords")?,
        entities: row.try_get("entities")?,
        scope: read::<Scope>("scope", row.try_get("scope")?)?,
        created: Timestamp::from_micros(row.try_get("created")?),
        expires: expires.map(Timestamp::from_micros),
        owner_trust: row
            .try_get::<Option<&str>, _>("owner_trust")?
            .map(|text| read("owner_trust", text))
            .transpose()?,
        origin: read::<Origin>("origin", row.try_get("origin")?)?,
        session: row.try_get("session")?,
        conflict_of: conflict_of.map(MemoryUuid::from_uuid),
        file: row.try_get::<Option<&str>, _>("file")?.map(|text| read("file", text)).transpose()?,
        metadata: row.try_get::<Option<&str>, _>("metadata")?.map(|text| read("metadata", text)).transpose()?,
    };
    Ok(Document {
        content: Content::try_from(row.try_get::<String, _>("content")?).map_err(|e| wrong("content")(&e))?,
        tags: tags.into_iter().map(Tag::try_from).collect::<Result<_, _>>().map_err(|e| wrong("tags")(&e))?,
        links: links.iter().map(|link| link_of(link)).collect::<Result<_, _>>()?,
        details,
    })
}

fn link_of(text: &str) -> Result<Link, DbError> {
    let (kind, to) = text.split_once(':').ok_or_else(|| wrong("links")(&"has no type"))?;
    let kind = LinkKind::kept(kind).map_err(|error| wrong("links")(&error))?;
    Ok(Link { kind, to: read::<MemoryUuid>("links", to)? })
}

/// Selects one memory with its derived columns, by owner and UUID.
macro_rules! with_derived {
    () => {
        concat!(
            "SELECT ",
            columns!(),
            ", ",
            derived_columns!(),
            " FROM memories WHERE memories.owner = $1 AND memories.id = $2"
        )
    };
}

impl UserTx {
    /// A memory that the user may see, as the user sees it.
    pub(crate) async fn memory(&mut self, id: MemoryUuid) -> Result<Option<Stored>, DbError> {
        Ok(self.meant(id).await?.map(seen))
    }

    /// The memory that a UUID denotes for the user: their own memory, or otherwise the visible memory that arrived
    /// first.
    async fn meant(&mut self, id: MemoryUuid) -> Result<Option<Stored>, DbError> {
        let sql = concat!(
            "SELECT feed.short_id, ",
            columns!(),
            " FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
              WHERE feed.user_id = $1 AND feed.memory = $2 ORDER BY feed.owner <> $1, feed.short_id LIMIT 1"
        );
        let found = self.fed(sql, |query| query.bind(uuid(id))).await?;
        found.first().map(numbered).transpose()
    }

    /// Reads the memory and its derived columns. If the user may change it, locks the row until the transaction ends.
    pub(super) async fn memory_to_change(&mut self, id: MemoryUuid) -> Result<Option<Stored>, DbError> {
        self.with_derived(id, concat!(with_derived!(), " FOR NO KEY UPDATE")).await
    }

    /// Reads the memory and its derived columns without a lock, so another transaction may change it at any time.
    pub(super) async fn memory_to_foresee(&mut self, id: MemoryUuid) -> Result<Option<Stored>, DbError> {
        self.with_derived(id, with_derived!()).await
    }

    async fn with_derived(&mut self, id: MemoryUuid, sql: &'static str) -> Result<Option<Stored>, DbError> {
        let Some(seen) = self.meant(id).await? else { return Ok(None) };
        if seen.rights < Rights::Write {
            return Ok(Some(seen));
        }
        match self.derived_by(&seen.owner, id, sql).await? {
            Some(found) => Ok(Some(Stored { short_id: seen.short_id, ..found })),
            // The user may have lost access while waiting for the lock.
            None => self.meant(id).await,
        }
    }

    /// Reads a memory of the given owner that the user may change, and locks its row until the transaction ends.
    pub(super) async fn locked(&mut self, owner: &str, id: MemoryUuid) -> Result<Option<Stored>, DbError> {
        self.derived_by(owner, id, concat!(with_derived!(), " FOR NO KEY UPDATE")).await
    }

    async fn derived_by(&mut self, owner: &str, id: MemoryUuid, sql: &'static str) -> Result<Option<Stored>, DbError> {
        let Some(row) = self.tx.maybe(sql, args![owner, uuid(id)]).await? else { return Ok(None) };
        let found = stored(&row)?;
        Ok(Some(Stored { known: known(&row, &found)?, ..found }))
    }

    /// Inserts a memory, with the key of the machine that sent the embedding, if one did. False if the UUID is taken.
    pub(super) async fn insert(
        &mut self,
        decided: &Decided,
        embedding_key: Option<&str>,
        comparison: Comparison,
    ) -> Result<bool, DbError> {
        let (written, sql) = (Written::of(decided, embedding_key), AssertSqlSafe(INSERT.as_str()));
        let query = written.bind(sqlx::query(sql), self.user.as_str()).bind(comparison == Comparison::Done);
        let is_new = query.execute(&mut *self.tx).await?.rows_affected() > 0;
        if is_new {
            self.keep_secrets(decided).await?;
        }
        Ok(is_new)
    }

    /// Replaces a memory; otherwise like [`UserTx::insert`].
    pub(super) async fn replace(
        &mut self,
        owner: &str,
        decided: &Decided,
        embedding_key: Option<&str>,
    ) -> Result<(), DbError> {
        let (written, sql) = (Written::of(decided, embedding_key), AssertSqlSafe(REPLACE.as_str()));
        written.bind(sqlx::query(sql), owner).execute(&mut *self.tx).await?;
        self.keep_secrets(decided).await
    }
}
