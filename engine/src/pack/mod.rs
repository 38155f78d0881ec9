//! Packing: which ranked memories a reply can hold, in full or as one line, and the reply itself.
//!
//! No tokenizer runs here. The tokens of every line are counted when a memory is written, and lines
//! are framed so that counts add exactly: a line ends in a newline and the next begins with a
//! character that is neither a space nor `/`, so no o200k_base token crosses the two.

mod json;
mod line;
mod neutral;
mod passage;
mod reply;
mod select;
mod text;

pub use json::JsonFrame;
pub use line::LineCosts;
pub use neutral::neutral;
pub use passage::{line as passage_line, Passage};
pub use reply::{Detail, IndexEntry, Ranked, Recall, Row};
pub(crate) use reply::MAX_ALSO;
pub use select::{select, Frame, Item, Selection};
pub use text::TextFrame;
