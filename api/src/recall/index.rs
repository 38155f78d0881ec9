//! One user's index: a snapshot in memory, and the rows that changed since, as on a machine.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use tessera_engine::Timestamp;
use tessera_engine::domain::RecallRequest;
use tessera_engine::index::{
    CONTEXT_REACH, Facts, Features, Flags, ForwardDoc, Identity, IndexRow, IndexView, Label, Mask, Snapshot, Tail,
    context_of,
};
use tessera_engine::recall::{Ranking, rank};
use tessera_engine::score::Weights;
use uuid::Uuid;

use crate::db::{DbError, UserTx};

/// Changed rows beyond which a rebuild pays: the larger of this and a twentieth of the snapshot.
const REBUILD_AT_ROWS: usize = 1000;

/// What a user may recall, as of a point of their feed.
pub(super) struct UserIndex {
    epoch: u64,
    cursor: u64,
    is_loaded: bool,
    snapshot: Option<Snapshot<Vec<u8>>>,
    tail: Tail,
    tail_bytes: usize,
    mask: Mask,
    /// Handles of turns of conversations: a change among them changes what is around others.
    captured: HashSet<u32>,
    /// Which memories each replaces, for those that replace any.
    replaced: HashMap<u32, Vec<Uuid>>,
}

impl Default for UserIndex {
    fn default() -> Self {
        Self {
            epoch: 0,
            cursor: 0,
            is_loaded: false,
            snapshot: None,
            tail: Tail::inverted(),
            tail_bytes: 0,
            mask: Mask::default(),
            captured: HashSet::new(),
            replaced: HashMap::new(),
        }
    }
}

/// A row of the feed with what the index needs of its memory.
struct Fed {
    memory: Uuid,
    facts: Facts,
    scope: String,
    blob: Vec<u8>,
    session: Option<String>,
    replaces: Vec<Uuid>,
    seq: u64,
}

macro_rules! fed {
    ($which:literal) => {
        concat!("SELECT feed.memory, feed.seq, feed.handle, feed.uses, feed.used, m.owner, m.created, \
         m.expires, m.importance, m.length, m.standing, m.scope, m.forward, m.origin, m.session, m.links \
         FROM feed LEFT JOIN memories m ON m.owner = feed.owner AND m.id = feed.memory AND m.state = 'live' WHERE feed.user_id = $1 AND ",
        $which, " ORDER BY feed.handle")
    };
}

impl UserIndex {
    /// Bytes that it holds, about.
    pub(super) fn bytes(&self) -> usize {
        let small = self.captured.len() * 8 + self.replaced.len() * 64;
        self.snapshot.as_ref().map_or(0, Snapshot::size) + self.tail_bytes + small
    }

    pub(super) fn rank(&self, request: &RecallRequest, now: Timestamp, weights: &Weights) -> Ranking {
        rank(&IndexView::new(self.snapshot.as_ref(), &self.tail, &self.mask), request, now, weights)
    }

    /// Takes in what changed since the last look.
    pub(super) async fn refresh(&mut self, tx: &mut UserTx) -> Result<(), DbError> {
        let (epoch, head) = tx.position().await?;
        if !self.is_loaded || epoch != self.epoch || head < self.cursor {
            return self.load(tx, epoch, head).await;
        }
        if head == self.cursor {
            return Ok(());
        }
        let sql = fed!("feed.seq > $2");
        let cursor = i64::try_from(self.cursor).unwrap_or(i64::MAX);
        let rows = sqlx::query(sql).bind(tx.user.as_str()).bind(cursor).fetch_all(&mut *tx.tx).await?;
        let changed = rows.iter().map(|row| read(row, tx.user.as_str())).collect::<Result<Vec<_>, _>>()?;
        let is_conversation = |fed: &Fed| fed.facts.is_captured || self.captured.contains(&fed.facts.handle);
        let rebuilds = self.tail.pushed() + changed.len()
            > REBUILD_AT_ROWS.max(self.snapshot.as_ref().map_or(0, |snapshot| snapshot.rows() as usize / 20));
        if rebuilds || changed.iter().any(is_conversation) {
            return self.load(tx, epoch, head).await;
        }
        // The statement may have seen later changes than the head: the next look sees them once more.
        self.cursor = changed.iter().map(|fed| fed.seq).max().unwrap_or(head);
        self.push(tx, changed).await
    }

    /// Takes rows again of which the user's use changed.
    pub(super) async fn take_again(&mut self, tx: &mut UserTx, handles: &[i64]) -> Result<(), DbError> {
        if !self.is_loaded {
            return Ok(());
        }
        let sql = fed!("feed.handle = ANY ($2)");
        let rows = sqlx::query(sql).bind(tx.user.as_str()).bind(handles).fetch_all(&mut *tx.tx).await?;
        let changed = rows.iter().map(|row| read(row, tx.user.as_str())).collect::<Result<Vec<_>, _>>()?;
        // What is around a turn is in the index alone: it has its use counted when the index is built again.
        self.push(tx, changed.into_iter().filter(|fed| !fed.facts.is_captured).collect()).await
    }

    async fn push(&mut self, tx: &mut UserTx, mut changed: Vec<Fed>) -> Result<(), DbError> {
        let mut replaced: HashSet<Uuid> = HashSet::new();
        for fed in &changed {
            replaced.extend(self.replaced.remove(&fed.facts.handle).unwrap_or_default());
            replaced.extend(&fed.replaces);
            if !fed.replaces.is_empty() {
                self.replaced.insert(fed.facts.handle, fed.replaces.clone());
            }
        }
        replaced.retain(|memory| changed.iter().all(|fed| fed.memory != *memory));
        if !replaced.is_empty() {
            let sql = fed!("feed.memory = ANY ($2)");
            let those: Vec<Uuid> = replaced.into_iter().collect();
            let rows = sqlx::query(sql).bind(tx.user.as_str()).bind(those).fetch_all(&mut *tx.tx).await?;
            for row in &rows {
                changed.push(read(row, tx.user.as_str())?);
            }
        }
        let successors = successors(&self.replaced);
        for fed in changed {
            let row = fed.row(&successors);
            self.tail_bytes += 3 * row.blob.len() + row.scope.len() + 64;
            self.tail.push(row);
        }
        self.mask = Mask::of(self.snapshot.as_ref(), &self.tail);
        Ok(())
    }

    async fn load(&mut self, tx: &mut UserTx, epoch: u64, head: u64) -> Result<(), DbError> {
        let sql = fed!("m.id IS NOT NULL");
        let rows = sqlx::query(sql).bind(tx.user.as_str()).fetch_all(&mut *tx.tx).await?;
        let mut all = rows.iter().map(|row| read(row, tx.user.as_str())).collect::<Result<Vec<_>, _>>()?;
        give_context(&mut all);
        let mut fresh = Self { epoch, cursor: head, is_loaded: true, ..Self::default() };
        for fed in &all {
            if fed.facts.is_captured {
                fresh.captured.insert(fed.facts.handle);
            }
            if !fed.replaces.is_empty() {
                fresh.replaced.insert(fed.facts.handle, fed.replaces.clone());
            }
        }
        let successors = successors(&fresh.replaced);
        let index_rows: Vec<IndexRow> = all.into_iter().map(|fed| fed.row(&successors)).collect();
        let identity = Identity { store: [0; 16], rev: head, stamp: [0; 16] };
        let bytes = Snapshot::build(identity, &index_rows);
        fresh.snapshot = Snapshot::open(bytes).ok();
        fresh.mask = Mask::of(fresh.snapshot.as_ref(), &fresh.tail);
        *self = fresh;
        metrics::counter!("tessera_index_builds_total").increment(1);
        Ok(())
    }
}

impl Fed {
    fn row(self, successors: &HashMap<Uuid, u32>) -> IndexRow {
        let successor = successors.get(&self.memory).copied().filter(|handle| *handle != self.facts.handle);
        let flags = self.facts.flags.with(Flags::SUPERSEDED, successor.is_some());
        let facts = Facts { flags, ..self.facts };
        IndexRow { features: Features::of(&facts), scope: self.scope, successor, blob: self.blob }
    }
}

/// Who replaces whom: of several, the latest.
fn successors(replaced: &HashMap<u32, Vec<Uuid>>) -> HashMap<Uuid, u32> {
    let mut successors: HashMap<Uuid, u32> = HashMap::new();
    for (handle, memories) in replaced {
        for memory in memories {
            let known = successors.entry(*memory).or_insert(*handle);
            *known = (*known).max(*handle);
        }
    }
    successors
}

/// Turns of one conversation are part of what those around them are about.
fn give_context(all: &mut [Fed]) {
    let mut sessions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, fed) in all.iter().enumerate().filter(|(_, fed)| fed.facts.is_captured) {
        if let Some(session) = &fed.session {
            sessions.entry(session.clone()).or_default().push(at);
        }
    }
    for mut turns in sessions.into_values() {
        turns.sort_by_key(|at| all.get(*at).map(|fed| (fed.facts.created, fed.facts.handle)));
        let docs: Vec<ForwardDoc> = turns
            .iter()
            .map(|at| all.get(*at).and_then(|fed| ForwardDoc::decode(&fed.blob).ok()).unwrap_or_default())
            .collect();
        for (number, at) in turns.iter().enumerate() {
            let (before, after) = docs.split_at(number);
            let Some((turn, after)) = after.split_first() else { continue };
            let mut turn = turn.clone();
            context_of(&mut turn, before.iter().rev().take(CONTEXT_REACH), after.iter().take(CONTEXT_REACH));
            if let Some(fed) = all.get_mut(*at) {
                fed.blob = turn.encode();
            }
        }
    }
}

fn read(row: &PgRow, user: &str) -> Result<Fed, DbError> {
    let handle = u32::try_from(row.try_get::<i64, _>("handle")?).unwrap_or(u32::MAX);
    let seq = u64::try_from(row.try_get::<i64, _>("seq")?).unwrap_or(0);
    let memory: Uuid = row.try_get("memory")?;
    let Some(owner) = row.try_get::<Option<&str>, _>("owner")? else {
        let facts = Facts {
            handle,
            created: Timestamp::from_micros(0),
            last_accessed: None,
            expires: None,
            access_count: 0,
            importance: 0,
            length: 0,
            is_captured: false,
            flags: Flags::default(),
        };
        let (scope, blob, replaces) = (String::new(), Vec::new(), Vec::new());
        return Ok(Fed { memory, facts, scope, blob, session: None, replaces, seq });
    };
    let origin: &str = row.try_get("origin")?;
    let mut blob: Vec<u8> = row.try_get("forward")?;
    if owner != user
        && let Ok(mut doc) = ForwardDoc::decode(&blob)
    {
        doc.terms.entry(Label::SharedBy(owner).term()).or_default();
        blob = doc.encode();
    }
    let is_foreign = owner != user || origin == "import" || origin.starts_with("shared:");
    let number = |name: &str| -> Result<i64, DbError> { Ok(row.try_get::<i64, _>(name)?) };
    let facts = Facts {
        handle,
        created: Timestamp::from_micros(number("created")?),
        last_accessed: row.try_get::<Option<i64>, _>("used")?.map(Timestamp::from_micros),
        expires: row.try_get::<Option<i64>, _>("expires")?.map(Timestamp::from_micros),
        access_count: u32::try_from(row.try_get::<i32, _>("uses")?).unwrap_or(0),
        importance: u8::try_from(row.try_get::<i16, _>("importance")?).unwrap_or(100),
        length: u16::try_from(row.try_get::<i32, _>("length")?).unwrap_or(u16::MAX),
        is_captured: origin == "conversation",
        flags: Flags::default().with(Flags::STANDING, row.try_get("standing")?).with(Flags::FOREIGN, is_foreign),
    };
    let links: Vec<String> = row.try_get("links")?;
    let replaces = links.iter().filter_map(|link| link.strip_prefix("supersedes:")?.parse().ok()).collect();
    Ok(Fed { memory, facts, scope: row.try_get("scope")?, blob, session: row.try_get("session")?, replaces, seq })
}
