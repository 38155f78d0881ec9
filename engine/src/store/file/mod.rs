//! The files of a home directory: their places, their creation, and their errors. No SQL.

pub(crate) mod error;
pub(crate) mod home;
mod home_more;
pub(crate) mod identity;
pub(crate) mod marker;
mod names;
pub(crate) mod private;
pub(crate) mod replacement;
pub(crate) mod scratch;
pub(crate) mod snapshot;
