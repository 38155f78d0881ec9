//! Shares of single memories and of tags, and memories that recipients hide.

use std::collections::HashSet;

use serde::Serialize;
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::domain::{DomainError, MemoryUuid, Permission, Tag};
use tessera_engine::sync::Invitation;
use uuid::Uuid;

use super::error::MayConflict;
use super::memories::uuid;
use super::verbs::{Ask as _, args};
use super::{AuditedAction, Caller, Db, DbError, UserId, UserTx, unless_overtaken};

/// The maximum number of open invitations of one owner that a user sees at a time.
const MOST_OFFERS_OF_ONE: i64 = 5;

/// The shared memory or tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// One memory.
    Memory(MemoryUuid),
    /// All present and future memories of the owner with a tag.
    Tag(Tag),
}

/// Why something cannot be shared.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShareError {
    /// The user has no such memory.
    #[error("you have no memory with this ID")]
    NoMemory,
    /// There is no such user.
    #[error("no user has this name")]
    NoUser,
    /// A user cannot share with themselves.
    #[error("you cannot share with yourself")]
    Self_,
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<sqlx::Error> for ShareError {
    fn from(error: sqlx::Error) -> Self {
        Self::Db(error.into())
    }
}

impl MayConflict for ShareError {
    fn is_overtaken(&self) -> bool {
        matches!(self, Self::Db(error) if error.is_overtaken())
    }
}

/// A memory that its owner shares.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub(crate) struct MemoryShare {
    /// The memory's short ID for its owner.
    #[schema(value_type = u32)]
    memory_id: Option<i64>,
    /// Its UUID.
    #[schema(value_type = String, format = Uuid)]
    memory_uuid: MemoryUuid,
    /// With whom.
    shared_with: String,
    /// read or write.
    permission: String,
    /// The first 80 characters of its text.
    preview: String,
    /// Since when, as RFC 3339.
    created_at: String,
}

/// A tag that its owner shares.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub(crate) struct TagShare {
    /// The tag.
    tag: String,
    /// With whom.
    shared_with: String,
    /// read or write.
    permission: String,
    /// offered, accepted or declined.
    status: String,
    /// Since when, as RFC 3339.
    created_at: String,
}

/// Everything that a user shares.
#[derive(Debug, Clone, Default, Serialize, utoipa::ToSchema)]
pub(crate) struct MyShares {
    /// Single memories.
    memory_shares: Vec<MemoryShare>,
    /// Tags.
    tag_shares: Vec<TagShare>,
}

macro_rules! since {
    () => {
        "to_char(s.created AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') AS since "
    };
}

impl Db {
    /// Shares, or changes the permission; without a permission, stops sharing. False if nothing was shared. Notifies
    /// everybody who gains or loses access in the same transaction.
    pub(crate) async fn share(
        &self,
        caller: &Caller,
        target: &Target,
        with: &UserId,
        permission: Option<Permission>,
    ) -> Result<bool, ShareError> {
        unless_overtaken(|| async {
            let owner = &caller.user;
            if owner == with {
                return Err(ShareError::Self_);
            }
            // Clients of the older API cannot accept invitations, so their users see shared tags at once.
            let is_older =
                matches!((target, permission), (Target::Tag(_), Some(_))) && self.has_older_key(with).await?;
            let mut tx = self.by(caller).await?;
            let is_user: bool = tx.value("SELECT is_user($1)", args![with.as_str()]).await?;
            if !is_user {
                return Err(ShareError::NoUser);
            }
            tx.change_shares(owner).await?;
            let seen = match target {
                Target::Memory(memory) => {
                    tx.own_memory(*memory).await?.ok_or(ShareError::NoMemory).map(|id| vec![id])?
                }
                // A memory that is only offered appears after the user accepts the invitation.
                Target::Tag(tag) if is_older || tx.is_accepted(tag, with).await? => tx.tagged(tag).await?,
                Target::Tag(_) => Vec::new(),
            };
            let changed = match permission {
                Some(permission) => tx.grant(target, with, permission, is_older).await?,
                None => tx.revoke(target, with).await?,
            };
            if changed {
                let (deed, what) = match (target, permission) {
                    (Target::Memory(memory), Some(_)) => (AuditedAction::Shared, memory.to_string()),
                    (Target::Memory(memory), None) => (AuditedAction::Unshared, memory.to_string()),
                    (Target::Tag(tag), Some(_)) => (AuditedAction::TagShared, tag.as_str().to_owned()),
                    (Target::Tag(tag), None) => (AuditedAction::TagUnshared, tag.as_str().to_owned()),
                };
                let how = permission.map(|permission| format!(" {permission}")).unwrap_or_default();
                tx.audit(deed, &format!("{what} {}{how}", with.as_str())).await?;
                if permission.is_none() && !seen.is_empty() {
                    tx.drop_indexes_of([with.as_str().to_owned()]);
                }
                tx.told_of(with, owner, seen);
                if matches!(target, Target::Tag(_)) {
                    tx.invitations_changed(with);
                }
            }
            tx.commit().await?;
            Ok(changed)
        })
        .await
    }

    /// Hides one or all memories that an owner shares with the user, or shows them again. False if nothing changed.
    pub(crate) async fn mute(
        &self,
        user: &UserId,
        owner: &UserId,
        memory: Option<MemoryUuid>,
        is_muted: bool,
    ) -> Result<bool, DbError> {
        unless_overtaken(|| async {
            let mut tx = self.of(user).await?;
            let memory = memory.map_or(Uuid::nil(), uuid);
            let before: HashSet<MemoryUuid> = tx.visible_of(owner).await?.into_iter().collect();
            let sql = if is_muted {
                "INSERT INTO mutes (user_id, owner, memory) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"
            } else {
                "DELETE FROM mutes WHERE user_id = $1 AND owner = $2 AND memory = $3"
            };
            let done = tx.run(sql, args![user.as_str(), owner.as_str(), memory]).await?;
            let after: HashSet<MemoryUuid> = tx.visible_of(owner).await?.into_iter().collect();
            tx.told_of(user, owner, before.symmetric_difference(&after).copied());
            if done.rows_affected() > 0 {
                tx.invitations_changed(user);
            }
            tx.commit().await?;
            Ok(done.rows_affected() > 0)
        })
        .await
    }

    /// Open invitations of other users to this user.
    pub(crate) async fn invitations(&self, user: &UserId) -> Result<Vec<Invitation>, DbError> {
        self.of(user).await?.invitations().await
    }

    /// Accepts or declines a shared tag. False if there is no invitation, or the answer was the same before.
    pub(crate) async fn answer_invitation(
        &self,
        caller: &Caller,
        owner: &UserId,
        tag: &Tag,
        is_accepted: bool,
    ) -> Result<bool, DbError> {
        unless_overtaken(|| async {
            let user = &caller.user;
            let mut tx = self.by(caller).await?;
            tx.change_shares(owner).await?;
            let before: HashSet<MemoryUuid> = tx.visible_of(owner).await?.into_iter().collect();
            let sql = "SELECT answer_invitation($1, $2, $3)";
            let changed: bool = tx.value(sql, args![owner.as_str(), tag.as_str(), is_accepted]).await?;
            let after: HashSet<MemoryUuid> = tx.visible_of(owner).await?.into_iter().collect();
            if changed {
                let answer = if is_accepted { "accepted" } else { "declined" };
                tx.audit(AuditedAction::InvitationAnswered, &format!("{} {} {answer}", owner.as_str(), tag.as_str()))
                    .await?;
                tx.invitations_changed(user);
            }
            if !before.is_subset(&after) {
                tx.drop_indexes_of([user.as_str().to_owned()]);
            }
            tx.told_of(user, owner, before.symmetric_difference(&after).copied());
            tx.commit().await?;
            Ok(changed)
        })
        .await
    }

    /// The owners of memories that a user hides.
    pub(crate) async fn muted_owners(&self, user: &UserId, memory: MemoryUuid) -> Result<Vec<UserId>, DbError> {
        let mut tx = self.of(user).await?;
        let sql = "SELECT owner FROM mutes WHERE user_id = $1 AND memory = $2 ORDER BY owner";
        let owners: Vec<String> = tx.values(sql, args![user.as_str(), uuid(memory)]).await?;
        owners.iter().map(|owner| owner.parse()).collect()
    }

    /// Everything that a user shares.
    pub(crate) async fn my_shares(&self, user: &UserId) -> Result<MyShares, DbError> {
        let mut tx = self.of(user).await?;
        let sql = concat!(
            "SELECT s.memory, s.grantee, s.permission, left(m.content, 80) AS preview, f.short_id, ",
            since!(),
            "FROM memory_shares s JOIN memories m ON m.owner = s.owner AND m.id = s.memory
             LEFT JOIN feed f ON f.user_id = s.owner AND f.owner = s.owner AND f.memory = s.memory
             WHERE s.owner = $1 AND m.state = 'live' ORDER BY s.created, s.memory, s.grantee"
        );
        let memories = tx.all(sql, args![user.as_str()]).await?;
        let sql = concat!(
            "SELECT s.tag, s.grantee, s.permission, s.status, ",
            since!(),
            "FROM tag_shares s
             WHERE s.owner = $1 ORDER BY s.created, s.tag, s.grantee"
        );
        let tags = tx.all(sql, args![user.as_str()]).await?;
        let mut shares = MyShares::default();
        for row in &memories {
            shares.memory_shares.push(MemoryShare {
                memory_id: row.try_get("short_id")?,
                memory_uuid: MemoryUuid::from_uuid(row.try_get("memory")?),
                shared_with: row.try_get("grantee")?,
                permission: row.try_get("permission")?,
                preview: row.try_get("preview")?,
                created_at: row.try_get("since")?,
            });
        }
        for row in &tags {
            shares.tag_shares.push(TagShare {
                tag: row.try_get("tag")?,
                shared_with: row.try_get("grantee")?,
                permission: row.try_get("permission")?,
                status: row.try_get("status")?,
                created_at: row.try_get("since")?,
            });
        }
        Ok(shares)
    }
}

impl UserTx {
    /// Prevents writes to an owner's memories until the transaction ends: see `hold_shares`.
    async fn change_shares(&mut self, owner: &UserId) -> Result<(), DbError> {
        let sql = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
        self.tx.run(sql, args![owner.as_str()]).await?;
        Ok(())
    }

    async fn own_memory(&mut self, id: MemoryUuid) -> Result<Option<MemoryUuid>, DbError> {
        let sql = "SELECT id FROM memories WHERE owner = $1 AND id = $2 AND state = 'live'";
        let found: Option<Uuid> = self.tx.maybe_value(sql, args![self.user.as_str(), uuid(id)]).await?;
        Ok(found.map(MemoryUuid::from_uuid))
    }

    async fn is_accepted(&mut self, tag: &Tag, with: &UserId) -> Result<bool, DbError> {
        let sql = "SELECT EXISTS (SELECT FROM tag_shares
                   WHERE owner = $1 AND tag = $2 AND grantee = $3 AND status = 'accepted')";
        Ok(self.tx.value(sql, args![self.user.as_str().to_owned(), tag.as_str(), with.as_str()]).await?)
    }

    /// Open invitations of other users, except those that the user hides.
    pub(super) async fn invitations(&mut self) -> Result<Vec<Invitation>, DbError> {
        let sql = "SELECT owner, tag, permission FROM (
                 SELECT s.owner, s.tag, s.permission, row_number() OVER (PARTITION BY s.owner ORDER BY s.created, s.tag) AS place
                 FROM tag_shares s WHERE s.grantee = $1 AND s.status = 'offered'
                 AND NOT EXISTS (SELECT FROM mutes WHERE user_id = $1 AND owner = s.owner AND memory = $2)) offered
             WHERE place <= $3 ORDER BY place, owner LIMIT 200";
        let rows = self.tx.all(sql, args![self.user.as_str(), Uuid::nil(), MOST_OFFERS_OF_ONE]).await?;
        let invitation = |row: &PgRow| -> Result<Invitation, DbError> {
            let wrong = |error: DomainError| DbError::Row(error.to_string());
            Ok(Invitation {
                owner: row.try_get("owner")?,
                tag: Tag::try_from(row.try_get::<String, _>("tag")?).map_err(wrong)?,
                permission: row.try_get::<&str, _>("permission")?.parse().map_err(wrong)?,
            })
        };
        rows.iter().map(invitation).collect()
    }

    async fn tagged(&mut self, tag: &Tag) -> Result<Vec<MemoryUuid>, DbError> {
        let sql = "SELECT id FROM memories WHERE owner = $1 AND tags @> ARRAY[$2] AND state = 'live' ORDER BY id";
        let found: Vec<Uuid> = self.tx.values(sql, args![self.user.as_str(), tag.as_str()]).await?;
        Ok(found.into_iter().map(MemoryUuid::from_uuid).collect())
    }

    /// Memories of an owner that the user sees.
    async fn visible_of(&mut self, owner: &UserId) -> Result<Vec<MemoryUuid>, DbError> {
        let sql = "SELECT m.id FROM memories m WHERE m.owner = $1 AND (
                 m.id IN (SELECT memory FROM memory_shares WHERE owner = $1 AND grantee = $2)
                 OR EXISTS (SELECT FROM tag_shares s WHERE s.owner = $1 AND s.grantee = $2 AND s.tag = ANY (m.tags)))
             ORDER BY m.id";
        let found: Vec<Uuid> = self.tx.values(sql, args![owner.as_str(), self.user.as_str()]).await?;
        Ok(found.into_iter().map(MemoryUuid::from_uuid).collect())
    }

    async fn grant(
        &mut self,
        target: &Target,
        with: &UserId,
        permission: Permission,
        is_accepted: bool,
    ) -> Result<bool, DbError> {
        let (owner, with, permission) = (self.user.as_str(), with.as_str(), permission.as_str());
        let done = match target {
            Target::Memory(memory) => {
                let sql = "INSERT INTO memory_shares (owner, memory, grantee, permission) VALUES ($1, $2, $3, $4)
                     ON CONFLICT (owner, memory, grantee) DO UPDATE SET permission = $4
                     WHERE memory_shares.permission <> $4";
                self.tx.run(sql, args![owner, uuid(*memory), with, permission]).await?
            }
            Target::Tag(tag) => {
                let sql = "INSERT INTO tag_shares (owner, tag, grantee, permission, status) VALUES ($1, $2, $3, $4, $5)
                     ON CONFLICT (owner, tag, grantee) DO UPDATE SET permission = $4 WHERE tag_shares.permission <> $4";
                let status = if is_accepted { "accepted" } else { "offered" };
                self.tx.run(sql, args![owner, tag.as_str(), with, permission, status]).await?
            }
        };
        Ok(done.rows_affected() > 0)
    }

    async fn revoke(&mut self, target: &Target, with: &UserId) -> Result<bool, DbError> {
        let (owner, with) = (self.user.as_str(), with.as_str());
        let done = match target {
            Target::Memory(memory) => {
                let sql = "DELETE FROM memory_shares WHERE owner = $1 AND memory = $2 AND grantee = $3";
                self.tx.run(sql, args![owner, uuid(*memory), with]).await?
            }
            Target::Tag(tag) => {
                let sql = "DELETE FROM tag_shares WHERE owner = $1 AND tag = $2 AND grantee = $3";
                self.tx.run(sql, args![owner, tag.as_str(), with]).await?
            }
        };
        Ok(done.rows_affected() > 0)
    }
}
