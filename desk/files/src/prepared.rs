//! A checked command: its answer, its changes, and its execution.

use crate::change::Expected;
use crate::error::FileError;
use crate::path::{MOST_DEPTH, OWN_PREFIX, RelativePath};
use crate::place::{Kind, Place};
use crate::reply::Reply;
use crate::stamp::{ReadFile, Seen, Stamp};
use crate::tree::{Lock, Reach, Reached, Tree};

/// The change of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The file is created, or gets a new text.
    Write {
        /// The file.
        path: RelativePath,
        /// All of its text.
        text: String,
        /// Its previous state, if it existed.
        before: Option<Seen>,
        /// The previous content, if it was a text.
        before_text: Option<String>,
    },
    /// It is taken away.
    Remove {
        /// The file.
        path: RelativePath,
        /// Its state until then.
        before: Stamp,
        /// The hash of the removed file's bytes, if the file was read.
        hash: Option<u64>,
    },
    /// The file moves unchanged.
    Move {
        /// The path that it had.
        from: RelativePath,
        /// The path that it gets.
        to: RelativePath,
        /// Its state before and after.
        stamp: Stamp,
    },
}

/// A command that can be done.
#[derive(Debug)]
pub struct Prepared {
    /// The reply.
    pub reply: Reply,
    /// The changes, file by file.
    pub changes: Vec<Change>,
    /// The text of the file whose lines the reply shows.
    pub text: Option<String>,
    step: Step,
}

/// The operation.
#[derive(Debug)]
pub struct Done {
    /// The reply.
    pub reply: Reply,
    /// Each written file, with the data that reading the file would return.
    pub written: Vec<(RelativePath, ReadFile)>,
}

/// The single operation of the file system that the command performs.
#[derive(Debug)]
pub(crate) enum Step {
    None,
    Write,
    Remove(RelativePath),
    Rename(RelativePath, RelativePath),
}

impl Prepared {
    pub(crate) fn new(reply: Reply, changes: Vec<Change>, step: Step) -> Self {
        Self { reply, changes, text: None, step }
    }

    pub(crate) fn shown(reply: Reply) -> Self {
        Self::new(reply, Vec::new(), Step::None)
    }

    /// Returns this command with the text of the file whose lines the reply shows.
    pub(crate) fn of_text(self, text: String) -> Self {
        Self { text: Some(text), ..self }
    }

    pub(crate) fn write(
        reply: Reply,
        path: RelativePath,
        text: String,
        before: Option<Seen>,
        before_text: Option<String>,
    ) -> Self {
        Self::new(reply, vec![Change::Write { path, text, before, before_text }], Step::Write)
    }

    /// Executes the command in one durable step, or rejects it if files changed. A caller that holds the lock uses
    /// [`Prepared::commit_under`], because this function would wait for the caller's own lock.
    pub fn commit(self, tree: &Tree) -> Result<Done, FileError> {
        if matches!(self.step, Step::None) {
            return Ok(Done { reply: self.reply, written: Vec::new() });
        }
        let lock = tree.lock()?;
        self.commit_under(tree, &lock)
    }

    /// The same while the folder is locked. If the caller has held the lock since the check, no other command can
    /// conflict with this one.
    pub fn commit_under(self, tree: &Tree, lock: &Lock) -> Result<Done, FileError> {
        let mut written = Vec::new();
        match &self.step {
            Step::None => {}
            Step::Write => {
                for change in self.changes {
                    if let Change::Write { path, text, before, .. } = change {
                        let expected = before.map_or(Expected::Absent, Expected::Seen);
                        let bytes = text.into_bytes();
                        let stamp = tree.write_under(&path, &bytes, expected, lock)?;
                        written.push((path, ReadFile { bytes, stamp }));
                    }
                }
            }
            Step::Remove(path) => {
                let expected = self.removed(tree, path)?;
                tree.remove_under(path, expected, lock)?;
            }
            Step::Rename(from, to) => {
                self.is_still_what_moves(tree, from)?;
                tree.rename_under(from, to, lock)?;
            }
        }
        Ok(Done { reply: self.reply, written })
    }

    /// The files to remove must still be the recorded ones.
    fn removed(&self, tree: &Tree, path: &RelativePath) -> Result<Expected, FileError> {
        let changed = || FileError::Changed { path: path.spelled().to_owned() };
        let Reach::There(at) = tree.reach(path)? else { return Ok(Expected::Any) };
        let Some(facts) = at.facts else { return Ok(Expected::Any) };
        match (facts.kind, self.changes.as_slice()) {
            (Kind::Directory, told) => {
                let now = files_beneath(&at, path);
                let is_same = now.len() == told.len()
                    && now.iter().zip(told).all(|((path, stamp), told)| {
                        matches!(told, Change::Remove { path: then, before, .. } if then == path && before == stamp)
                    });
                if is_same { Ok(Expected::Any) } else { Err(changed()) }
            }
            (Kind::File, [Change::Remove { before, hash, path: told }]) if told == path => {
                Ok(hash.map_or(Expected::Same(*before), |hash| Expected::Seen(Seen { stamp: *before, hash })))
            }
            (Kind::Link, []) => Ok(Expected::Any),
            _ => Err(changed()),
        }
    }

    /// Files may be edited while they move, but none may appear or disappear.
    fn is_still_what_moves(&self, tree: &Tree, from: &RelativePath) -> Result<(), FileError> {
        let Reach::There(at) = tree.reach(from)? else { return Ok(()) };
        let now: Vec<RelativePath> = match at.facts {
            Some(facts) if facts.kind == Kind::Directory => {
                files_beneath(&at, from).into_iter().map(|(path, _)| path).collect()
            }
            Some(_) => vec![from.clone()],
            None => return Ok(()),
        };
        let told = self.changes.iter().filter_map(|change| match change {
            Change::Move { from, .. } => Some(from),
            _ => None,
        });
        if now.iter().eq(told) { Ok(()) } else { Err(FileError::Changed { path: from.spelled().to_owned() }) }
    }
}

/// Every file in a directory, hidden ones included, sorted. Omits unreadable ones.
pub(crate) fn files_beneath(at: &Reached, path: &RelativePath) -> Vec<(RelativePath, Stamp)> {
    let mut found = Vec::new();
    if let Ok(place) = at.place.sub(&at.name) {
        collect(&place, path, "", &mut found, MOST_DEPTH);
    }
    found
}

fn collect(place: &Place, path: &RelativePath, below: &str, found: &mut Vec<(RelativePath, Stamp)>, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let mut names = Vec::new();
    if place.each_name(&mut |name, _| names.push(name.to_owned())).is_err() {
        return;
    }
    names.sort_unstable();
    for name in names.iter().filter(|name| !name.starts_with(OWN_PREFIX)) {
        let Ok(facts) = place.facts(name) else { continue };
        let below = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        match facts.kind {
            Kind::File => found.push((path.child(&below), facts.stamp)),
            Kind::Directory => {
                if let Ok(inner) = place.sub(name) {
                    collect(&inner, path, &below, found, depth);
                }
            }
            Kind::Link | Kind::Other => {}
        }
    }
}
