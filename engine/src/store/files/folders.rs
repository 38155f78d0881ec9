//! Folders: directories on this machine whose texts are known.
//!
//! A file as it was read, as it is known, and as it is to be known.

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

/// The folder that is always there: the one that the memory tool sees.
pub const MEMORIES: &str = "memories";

/// A directory on this machine whose texts are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its name: what the paths of its files begin with.
    pub name: String,
    /// Where it lies.
    pub dir: PathBuf,
    /// Where what its files say belongs.
    pub scope: Scope,
    /// How far what somebody writes there by hand is believed.
    pub trust: Trust,
    /// True where its files may be changed.
    pub is_writable: bool,
    /// True where a team server is told of its files.
    pub is_told: bool,
    /// Device and inode of the directory when it was last read.
    pub identity: Option<(u64, u64)>,
    /// Why it could not be read last time.
    pub away: Option<String>,
}

impl Folder {
    /// The folder that is always there, as it is known from the beginning.
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
    /// The folders, by name.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn folders(&self) -> Result<Vec<Folder>, StoreError> {
        let mut folders = self.all(&format!("SELECT {COLUMNS} FROM folders ORDER BY name"), [], folder)?;
        // It lies in the home, wherever somebody moved that to.
        if let Some(own) = folders.iter_mut().find(|folder| folder.name == MEMORIES) {
            own.dir = self.home.memories();
        }
        Ok(folders)
    }

    /// Adds a folder, or changes what is known of it.
    ///
    /// # Errors
    /// When the store cannot be written.
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

    /// What the directories of a folder looked like when their files were last compared.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn digests(&self, folder: &str) -> Result<BTreeMap<String, u64>, StoreError> {
        let sql = "SELECT path, digest FROM directories WHERE folder = ?1";
        let found = self.all(sql, [folder], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
        Ok(found.into_iter().collect())
    }

    /// Notes what directories of a folder look like now; `None` for one that is to be compared again, or is gone.
    ///
    /// # Errors
    /// When the store cannot be written.
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

/// Takes a folder away; its files must have been taken out of the index before.
pub(super) fn drop_folder(change: &Change<'_>, name: &str) -> Result<(), StoreError> {
    change.tx.execute("DELETE FROM folders WHERE name = ?1", [name])?;
    change.tx.execute("DELETE FROM directories WHERE folder = ?1", [name])?;
    Ok(())
}

/// What the directory of a file looked like is not known any more: something in it was written otherwise than by looking.
pub(super) fn doubt_directory(change: &Change<'_>, path: &FilePath) -> Result<(), StoreError> {
    let directory = path.inside().rsplit_once('/').map_or("", |(directory, _)| directory);
    // It stays known: where it goes as a whole, its files are missed.
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
    pub memory: MemoryUuid,
    /// What was taken out of what is written, sealed for that memory.
    pub secrets: Vec<Secret>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenFile {
    /// Where.
    pub path: FilePath,
    /// The memory that stands for it.
    pub id: MemoryUuid,
    /// Its number.
    pub short_id: ShortId,
    /// Parts that are new, changed, gone.
    pub parts: (usize, usize, usize),
}

/// Who wrote what a file has now.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub(super) actor: Actor,
    pub(super) memory: MemoryUuid,
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
