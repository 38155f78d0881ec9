//! The pipeline: query → terms → matches → scores → page → packed reply.
//!
//! It has two steps, so that storage stays outside: [`rank`] needs only an index, [`answer`] only the rows of one page.
//! All entry points and all stores use these steps.
//!
//! Two groups of files use each other: `rank` with `scorer` and `paging`, which work on its matches; and `answer` with
//! `broad`, a second layout of the same reply.

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
