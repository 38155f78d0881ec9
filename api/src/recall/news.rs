//! Changes for an index: feed rows are read in one transaction, then added in one step without the database. The
//! index always has all of these changes or none.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::Timestamp;
use tessera_engine::compose::Known;
use tessera_engine::domain::{DomainError, LinkKind, Origin, Trust};
use tessera_engine::embedding::{ENCODER_VERSION, Embedding};
use tessera_engine::index::{CONTEXT_REACH, Facts, Flags, ForwardDoc, Freshness, Label, context_of};
use tessera_engine::sync::Checkpoint;
use uuid::Uuid;

use super::index::UserIndex;
use crate::db::{DbError, Position, Remade, UserId, UserTx, believed, uuid};

/// Memories per batch for re-indexing.
const BATCH: usize = 500;

/// The owner and UUID of a memory.
pub(super) type Key = (String, Uuid);

/// The effect of a link on its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Effect {
    /// Recall returns only the source.
    Supersedes,
    /// Recall returns the source first.
    Updates,
}

impl Effect {
    /// The effect and the target of a link such as `supersedes:UUID`; `None` for other types.
    fn of(link: &str) -> Option<(Self, Uuid)> {
        let effects = [(Self::Supersedes, LinkKind::Supersedes), (Self::Updates, LinkKind::Updates)];
        let (kind, memory) = link.split_once(':')?;
        let effect = effects.into_iter().find(|(_, known)| known.as_str() == kind)?.0;
        Some((effect, memory.parse().ok()?))
    }
}

/// A feed row with the data that the index needs.
pub(super) struct Fed {
    pub(super) memory: Uuid,
    pub(super) facts: Facts,
    pub(super) scope: String,
    pub(super) blob: Vec<u8>,
    /// The embedding, if the user may use it; otherwise empty.
    pub(super) embedding: Vec<u8>,
    pub(super) session: Option<String>,
    /// The superseded and the updated memories, which belong to the same owner.
    pub(super) replaces: Vec<(Key, Effect)>,
    pub(super) seq: u64,
    /// The owner; none if the memory is gone.
    pub(super) owner: Option<String>,
    /// The complete memory, if another version of the analyzer computed its terms.
    again: Option<Box<Known>>,
    /// False for rows that were only loaded because other rows need them.
    is_wanted: bool,
}

/// The changes for an index.
pub(super) enum News {
    /// Nothing.
    None,
    /// Changed rows, complete up to a position in the feed, with the checkpoint of the feed's head before these rows
    /// were read.
    Some(Vec<Fed>, u64, Option<Checkpoint>),
    /// Rows without a new position.
    Again(Vec<Fed>),
    /// All rows at a position.
    All(Vec<Fed>, Position),
    /// The index needs a full rebuild, which uses this many bytes.
    TooMuch(usize),
}

/// During a build, rows, blobs and the new snapshot exist together.
const BUILD_FACTOR: usize = 3;
/// Approximate bytes of a row besides its blob and embeddings.
const ROW_BYTES: usize = 400;

macro_rules! fed {
    ($which:literal) => {
        concat!("SELECT feed.memory, feed.owner = '' AS is_unnamed, feed.seq, feed.short_id, feed.uses, feed.used, m.owner, m.created, \
         m.expires, m.importance, m.length, m.is_instruction, m.scope, m.forward, m.origin, m.edited_by, \
         m.owner_trust, m.session, m.links, ", believed!("m"), " FROM feed LEFT JOIN memories m ON m.owner = feed.owner AND m.id = feed.memory AND m.state = 'live' WHERE feed.user_id = $1 AND ",
        $which, " ORDER BY feed.short_id")
    };
}

fn looked_at<T>(index: &RwLock<UserIndex>, look: impl FnOnce(&UserIndex) -> T) -> T {
    look(&index.read().unwrap_or_else(PoisonError::into_inner))
}

impl News {
    /// Reads the changes for an index, which no other task may change meanwhile.
    pub(super) async fn read(index: &RwLock<UserIndex>, tx: &mut UserTx) -> Result<Self, DbError> {
        let known = looked_at(index, UserIndex::known);
        let position = tx.history(&known).await?;
        // A restored database is another one than the index was built from.
        let cursor = looked_at(index, |index| index.cursor_in(position.epoch, position.head));
        let Some(cursor) = cursor.filter(|_| position.knows(&known)) else {
            return Self::size(tx).await;
        };
        let Position { head, checkpoint, .. } = position;
        if head == cursor {
            return Self::meant(index, tx).await;
        }
        let after = i64::try_from(cursor).unwrap_or(i64::MAX);
        let rows = tx.fed(fed!("feed.seq > $2"), |query| query.bind(after)).await?;
        let mut changed = fed(&rows, tx.user.as_str())?;
        if is_of_removed(&rows)? || looked_at(index, |index| index.is_rebuild_due(&changed)) {
            return Self::size(tx).await;
        }
        // The statement may see changes after the head, which the next read repeats. Several statements may each see
        // others.
        let last = changed.iter().map(|fed| fed.seq).max().filter(|_| !tx.is_spread());
        let cursor = last.unwrap_or(head);
        add_replaced(index, &mut changed, tx).await?;
        add_turns_around(&mut changed, tx).await?;
        read_stale(&mut changed, tx).await?;
        Ok(Self::Some(changed, cursor, checkpoint))
    }

    /// Pending rows that now have an embedding. Storing an embedding creates no feed entry. A question triggers this
    /// check, at most once every two seconds.
    async fn meant(index: &RwLock<UserIndex>, tx: &mut UserTx) -> Result<Self, DbError> {
        let waiting = looked_at(index, UserIndex::take_a_look);
        if waiting.is_empty() {
            return Ok(Self::None);
        }
        let sql = fed!(
            "feed.short_id = ANY ($2) AND m.embedding_rev = m.content_rev AND substring(m.embedding FROM 1 FOR 1) = $3 \
             AND (m.embedding_key IS NULL OR m.owner = $1)"
        );
        let version = [ENCODER_VERSION];
        let rows = tx.fed(sql, |query| query.bind(&waiting).bind(version.as_slice())).await?;
        let mut changed = fed(&rows, tx.user.as_str())?;
        if changed.is_empty() {
            return Ok(Self::None);
        }
        if looked_at(index, |index| index.is_too_much(changed.len())) {
            return Self::size(tx).await;
        }
        // A conversation turn is loaded with its neighbours. They did not change.
        add_turns_around(&mut changed, tx).await?;
        read_stale(&mut changed, tx).await?;
        Ok(Self::Again(changed))
    }

    /// The memory for building the index.
    async fn size(tx: &mut UserTx) -> Result<Self, DbError> {
        let sql = "SELECT count(*) AS rows, coalesce(sum(octet_length(m.forward) + octet_length(m.embedding)), 0)::bigint AS bytes
                   FROM feed JOIN memories m ON m.owner = feed.owner AND m.id = feed.memory AND m.state = 'live'
                   WHERE feed.user_id = $1";
        let mut all = 0;
        for row in tx.fed(sql, |query| query).await? {
            let number = |name: &str| row.try_get::<i64, _>(name).map(|number| usize::try_from(number).unwrap_or(0));
            all += number("bytes")? + number("rows")? * ROW_BYTES;
        }
        Ok(Self::TooMuch(all * BUILD_FACTOR))
    }

    /// All rows at a position.
    pub(super) async fn everything(index: &RwLock<UserIndex>, tx: &mut UserTx) -> Result<Self, DbError> {
        let known = looked_at(index, UserIndex::known);
        let position = tx.history(&known).await?;
        let user = tx.user.as_str().to_owned();
        let mut all = Vec::new();
        let take = |row: &PgRow| {
            all.push(read(row, &user)?);
            Ok(())
        };
        tx.fed_each(fed!("m.id IS NOT NULL"), take).await?;
        read_stale(&mut all, tx).await?;
        Ok(Self::All(all, position))
    }

    /// The IDs of the affected rows; `None` for all.
    pub(super) fn short_ids(&self) -> Option<impl Iterator<Item = u32>> {
        let rows: &[Fed] = match self {
            Self::None => &[],
            Self::Some(rows, ..) | Self::Again(rows) => rows,
            Self::All(..) | Self::TooMuch(_) => return None,
        };
        Some(rows.iter().map(|fed| fed.facts.short_id))
    }

    /// Returns the changes for an index without semantic search: without embeddings, and with no row that waits for
    /// one.
    pub(super) fn without_embedding(mut self) -> Self {
        let (Self::Some(rows, ..) | Self::Again(rows) | Self::All(rows, _)) = &mut self else { return self };
        rows.iter_mut().for_each(|fed| fed.embedding = Embedding::of(&[]).into_bytes());
        self
    }

    /// Adds the changes to the index. Call this on a thread that may block. Returns re-indexed rows.
    pub(super) fn put(self, index: &RwLock<UserIndex>, user: &UserId) -> Result<Vec<Remade>, DbError> {
        let (mut rows, place, whole) = match self {
            Self::None | Self::TooMuch(_) => return Ok(Vec::new()),
            Self::Again(rows) => (rows, None, None),
            Self::Some(rows, cursor, checkpoint) => (rows, Some((cursor, checkpoint)), None),
            Self::All(rows, position) => (rows, None, Some(position)),
        };
        let remade = rows.iter_mut().filter_map(|fed| fed.analyse_again(user.as_str())).collect();
        rows.iter_mut().for_each(|fed| fed.label(user.as_str()));
        give_context(&mut rows);
        rows.retain(|fed| fed.is_wanted);
        if let Some(position) = whole {
            let built = UserIndex::build(rows, position)?;
            *index.write().unwrap_or_else(PoisonError::into_inner) = built;
            // A half-changed index was replaced completely.
            index.clear_poison();
            return Ok(remade);
        }
        index.write().unwrap_or_else(PoisonError::into_inner).push(rows, place);
        Ok(remade)
    }
}

/// True if a user who shared something was removed. Then the feed no longer shows which memories are missing, so the
/// index must be rebuilt.
fn is_of_removed(rows: &[PgRow]) -> Result<bool, DbError> {
    let unnamed = rows.iter().map(|row| row.try_get::<bool, _>("is_unnamed"));
    Ok(unnamed.collect::<Result<Vec<_>, _>>()?.contains(&true))
}

/// Adds the neighbours of new conversation turns, because the context of these neighbours changes.
async fn add_turns_around(changed: &mut Vec<Fed>, tx: &mut UserTx) -> Result<(), DbError> {
    let sessions: HashSet<String> =
        changed.iter().filter(|fed| fed.facts.is_captured).filter_map(|fed| fed.session.clone()).collect();
    if sessions.is_empty() {
        return Ok(());
    }
    let sessions: Vec<String> = sessions.into_iter().collect();
    let sql = fed!("m.origin = 'conversation' AND m.session = ANY ($2)");
    let rows = tx.fed(sql, |query| query.bind(&sessions)).await?;
    let known: HashSet<Uuid> = changed.iter().map(|fed| fed.memory).collect();
    let others = fed(&rows, tx.user.as_str())?.into_iter().filter(|fed| !known.contains(&fed.memory));
    changed.extend(others.map(|fed| Fed { is_wanted: false, ..fed }));
    Ok(())
}

/// Adds memories that changed rows supersede or update, or did so before.
async fn add_replaced(index: &RwLock<UserIndex>, changed: &mut Vec<Fed>, tx: &mut UserTx) -> Result<(), DbError> {
    let mut replaced = looked_at(index, |index| index.replaced_by(changed));
    replaced.extend(changed.iter().flat_map(|fed| fed.replaces.iter().map(|(key, _)| key.clone())));
    let known: HashSet<Key> = changed.iter().filter_map(Fed::key).collect();
    let those: Vec<Uuid> = replaced.difference(&known).map(|(_, memory)| *memory).collect();
    if those.is_empty() {
        return Ok(());
    }
    let sql = fed!("feed.memory = ANY ($2)");
    let rows = tx.fed(sql, |query| query.bind(&those)).await?;
    let others = fed(&rows, tx.user.as_str())?.into_iter();
    changed.extend(others.filter(|fed| fed.key().is_some_and(|key| replaced.contains(&key) && !known.contains(&key))));
    Ok(())
}

/// Reads the memories whose blobs come from another version of the analyzer.
async fn read_stale(rows: &mut [Fed], tx: &mut UserTx) -> Result<(), DbError> {
    let is_stale = |fed: &&Fed| fed.owner.is_some() && !Freshness::of(&fed.blob).is_current();
    let stale: Vec<Uuid> = rows.iter().filter(is_stale).map(|fed| fed.memory).collect();
    let mut memories: HashMap<Key, Box<Known>> = HashMap::new();
    for batch in stale.chunks(BATCH) {
        let found = tx.known(batch).await?;
        memories.extend(found.into_iter().map(|(owner, known)| ((owner, uuid(known.memory.id)), known)));
    }
    for fed in rows {
        fed.again = fed.key().and_then(|key| memories.remove(&key));
    }
    Ok(())
}

impl Fed {
    /// Returns the memory's owner and UUID; `None` if the memory no longer exists.
    pub(super) fn key(&self) -> Option<Key> {
        Some((self.owner.clone()?, self.memory))
    }

    fn analyse_again(&mut self, user: &str) -> Option<Remade> {
        let known = self.again.take()?;
        let remade = Remade::of(&known);
        self.facts.length = remade.composed.length();
        self.blob = remade.composed.forward().to_vec();
        // Data of a newer server stays, and shared memories belong to their owner.
        let is_older = Freshness::of(&known.forward) == Freshness::Older;
        (is_older && self.owner.as_deref() == Some(user)).then_some(remade)
    }

    /// A shared memory can be found by its owner's name.
    fn label(&mut self, user: &str) {
        if let Some(owner) = self.owner.as_deref().filter(|owner| *owner != user)
            && let Ok(mut doc) = ForwardDoc::decode(&self.blob)
        {
            doc.terms.entry(Label::SharedBy(owner).term()).or_default();
            self.blob = doc.encode_into(&self.blob);
        }
    }
}

/// Adds the context of conversation turns. If a conversation turn must be indexed again, so must its neighbours.
fn give_context(all: &mut [Fed]) {
    let mut sessions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, fed) in all.iter().enumerate().filter(|(_, fed)| fed.facts.is_captured) {
        if let Some(session) = &fed.session {
            sessions.entry(session.clone()).or_default().push(at);
        }
    }
    for mut turns in sessions.into_values() {
        turns.sort_by_key(|at| all.get(*at).map(|fed| (fed.facts.created, fed.facts.short_id)));
        let docs: Vec<ForwardDoc> = turns
            .iter()
            .map(|at| all.get(*at).and_then(|fed| ForwardDoc::decode(&fed.blob).ok()).unwrap_or_default())
            .collect();
        let is_wanted: Vec<bool> = turns.iter().map(|at| all.get(*at).is_some_and(|fed| fed.is_wanted)).collect();
        for (number, at) in turns.iter().enumerate() {
            let (before, after) = docs.split_at(number);
            let Some((turn, after)) = after.split_first() else { continue };
            let mut turn = turn.clone();
            context_of(&mut turn, before.iter().rev().take(CONTEXT_REACH), after.iter().take(CONTEXT_REACH));
            if let Some(fed) = all.get_mut(*at) {
                fed.blob = turn.encode_into(&fed.blob);
                let near = is_wanted.iter().skip(number.saturating_sub(CONTEXT_REACH));
                fed.is_wanted = near.take(number.min(CONTEXT_REACH) + 1 + CONTEXT_REACH).any(|is_wanted| *is_wanted);
            }
        }
    }
}

fn fed(rows: &[PgRow], user: &str) -> Result<Vec<Fed>, DbError> {
    rows.iter().map(|row| read(row, user)).collect()
}

fn read(row: &PgRow, user: &str) -> Result<Fed, DbError> {
    let short_id = u32::try_from(row.try_get::<i64, _>("short_id")?).unwrap_or(u32::MAX);
    let seq = u64::try_from(row.try_get::<i64, _>("seq")?).unwrap_or(0);
    let memory: Uuid = row.try_get("memory")?;
    let Some(owner) = row.try_get::<Option<String>, _>("owner")? else {
        let facts = Facts {
            short_id,
            created: Timestamp::from_micros(0),
            last_accessed: None,
            expires: None,
            access_count: 0,
            importance: 0,
            length: 0,
            is_captured: false,
            flags: Flags::default(),
        };
        let (scope, blob, embedding, replaces) = (String::new(), Vec::new(), Vec::new(), Vec::new());
        return Ok(Fed {
            memory,
            facts,
            scope,
            blob,
            embedding,
            session: None,
            replaces,
            seq,
            owner: None,
            again: None,
            is_wanted: true,
        });
    };
    let origin: &str = row.try_get("origin")?;
    let is_edited = row.try_get::<Option<&str>, _>("edited_by")?.is_some();
    let wrong = |error: DomainError| DbError::Row(error.to_string());
    let owner_trust =
        row.try_get::<Option<&str>, _>("owner_trust")?.map(str::parse::<Trust>).transpose().map_err(wrong)?;
    let trust = Trust::earned(owner != user, owner_trust, is_edited, &origin.parse::<Origin>().map_err(wrong)?);
    let number = |name: &str| -> Result<i64, DbError> { Ok(row.try_get::<i64, _>(name)?) };
    let facts = Facts {
        short_id,
        created: Timestamp::from_micros(number("created")?),
        last_accessed: row.try_get::<Option<i64>, _>("used")?.map(Timestamp::from_micros),
        expires: row.try_get::<Option<i64>, _>("expires")?.map(Timestamp::from_micros),
        access_count: u32::try_from(row.try_get::<i32, _>("uses")?).unwrap_or(0),
        importance: u8::try_from(row.try_get::<i16, _>("importance")?).unwrap_or(100),
        length: u16::try_from(row.try_get::<i32, _>("length")?).unwrap_or(u16::MAX),
        is_captured: origin == "conversation",
        flags: Flags::default()
            .with(Flags::INSTRUCTION, row.try_get("is_instruction")?)
            .with(Flags::FOREIGN, trust == Trust::Foreign),
    };
    let links: Vec<String> = row.try_get("links")?;
    let replaces = links.iter().filter_map(|link| Effect::of(link));
    let replaces = replaces.map(|(effect, memory)| ((owner.clone(), memory), effect)).collect();
    let (scope, session) = (row.try_get("scope")?, row.try_get("session")?);
    let (blob, embedding) = (row.try_get("forward")?, row.try_get("embedding")?);
    let owner = Some(owner);
    Ok(Fed { memory, facts, scope, blob, embedding, session, replaces, seq, owner, again: None, is_wanted: true })
}
