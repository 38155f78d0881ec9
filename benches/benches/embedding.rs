//! Measures semantic search: encoding a question, encoding passages in the background, and scanning all passages.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use tessera_engine::embedding::{DIMENSIONS, Encoder, Passages};

/// Questions of twelve words, like those of hooks. They alternate, because the encoder keeps a part of the last text.
const QUESTIONS: [&str; 2] = [
    "which database does the billing service use for its invoices now?",
    "which database does the mailing service use for its invoices now?",
];
/// About thirty word pieces.
const NOTES: [&str; 2] = [
    "We moved the invoices of the billing service to PostgreSQL 16 in March, because the old cluster ran out of disk \
     every other week.",
    "We moved the invoices of the mailing service to PostgreSQL 16 in April, because the old cluster ran out of disk \
     every other week.",
];

fn encode(criterion: &mut Criterion) {
    let encoder = Encoder::shared();
    let mut group = criterion.benchmark_group("encode");
    let mut questions = QUESTIONS.iter().cycle();
    group.bench_function("question of 12 words", |bencher| {
        bencher.iter(|| encoder.question(black_box(questions.next().unwrap_or(&""))));
    });
    for batch in [1, 16] {
        let mut notes = NOTES.map(|note| vec![note; batch]).into_iter().cycle();
        group.throughput(Throughput::Elements(batch as u64));
        group.bench_function(format!("{batch} notes"), |bencher| {
            bencher.iter(|| encoder.passages(black_box(&notes.next().unwrap_or_default())));
        });
    }
    group.finish();
}

fn scan(criterion: &mut Criterion) {
    let question = Encoder::shared().question(QUESTIONS[0]);
    let mut random = fastrand::Rng::with_seed(1);
    let mut group = criterion.benchmark_group("scan");
    for count in [10_000, 100_000] {
        let values: Vec<u8> = (0..count * DIMENSIONS).map(|_| random.i8(-60..=60).cast_unsigned()).collect();
        let squares =
            |values: &[u8]| values.iter().map(|v| u32::from(v.cast_signed().unsigned_abs()).pow(2)).sum::<u32>();
        let squares: Vec<u8> = values.chunks(DIMENSIONS).flat_map(|values| squares(values).to_le_bytes()).collect();
        let passages = Passages { values: &values, squares: &squares };
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(format!("{count} passages"), |bencher| {
            bencher.iter(|| question.similarities_to_all(passages));
        });
    }
    group.finish();
}

criterion_group!(benches, encode, scan);
criterion_main!(benches);
