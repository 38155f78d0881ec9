//! Indexed files: their folders, the memories of their parts, and their relations. Other modules
//! read and write the files themselves; here, a file is a text with a path.

pub(crate) mod asked;
pub(crate) mod erased;
mod exported;
pub(crate) mod folders;
pub(crate) mod graph;
pub(crate) mod moved;
pub(crate) mod names;
pub(crate) mod paths;
pub(crate) mod said;
pub(crate) mod seen;
pub(crate) mod told;
pub(crate) mod written;
