//! A file as it was read, as it is known, and as it is to be known.

use tessera_markdown::{Note, Part, PartKind};

use super::folders::Folder;
use crate::compose::{Composed, Known, PartText};
use crate::domain::{FilePath, Handle, MemoryId, Timestamp};
use crate::screen::Secret;
use crate::store::base::config::Actor;

/// What tells whether a file is as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// Bytes.
    pub size: u64,
    /// When it was last changed, in nanoseconds since 1970.
    pub modified: i64,
    /// Its inode, 0 where there is none.
    pub inode: u64,
    /// Of its bytes.
    pub hash: u64,
}

/// A file that was changed less long ago than this may change again under the same stamp.
const TICK_NANOS: i64 = 100_000_000;
/// The same where a file system counts in whole seconds, or in two.
const SLOW_TICK_NANOS: i64 = 2_100_000_000;
const SECOND_NANOS: i64 = 1_000_000_000;

/// True when a file that was last changed then, in nanoseconds, will have another stamp when it changes again.
pub fn is_settled(modified: i64, now: Timestamp) -> bool {
    let tick = if modified % SECOND_NANOS == 0 { SLOW_TICK_NANOS } else { TICK_NANOS };
    // A time to come is as good as one that is over: the clock was set, or another machine wrote it.
    (now.as_micros().saturating_mul(1_000).saturating_sub(modified)).abs() > tick
}

impl FileStamp {
    /// When it was changed, as it is noted: a file that may change again under the same stamp is noted as another, so that
    /// the next look reads it.
    pub(super) fn noted_time(&self, now: Timestamp) -> i64 {
        if is_settled(self.modified, now) { self.modified } else { self.modified - 1 }
    }
}

/// A file as it was read.
#[derive(Debug, Clone)]
pub struct SeenFile {
    /// Where.
    pub path: FilePath,
    /// What it was when it was read.
    pub stamp: FileStamp,
    /// What it says.
    pub text: String,
}

/// What is about to be written to a file.
#[derive(Debug, Clone)]
pub struct Intent {
    /// Where.
    pub path: FilePath,
    /// Of the bytes that it will have.
    pub hash: u64,
    /// The memory that stands for it, or is to.
    pub memory: MemoryId,
    /// What was taken out of what is written, sealed for that memory.
    pub secrets: Vec<Secret>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenFile {
    /// Where.
    pub path: FilePath,
    /// The memory that stands for it.
    pub id: MemoryId,
    /// Its number.
    pub handle: Handle,
    /// Parts that are new, changed, gone.
    pub parts: (usize, usize, usize),
}

/// Who wrote what a file has now.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub(super) actor: Actor,
    pub(super) memory: MemoryId,
}

/// A part that was there, and where it stood.
#[derive(Debug, Clone)]
pub(super) struct PartBefore {
    pub(super) known: Known,
    pub(super) is_observation: bool,
}

impl PartBefore {
    pub(super) fn text(&self) -> PartText<'_> {
        PartText { is_observation: self.is_observation, text: &self.known.memory.content }
    }
}

/// What the store knew of a file.
pub(super) struct Before {
    pub(super) folder: Folder,
    pub(super) hash: Option<u64>,
    pub(super) whole: Option<Known>,
    pub(super) parts: Vec<PartBefore>,
    pub(super) gone: Vec<PartBefore>,
    pub(super) writer: Option<Writer>,
}

/// What is to be written for a file.
pub(super) struct Made {
    pub(super) note: Note,
    pub(super) whole: Composed,
    /// With what it was before: a part that was there, or one that had been.
    pub(super) parts: Vec<(Option<Known>, Composed)>,
    pub(super) removed: Vec<Known>,
    /// True where the memory holds the text as it is on disk.
    pub(super) is_kept: bool,
    /// True where the note tells of the memory that it was written from.
    pub(super) tells_memory: bool,
    pub(super) actor: Actor,
}

/// True for an observation.
pub(super) fn is_observation(part: &Part) -> bool {
    part.kind == PartKind::Observation
}
