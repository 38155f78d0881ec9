//! Measures one durable insert, and compares it with a bare commit of the same text and with an FTS5 row.

use criterion::{Criterion, criterion_group, criterion_main};
use tessera_benches::{Corpus, Filled, Fts5};
use tessera_engine::domain::Draft;
use tessera_engine::screen::Screened;

fn insert(c: &mut Criterion) {
    let mut corpus = Corpus::new(3);
    let notes = corpus.notes(10_000);
    let mut filled = Filled::with(&notes);
    let fts5 = Fts5::with(&notes);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let bare = rusqlite::Connection::open(dir.path().join("bare.db")).expect("a database");
    let schema =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)";
    bare.execute_batch(schema).expect("a schema");
    let mut group = c.benchmark_group("durable insert at 10000");
    group.bench_function("tessera", |b| {
        b.iter(|| filled.store.remember(Draft::new(corpus.note().text)).expect("stored").tokens);
    });
    group.bench_function("bare SQLite commit", |b| {
        b.iter(|| bare.execute("INSERT INTO notes (body) VALUES (?1)", [corpus.note().text]).expect("stored"));
    });
    group.bench_function("FTS5 row", |b| b.iter(|| fts5.insert(&corpus.note().text)));
    // The part of an insert to compare: the ratio with and without screening.
    group.bench_function("screening of the same draft", |b| {
        b.iter(|| Screened::clean(Draft::new(corpus.note().text)).is_some());
    });
    group.bench_function("a note, made", |b| b.iter(|| corpus.note().text.len()));
    group.finish();
}

criterion_group!(benches, insert);
criterion_main!(benches);
