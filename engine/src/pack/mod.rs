//! Packing: chooses which ranked memories fit into a reply, in full or as one line, and renders it.
//!
//! No tokenizer runs here. The tokens of every line are counted at write time. Each line ends with a newline, and the
//! next begins with a character that is neither a space nor `/`. So no o200k_base token spans two lines, and counts can
//! be added exactly.

mod advice;
mod broad;
mod json;
mod line;
mod lines;
mod neutral;
mod passage;
mod remark;
mod select;
mod text;
mod unreviewed;
mod weak;

pub use advice::{Advice, advice};
pub use broad::{BroadRow, Heading};
pub use json::{JsonFrame, JsonRows};
pub use line::{LineCosts, attribution};
pub use lines::{Lines, Listed};
#[cfg(feature = "sqlite")]
pub(crate) use neutral::may_be_changed;
pub use neutral::{neutral, neutral_line};
#[cfg(feature = "sqlite")]
pub(crate) use passage::CUT_TOKENS;
pub use passage::{Passage, json_line as passage_json_line, line as passage_line};
pub use remark::Remark;
pub use select::{Bounds, Frame, Item, Shown, select};
pub use text::{Detail, IndexEntry, Ranked, Recall, Row, TextFrame};
pub use unreviewed::UnreviewedLine;
pub use weak::LowConfidenceRows;
