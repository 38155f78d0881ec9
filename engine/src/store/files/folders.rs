//! Indexed folders of this machine.
//!
//! Also defines the states of a file: as read, as currently indexed, and as it will be indexed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rusqlite::{OptionalExtension, Row, params};
use tessera_markdown::{Note, Part, PartKind};

use super::told::folder_is_told;
use crate::compose::{Composed, Known, PartText};
use crate::domain::{FilePath, MemoryUuid, Scope, ShortId, Timestamp, Trust};
use crate::screen::Secret;
use crate::store::base::config::Actor;
use crate::store::base::store::Store;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};

/// The folder that always exists: it contains the files of the memory tool.
pub const MEMORIES: &str = "memories";

/// An indexed directory of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The name of the folder. The paths of its files begin with this name.
    pub name: String,
    /// The directory.
    pub dir: PathBuf,
    /// The scope of its files.
    pub scope: Scope,
    /// The trust of texts that people write in the folder by hand.
    pub trust: Trust,
    /// True if its files may be changed.
    pub is_writable: bool,
    /// True if its files are synced.
    pub is_told: bool,
    /// Device and inode of the directory when it was last read.
    pub identity: Option<(u64, u64)>,
    /// Why the directory could not be read last time.
    pub away: Option<String>,
}

impl Folder {
    /// The folder that always exists, with its defaults.
    pub fn memories(dir: PathBuf) -> Self {
        Self {
            name: MEMORIES.to_owned(),
            dir,
            scope: Scope::Global,
            trust: Trust::User,
            is_writable: true,
            is_told: true,
            identity: None,
            away: None,
        }
    }
}

const COLUMNS: &str = "name, dir, scope, trust, writable, told, device, inode, away";

impl Store {
    /// The folders, sorted by name.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn folders(&self) -> Result<Vec<Folder>, StoreError> {
        let mut folders = self.all(&format!("SELECT {COLUMNS} FROM folders ORDER BY name"), [], folder)?;
        // It is in the home directory, even if that was moved.
        if let Some(own) = folders.iter_mut().find(|folder| folder.name == MEMORIES) {
            own.dir = self.home.memories();
        }
        Ok(folders)
    }

    /// Adds or updates a folder.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn put_folder(&mut self, folder: &Folder) -> Result<(), StoreError> {
        self.write(|change| {
            let sql = "SELECT told FROM folders WHERE name = ?1";
            let was_told: Option<bool> = change.tx.query_row(sql, [&folder.name], |row| row.get(0)).optional()?;
            let sql = format!("INSERT OR REPLACE INTO folders ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)");
            let (device, inode) =
                folder.identity.map(|(device, inode)| (device.cast_signed(), inode.cast_signed())).unzip();
            change.tx.execute(
                &sql,
                params![
                    folder.name,
                    folder.dir.to_string_lossy(),
                    folder.scope.as_str(),
                    folder.trust.as_str(),
                    folder.is_writable,
                    folder.is_told,
                    device,
                    inode,
                    folder.away
                ],
            )?;
            if was_told.is_some_and(|was_told| was_told != folder.is_told) {
                folder_is_told(change, &folder.name, folder.is_told)?;
            }
            Ok(())
        })
    }

    /// For each directory of a folder, the digest of the last comparison.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn digests(&self, folder: &str) -> Result<BTreeMap<String, u64>, StoreError> {
        let sql = "SELECT path, digest FROM directories WHERE folder = ?1";
        let found = self.all(sql, [folder], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
        Ok(found.into_iter().collect())
    }

    /// Records the digests of a folder's directories. `None` for a directory that must be compared again or no longer
    /// exists.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn note_digests(&mut self, folder: &str, digests: &[(String, Option<u64>)]) -> Result<(), StoreError> {
        if digests.is_empty() {
            return Ok(());
        }
        self.write(|change| {
            for (path, digest) in digests {
                match digest {
                    Some(digest) => change.tx.run(
                        "INSERT OR REPLACE INTO directories VALUES (?1, ?2, ?3)",
                        params![folder, path, digest.cast_signed()],
                    )?,
                    None => change
                        .tx
                        .run("DELETE FROM directories WHERE folder = ?1 AND path = ?2", params![folder, path])?,
                };
            }
            Ok(())
        })
    }
}

/// Removes a folder, whose files must have been removed before.
pub(super) fn drop_folder(change: &Change<'_>, name: &str) -> Result<(), StoreError> {
    change.tx.execute("DELETE FROM folders WHERE name = ?1", [name])?;
    change.tx.execute("DELETE FROM directories WHERE folder = ?1", [name])?;
    Ok(())
}

/// Invalidates the digest of a file's directory after a change that was not found by a scan.
pub(super) fn doubt_directory(change: &Change<'_>, path: &FilePath) -> Result<(), StoreError> {
    let directory = path.inside().rsplit_once('/').map_or("", |(directory, _)| directory);
    // The directory stays recorded, so that its files are missed if it disappears.
    let sql = "INSERT OR REPLACE INTO directories (folder, path, digest) VALUES (?1, ?2, 0)";
    change.tx.run(sql, [path.folder(), directory])?;
    Ok(())
}

fn folder(row: &Row<'_>) -> rusqlite::Result<Folder> {
    let text = |at: usize| row.get::<_, String>(at);
    let wrong = |at: usize| rusqlite::Error::InvalidColumnType(at, COLUMNS.to_owned(), rusqlite::types::Type::Text);
    let number = |at: usize| row.get::<_, Option<i64>>(at).map(|value| value.map(i64::cast_unsigned));
    Ok(Folder {
        name: text(0)?,
        dir: PathBuf::from(text(1)?),
        scope: text(2)?.parse().map_err(|_| wrong(2))?,
        trust: text(3)?.parse().unwrap_or(Trust::Foreign),
        is_writable: row.get(4)?,
        is_told: row.get(5)?,
        identity: number(6)?.zip(number(7)?),
        away: row.get(8)?,
    })
}

/// The data that shows whether a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// Bytes.
    pub size: u64,
    /// The time of the last change of the file, in nanoseconds since 1970.
    pub modified: i64,
    /// Its inode, 0 if there is none.
    pub inode: u64,
    /// The hash of its bytes.
    pub hash: u64,
}

/// A file that changed within this time may change again without a new time stamp.
const TICK_NANOS: i64 = 100_000_000;
/// The same limit for file systems that store times in units of one or two seconds.
const SLOW_TICK_NANOS: i64 = 2_100_000_000;
const SECOND_NANOS: i64 = 1_000_000_000;

/// True if the time differs so much from the present that any further change of the file will have a different time.
pub fn is_settled(modified: i64, now: Timestamp) -> bool {
    let tick = if modified % SECOND_NANOS == 0 { SLOW_TICK_NANOS } else { TICK_NANOS };
    // A time in the future counts like one in the past: the clock was changed, or another machine wrote it.
    (now.as_micros().saturating_mul(1_000).saturating_sub(modified)).abs() > tick
}

impl FileStamp {
    /// The recorded time of change. If a later change may get the same time, another time is recorded. So the next scan
    /// reads the file.
    pub(super) fn noted_time(&self, now: Timestamp) -> i64 {
        if is_settled(self.modified, now) { self.modified } else { self.modified - 1 }
    }
}

/// A file as read.
#[derive(Debug, Clone)]
pub struct SeenFile {
    /// Its path.
    pub path: FilePath,
    /// Its stamp when it was read.
    pub stamp: FileStamp,
    /// Its text.
    pub text: String,
}

/// A file that is about to be written.
#[derive(Debug, Clone)]
pub struct Intent {
    /// Its path.
    pub path: FilePath,
    /// The hash of its future bytes.
    pub hash: u64,
    /// The memory of the file.
    pub memory: MemoryUuid,
    /// The secrets that were removed from the text, encrypted for the memory of the file.
    pub secrets: Vec<Secret>,
}

/// The result for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenFile {
    /// Its path.
    pub path: FilePath,
    /// The memory of the file.
    pub id: MemoryUuid,
    /// Its ID.
    pub short_id: ShortId,
    /// New, changed and removed parts.
    pub parts: (usize, usize, usize),
}

/// The author of a file's present text.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub(super) actor: Actor,
    pub(super) memory: MemoryUuid,
}

/// An earlier part and its position.
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

/// The indexed state of a file.
pub(super) struct Before {
    pub(super) folder: Folder,
    pub(super) hash: Option<u64>,
    pub(super) whole: Option<Known>,
    pub(super) parts: Vec<PartBefore>,
    pub(super) gone: Vec<PartBefore>,
    pub(super) writer: Option<Writer>,
}

/// The new state of a file.
pub(super) struct Made {
    pub(super) note: Note,
    pub(super) whole: Composed,
    /// Each section with its earlier version, even if that was deleted.
    pub(super) parts: Vec<(Option<Known>, Composed)>,
    pub(super) removed: Vec<Known>,
    /// True if the memory contains the complete text of the file.
    pub(super) is_kept: bool,
    /// True if the note contains data of an exported memory.
    pub(super) tells_memory: bool,
    pub(super) actor: Actor,
}

/// True for an observation.
pub(super) fn is_observation(part: &Part) -> bool {
    part.kind == PartKind::Observation
}
