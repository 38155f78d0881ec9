//! Rows of memories, as the sync's decisions take and give them.

use std::str::FromStr;

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::domain::{
    Category, Content, Handle, Importance, Link, LinkKind, MemoryId, MemoryType, Origin, Permission, Scope, Share, Tag,
    Timestamp, Trust,
};
use tessera_engine::index::Analysis;
use tessera_engine::pack::{LineCosts, Passage};
use tessera_engine::sync::{Details, Document, Rights, Row, State};
use tessera_engine::text::O200k;
use uuid::Uuid;

use super::{DbError, UserTx};

/// The columns that [`stored`] reads.
macro_rules! columns {
    () => {
        "memories.owner, memories.id, rev, content_rev, details_at, state, content, tags, category, type, importance, \
         keywords, entities, links, scope, memories.created, expires, origin, session, conflict_of, \
         edited_by, vouched, updated, summary, \
         CASE WHEN memories.owner = uid() THEN 3 ELSE rights(memories.owner, memories.id, tags, state) END AS rights"
    };
}

pub(crate) use columns;

/// A memory, whose it is, and what the transaction's user may do with it.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) owner: String,
    pub(crate) row: Row,
    pub(crate) rights: Rights,
    /// When a field was last changed, by the server's clock.
    pub(crate) updated: Timestamp,
    /// The summary that was made when the text was written: what lines cost was counted with it.
    pub(crate) summary: String,
}

impl Stored {
    /// Whose it is, if it is not the user's own.
    pub(crate) fn share(&self) -> Option<Share> {
        let permission = if self.rights == Rights::Write { Permission::Write } else { Permission::Read };
        (self.rights != Rights::Owner).then(|| Share { by: self.owner.clone(), permission })
    }
}

/// As the transaction's user sees it: what another's memory links to, and where it was said, is the owner's to know.
pub(crate) fn seen(mut found: Stored) -> Stored {
    if found.rights != Rights::Owner
        && let State::Live(document) | State::Deleted(document) = &mut found.row.state
    {
        document.links.clear();
        document.details.session = None;
        document.details.vouched = None;
    }
    found
}

pub(crate) fn uuid(id: MemoryId) -> Uuid {
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
        memory: MemoryId::from_uuid(row.try_get("id")?),
        rev: number("rev", row.try_get("rev")?)?,
        content_rev: number("content_rev", row.try_get("content_rev")?)?,
        details_at: Timestamp::from_micros(row.try_get("details_at")?),
        state,
        edited_by: row.try_get("edited_by")?,
    };
    let updated = Timestamp::from_micros(row.try_get("updated")?);
    Ok(Stored { owner: row.try_get("owner")?, row: row_of, rights, updated, summary: row.try_get("summary")? })
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
        importance: Importance::from_percent(u8::try_from(importance).unwrap_or(100)),
        keywords: row.try_get("keywords")?,
        entities: row.try_get("entities")?,
        scope: read::<Scope>("scope", row.try_get("scope")?)?,
        created: Timestamp::from_micros(row.try_get("created")?),
        expires: expires.map(Timestamp::from_micros),
        vouched: row.try_get::<Option<&str>, _>("vouched")?.map(|text| read("vouched", text)).transpose()?,
        origin: read::<Origin>("origin", row.try_get("origin")?)?,
        session: row.try_get("session")?,
        conflict_of: conflict_of.map(MemoryId::from_uuid),
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
    Ok(Link { kind: read::<LinkKind>("links", kind)?, to: read::<MemoryId>("links", to)? })
}

impl UserTx {
    /// A memory that the user may see, as they see it.
    pub(crate) async fn memory(&mut self, id: MemoryId) -> Result<Option<Stored>, DbError> {
        Ok(self.meant(id).await?.map(seen))
    }

    /// The memory that an id means to the user: their own, else of those that they may see the one that came first.
    async fn meant(&mut self, id: MemoryId) -> Result<Option<Stored>, DbError> {
        let found = sqlx::query(concat!(
            "SELECT ",
            columns!(),
            " FROM feed JOIN memories ON memories.owner = feed.owner AND memories.id = feed.memory
              WHERE feed.user_id = $1 AND feed.memory = $2 ORDER BY feed.owner <> $1, feed.handle LIMIT 1"
        ))
        .bind(self.user.as_str())
        .bind(uuid(id))
        .fetch_optional(&mut *self.tx)
        .await?;
        found.as_ref().map(stored).transpose()
    }

    /// The same, locked until the transaction ends, where the user may change it.
    pub(super) async fn memory_to_change(&mut self, id: MemoryId) -> Result<Option<Stored>, DbError> {
        let Some(seen) = self.meant(id).await? else { return Ok(None) };
        if seen.rights < Rights::Write {
            return Ok(Some(seen));
        }
        let locked = sqlx::query(concat!(
            "SELECT ",
            columns!(),
            " FROM memories WHERE memories.owner = $1 AND memories.id = $2 FOR UPDATE"
        ))
        .bind(&seen.owner)
        .bind(uuid(id))
        .fetch_optional(&mut *self.tx)
        .await?;
        // Access may have been lost while waiting.
        match locked {
            Some(row) => stored(&row).map(Some),
            None => self.meant(id).await,
        }
    }

    /// Adds a memory of the user. False when they have one with this id.
    pub(super) async fn insert(&mut self, row: &Row) -> Result<bool, DbError> {
        let done = sqlx::query(
            "INSERT INTO memories (owner, id, rev, content_rev, details_at, state, content, tags, category, type, importance,
                 keywords, entities, links, scope, created, expires, origin, session, conflict_of, updated, summary, standing,
                 length, signature, forward, costs, passages, edited_by, vouched)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
                 (extract(epoch FROM now()) * 1000000)::bigint, $21, $22, $23, $24, $25, $26, $27, $28, $29)
             ON CONFLICT DO NOTHING",
        )
        .bind(self.user.as_str());
        Ok(bind(done, row).execute(&mut *self.tx).await?.rows_affected() > 0)
    }

    /// Replaces a memory that is there.
    pub(super) async fn replace(&mut self, owner: &str, row: &Row) -> Result<(), DbError> {
        let done = sqlx::query(
            "UPDATE memories SET rev = $3, content_rev = $4, details_at = $5, state = $6, content = $7, tags = $8, category = $9,
                 type = $10, importance = $11, keywords = $12, entities = $13, links = $14, scope = $15, created = $16,
                 expires = $17, origin = $18, session = $19, conflict_of = $20,
                 updated = (extract(epoch FROM now()) * 1000000)::bigint, summary = $21, standing = $22, length = $23,
                 signature = $24, forward = $25, costs = $26, passages = $27, edited_by = $28,
                 vouched = $29
             WHERE owner = $1 AND id = $2",
        )
        .bind(owner);
        bind(done, row).execute(&mut *self.tx).await?;
        if matches!(row.state, State::Purged) {
            // Nobody but its owner is told of it any more.
            sqlx::query("DELETE FROM memory_shares WHERE owner = $1 AND memory = $2")
                .bind(owner)
                .bind(uuid(row.memory))
                .execute(&mut *self.tx)
                .await?;
        }
        Ok(())
    }
}

/// What recall needs of a memory, made when it is written.
#[derive(Default)]
struct Derived {
    summary: String,
    is_standing: bool,
    length: u16,
    signature: u64,
    forward: Vec<u8>,
    costs: Vec<i32>,
    passages: Vec<u8>,
}

impl Derived {
    fn of(row: &Row) -> Self {
        let Some(document) = row.state.document() else { return Self::default() };
        // Handle and share are the reader's: nothing that is kept here depends on them.
        let memory = document.memory(row.memory, Handle::FIRST, None, None);
        let analysis = Analysis::of(&memory);
        let costs = LineCosts::measure(&memory, &O200k);
        let forward = if row.state.live().is_some() { analysis.doc.encode() } else { Vec::new() };
        let tokens = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
        Self {
            summary: memory.summary,
            is_standing: analysis.is_standing,
            length: analysis.doc.length,
            signature: analysis.signature,
            forward,
            costs: costs.kept().map(tokens).to_vec(),
            passages: Passage::encode_all(&costs.passages),
        }
    }
}

type Query<'a> = sqlx::query::Query<'a, sqlx::Postgres, sqlx::postgres::PgArguments>;

/// Binds the columns of a row, from the id on; a purged one has no fields.
fn bind<'a>(query: Query<'a>, row: &'a Row) -> Query<'a> {
    let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let state = match row.state {
        State::Live(_) => "live",
        State::Deleted(_) => "deleted",
        State::Purged => "purged",
    };
    let document = row.state.document();
    let details = document.map(|document| &document.details);
    let tags: Vec<String> =
        document.into_iter().flat_map(|document| &document.tags).map(|tag| tag.as_str().to_owned()).collect();
    let links: Vec<String> = document
        .into_iter()
        .flat_map(|document| &document.links)
        .map(|link| format!("{}:{}", link.kind, link.to))
        .collect();
    let derived = Derived::of(row);
    query
        .bind(uuid(row.memory))
        .bind(signed(row.rev))
        .bind(signed(row.content_rev))
        .bind(row.details_at.as_micros())
        .bind(state)
        .bind(document.map_or("", |document| document.content.as_str()))
        .bind(tags)
        .bind(details.map_or("", |details| details.category.as_str()))
        .bind(details.map_or("", |details| details.kind.as_str()))
        .bind(details.map_or(0, |details| i16::from(details.importance.percent())))
        .bind(details.map_or_else(Vec::new, |details| details.keywords.clone()))
        .bind(details.map_or_else(Vec::new, |details| details.entities.clone()))
        .bind(links)
        .bind(details.map_or("", |details| details.scope.as_str()))
        .bind(details.map_or(0, |details| details.created.as_micros()))
        .bind(details.and_then(|details| details.expires).map(Timestamp::as_micros))
        .bind(details.map_or_else(|| "user".to_owned(), |details| details.origin.to_string()))
        .bind(details.and_then(|details| details.session.clone()))
        .bind(details.and_then(|details| details.conflict_of).map(uuid))
        .bind(derived.summary)
        .bind(derived.is_standing)
        .bind(i32::from(derived.length))
        .bind(derived.signature.cast_signed())
        .bind(derived.forward)
        .bind(derived.costs)
        .bind(derived.passages)
        .bind(row.edited_by.as_deref())
        .bind(details.and_then(|details| details.vouched).map(Trust::as_str))
}
