//! The one pipeline: query → terms → matches → scores → page → packed reply.
//!
//! Two steps, so that storage stays outside: [`rank`] needs only an index, [`answer`] only the rows
//! of one page. The same two steps serve every face, and every store.
//!
//! Two groups of files use each other: `rank` with `scorer` and `paging`, which work on the matches that it collects; `answer`
//! with `broad`, a second layout within the same frame.

mod allowed;
mod answer;
mod breadth;
mod broad;
mod excerpt;
mod information;
mod lookup;
mod meant;
mod paging;
mod query;
mod rank;
mod scorer;
mod weak;

pub use answer::{Form, answer};
pub use lookup::known_words;
#[cfg(feature = "sqlite")]
pub(crate) use meant::is_semantic_query;
pub use meant::meant;
pub use query::{QueryTerm, QueryTerms, Relation};
pub use rank::{Ranking, rank};
