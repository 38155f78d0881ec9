//! The types of the engine. The types do not depend on text analysis, SQL, JSON-RPC or HTTP.

mod budget;
mod candidate;
mod error;
mod expiry;
mod file;
mod id;
mod importance;
mod link;
mod memory;
mod metadata;
mod origin;
mod query;
mod scope;
mod share;
mod slug;
mod time;
mod written_time;

pub use budget::{TokenBudget, TokenCount, TokenProfile};
pub use candidate::{Candidate, CandidateId, Digest, QUOTES};
pub use error::DomainError;
pub use expiry::Expiry;
pub use file::{FilePath, InFile, content_of_file, file_of_content};
pub use id::{MemoryRef, MemoryUuid, ShortId};
pub use importance::Importance;
pub use link::{Link, LinkKind, readable_links};
pub use memory::{Alteration, Content, Draft, MAX_CONTENT_BYTES, MAX_NAME_CHARS, Memory, MemoryType, Patch};
pub(crate) use memory::{MAX_WORDS, check_words};
pub use metadata::{MAX_METADATA_BYTES, Metadata};
pub use origin::{Origin, Trust};
pub use query::{Breadth, Cursor, Filters, MAX_LIMIT, Packing, Purpose, RecallRequest, Sort};
pub use scope::Scope;
pub use share::{Permission, Share};
pub use slug::{Category, MAX_TAGS, Tag};
pub use time::{Clock, FixedClock, SystemClock, Timestamp};
pub use written_time::WrittenTime;
