//! The pipeline: query → terms → matches → scores → page → packed reply.
//!
//! Recall has two steps, so it needs no access to the storage: [`rank`] needs only an index, and [`answer`] needs only
//! the rows of one page. All entry points and all stores use these steps.
//!
//! The files of each group use each other: `search`, `rank`, `scorer` and `paging` are one group, and `answer` and `broad` are
//! the other. `broad` renders the same reply in another layout.

mod allowed;
mod answer;
mod breadth;
mod broad;
mod excerpt;
mod forms;
mod information;
mod lookup;
mod meant;
mod newer;
mod paging;
mod query;
mod rank;
mod relevance;
mod scorer;
mod search;
mod timing;
#[cfg(feature = "sqlite")]
mod unreviewed;
mod weak;

pub use answer::{Form, answer};
pub use lookup::known_words;
#[cfg(feature = "sqlite")]
pub(crate) use meant::is_semantic_query;
pub use meant::semantic_query;
pub use query::{QueryTerm, QueryTerms, Relation};
pub use rank::Ranking;
pub use relevance::{FEATURES, Features};
pub use search::rank;
pub use timing::{TimeKind, TimeOrder, Timing};
#[cfg(feature = "sqlite")]
pub(crate) use unreviewed::matching_lines;
