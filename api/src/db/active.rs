//! Whose memories changed: what is done in the background is done for them first.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use super::UserId;

/// Users in the order in which something of theirs changed, each once.
#[derive(Debug, Default)]
pub(crate) struct Active {
    users: Mutex<VecDeque<UserId>>,
    woken: Notify,
}

impl Active {
    /// Notes a user, and wakes whoever waits for one.
    pub(crate) fn note(&self, user: UserId) {
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        if !users.contains(&user) {
            users.push_back(user);
        }
        drop(users);
        self.woken.notify_one();
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
