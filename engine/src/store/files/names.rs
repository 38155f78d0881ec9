//! Names under which files are meant, and what they say of one another: a relation finds its target when that appears.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use rusqlite::params;
use tessera_markdown::{Note, key, permalink};

use super::states::{Made, SeenFile};
use crate::domain::{FilePath, Link, Memory, MemoryId};
use crate::screen::dropped;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;

/// The permalink of a file: its own word, else from its path; with a number where another file of the folder has it.
pub(super) fn permalink(
    change: &Change<'_>,
    file: &SeenFile,
    note: &Note,
    memory: MemoryId,
) -> Result<String, StoreError> {
    let wanted = note.permalink.clone().unwrap_or_else(|| permalink::of_path(file.path.inside()));
    let wanted = dropped(&wanted).into_owned();
    let sql = "SELECT EXISTS (SELECT 1 FROM files WHERE permalink = ?1 AND memory <> ?2
                   AND substr(path, 1, length(?3)) = ?3)";
    let folder = format!("/{}/", file.path.folder());
    let statement = RefCell::new(change.tx.prepare_cached(sql)?);
    let failed = Cell::new(None);
    let free = permalink::free(&wanted, |tried| {
        let taken = statement.borrow_mut().query_row(params![tried, memory, folder], |row| row.get(0));
        taken.unwrap_or_else(|error| {
            failed.set(Some(error));
            false
        })
    });
    failed.take().map_or(Ok(free), |error| Err(error.into()))
}

/// Notes how a file is called and what it says of others, in the place of what was noted before; and finds the targets of
/// what others say that may mean it.
pub(super) fn note(change: &Change<'_>, whole: &Memory, made: &Made) -> Result<(), StoreError> {
    let Some(path) = whole.file.as_ref().map(|file| &file.path) else { return Ok(()) };
    forget_names(change, whole.id)?;
    let sql = "SELECT permalink FROM files WHERE memory = ?1";
    let permalink: String = change.tx.prepare_cached(sql)?.query_row([whole.id], |row| row.get(0))?;
    let names = keys_of(path, &permalink, made.note.aliases.iter().chain([&made.note.title]));
    let mut statement = change.tx.prepare_cached("INSERT OR IGNORE INTO names VALUES (?1, ?2)")?;
    for name in &names {
        statement.execute(params![name, whole.id])?;
    }
    note_relations(change, whole, path, &made.note)?;
    for name in &names {
        find_targets(change, name)?;
    }
    Ok(())
}

/// The names of a file as they are compared loosely.
pub(super) fn keys_of<'a>(path: &FilePath, permalink: &str, said: impl Iterator<Item = &'a String>) -> Vec<String> {
    let inside = path.inside();
    let bare = inside.strip_suffix(&format!(".{}", inside.rsplit('.').next().unwrap_or_default())).unwrap_or(inside);
    let mut keys: Vec<String> = [permalink, inside, bare, path.stem(), path.name()].map(key::folded).to_vec();
    keys.extend(said.map(|name| key::folded(name)));
    keys.sort();
    keys.dedup();
    keys.retain(|key| !key.is_empty());
    keys
}

pub(super) fn forget_names(change: &Change<'_>, memory: MemoryId) -> Result<(), StoreError> {
    change.tx.prepare_cached("DELETE FROM names WHERE memory = ?1")?.execute([memory])?;
    Ok(())
}

fn note_relations(change: &Change<'_>, whole: &Memory, path: &FilePath, note: &Note) -> Result<(), StoreError> {
    let sql = "SELECT type, key, target FROM relations WHERE source = ?1 AND target IS NOT NULL";
    let mut statement = change.tx.prepare_cached(sql)?;
    let known = statement
        .query_map([whole.id], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?
        .collect::<Result<std::collections::BTreeMap<(String, String), MemoryId>, _>>()?;
    change.tx.prepare_cached("DELETE FROM relations WHERE source = ?1")?.execute([whole.id])?;
    let sql = "INSERT OR IGNORE INTO relations (source, type, name, key, target, context, line)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut statement = change.tx.prepare_cached(sql)?;
    for relation in &note.relations {
        let name = match &relation.target.project {
            Some(project) => format!("{project}::{}", relation.target.name),
            None => relation.target.name.clone(),
        };
        let (kind, name) = (dropped(&relation.kind).into_owned(), dropped(&name).into_owned());
        let key = key_of(&name);
        // A target that was renamed is still meant.
        let target = match known.get(&(kind.clone(), key.clone())) {
            Some(target) => Some(*target),
            None => target(change, path, &name)?,
        };
        let context = relation.context.as_deref().map(|context| dropped(context).into_owned());
        statement.execute(params![whole.id, kind, name, key, target, context, relation.line])?;
    }
    Ok(())
}

/// The links to memories that a file says: relations of the types that links have, with the other's id beside its name or
/// in the place of it.
pub(super) fn links(change: &Change<'_>, source: MemoryId) -> Result<BTreeSet<Link>, StoreError> {
    let mut statement = change.tx.prepare_cached("SELECT type, name, context FROM relations WHERE source = ?1")?;
    let rows = statement.query_map([source], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut links = BTreeSet::new();
    for row in rows {
        let (kind, name, context): (String, String, Option<String>) = row?;
        let to = context.and_then(|context| context.parse().ok()).or_else(|| name.parse().ok());
        links.extend(kind.parse().ok().zip(to).map(|(kind, to)| Link { kind, to }));
    }
    Ok(links)
}

/// The key of what a relation names: that of the note, wherever it lies.
fn key_of(name: &str) -> String {
    key::folded(name.split_once("::").map_or(name, |(_, name)| name))
}

/// Finds the targets of relations without one that may mean a file of this name.
fn find_targets(change: &Change<'_>, key: &str) -> Result<(), StoreError> {
    let sql = "SELECT source, type, name, path FROM relations JOIN files ON files.memory = source
               WHERE key = ?1 AND target IS NULL";
    let mut statement = change.tx.prepare_cached(sql)?;
    let rows = statement.query_map([key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    let waiting: Vec<(MemoryId, String, String, String)> = rows.collect::<Result<_, _>>()?;
    for (source, kind, name, path) in waiting {
        let path: FilePath = path.parse()?;
        if let Some(target) = target(change, &path, &name)? {
            let sql = "UPDATE relations SET target = ?4 WHERE source = ?1 AND type = ?2 AND key = ?3";
            change.tx.prepare_cached(sql)?.execute(params![source, kind, key, target])?;
        }
    }
    Ok(())
}

/// The file that a name means where it stands in another file: in its own folder unless it names one, the nearest of
/// several.
fn target(change: &Change<'_>, from: &FilePath, name: &str) -> Result<Option<MemoryId>, StoreError> {
    let (folder, name) = name.split_once("::").map_or((from.folder(), name), |(folder, name)| (folder.trim(), name));
    let sql = "SELECT files.memory, path, title, permalink FROM names JOIN files ON files.memory = names.memory
               WHERE key = ?1 AND substr(path, 1, length(?2)) = ?2";
    let mut statement = change.tx.prepare_cached(sql)?;
    let rows = statement.query_map(params![key::folded(name), format!("/{folder}/")], |row| {
        Ok(Candidate { memory: row.get(0)?, path: row.get(1)?, title: row.get(2)?, permalink: row.get(3)? })
    })?;
    let mut candidates: Vec<Candidate> = rows.collect::<Result<_, _>>()?;
    candidates.sort_by_key(|candidate| candidate.rank(from, name));
    Ok(candidates.first().map(|candidate| candidate.memory))
}

struct Candidate {
    memory: MemoryId,
    path: String,
    title: String,
    permalink: String,
}

impl Candidate {
    /// The lower the likelier: how exactly it is named, then how near it lies, then how short its path is.
    fn rank(&self, from: &FilePath, name: &str) -> (usize, usize, usize, String) {
        let inside = self.path.splitn(3, '/').nth(2).unwrap_or_default();
        let exactness = [&*self.permalink, &*self.title, inside].iter().position(|known| *known == name).unwrap_or(3);
        let mut shared = from.as_str().split('/').zip(self.path.split('/'));
        let common = shared.by_ref().take_while(|(one, other)| one == other).count();
        (exactness, usize::MAX - common, self.path.len(), self.path.clone())
    }
}

/// A file that is not there any more is nobody's target, and has no names; what named it is looked for elsewhere.
pub(super) fn forget(change: &Change<'_>, memory: MemoryId) -> Result<(), StoreError> {
    forget_names(change, memory)?;
    let sql = "SELECT DISTINCT key FROM relations WHERE target = ?1";
    let keys: Vec<String> = {
        let mut statement = change.tx.prepare_cached(sql)?;
        statement.query_map([memory], |row| row.get(0))?.collect::<Result<_, _>>()?
    };
    change.tx.prepare_cached("DELETE FROM relations WHERE source = ?1")?.execute([memory])?;
    change.tx.prepare_cached("UPDATE relations SET target = NULL WHERE target = ?1")?.execute([memory])?;
    keys.iter().try_for_each(|key| find_targets(change, key))
}
