//! Checks a command: reads everything, changes nothing.

use crate::command::Command;
use crate::edit::{inserted, replaced, shown};
use crate::error::FileError;
use crate::leftovers::survey;
use crate::listing::listed;
use crate::path::RelativePath;
use crate::place::Kind;
use crate::prepared::{Change, Prepared, Step, files_beneath};
use crate::reply::Reply;
use crate::stamp::Seen;
use crate::tree::{Reach, Reached, Tree, system};

/// How much a command may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size of a written file.
    pub most_bytes: u64,
    /// Bytes of a file that is read.
    pub most_read: u64,
    /// Whether `create` may overwrite an existing file.
    pub overwrite: bool,
}

impl Limits {
    /// The usual limits: a command writes at most 8 MiB, and reads files of at most 64 MiB. `create` does not overwrite
    /// files.
    pub const USUAL: Self = Self { most_bytes: 8 << 20, most_read: 64 << 20, overwrite: false };
}

/// Computes the answer and the changes of a command, or the reason for rejecting it.
pub fn prepare(tree: &Tree, command: &Command, limits: &Limits) -> Result<Prepared, FileError> {
    match command {
        Command::View { path, view_range } => view(tree, &tree.known_path(path)?, *view_range, limits),
        Command::Create { path, file_text } => create(tree, tree.path(path)?, file_text, limits),
        Command::StrReplace { path, old_str, new_str } => {
            let path = tree.known_path(path)?;
            edit(tree, path, limits, |text, path| replaced(text, path, old_str, new_str))
        }
        Command::Insert { path, insert_line, insert_text } => {
            let path = tree.known_path(path)?;
            edit(tree, path, limits, |text, path| {
                let edited = inserted(text, *insert_line, insert_text)?;
                Ok((edited, Reply::sentence(format!("The file {} has been edited.", path.spelled()))))
            })
        }
        Command::Delete { path } => delete(tree, tree.known_path(path)?, limits),
        Command::Rename { old_path, new_path } => rename(tree, tree.known_path(old_path)?, tree.path(new_path)?),
    }
}

fn view(tree: &Tree, path: &RelativePath, range: Option<(i64, i64)>, limits: &Limits) -> Result<Prepared, FileError> {
    let missing = || FileError::NotFound { path: path.spelled().to_owned() };
    let at = match tree.reach(path)? {
        Reach::Root => return listed(tree, tree.root(), path, range).map(Prepared::shown),
        Reach::There(at) => at,
        Reach::NoParent | Reach::ParentIsFile(_) => return Err(missing()),
    };
    match at.facts {
        None => Err(missing()),
        Some(facts) if facts.kind == Kind::Directory => {
            let place = at.place.sub(&at.name).map_err(|error| match at.place.facts(&at.name) {
                Ok(facts) if facts.kind != Kind::Directory => tree.refused(path, &facts),
                Ok(_) => system(path, &error),
                Err(_) => FileError::Gone { path: path.spelled().to_owned() },
            })?;
            listed(tree, &place, path, range).map(Prepared::shown)
        }
        Some(facts) if !facts.is_own_file() => Err(tree.refused(path, &facts)),
        Some(_) => {
            let text = tree.read_reached(path, &at, limits.most_read)?.text(path)?;
            let reply = shown(&text, path, range)?;
            Ok(Prepared::shown(reply).of_text(text))
        }
    }
}

fn create(tree: &Tree, path: RelativePath, text: &str, limits: &Limits) -> Result<Prepared, FileError> {
    let exists = || FileError::Exists { path: path.spelled().to_owned() };
    let before = match tree.reach(&path)? {
        Reach::Root => return Err(exists()),
        Reach::NoParent => {
            tree.parents_can_be_made(&path)?;
            None
        }
        Reach::ParentIsFile(parent) => {
            return Err(FileError::ParentIsFile { path: path.spelled().to_owned(), parent });
        }
        Reach::There(at) => match at.facts {
            None => {
                let twin = survey(&at.place, &at.name).map_err(|error| system(&path, &error))?.twin;
                if let Some(existing) = twin {
                    return Err(FileError::Twin { path: path.spelled().to_owned(), existing });
                }
                None
            }
            Some(facts) if facts.kind == Kind::Link => return Err(tree.refused(&path, &facts)),
            Some(facts) if limits.overwrite && facts.is_own_file() => {
                Some(tree.read_reached(&path, &at, limits.most_read)?)
            }
            Some(_) => return Err(exists()),
        },
    };
    within(&path, text, limits)?;
    let reply = Reply::sentence(format!("File created successfully at: {}", path.spelled()));
    let seen = before.as_ref().map(crate::stamp::ReadFile::seen);
    let before_text = before.and_then(|read| String::from_utf8(read.bytes).ok());
    Ok(Prepared::write(reply, path, text.to_owned(), seen, before_text))
}

fn edit(
    tree: &Tree,
    path: RelativePath,
    limits: &Limits,
    edit: impl FnOnce(&str, &RelativePath) -> Result<(String, Reply), FileError>,
) -> Result<Prepared, FileError> {
    let missing = || FileError::NoFile { path: path.spelled().to_owned() };
    let Reach::There(at) = tree.reach(&path)? else { return Err(missing()) };
    let facts = at.facts.ok_or_else(missing)?;
    if facts.kind == Kind::Directory {
        return Err(missing());
    }
    if !facts.is_own_file() {
        return Err(tree.refused(&path, &facts));
    }
    let read = tree.read_reached(&path, &at, limits.most_read)?;
    let seen = read.seen();
    let text = read.text(&path)?;
    let (edited, reply) = edit(&text, &path)?;
    within(&path, &edited, limits)?;
    Ok(Prepared::write(reply, path, edited, Some(seen), Some(text)))
}

fn delete(tree: &Tree, path: RelativePath, limits: &Limits) -> Result<Prepared, FileError> {
    let nothing = || FileError::Nothing { path: path.spelled().to_owned() };
    let at = match tree.reach(&path)? {
        Reach::Root => return Err(FileError::DeleteRoot { folder: tree.name().to_owned() }),
        Reach::There(at) => at,
        Reach::NoParent | Reach::ParentIsFile(_) => return Err(nothing()),
    };
    let facts = at.facts.ok_or_else(nothing)?;
    let reply = Reply::sentence(format!("Successfully deleted {}", path.spelled()));
    let changes = match facts.kind {
        Kind::Link => Vec::new(),
        Kind::Directory => {
            let found = files_beneath(&at, &path);
            found.into_iter().map(|(path, before)| Change::Remove { path, before, hash: None }).collect()
        }
        Kind::File if facts.links <= 1 => {
            let seen = seen_or_stamp(tree, &path, &at, limits);
            let (before, hash) = (seen.map_or(facts.stamp, |seen| seen.stamp), seen.map(|seen| seen.hash));
            vec![Change::Remove { path: path.clone(), before, hash }]
        }
        Kind::File | Kind::Other => return Err(FileError::Unsupported { path: path.spelled().to_owned() }),
    };
    Ok(Prepared::new(reply, changes, Step::Remove(path)))
}

/// An unreadable file can be deleted without comparing its bytes.
fn seen_or_stamp(tree: &Tree, path: &RelativePath, at: &Reached, limits: &Limits) -> Option<Seen> {
    tree.read_reached(path, at, limits.most_read).ok().map(|read| read.seen())
}

fn rename(tree: &Tree, from: RelativePath, to: RelativePath) -> Result<Prepared, FileError> {
    let (source, facts) = tree.movable(&from, &to)?;
    let reply = Reply::sentence(format!("Successfully renamed {} to {}", from.spelled(), to.spelled()));
    let changes = if facts.kind == Kind::Directory {
        let moved = |(path, stamp): (RelativePath, _)| {
            let below = path.relative().strip_prefix(from.relative()).unwrap_or_default().trim_start_matches('/');
            let target = to.child(below);
            Change::Move { from: path, to: target, stamp }
        };
        files_beneath(&source, &from).into_iter().map(moved).collect()
    } else {
        vec![Change::Move { from: from.clone(), to: to.clone(), stamp: facts.stamp }]
    };
    Ok(Prepared::new(reply, changes, Step::Rename(from, to)))
}

fn within(path: &RelativePath, text: &str, limits: &Limits) -> Result<(), FileError> {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if bytes > limits.most_bytes {
        return Err(FileError::TooLarge { path: path.spelled().to_owned(), bytes, most: limits.most_bytes });
    }
    Ok(())
}
