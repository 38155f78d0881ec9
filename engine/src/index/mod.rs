//! The inverted index: the forward blob of each row, the immutable snapshot of many rows, and the tail of rows changed
//! since. The module is pure: it opens no file, runs no SQL, and does not rank.

mod analysis;
mod context;
mod features;
mod forward;
mod label;
mod passages;
mod postings;
mod sections;
mod similarities;
mod snapshot;
mod tail;
mod view;

pub use analysis::Analysis;
pub use context::{CONTEXT_REACH, context_of};
pub use features::{Facts, Features, Flags};
pub use forward::ForwardDoc;
pub use label::Label;
pub use postings::{FieldTf, Posting};
pub use sections::{BadBlob, CURRENT_HEAD, Freshness};
pub use similarities::Similarities;
pub use snapshot::{HEADER, Identity, Snapshot, SnapshotError};
pub use tail::{IndexRow, Tail};
pub use view::{DocId, IndexView, Mask, TermPostings};
