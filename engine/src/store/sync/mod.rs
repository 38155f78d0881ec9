//! The store's side of sync. [`crate::sync`] makes the decisions.

pub(crate) mod anew;
pub(crate) mod arrival;
mod equal;
pub(crate) mod exchange;
mod held_back;
pub(crate) mod marks;
mod meanings;
pub(crate) mod offers;
pub(crate) mod secrets;
pub(crate) mod server;
