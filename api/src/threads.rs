//! CPU-bound work on threads that serve no requests: screening texts, and composing rows.

use std::sync::{Arc, LazyLock};

use tokio::sync::Semaphore;

use crate::db::DbError;

/// One task per processor at a time. A waiting request holds neither a connection nor a lock.
static TURNS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(1, std::num::NonZero::get))));

/// Runs `work` on a blocking thread and waits for its result.
///
/// # Errors
/// Returns an error if the work panics.
pub(crate) async fn off_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, DbError> {
    let failed = |error: &dyn std::fmt::Display| DbError::Row(format!("processing a text failed: {error}"));
    let turn = Arc::clone(&TURNS).acquire_owned().await.map_err(|error| failed(&error))?;
    let done = tokio::task::spawn_blocking(move || {
        let done = work();
        // Released even if the client disconnected, because the processor was busy until here.
        drop(turn);
        done
    });
    done.await.map_err(|error| failed(&error))
}
