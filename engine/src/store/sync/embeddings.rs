//! Embeddings are sent with changes, so that a machine need not compute what the server has. A machine trusts its
//! server, because all texts come from there too.

use rusqlite::params;

use crate::domain::MemoryUuid;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};
use crate::sync::{Arrival, Op, SentEmbedding, SentOp};

impl Store {
    /// Returns changes. If the store has embeddings for their texts, they are included. An embedding is sent only for a
    /// text that the change contains, so nothing about local memories is sent.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn with_embeddings(&self, ops: Vec<Op>) -> Result<Vec<SentOp>, StoreError> {
        let sent = ops.into_iter().map(|op| Ok(SentOp { embedding: self.embedding_beside(&op)?, op }));
        sent.collect::<rusqlite::Result<_>>().map_err(|error| self.failed(error))
    }

    /// The memory may have changed after the change was prepared, so the two texts may differ.
    fn embedding_beside(&self, op: &Op) -> rusqlite::Result<Option<SentEmbedding>> {
        let Some(text) = op.action.text() else { return Ok(None) };
        let sql = "SELECT embedding FROM memories WHERE id = ?1 AND content = ?2 AND deleted IS NULL";
        let wanted = params![op.memory, text.as_str()];
        let known: Option<Vec<u8>> = self.connection.maybe(sql, wanted, |row| row.get(0))?;
        Ok(known.and_then(|known| SentEmbedding::of(&known)))
    }
}

/// Stores the server's embedding of a text, if the memory still has that text. Storing an embedding is not a change of
/// the memory: it is neither recorded nor synced.
pub(super) fn believe(
    change: &Change<'_>,
    id: MemoryUuid,
    arrival: &Arrival,
    sent: Option<&SentEmbedding>,
) -> Result<(), StoreError> {
    let (Arrival::Row(base_version), Some(sent)) = (arrival, sent) else { return Ok(()) };
    let Some(document) = base_version.row.state.live() else { return Ok(()) };
    let text = document.content.as_str();
    let Some(embedding) = sent.embedding_of(text) else { return Ok(()) };
    let embedding = embedding.into_bytes();
    let sql = "SELECT short_id FROM memories WHERE id = ?1 AND content = ?2 AND deleted IS NULL AND embedding <> ?3";
    let wanted = params![id, text, embedding];
    let found: Option<u32> = change.tx.maybe(sql, wanted, |row| row.get(0))?;
    if let Some(short_id) = found {
        let sql = "UPDATE memories SET embedding = ?2, rev = ?3 WHERE short_id = ?1";
        change.tx.run(sql, params![short_id, embedding, change.next_rev()?])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::Patch;
    use crate::embedding::{Embedding, Encoder};
    use crate::store::base::config::Actor;
    use crate::store::open::in_memory::{InMemory, base_version, by_bob, named};
    use crate::store::sync::anew::Whole;
    use crate::store::sync::server::Upload;
    use crate::sync::{Answer, BaseVersion, News, Page, Pushed};

    fn joined(upload: Upload) -> InMemory {
        let mut store = InMemory::new();
        store.said("The spare key hangs behind the tide table");
        store.join("https://t.example", "ada", upload).unwrap();
        store.begin_anew(&whole(&[], BTreeMap::new())).unwrap();
        store
    }

    fn whole(rows: &[&BaseVersion], embeddings: BTreeMap<MemoryUuid, SentEmbedding>) -> Whole {
        let rows = rows.iter().map(|row| (*row).clone()).collect();
        Whole { epoch: 1, restored_seq: 0, checkpoint: None, head: 0, rows, embeddings }
    }

    fn sent(text: &str) -> SentEmbedding {
        SentEmbedding::of(&Embedding::of(&Encoder::shared().passages(&[text])).into_bytes()).unwrap()
    }

    fn held(store: &InMemory, id: MemoryUuid) -> Vec<u8> {
        let sql = "SELECT embedding FROM memories WHERE id = ?1";
        store.connection.query_row(sql, [id], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_a_text_means_is_sent_beside_its_op_and_never_makes_one() {
        let mut store = joined(Upload::All);
        let ops = store.ops(9).unwrap();
        assert_eq!(store.with_embeddings(ops.clone()).unwrap()[0].embedding, None, "it waits");
        while store.embed_some().unwrap() {}
        let again = store.ops(9).unwrap();
        assert_eq!(again, ops, "the op is what it was");
        let known = store.with_embeddings(again).unwrap().remove(0);
        assert_eq!(known.embedding, Some(sent("The spare key hangs behind the tide table")));
        // A text changed since is not the text of the change.
        let memory = store.get(crate::MemoryRef::Id(known.op.memory)).unwrap().unwrap();
        let patch = Patch { content: Some("The spare key is gone".into()), ..Patch::default() };
        store.update(named(&memory), &patch, &Actor::default()).unwrap();
        while store.embed_some().unwrap() {}
        let frozen = store.ops(9).unwrap();
        assert_eq!(store.with_embeddings(frozen).unwrap()[0].embedding, None);
    }

    #[test]
    fn a_vector_alone_is_no_change() {
        let mut store = joined(Upload::All);
        let op = store.ops(9).unwrap().remove(0);
        let crate::sync::Action::Create(document) = &op.action else { panic!("it is new") };
        let mut row = base_version("x", 1, None);
        (row.row.memory, row.row.state) = (op.memory, crate::sync::State::Live(document.clone()));
        let answer = Answer { op_id: op.op_id, memory: op.memory, refused: None, row: Some(row), copy: None };
        store.answered(1, &Pushed { answers: vec![answer], checkpoint: None }).unwrap();
        assert!(store.ops(9).unwrap().is_empty());
        while store.embed_some().unwrap() {}
        assert!(!held(&store, op.memory).is_empty());
        assert_eq!((store.ops(9).unwrap(), store.sync_status().unwrap().waiting), (Vec::new(), 0));
        assert_eq!(store.one::<u32>("SELECT count(*) FROM outbox"), 0);
    }

    #[test]
    fn what_stays_here_is_told_in_no_way() {
        let mut store = joined(Upload::Nothing);
        while store.embed_some().unwrap() {}
        let ops = store.ops(9).unwrap();
        assert!(store.with_embeddings(ops).unwrap().is_empty());
    }

    #[test]
    fn what_the_server_knows_is_taken_for_the_very_text_alone() {
        let mut store = joined(Upload::Nothing);
        let (mine, theirs) = (
            base_version("Deploy on Monday", 1, None),
            base_version("New", 2, Some(by_bob(crate::domain::Permission::Read))),
        );
        let ids = [mine.row.memory, theirs.row.memory];
        let embeddings = BTreeMap::from([(ids[0], sent("Deploy on Monday")), (ids[1], sent("New"))]);
        store.begin_anew(&whole(&[&mine, &theirs], embeddings)).unwrap();
        assert_eq!(ids.map(|id| held(&store, id).is_empty()), [false, false]);
        let rev = store.one::<u64>("SELECT max(rev) FROM memories");
        // The same embedding writes nothing, another one is stored, and one of another text is ignored.
        let news = |seq: u64, embedding: SentEmbedding| Page {
            news: vec![News { memory: ids[0], arrival: Arrival::Row(Box::new(BaseVersion { seq, ..mine.clone() })) }],
            next: seq,
            more: false,
            checkpoint: None,
            invitations: None,
            embeddings: BTreeMap::from([(ids[0], embedding)]),
            keeps_secrets: false,
        };
        store.arrived(1, 0, &news(3, sent("Deploy on Monday"))).unwrap();
        assert_eq!(store.one::<u64>("SELECT max(rev) FROM memories"), rev);
        store.arrived(1, 3, &news(4, sent("Deploy on Sunday"))).unwrap();
        assert_eq!(SentEmbedding::of(&held(&store, ids[0])), Some(sent("Deploy on Sunday")));
        let memory = store.get(crate::MemoryRef::Id(ids[0])).unwrap().unwrap();
        let patch = Patch { content: Some("Deploy on Friday".into()), ..Patch::default() };
        store.update(named(&memory), &patch, &Actor::default()).unwrap();
        store.arrived(1, 4, &news(5, sent("Deploy on Monday"))).unwrap();
        assert!(held(&store, ids[0]).is_empty(), "the text is another one here");
    }
}
