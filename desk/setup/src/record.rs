//! The record of changes, for reverting them byte for byte.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tessera_engine::screen::is_clean;
use tessera_engine::store::{Home, dir_of, make_private_dir, replace};

use crate::client::Client;
use crate::error::SetupError;
use crate::plan::{Edit, Plan};
use crate::{plan, shell, toml};

#[derive(Debug, Default, Serialize, Deserialize)]
struct Record {
    #[serde(default)]
    files: Vec<Changed>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Changed {
    path: PathBuf,
    client: String,
    /// The copy of the file before our first change; none if it did not exist.
    original: Option<String>,
    /// The hash of the file that Tessera wrote last. If the file still has this hash, the original file is restored.
    written: String,
    /// Directories that we created for this file, innermost first.
    #[serde(default)]
    made: Vec<PathBuf>,
}

fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(bytes))
}

impl Record {
    fn read(home: &Home) -> Result<Self, SetupError> {
        let path = home.setup();
        let Some(bytes) = plan::read(&path)? else { return Ok(Self::default()) };
        serde_json::from_slice(&bytes).map_err(|error| SetupError::Unreadable { path, problem: error.to_string() })
    }

    fn write(&self, home: &Home) -> Result<(), SetupError> {
        let path = home.setup();
        if self.files.is_empty() {
            // Either file may be missing, which is fine.
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir_all(home.setup_originals());
            return Ok(());
        }
        let bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        write(&path, &bytes)
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), SetupError> {
    let written = fs::create_dir_all(dir_of(path)).and_then(|()| replace(path, bytes));
    written.map_err(|source| SetupError::Unwritable { path: path.to_path_buf(), source })
}

/// Applies a plan. Stores the original of every file in `home`. Each change is recorded before it is made, so that an
/// interrupted run can be reverted.
///
/// # Errors
/// Returns an error if a file changed since the plan was made, or cannot be written.
pub fn apply(plan: &Plan, owner: Owner, home: &Home) -> Result<(), SetupError> {
    let mut record = Record::read(home)?;
    for edit in &plan.edits {
        if plan::read(&edit.path)? != edit.before {
            return Err(SetupError::Changed { path: edit.path.clone() });
        }
        let Some(after) = &edit.after else { continue };
        if let Some(known) = record.files.iter_mut().find(|changed| changed.path == edit.path) {
            // The original stays valid while nobody else changes the file.
            if edit.before.as_ref().is_none_or(|before| hash(before) != known.written) {
                known.original = keep(home, edit, owner)?;
            }
            known.written = hash(after);
        } else {
            let original = keep(home, edit, owner)?;
            let made = missing_dirs(&edit.path);
            let (path, client) = (edit.path.clone(), owner.as_str().to_owned());
            record.files.push(Changed { path, client, original, written: hash(after), made });
        }
        record.write(home)?;
        write(&edit.path, after)?;
    }
    Ok(())
}

/// Stores the file as it would be without Tessera: earlier entries of Tessera are removed.
fn keep(home: &Home, edit: &Edit, owner: Owner) -> Result<Option<String>, SetupError> {
    let Some(before) = &edit.before else { return Ok(None) };
    let cleaned = owner.taken_out(home, &edit.path, before)?;
    let original = cleaned.as_ref().unwrap_or(before);
    let name = format!("{}-{}", hash(edit.path.to_string_lossy().as_bytes()), hash(original));
    let dir = home.setup_originals();
    make_private_dir(&dir).map_err(|source| SetupError::Unwritable { path: dir.clone(), source })?;
    // Settings with a credential are not copied; our entries are removed from them later.
    if is_clean(&String::from_utf8_lossy(original)) {
        write(&dir.join(&name), original)?;
    }
    Ok(Some(name))
}

/// The program whose settings a change belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A client.
    Client(Client),
    /// The user's shell.
    Shell,
}

impl Owner {
    /// The owner in a record of changes.
    fn named(name: &str) -> Option<Self> {
        if name == shell::OWNER { Some(Self::Shell) } else { Client::named(name).map(Self::Client) }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Client(client) => client.as_str(),
            Self::Shell => shell::OWNER,
        }
    }

    /// The text of a settings file without our entries. The file belongs to a client, to a shell or to the store.
    fn taken_out(self, home: &Home, path: &Path, now: &[u8]) -> Result<Option<Vec<u8>>, SetupError> {
        match self {
            Self::Client(_) if path == home.config() => toml::without_memory_files(path, now),
            Self::Client(client) => client.taken_out(path, now),
            Self::Shell => Ok(shell::without_block(now)),
        }
    }
}

fn missing_dirs(path: &Path) -> Vec<PathBuf> {
    path.ancestors().skip(1).take_while(|dir| !dir.exists()).map(Path::to_path_buf).collect()
}

/// Returns the edits that undo the setup. An unmodified file gets its original back, and a modified file loses only
/// Tessera's entries.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn uninstall_plan(home: &Home) -> Result<Plan, SetupError> {
    let mut plan = Plan::default();
    for changed in Record::read(home)?.files {
        let Some(now) = plan::read(&changed.path)? else { continue };
        let original = changed.original.as_ref().map(|name| home.setup_originals().join(name));
        let original = original.map(|path| plan::read(&path)).transpose()?.flatten();
        let is_untouched = hash(&now) == changed.written && (changed.original.is_none() || original.is_some());
        let after = if is_untouched {
            original
        } else {
            let owner = Owner::named(&changed.client);
            let taken_out = owner.map(|owner| owner.taken_out(home, &changed.path, &now)).transpose()?.flatten();
            // A file that we created, and that contains nothing else, is deleted.
            Some(taken_out.unwrap_or_else(|| now.clone())).filter(|bytes| changed.original.is_some() || !is_bare(bytes))
        };
        plan.add(Edit::new(changed.path, Some(now), after));
    }
    Ok(plan)
}

fn is_bare(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    text.chars().filter(|c| !c.is_whitespace()).collect::<String>().trim_matches(['{', '}']).is_empty()
}

impl Plan {
    /// Reverts everything, and deletes the record.
    ///
    /// # Errors
    /// Returns an error if a file changed since the plan was made, or cannot be written.
    pub fn take_back(&self, home: &Home) -> Result<(), SetupError> {
        let record = Record::read(home)?;
        for edit in &self.edits {
            if plan::read(&edit.path)? != edit.before {
                return Err(SetupError::Changed { path: edit.path.clone() });
            }
            match &edit.after {
                Some(after) => write(&edit.path, after)?,
                None => fs::remove_file(&edit.path)
                    .map_err(|source| SetupError::Unwritable { path: edit.path.clone(), source })?,
            }
        }
        // Directories that we created are deleted if they are empty.
        let mut made: Vec<&PathBuf> = record.files.iter().flat_map(|changed| &changed.made).collect();
        made.sort_by_key(|dir| std::cmp::Reverse(dir.components().count()));
        made.into_iter().for_each(|dir| drop(fs::remove_dir(dir)));
        Record::default().write(home)
    }
}
