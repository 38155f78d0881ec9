//! Computes embeddings in the background, or after the answer. Also compares memories with older ones in the background.

use std::time::{Duration, Instant};

use tessera_engine::Store;
use tessera_engine::store::StoreError;
use tessera_engine::threads::processors;

/// The maximum time that a command spends on the embeddings of the memories that it wrote. A short note needs only a
/// hundredth of this time.
const AFTER_WRITE: Duration = Duration::from_secs(3);
/// The niceness of a background thread.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Computes the embeddings of the newest memories. Missing ones are computed later.
pub(crate) fn after_write(store: &mut Store) {
    let started = Instant::now();
    let made = store.embed_newest(|| started.elapsed() < AFTER_WRITE);
    // The caller has the answer, so an error does not matter.
    drop(made);
}

/// How many processors the computation of embeddings uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// All of them: a person waits.
    Fast,
    /// All but one, with low priority: other programs are in use. Only one where a thread has no priority of its own.
    Aside,
}

impl Pace {
    fn threads(self) -> usize {
        match self {
            Self::Fast => processors(),
            Self::Aside if cfg!(target_os = "linux") => (processors() - 1).max(1),
            Self::Aside => 1,
        }
    }
}

/// Computes missing embeddings, newest first, while `go_on` returns true. Then compares the memories that were not
/// compared yet. `go_on` receives the number of finished embeddings. Returns the number of computed embeddings; 0 if
/// another process computes them. Lowers the priority of the calling thread permanently.
///
/// # Errors
/// Returns an error if the store cannot be read or written. Embeddings that are already computed are kept.
pub fn work_off(store: &mut Store, pace: Pace, mut go_on: impl FnMut(u64) -> bool) -> Result<u64, StoreError> {
    let Some(_turn) = store.embedding_turn()? else { return Ok(0) };
    step_behind();
    let mut made = 0;
    loop {
        let mut is_stopped = false;
        let some = store.embed_while(pace.threads(), || {
            is_stopped = !go_on(made);
            !is_stopped
        })?;
        made += some;
        if is_stopped || !go_on(made) || (some == 0 && store.relate_while(|| go_on(made))? == 0) {
            return Ok(made);
        }
        store.rebuild_if_due()?;
    }
}

/// Only Linux has priorities per thread; elsewhere the whole process would slow down.
fn step_behind() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICE);
}
