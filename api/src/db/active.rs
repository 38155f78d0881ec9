//! Whose memories changed: what is done in the background is done for them first.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::UserId;

/// Users in the order in which something of theirs changed, each once.
#[derive(Debug, Default)]
pub(crate) struct Active {
    users: Mutex<VecDeque<UserId>>,
    woken: Notify,
    /// True if nobody works on what is noted.
    is_closed: AtomicBool,
}

impl Active {
    /// Notes a user, and wakes whoever waits for one.
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

    /// Notes nobody any more, because no work is done in the background.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.users.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The one who was noted first.
    pub(crate) fn next(&self) -> Option<UserId> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Waits until somebody is noted.
    pub(crate) async fn some(&self) {
        self.woken.notified().await;
    }
}
