//! Shares of the older system's users. Shares of the older system were valid without acceptance, so migrated shares are
//! valid at once.
//!
//! Tags of the older system are case-sensitive; Tessera's tags are not. If two old tags of a user differ only in case,
//! a share of one would also show the other. So the memories are shared one by one instead.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sqlx::{AssertSqlSafe, Row as _};
use tessera_engine::domain::Tag;

use super::TakenOver;
use super::names::{Names, has_column};
use super::row::raw_tags;
use crate::db::verbs::{Ask as _, args};
use crate::db::{Db, DbError, UserId};

/// A share: the other user, whether this user may write, and the time of the share in PostgreSQL's format.
#[derive(Debug, Clone)]
pub(super) struct Grant {
    pub(super) with: UserId,
    pub(super) permission: &'static str,
    pub(super) since: String,
}

/// All shares.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Shares of tags with only one spelling in the old system, so that they cover the same memories in both systems:
    /// the owner, the tag and the share.
    tags: Vec<(UserId, Tag, Grant)>,
    /// Shares of tags that are converted to shares of single memories. The key is the old owner; the value is the old
    /// spelling and the share.
    singles: HashMap<String, Vec<(String, Grant)>>,
    /// Shares of single memories, by ID.
    memories: HashMap<i64, Vec<Grant>>,
}

impl Rules {
    pub(super) async fn read(db: &Db, names: &Names, taken: &mut TakenOver) -> Result<Self, DbError> {
        let mut rules = Self::default();
        for (number, grant) in grants(db, names, "memory_shares", "memory_id::text", "shared_with").await? {
            if let (Ok(number), Some(grant)) = (number.1.parse(), grant) {
                rules.memories.entry(number).or_default().push(grant);
            }
        }
        let spellings = spellings(db).await?;
        for ((owner, raw), grant) in grants(db, names, "tag_shares", "tag::text", "shared_with").await? {
            let (Some(grant), Some(name)) = (grant, names.of(&owner)) else { continue };
            if grant.with == *name {
                continue;
            }
            let raw = raw.trim().to_owned();
            let tag = Tag::try_from(raw.clone()).ok();
            let others = tag.as_ref().and_then(|tag| spellings.get(&(owner.clone(), tag.as_str().to_owned())));
            let is_one = others.is_none_or(|others| others.iter().all(|other| *other == raw));
            if let Some(tag) = tag.filter(|_| is_one) {
                rules.tags.push((name.clone(), tag, grant));
                continue;
            }
            taken.remarks.push(format!(
                "{} shares the tag {raw:?} with {}, but tags ignore case here; so the memories that have this tag now \
                are shared one by one instead",
                name.as_str(),
                grant.with.as_str()
            ));
            rules.singles.entry(owner).or_default().push((raw, grant));
        }
        Ok(rules)
    }

    /// The users with whom a memory is shared, once each. A share of the memory itself takes precedence over shares of
    /// its tags. If several tags of a memory are shared, write permission has priority.
    pub(super) fn of_memory(&self, number: i64, older_owner: &str, owner: &UserId, tags: &str) -> Vec<Grant> {
        let mut grants: BTreeMap<&UserId, Grant> = BTreeMap::new();
        let has: BTreeSet<&str> = raw_tags(tags).collect();
        for (raw, grant) in self.singles.get(older_owner).into_iter().flatten() {
            let known = grants.get(&grant.with).is_some_and(|known| known.permission == "write");
            if has.contains(raw.as_str()) && !known {
                grants.insert(&grant.with, grant.clone());
            }
        }
        for grant in self.memories.get(&number).into_iter().flatten() {
            grants.insert(&grant.with, grant.clone());
        }
        grants.into_values().filter(|grant| grant.with != *owner).collect()
    }
}

type Given = ((String, String), Option<Grant>);

/// Reads an old table of shares: the owner, the shared memory or tag, and the permission. No grant for an unknown name.
async fn grants(db: &Db, names: &Names, table: &str, what: &str, with: &str) -> Result<Vec<Given>, DbError> {
    if !has_column(db, table, with).await? {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT owner_id::text AS owner, {what} AS what, {with}::text AS grantee, permission = 'write' AS may_write,
             coalesce(created_at, now())::text AS since FROM older.{table} ORDER BY id"
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&db.pool).await?;
    let grant = |row: &sqlx::postgres::PgRow| -> Result<Given, DbError> {
        let with: String = row.try_get("grantee")?;
        let may_write: bool = row.try_get("may_write")?;
        let since: String = row.try_get("since")?;
        let permission = if may_write { "write" } else { "read" };
        let grant = names.of(&with).map(|with| Grant { with: with.clone(), permission, since });
        Ok(((row.try_get("owner")?, row.try_get("what")?), grant))
    };
    rows.iter().map(grant).collect()
}

/// For each owner and tag, the old spellings that Tessera treats as the same tag.
async fn spellings(db: &Db) -> Result<BTreeMap<(String, String), BTreeSet<String>>, DbError> {
    let mut found: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    if !has_column(db, "tag_shares", "shared_with").await? {
        return Ok(found);
    }
    let rows: Vec<(String, String)> = sqlx::query_as(
        "SELECT DISTINCT user_id::text, trim(raw) FROM older.memories, unnest(string_to_array(tags, ',')) raw
             WHERE user_id IN (SELECT owner_id FROM older.tag_shares)
         UNION SELECT DISTINCT owner_id::text, trim(tag) FROM older.tag_shares",
    )
    .fetch_all(&db.pool)
    .await?;
    for (owner, raw) in rows {
        if let Ok(tag) = Tag::try_from(raw.clone()) {
            found.entry((owner, tag.as_str().to_owned())).or_default().insert(raw);
        }
    }
    Ok(found)
}

impl Db {
    /// Stores shares of tags with the status "accepted", because the older system had no invitations.
    pub(super) async fn keep_rules(&self, rules: &Rules, taken: &mut TakenOver) -> Result<(), DbError> {
        for (owner, tag, grant) in &rules.tags {
            let mut tx = self.begin(owner).await?;
            let sql = "INSERT INTO tag_shares (owner, tag, grantee, permission, created, status)
                 VALUES ($1, $2, $3, $4, $5::text::timestamptz, 'accepted') ON CONFLICT (owner, tag, grantee) DO NOTHING";
            tx.run(sql, args![owner.as_str(), tag.as_str(), grant.with.as_str(), grant.permission, &grant.since])
                .await?;
            tx.commit().await?;
            taken.tag_shares += 1;
        }
        Ok(())
    }
}
