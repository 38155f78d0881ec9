//! Vectors of memories, made when nobody waits for an answer.

use std::time::{Duration, Instant};

use tessera_engine::Store;
use tessera_engine::store::StoreError;

/// How long the end of a command waits for the vectors of what it wrote. A short note takes a hundredth of it.
const AFTER_WRITE: Duration = Duration::from_secs(3);
/// How far a thread that works off steps behind everybody else.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

/// Makes the vectors of what was written last. Whoever has time later makes those that are missing then.
pub(crate) fn after_write(store: &mut Store) {
    let started = Instant::now();
    let made = store.embed_newest(|| started.elapsed() < AFTER_WRITE);
    // The caller has their answer: this is none of their trouble.
    drop(made);
}

/// Makes the vectors of all memories that wait for them, the newest first, as long as `go_on`, which is told how many
/// were made and called some times a second, gives `true`. Gives how many were made: none where another process is at
/// it. The calling thread steps behind everybody else, and stays there.
///
/// # Errors
/// When the store cannot be read or written; what was made stays.
pub fn work_off(store: &mut Store, mut go_on: impl FnMut(u64) -> bool) -> Result<u64, StoreError> {
    let Some(_turn) = store.embedding_turn()? else { return Ok(0) };
    step_behind();
    let mut made = 0;
    loop {
        let mut is_stopped = false;
        let some = store.embed_while(|| {
            is_stopped = !go_on(made);
            !is_stopped
        })?;
        made += some;
        if some == 0 || is_stopped || !go_on(made) {
            return Ok(made);
        }
        store.rebuild_if_due()?;
    }
}

/// On Linux threads have priorities of their own; elsewhere a process has one, which answers too.
fn step_behind() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(NICE);
}
