//! The texts in the sync state of a memory, for redacting.

use super::{Arrival, SyncState};
#[cfg(feature = "sqlite")]
use crate::domain::Content;
use crate::sync::{Action, State};

impl SyncState {
    /// All stored states of the memory, and the action of the sent change.
    pub(crate) fn parts(&self) -> (Vec<&State>, Option<&Action>) {
        let arrived = match &self.arrived {
            Some(Arrival::Row(row)) => Some(&row.row.state),
            _ => None,
        };
        let base = self.base_version.as_ref().map(|base| &base.row.state);
        let sent = self.sent.as_ref();
        (
            base.into_iter().chain(arrived).chain(sent.map(|sent| &sent.state)).collect(),
            sent.map(|sent| &sent.op.action),
        )
    }

    /// Does the same for changes.
    pub(crate) fn parts_mut(&mut self) -> (Vec<&mut State>, Option<&mut Action>) {
        let arrived = match &mut self.arrived {
            Some(Arrival::Row(row)) => Some(&mut row.row.state),
            _ => None,
        };
        let base = self.base_version.as_mut().map(|base| &mut base.row.state);
        let (sent, action) = self.sent.as_mut().map(|sent| (&mut sent.state, &mut sent.op.action)).unzip();
        (base.into_iter().chain(arrived).chain(sent).collect(), action)
    }

    /// The text of the memory on the server as this machine knows it.
    #[cfg(feature = "sqlite")]
    pub(crate) fn base_content(&mut self) -> Option<&mut Content> {
        match &mut self.base_version.as_mut()?.row.state {
            State::Live(document) | State::Deleted(document) => Some(&mut document.content),
            State::Purged => None,
        }
    }
}
