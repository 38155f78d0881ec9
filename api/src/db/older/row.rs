//! Reads a row of the older system. Everything that cannot be kept is reported.

use std::collections::BTreeSet;

use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row as _};
use tessera_engine::compose::{self, Decided, Outcome, outcome};
use tessera_engine::domain::{
    Category, Draft, Importance, Link, LinkKind, MAX_CONTENT_BYTES, MAX_NAME_CHARS, MAX_TAGS, MemoryUuid, Origin, Tag,
    Timestamp,
};
use tessera_engine::screen::Screened;
use tessera_engine::sync::{Action, Author, Edit, Rights};
use tessera_engine::text::O200k;
use tessera_vault::Fields;

use super::names::{Names, has_column};
use crate::db::{Db, DbError, UserId};
use crate::secrets::{Aside, Secrets};

/// The maximum number of keywords of a memory.
const MOST_KEYWORDS: usize = 128;
/// The older system's mark for a redacted text.
const REDACTED: &str = "[REDACTED";

/// A row of the older system.
#[derive(Debug)]
pub(super) struct Older {
    pub(super) id: i64,
    pub(super) user: String,
    /// Missing if the text is far too long.
    content: Option<String>,
    bytes: i64,
    category: Option<String>,
    pub(super) tags: String,
    keywords: String,
    importance: Option<f32>,
    created: Timestamp,
    pub(super) updated: Timestamp,
    pub(super) is_deleted: bool,
    is_sensitive: bool,
    is_in_vault: bool,
    encrypted: Option<Vec<u8>>,
    /// Links to other memories of the user: the type, and the ID.
    links: Vec<(String, i64)>,
}

/// The result for a row.
pub(super) enum Becomes {
    /// A memory: its state after creation, and its state after each later change.
    Memory {
        /// At least one.
        states: Vec<Decided>,
        with_secrets: bool,
        links: u64,
        remarks: Vec<String>,
    },
    /// Nothing, and why.
    Left(String),
}

/// The statement that reads unmigrated rows after an ID. The columns depend on the version of the older system.
pub(super) async fn reading(db: &Db) -> Result<String, DbError> {
    let mut columns = Vec::new();
    for (column, otherwise) in [
        ("user_id", "'default'"),
        ("is_sensitive", "false"),
        ("vault_path", "NULL"),
        ("encrypted_content", "NULL::bytea"),
        ("deleted_at", "NULL::timestamptz"),
    ] {
        let is_there = has_column(db, "memories", column).await?;
        let value = if is_there { format!("m.{column}") } else { otherwise.to_owned() };
        columns.push(match column {
            "deleted_at" => format!("{value} IS NOT NULL AS is_deleted"),
            _ => format!("{value} AS {column}"),
        });
    }
    let links = if has_column(db, "memory_links", "src_id").await? && has_column(db, "memories", "user_id").await? {
        "(SELECT array_agg(l.link_type || ':' || l.dst_id ORDER BY l.id) FROM older.memory_links l
             JOIN older.memories o ON o.id = l.dst_id AND o.user_id = m.user_id WHERE l.src_id = m.id AND l.user_id = m.user_id)"
    } else {
        "NULL::text[]"
    };
    let micros = |column: &str| {
        format!("CASE WHEN isfinite(m.{column}) THEN (extract(epoch FROM m.{column}) * 1000000)::bigint ELSE 0 END")
    };
    Ok(format!(
        "SELECT m.id::bigint AS id, CASE WHEN octet_length(m.content) <= 1048576 THEN m.content END AS content,
             octet_length(m.content)::bigint AS bytes, m.category::text AS category, coalesce(m.tags, '') AS tags,
             coalesce(m.expanded_keywords, '') AS keywords, m.importance::real AS importance,
             {} AS created, {} AS updated, {}, {links} AS links
         FROM older.memories m WHERE m.id > $1 AND NOT EXISTS (
             SELECT FROM older.taken t WHERE t.id = m.id AND t.memory IS NOT NULL) ORDER BY m.id LIMIT $2",
        micros("created_at"),
        micros("updated_at"),
        columns.join(", ")
    ))
}

/// The next rows after a number.
pub(super) async fn next(db: &Db, reading: &str, after: i64, most: i64) -> Result<Vec<Older>, DbError> {
    let rows = sqlx::query(AssertSqlSafe(reading)).bind(after).bind(most).fetch_all(&db.pool).await?;
    rows.iter().map(read).collect()
}

fn read(row: &PgRow) -> Result<Older, DbError> {
    let links: Option<Vec<String>> = row.try_get("links")?;
    let links = links.unwrap_or_default();
    let links = links.iter().filter_map(|link| {
        let (kind, to) = link.split_once(':')?;
        Some((kind.to_owned(), to.parse().ok()?))
    });
    let created: i64 = row.try_get("created")?;
    let updated: i64 = row.try_get("updated")?;
    Ok(Older {
        id: row.try_get("id")?,
        user: row.try_get("user_id")?,
        content: row.try_get("content")?,
        bytes: row.try_get("bytes")?,
        category: row.try_get("category")?,
        tags: row.try_get("tags")?,
        keywords: row.try_get("keywords")?,
        importance: row.try_get("importance")?,
        created: Timestamp::from_micros(created),
        updated: Timestamp::from_micros(updated.max(created)),
        is_deleted: row.try_get("is_deleted")?,
        is_sensitive: row.try_get::<Option<bool>, _>("is_sensitive")?.unwrap_or_default(),
        is_in_vault: row.try_get::<Option<&str>, _>("vault_path")?.is_some_and(|path| !path.is_empty()),
        encrypted: row.try_get("encrypted_content")?,
        links: links.collect(),
    })
}

/// The UUID for a memory with this ID, which is the same in every run.
pub(super) fn id_of(owner: &UserId, number: i64) -> MemoryUuid {
    MemoryUuid::from_key(&format!("older memory {} {number}", owner.as_str()))
}

/// The raw tags of a row, split like in the older system.
pub(super) fn raw_tags(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|tag| !tag.is_empty())
}

impl Older {
    /// Turns a row into a memory. Decrypts texts of the older system or reads them from its vault, and redacts secrets.
    /// If the server uses a vault, the found secrets are then stored there.
    pub(super) async fn becomes(&self, db: &Db, secrets: &Secrets, names: &Names) -> Result<Becomes, DbError> {
        let Some(owner) = names.of(&self.user) else {
            return Err(DbError::Row(format!("row {} belongs to a user who was added during the migration", self.id)));
        };
        let Some(content) = self.content.clone().filter(|text| text.len() <= MAX_CONTENT_BYTES) else {
            return Ok(Becomes::Left(format!(
                "the text is {} bytes long; the maximum is {MAX_CONTENT_BYTES}",
                self.bytes
            )));
        };
        let mut remarks = Vec::new();
        let (content, sensitive) = match self.opened(secrets, content, &mut remarks).await {
            Ok(said) => said,
            Err(why) => return Ok(Becomes::Left(why)),
        };
        let draft = self.draft(content, sensitive, &mut remarks);
        let memory = id_of(owner, self.id);
        let mut aside = Aside::own(secrets, owner.as_str());
        let draft = match aside.look(draft, memory) {
            Ok(draft) => draft,
            Err(why) => return Ok(Becomes::Left(why.to_string())),
        };
        let document = match compose::document(&draft, self.created) {
            Ok(document) => document,
            Err(why) => return Ok(Becomes::Left(why.to_string())),
        };
        let looked = aside.looked(Screened::of(document));
        if let Err(why) = secrets.put(db, owner, memory, &looked.taken).await {
            return Ok(Becomes::Left(format!("the vault rejected a secret from this text: {why}")));
        }
        let with_secrets = !looked.taken.is_empty();
        let name = |remark: String| format!("#{} of {}: {remark}", self.id, owner.as_str());
        let remarks = remarks.into_iter().map(name).collect();
        let (states, links) = self.states(owner, memory, &looked.action)?;
        Ok(match states {
            Ok(states) => Becomes::Memory { states, with_secrets, links, remarks },
            Err(why) => Becomes::Left(why),
        })
    }

    /// Returns the row's decrypted text. If the older system stored the whole text as sensitive, also returns the text
    /// that is shown in its place.
    async fn opened(
        &self,
        secrets: &Secrets,
        content: String,
        remarks: &mut Vec<String>,
    ) -> Result<(String, Option<String>), String> {
        // A table that contains the secret itself has no other text.
        let beside = |value: &str| if content.trim() == value.trim() { String::new() } else { content.clone() };
        let said = |text: String| {
            let category = self.category.as_deref().unwrap_or("facts");
            Some(if text.trim().is_empty() { format!("Sensitive note ({category})") } else { text })
        };
        if let Some(encrypted) = self.encrypted.as_deref().filter(|bytes| !bytes.is_empty()) {
            let value = secrets.opened_older(encrypted).ok_or(
                "cannot decrypt the text; set MEMORY_ENCRYPTION_KEY to the key that encrypted it, or \
                TESSERA_SECRET_KEY_BEFORE if TESSERA_SECRET_KEY is set",
            )?;
            let beside = beside(&value);
            return Ok((value.to_string(), said(beside)));
        }
        // A deletion also deleted the value in the vault.
        if self.is_in_vault && !self.is_deleted {
            if secrets.vault().is_none() {
                return Err("the text is in a vault; set VAULT_ADDR and its credentials".into());
            }
            let found = secrets.read(&self.user, &self.id.to_string()).await;
            let found = found.map_err(|why| format!("the vault did not return the text: {why}"))?;
            if let Some(value) = found.as_ref().and_then(|fields| fields.get(Fields::CONTENT)) {
                return Ok((value.to_owned(), said(beside(value))));
            }
            remarks
                .push("the vault does not contain the text; the row is imported with the text from the table".into());
        }
        let is_open = self.is_sensitive && !self.is_in_vault && !content.contains(REDACTED);
        // The older system hides such a text completely.
        let whole = is_open.then(|| said(String::new())).flatten();
        Ok((content, whole))
    }

    fn draft(&self, content: String, sensitive: Option<String>, remarks: &mut Vec<String>) -> Draft {
        let mut tags: Vec<Tag> = Vec::new();
        for raw in raw_tags(&self.tags) {
            match Tag::try_from(raw.to_owned()) {
                Ok(tag) if tags.contains(&tag) => {}
                Ok(tag) if tags.len() < MAX_TAGS => tags.push(tag),
                Ok(_) => remarks.push(format!("has more than {MAX_TAGS} tags; only the first ones are imported")),
                Err(why) => remarks.push(format!("a tag was skipped: {why}")),
            }
        }
        remarks.dedup();
        let category = self.category.clone().unwrap_or_default();
        let named = Category::try_from(category.replace([',', '"'], " "));
        let category = named.unwrap_or_else(|why| {
            if !category.trim().is_empty() {
                remarks.push(format!("is imported into the category `facts`: {why}"));
            }
            Category::default()
        });
        let importance = f64::from(self.importance.filter(|given| given.is_finite()).unwrap_or(0.5));
        Draft {
            content,
            category: Some(category),
            importance: Importance::try_from(importance.clamp(0.0, 1.0)).ok(),
            tags,
            keywords: keywords(&self.keywords, remarks),
            created: Some(self.created),
            origin: Origin::Agent,
            sensitive,
            ..Draft::default()
        }
    }

    /// Returns the states of the memory in order: first without links, then with its links if there are any, and then
    /// as deleted if it was deleted.
    fn states(
        &self,
        owner: &UserId,
        memory: MemoryUuid,
        made: &Screened<Action>,
    ) -> Result<(Result<Vec<Decided>, String>, u64), DbError> {
        let links: BTreeSet<Link> = self.links.iter().filter_map(|(kind, to)| link(owner, kind, *to)).collect();
        let links: BTreeSet<Link> = links.into_iter().filter(|link| link.to != memory).collect();
        let n_links = links.len() as u64;
        let mut actions = vec![made.clone()];
        let clean = || DbError::Row("a row without text contains a credential".into());
        if !links.is_empty() {
            let edit = Edit { links_added: links, ..Edit::default() };
            actions.push(Screened::of(Screened::clean(edit).ok_or_else(clean)?));
        }
        if self.is_deleted {
            actions.push(Screened::clean(Action::Delete).ok_or_else(clean)?);
        }
        let mut states: Vec<Decided> = Vec::new();
        for (number, action) in actions.iter().enumerate() {
            let before = states.last();
            let op_id = MemoryUuid::from_key(&format!("older op {memory} {number}"));
            let op = action.asked(op_id, memory, before.map_or(0, |before| before.row().rev), self.updated);
            let rights = if before.is_some() { Rights::Owner } else { Rights::None };
            let author = Author { name: owner.as_str(), rights };
            match outcome(before.map(|before| (before.row(), None)), &op, author, &O200k) {
                Outcome::Write { row, .. } => states.push(*row),
                Outcome::Keep => {}
                Outcome::Refuse(why) => return Ok((Err(format!("the change was rejected: {why:?}")), 0)),
            }
        }
        Ok((Ok(states), n_links))
    }
}

fn link(owner: &UserId, kind: &str, to: i64) -> Option<Link> {
    let kind: LinkKind = kind.replace('-', "_").parse().ok()?;
    Some(Link { kind, to: id_of(owner, to) })
}

/// Keywords: separated by commas, or by spaces if there are no commas.
fn keywords(text: &str, remarks: &mut Vec<String>) -> Vec<String> {
    let words: Vec<&str> =
        if text.contains(',') { text.split(',').collect() } else { text.split_whitespace().collect() };
    let mut kept: Vec<String> = Vec::new();
    let mut left = 0;
    for word in words.into_iter().map(str::trim).filter(|word| !word.is_empty()) {
        if kept.iter().any(|known| known == word) {
            continue;
        }
        if kept.len() < MOST_KEYWORDS && word.chars().count() <= MAX_NAME_CHARS {
            kept.push(word.to_owned());
        } else {
            left += 1;
        }
    }
    if left > 0 {
        remarks.push(format!("{left} keywords were skipped, because there were too many or they were too long"));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_stand_with_commas_or_with_blanks() {
        let mut remarks = Vec::new();
        assert_eq!(keywords("dark mode,  theme ,dark mode,", &mut remarks), ["dark mode", "theme"]);
        assert_eq!(keywords(" port  gateway\tstaging ", &mut remarks), ["port", "gateway", "staging"]);
        assert!(keywords("", &mut remarks).is_empty() && remarks.is_empty());
        let many: Vec<String> = (0..200).map(|n| format!("word{n}")).collect();
        assert_eq!(keywords(&many.join(" "), &mut remarks).len(), MOST_KEYWORDS);
        assert!(remarks[0].starts_with("72 keywords were skipped"), "{remarks:?}");
    }
}
