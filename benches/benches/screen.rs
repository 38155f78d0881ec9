//! Measures the detector of credentials on ordinary notes, notes with a credential, and long and hostile texts.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use tessera_benches::Corpus;
use tessera_engine::screen::findings;

fn screen(c: &mut Criterion) {
    let mut corpus = Corpus::new(5);
    let notes: Vec<String> = corpus.notes(1_000).into_iter().map(|note| note.text).collect();
    let suspected: Vec<String> =
        notes.iter().map(|note| format!("{note}. The staging password is x9!kLm2$Qw, ask Mara.")).collect();
    let mut group = c.benchmark_group("screening");
    for (name, notes) in [("a note without a suspicion", &notes), ("a note with a password", &suspected)] {
        let mut at = 0;
        group.bench_function(name, |b| {
            b.iter_batched(
                || {
                    at = (at + 1) % notes.len();
                    notes.get(at).cloned().unwrap_or_default()
                },
                |note| findings(&note).len(),
                BatchSize::SmallInput,
            );
        });
    }
    group.sample_size(10);
    for (name, piece) in [
        ("1 MB of prose", "The harbour crane is serviced in June by the northern crew. "),
        ("1 MB of a noun", "password "),
        ("1 MB of assignments", "password="),
        ("1 MB of a prefix", "ghp_"),
        ("1 MB of one token", "aB3xQ9"),
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |b| b.iter(|| findings(&text).len()));
    }
    group.finish();
}

criterion_group!(benches, screen);
criterion_main!(benches);
