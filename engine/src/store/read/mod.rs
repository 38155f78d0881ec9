//! Reading: recall, session summary, lists, counts, export. No write lock is taken here.

pub(crate) mod anchored;
pub(crate) mod export;
pub(crate) mod list;
pub(crate) mod near;
pub(crate) mod newer;
pub(crate) mod recall;
pub(crate) mod relations;
pub(crate) mod review;
pub(crate) mod secrets;
pub(crate) mod session_summary;
pub(crate) mod stats;
pub(crate) mod unreviewed;
