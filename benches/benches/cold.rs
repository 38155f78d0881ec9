//! Measures commands of `tessera` from their start to their end, next to `/bin/true` and a program that only opens
//! SQLite.

use std::path::Path;
use std::process::{Command, Stdio};

use criterion::{Criterion, criterion_group, criterion_main};
use tessera_benches::{Corpus, Filled, sizes};

fn run(command: &mut Command) {
    assert!(command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("a process").success());
}

fn cold(c: &mut Criterion) {
    let here = std::env::current_exe().expect("a path");
    let dir = here.parent().and_then(Path::parent).expect("the target directory");
    let (tessera, open) = (dir.join("tessera"), dir.join("open_sqlite"));
    assert!(tessera.exists() && open.exists(), "run `cargo build --release --workspace` first");
    for size in sizes() {
        let filled = Filled::with(&Corpus::new(7).notes(size));
        let queries = Corpus::new(11).queries(50);
        let mut group = c.benchmark_group(format!("cold {size}"));
        group.sample_size(50);
        let mut next = 0;
        let mut query = || {
            next = (next + 1) % queries.len();
            queries.get(next).cloned().unwrap_or_default()
        };
        group.bench_function("tessera recall", |b| {
            b.iter(|| run(Command::new(&tessera).env("TESSERA_HOME", filled.home()).args(["recall", &query()])));
        });
        for command in [&["list"][..], &["get", "1"], &["stats"]] {
            group.bench_function(format!("tessera {}", command.join(" ")), |b| {
                b.iter(|| run(Command::new(&tessera).env("TESSERA_HOME", filled.home()).args(command)));
            });
        }
        group.bench_function("open SQLite alone", |b| {
            b.iter(|| run(Command::new(&open).arg(filled.home().join("tessera.db"))));
        });
        group.bench_function("/bin/true", |b| b.iter(|| run(&mut Command::new("/bin/true"))));
        group.finish();
    }
}

criterion_group!(benches, cold);
criterion_main!(benches);
