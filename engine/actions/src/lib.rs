//! Parses tool calls of coding agents and the advice in memories, and compares them.
//!
//! - [`Action`]: what a tool call runs, writes, adds and removes. The parser accepts invalid shell commands. It also finds
//!   the commands inside `sudo`, `npx` and `docker exec`.
//! - [`Note`]: the words and paths of a memory, each with the stance of the memory: against, for or neither.
//! - [`Lesson`]: a memory that names what to avoid and what to do instead. No classifier decides about its commands.
//! - [`compare`]: features of an action beside a note, for a classifier. `keys` of both find the notes to compare.
//!
//! The lists of cues and programs are in text files beside the code. A change of these files, or of the features,
//! requires a new training: see `benches/train`.

mod action;
mod comments;
mod features;
mod imports;
mod keys;
mod lesson;
mod note;
mod path;
mod runs;
mod shell;
mod stance;
mod words;

pub use action::Action;
pub use features::{Match, compare};
pub use lesson::Lesson;
pub use note::Note;
