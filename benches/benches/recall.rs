//! Compares recall in a running process with FTS5 and tantivy: the same notes and questions in one run.

use criterion::{Criterion, criterion_group, criterion_main};
use tessera_benches::{Corpus, Filled, Fts5, Tantivy, sizes};

fn recall(c: &mut Criterion) {
    for size in sizes() {
        let notes = Corpus::new(7).notes(size);
        let queries = Corpus::new(11).queries(200);
        let mut filled = Filled::with(&notes);
        let (fts5, tantivy) = (Fts5::with(&notes), Tantivy::with(&notes));
        let mut group = c.benchmark_group(format!("recall {size}"));
        let mut next = 0;
        let mut query = || {
            next = (next + 1) % queries.len();
            queries.get(next).map_or("", String::as_str)
        };
        group.bench_function("tessera, rank", |b| b.iter(|| filled.rank(query())));
        group.bench_function("tessera, whole reply", |b| b.iter(|| filled.recall(query())));
        group.bench_function("FTS5, top 20", |b| b.iter(|| fts5.search(query())));
        group.bench_function("tantivy, top 20 blended", |b| b.iter(|| tantivy.search(query())));
        group.finish();
    }
}

criterion_group!(benches, recall);
criterion_main!(benches);
