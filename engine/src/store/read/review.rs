//! Memories that the user should look at: pairs that may contradict or repeat each other, and memories that were never
//! used.

use rusqlite::{Row, params};

use super::near::{Near, SimilarityKind};
use crate::domain::{Memory, MemoryRef, ShortId};
use crate::relation::is_compared;
use crate::store::base::store::Store;
use crate::store::file::error::StoreError;
use crate::store::logs::candidates::Declined;
use crate::store::rows::codec::Ask as _;

/// Maximum number of memories that are compared with all others, newest first.
const MOST_COMPARED: u32 = 200;
/// A memory counts as never used after this number of days without a use.
const DAYS_UNUSED: i64 = 180;
/// Maximum number of memories in each part of the queue.
const MOST: usize = 20;

/// A pair of memories that the user should look at.
#[derive(Debug, Clone, PartialEq)]
pub struct DoubtfulPair {
    /// The newer memory.
    pub newer: Memory,
    /// The older memory.
    pub older: Memory,
    /// Their relation.
    pub kind: PairKind,
}

/// The relation of a pair of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairKind {
    /// Both say the same.
    Same,
    /// The newer one may contradict the older one.
    MayContradict,
}

impl Store {
    /// Pairs of memories of which one may update or repeat the other, newest first, without pairs that the user
    /// decided to keep, at most 20. Compares the newest 200 memories with all others.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn doubtful_pairs(&mut self) -> Result<Vec<DoubtfulPair>, StoreError> {
        let sql = "SELECT short_id, embedding FROM memories WHERE deleted IS NULL AND is_file = 0 AND embedding <> x''
                   AND (expires IS NULL OR expires > ?1) AND superseded_by IS NULL
                   ORDER BY created DESC, short_id DESC LIMIT ?2";
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let newest: Vec<(ShortId, Vec<u8>)> =
            self.connection.all(sql, params![self.now(), MOST_COMPARED], row).map_err(|error| self.failed(error))?;
        let mut pairs: Vec<DoubtfulPair> = Vec::new();
        for (short_id, embedding) in newest {
            let found = self.get(MemoryRef::ShortId(short_id))?.filter(is_compared);
            let Some(memory) = found else { continue };
            self.know_embedding(&memory.content, &embedding);
            for pair in self.pairs_of(&memory)? {
                let is_known =
                    pairs.iter().any(|known| known.newer.id == pair.newer.id && known.older.id == pair.older.id);
                if !is_known {
                    pairs.push(pair);
                }
            }
            if pairs.len() >= MOST {
                break;
            }
        }
        pairs.truncate(MOST);
        Ok(pairs)
    }

    /// The pair of two memories. `None` if neither updates or repeats the other, or the user decided to keep both.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn doubtful_pair(&mut self, newer: ShortId, older: ShortId) -> Result<Option<DoubtfulPair>, StoreError> {
        // Only the nearest memories of a memory are compared, so the pair may be found from one side only.
        for side in [newer, older] {
            let Some(memory) = self.get(MemoryRef::ShortId(side))?.filter(is_compared) else { return Ok(None) };
            let is_wanted = |pair: &DoubtfulPair| pair.newer.short_id == newer && pair.older.short_id == older;
            if let Some(pair) = self.pairs_of(&memory)?.into_iter().find(is_wanted) {
                return Ok(Some(pair));
            }
        }
        Ok(None)
    }

    fn pairs_of(&mut self, memory: &Memory) -> Result<Vec<DoubtfulPair>, StoreError> {
        let mut pairs = Vec::new();
        for near in self.near(memory)? {
            let Some(pair) = self.doubtful(memory, &near)? else { continue };
            if !self.is_declined(Declined::Pair(pair.newer.id, pair.older.id))? {
                pairs.push(pair);
            }
        }
        Ok(pairs)
    }

    fn doubtful(&self, memory: &Memory, near: &Near) -> Result<Option<DoubtfulPair>, StoreError> {
        let kind = match near.likeness {
            SimilarityKind::Same => PairKind::Same,
            SimilarityKind::MayUpdate => PairKind::MayContradict,
            SimilarityKind::Supersedes | SimilarityKind::Updates | SimilarityKind::Other => return Ok(None),
        };
        let Some(other) = self.get(MemoryRef::ShortId(near.short_id))? else { return Ok(None) };
        let is_newer = (memory.created, memory.short_id) > (other.created, other.short_id);
        let (newer, older) = if is_newer { (memory.clone(), other) } else { (other, memory.clone()) };
        Ok(Some(DoubtfulPair { newer, older, kind }))
    }

    /// The user's own memories that were never returned in full and did not change for 180 days, oldest first, at most
    /// 20. Instructions are left out, because sessions receive them without a question. Memories that the user decided
    /// to keep are left out too.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn never_used(&self) -> Result<Vec<Memory>, StoreError> {
        let sql = "SELECT short_id FROM memories
                   WHERE deleted IS NULL AND is_file = 0 AND file IS NULL AND shared_by IS NULL AND conflict_of IS NULL
                   AND access_count = 0 AND is_instruction = 0 AND origin <> 'conversation' AND superseded_by IS NULL
                   AND created < ?1 AND updated < ?1 AND (expires IS NULL OR expires > ?2)
                   ORDER BY created, short_id";
        let with = params![self.now().plus_days(-DAYS_UNUSED), self.now()];
        let short_ids: Vec<ShortId> =
            self.connection.all(sql, with, |row| row.get(0)).map_err(|error| self.failed(error))?;
        let mut unused = Vec::new();
        for short_id in short_ids {
            let Some(memory) = self.get(MemoryRef::ShortId(short_id))? else { continue };
            if !self.is_declined(Declined::Unused(memory.id))? {
                unused.push(memory);
            }
            if unused.len() == MOST {
                break;
            }
        }
        Ok(unused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Draft, Origin};
    use crate::store::open::in_memory::InMemory;

    fn pairs(store: &mut InMemory) -> Vec<(u32, u32, PairKind)> {
        let pairs = store.doubtful_pairs().unwrap().into_iter();
        pairs.map(|pair| (pair.newer.short_id.get(), pair.older.short_id.get(), pair.kind)).collect()
    }

    #[test]
    fn a_pair_that_says_the_same_is_listed_until_the_user_decides() {
        let mut store = InMemory::new();
        for text in ["The cache lives on birch", "Deploys happen on Fridays", "the cache lives on Birch!"] {
            store.said(text);
        }
        while store.embed_some().unwrap() {}
        assert_eq!(pairs(&mut store), [(3, 1, PairKind::Same)]);
        let [newer, older] = [3, 1].map(|id| ShortId::try_from(id).unwrap());
        let pair = store.doubtful_pair(newer, older).unwrap().unwrap();
        assert_eq!(store.doubtful_pair(older, newer).unwrap(), None, "the newer memory comes first");
        store.decline(Declined::Pair(pair.newer.id, pair.older.id)).unwrap();
        assert_eq!(pairs(&mut store), []);
        assert_eq!(store.doubtful_pair(newer, older).unwrap(), None);
    }

    #[test]
    fn only_own_old_memories_without_a_use_count_as_never_used() {
        let mut store = InMemory::new();
        let unused = store.said("The printer needs blue paper");
        store.said("Always run the linter before a commit");
        let used = store.said("The cache lives on birch");
        store.remember(Draft { origin: Origin::Conversation, ..Draft::new("Hello there, how are you?") }).unwrap();
        store.pass_days(DAYS_UNUSED);
        assert_eq!(store.never_used().unwrap(), [], "180 days must have passed");
        store.note_uses([(used.short_id, store.now())]);
        store.fold_accesses().unwrap();
        store.pass_days(1);
        let found: Vec<ShortId> = store.never_used().unwrap().iter().map(|memory| memory.short_id).collect();
        assert_eq!(found, [unused.short_id]);
        store.decline(Declined::Unused(unused.id)).unwrap();
        assert_eq!(store.never_used().unwrap(), []);
    }
}
