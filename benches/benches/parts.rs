//! Single parts of the engine: analysis, snapshot, packing.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tessera_benches::{Corpus, Filled, sizes};
use tessera_engine::domain::{Packing, TokenCount};
use tessera_engine::index::Snapshot;
use tessera_engine::pack::{Bounds, Frame, Item, select};
use tessera_engine::score::Weights;
use tessera_engine::text::{O200k, TokenCounter, tokenize};

fn analysis(c: &mut Criterion) {
    let notes = Corpus::new(1).notes(200);
    let bytes: usize = notes.iter().map(|note| note.text.len()).sum();
    let mut group = c.benchmark_group("analysis");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("tokenize 200 notes", |b| {
        b.iter(|| notes.iter().map(|note| tokenize(&note.text).len()).sum::<usize>());
    });
    group.bench_function("count tokens of 200 notes", |b| {
        b.iter(|| notes.iter().map(|note| O200k.count(&note.text)).sum::<u32>());
    });
    group.finish();
}

fn snapshot(c: &mut Criterion) {
    let mut group = c.benchmark_group("snapshot");
    group.sample_size(10);
    for size in sizes() {
        let mut filled = Filled::with(&Corpus::new(1).notes(size));
        let path = filled.home().join("tessera.snapshot");
        let bytes = std::fs::read(path).expect("the snapshot");
        group.bench_function(format!("read and check {size}"), |b| {
            b.iter_batched(
                || bytes.clone(),
                |bytes| black_box(Snapshot::open(bytes).expect("sound").rows()),
                BatchSize::LargeInput,
            );
        });
        if size <= 10_000 {
            group.bench_function(format!("build {size} from rows"), |b| {
                b.iter(|| filled.store.rebuild_snapshot().expect("built"));
            });
        }
    }
    group.finish();
}

struct Plain;
impl Frame for Plain {
    fn envelope(&self) -> u32 {
        30
    }
    fn bare_line(&self) -> Option<u32> {
        Some(2)
    }
}

fn packing(c: &mut Criterion) {
    let item = |n: u32| Item {
        score: 1.0 / f64::from(n + 2),
        detail: 20 + n * 37 % 150,
        index: 25,
        bare: 3,
        is_duplicate: false,
        can_be_cut: false,
    };
    let items: Vec<Item> = (0..200).map(item).collect();
    let weights = Weights::default();
    c.bench_function("pack 200 rows into 1000 tokens", |b| {
        let bounds = Bounds::fair(TokenCount(1000), Packing::Dual, &items, &Plain);
        b.iter(|| select(black_box(&items), bounds, &Plain, &weights, |_, _| None).len());
    });
}

criterion_group!(benches, analysis, snapshot, packing);
criterion_main!(benches);
