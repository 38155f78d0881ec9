//! Common code of the benchmarks: one seeded corpus, and the peers to compare with.

mod corpus;
mod peers;
mod tessera;

pub use corpus::{Corpus, Note};
pub use peers::{Fts5, Tantivy};
pub use tessera::Filled;

/// Corpus sizes of a run. The size of one million is used only if `TESSERA_BENCH_1M` is set.
#[expect(clippy::disallowed_methods, reason = "benchmarks have no configuration of their own")]
pub fn sizes() -> Vec<usize> {
    let mut sizes = vec![1_000, 10_000, 100_000];
    if std::env::var_os("TESSERA_BENCH_1M").is_some() {
        sizes.push(1_000_000);
    }
    sizes
}
