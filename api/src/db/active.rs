//! Users with recent changes: background work handles them first.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::UserId;

/// Users in the order of their changes, each once.
#[derive(Debug, Default)]
pub(crate) struct Active {
    users: Mutex<VecDeque<UserId>>,
    woken: Notify,
    /// True if no background work reads the queue.
    is_closed: AtomicBool,
}

impl Active {
    /// Adds a user, and wakes a waiting task.
    pub(crate) fn note(&self, user: UserId) {
        if self.is_closed.load(Ordering::Relaxed) {
            return;
        }
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if !users.contains(&user) {
            users.push_back(user);
        }
        drop(users);
        self.woken.notify_one();
    }

    /// Stops adding users, because there is no background work.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.users.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The one who was noted first.
    pub(crate) fn next(&self) -> Option<UserId> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Waits until a user was added.
    pub(crate) async fn some(&self) {
        self.woken.notified().await;
    }
}
