//! Files that recall knows: the folders they lie in, what each says as memories, and what they say of one another. The
//! files themselves are read and written by whoever has an ID on their folder; here they are texts with a path.

pub(crate) mod asked;
pub(crate) mod erased;
pub(crate) mod folders;
pub(crate) mod graph;
pub(crate) mod moved;
pub(crate) mod names;
pub(crate) mod paths;
pub(crate) mod said;
pub(crate) mod seen;
pub(crate) mod told;
pub(crate) mod written;
