//! Direct access to embeddings for evaluations: reusing them for unchanged texts, listing them, and searching only by
//! them.

use rusqlite::params;

use super::store::Store;
use crate::domain::ShortId;
use crate::embedding::{Embedding, Encoder};
use crate::index::DocId;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::Ask as _;

impl Store {
    /// Stores embeddings from `known` for rows that have none. Returns the number of rows that received an embedding.
    /// Embeddings from another encoder are ignored.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read or written.
    pub fn take_embeddings(&mut self, known: impl Fn(&str) -> Option<Vec<u8>>) -> Result<usize, StoreError> {
        let taken: Vec<(u32, Vec<u8>)> = self
            .all_waiting()
            .map_err(|error| self.failed(error))?
            .into_iter()
            .filter_map(|(short_id, content)| {
                Some((short_id, known(&content).filter(|bytes| Embedding::is_current(bytes))?))
            })
            .collect();
        self.write(|change| {
            let sql = "UPDATE memories SET embedding = ?2, rev = ?3 WHERE short_id = ?1 AND embedding = x''";
            let mut update = change.tx.prepare_cached(sql)?;
            for (short_id, embedding) in &taken {
                update.execute(params![short_id, embedding, change.next_rev()?])?;
            }
            Ok(())
        })?;
        Ok(taken.len())
    }

    fn all_waiting(&self) -> rusqlite::Result<Vec<(u32, String)>> {
        let sql = "SELECT short_id, content FROM memories WHERE embedding = x'' AND deleted IS NULL AND is_file = 0 ORDER BY rev";
        self.connection.all(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Visits the text and the embedding (see [`Embedding`]; empty if missing) of every live memory, in order of IDs.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn each_embedding(&self, show: impl FnMut(ShortId, &str, &[u8])) -> Result<(), StoreError> {
        self.show_each(show).map_err(|error| self.failed(error))
    }

    fn show_each(&self, mut show: impl FnMut(ShortId, &str, &[u8])) -> rusqlite::Result<()> {
        let sql =
            "SELECT short_id, content, embedding FROM memories WHERE deleted IS NULL AND is_file = 0 ORDER BY short_id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (content, embedding): (String, Vec<u8>) = (row.get(1)?, row.get(2)?);
            show(row.get(0)?, &content, &embedding);
        }
        Ok(())
    }

    /// Returns the memories most similar to a text, with their similarity (above 0, up to 1). The most similar memory
    /// comes first. Of memories with equal similarity, the newer one comes first. This order uses only embeddings: no
    /// words, no threshold and no prior.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn nearest(&mut self, text: &str, most: usize) -> Result<Vec<(ShortId, f64)>, StoreError> {
        self.refresh_index()?;
        let view = self.index.view();
        let similarities = view.similarities(&Encoder::shared().question(text));
        let found = similarities.from(f64::MIN_POSITIVE);
        let docs = found.snapshot.iter().map(|posting| DocId::Snapshot(posting.doc));
        let docs = docs.chain(found.tail.iter().map(|posting| DocId::Tail(posting.doc)));
        let named =
            docs.filter_map(|doc| Some((ShortId::try_from(view.features(doc).short_id).ok()?, similarities.of(doc)?)));
        let mut nearest: Vec<(ShortId, f64)> = named.collect();
        nearest.sort_by(|(a, near_a), (b, near_b)| near_b.total_cmp(near_a).then(b.cmp(a)));
        nearest.truncate(most);
        Ok(nearest)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use crate::store::open::in_memory::InMemory;

    #[test]
    fn vectors_that_were_made_before_are_taken_over_and_others_are_not() {
        let texts = ["The cache lives on birch", "Lunch is at noon"];
        let mut first = InMemory::new();
        texts.iter().for_each(|text| drop(first.said(text)));
        while first.embed_some().unwrap() {}
        let mut known = HashMap::new();
        first.each_embedding(|_, text, embedding| drop(known.insert(text.to_owned(), embedding.to_vec()))).unwrap();
        assert!(known.len() == 2 && known.values().all(|embedding| !embedding.is_empty()));

        let mut second = InMemory::new();
        texts.iter().for_each(|text| drop(second.said(text)));
        assert_eq!(second.take_embeddings(|_| Some(b"\xffnot ours".to_vec())).unwrap(), 0);
        assert_eq!(second.take_embeddings(|text| known.get(text).filter(|_| text != texts[1]).cloned()).unwrap(), 1);
        let mut waiting = Vec::new();
        second
            .each_embedding(|_, text, embedding| waiting.extend(embedding.is_empty().then(|| text.to_owned())))
            .unwrap();
        assert_eq!(waiting, [texts[1]]);
        assert_eq!(second.take_embeddings(|text| known.get(text).cloned()).unwrap(), 1, "those that wait alone");
    }

    #[test]
    fn the_nearest_come_first_wherever_they_are_kept() {
        let mut store = InMemory::new();
        let [lunch, cache] = ["We eat lunch at noon", "The cache server is called birch"].map(|text| store.said(text));
        assert!(store.nearest("when is the midday meal?", 5).unwrap().is_empty(), "they wait");
        while store.embed_some().unwrap() {}
        for _ in 0..2 {
            let nearest = store.nearest("when is the midday meal?", 5).unwrap();
            assert_eq!(nearest.first().map(|(short_id, _)| *short_id), Some(lunch.short_id));
            assert!(nearest.windows(2).all(|pair| pair[0].1 >= pair[1].1) && nearest.len() <= 2);
            let nearest = store.nearest("name of the machine that holds cached data", 1).unwrap();
            assert_eq!(nearest.iter().map(|(short_id, _)| *short_id).collect::<Vec<_>>(), [cache.short_id]);
            store.rebuild_snapshot().unwrap();
        }
    }
}
