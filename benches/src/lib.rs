//! Common code of the benchmarks: one seeded corpus, and the peers to compare with.

mod corpus;
mod peers;
mod server;
mod tessera;

pub use corpus::{Corpus, Note};
pub use peers::{Fts5, Tantivy};
pub use server::Server;
pub use tessera::Filled;

/// Corpus sizes of a run. `TESSERA_BENCH_SIZES` names others, such as `1000,1000000`.
///
/// # Panics
/// Panics if `TESSERA_BENCH_SIZES` contains anything else than numbers.
#[expect(clippy::disallowed_methods, reason = "benchmarks have no configuration of their own")]
pub fn sizes() -> Vec<usize> {
    let Ok(named) = std::env::var("TESSERA_BENCH_SIZES") else { return vec![1_000, 10_000, 100_000] };
    named.split(',').map(|size| size.trim().parse().expect("a number")).collect()
}
