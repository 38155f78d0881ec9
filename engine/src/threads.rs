//! Work on several threads.

use std::panic::resume_unwind;
use std::thread;

/// The number of processors that this process may use.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The results of `work` for all items, in their order. Each of the threads gets about the same number of items. If a
/// thread cannot be started, the caller's thread does its work.
pub(crate) fn mapped<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let all = |part: &[T]| part.iter().map(&work).collect::<Vec<R>>();
    let mut parts = items.chunks(items.len().div_ceil(threads.max(1)).max(1));
    let Some(own) = parts.next() else { return Vec::new() };
    let all = &all;
    thread::scope(|scope| {
        let started: Vec<_> =
            parts.map(|part| (part, thread::Builder::new().spawn_scoped(scope, move || all(part)).ok())).collect();
        let mut results = all(own);
        for (part, other) in started {
            results.extend(match other {
                Some(other) => other.join().unwrap_or_else(|panic| resume_unwind(panic)),
                None => all(part),
            });
        }
        results
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_items_for_any_number_of_threads() {
        for count in [0, 1, 2, 3, 7, 8] {
            let items: Vec<usize> = (0..count).collect();
            for threads in [0, 1, 2, 3, 20] {
                assert_eq!(
                    mapped(&items, threads, |item| item * 2),
                    items.iter().map(|item| item * 2).collect::<Vec<_>>()
                );
            }
        }
    }
}
