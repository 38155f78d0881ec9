//! Names of files and their relations. A relation gets its target as soon as the target exists.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Row, params};
use tessera_markdown::resolve::{Asked, Candidate, Names, Purpose, Resolution};
use tessera_markdown::{Note, key, permalink};

use super::folders::{Made, SeenFile};
use crate::domain::{FilePath, Link, LinkKind, Memory, MemoryUuid};
use crate::screen::dropped;
use crate::store::base::transaction::Change;
use crate::store::file::error::StoreError;
use crate::store::rows::codec::{Ask as _, Run as _};

/// The permalink of a file: from its front matter, otherwise from its path, with a number if another file of the folder
/// already has it.
pub(super) fn permalink(
    change: &Change<'_>,
    file: &SeenFile,
    note: &Note,
    memory: MemoryUuid,
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

/// Records the names and relations of a file, in place of earlier ones. Also resolves relations of other files that may
/// refer to this file.
pub(super) fn note(change: &Change<'_>, whole: &Memory, made: &Made) -> Result<(), StoreError> {
    let Some(path) = whole.file.as_ref().map(|file| &file.path) else { return Ok(()) };
    let sql = "SELECT permalink FROM files WHERE memory = ?1";
    let permalink: String = change.tx.one(sql, [whole.id], |row| row.get(0))?;
    let names = keys_of(path, &permalink, made.note.aliases.iter().chain([&made.note.title]));
    let before = keys(change, whole.id)?;
    put_names(change, whole.id, &names)?;
    note_relations(change, whole, path, &made.note)?;
    if before == names { Ok(()) } else { names.iter().try_for_each(|name| find_targets(change, name)) }
}

/// Sets the names of a file, and resolves the relations that contain one of these names.
pub(super) fn rename(change: &Change<'_>, memory: MemoryUuid, names: &[String]) -> Result<(), StoreError> {
    put_names(change, memory, names)?;
    names.iter().try_for_each(|name| find_targets(change, name))
}

fn put_names(change: &Change<'_>, memory: MemoryUuid, names: &[String]) -> Result<(), StoreError> {
    forget_names(change, memory)?;
    let mut statement = change.tx.prepare_cached("INSERT OR IGNORE INTO names VALUES (?1, ?2)")?;
    names.iter().try_for_each(|name| statement.execute(params![name, memory]).map(drop))?;
    Ok(())
}

/// The recorded names of a file, sorted.
pub(super) fn keys(change: &Change<'_>, memory: MemoryUuid) -> Result<Vec<String>, StoreError> {
    let mut statement = change.tx.prepare_cached("SELECT key FROM names WHERE memory = ?1 ORDER BY key")?;
    Ok(statement.query_map([memory], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// The normalised names of a file, sorted. The names include the path relative to each parent directory. Files in that
/// directory may refer to the file by this path.
pub(super) fn keys_of<'a>(path: &FilePath, permalink: &str, said: impl Iterator<Item = &'a String>) -> Vec<String> {
    let inside = path.inside();
    let bare = without_ending(inside);
    let below = inside.match_indices('/').filter_map(|(at, _)| inside.get(at + 1..));
    let mut keys: Vec<String> = [permalink, inside, bare, path.stem()].map(key::folded).to_vec();
    keys.extend(below.flat_map(|rest| [key::folded(rest), key::folded(without_ending(rest))]));
    keys.extend(said.map(|name| key::folded(name)));
    keys.sort();
    keys.dedup();
    keys.retain(|key| !key.is_empty());
    keys
}

pub(super) fn forget_names(change: &Change<'_>, memory: MemoryUuid) -> Result<(), StoreError> {
    change.tx.run("DELETE FROM names WHERE memory = ?1", [memory])?;
    Ok(())
}

fn note_relations(change: &Change<'_>, whole: &Memory, path: &FilePath, note: &Note) -> Result<(), StoreError> {
    let sql = "SELECT type, key, target FROM relations WHERE source = ?1 AND target IS NOT NULL";
    let mut statement = change.tx.prepare_cached(sql)?;
    let known = statement
        .query_map([whole.id], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))?
        .collect::<Result<BTreeMap<(String, String), MemoryUuid>, _>>()?;
    change.tx.run("DELETE FROM relations WHERE source = ?1", [whole.id])?;
    let sql = "INSERT OR IGNORE INTO relations (source, type, name, key, target, context, line)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let mut statement = change.tx.prepare_cached(sql)?;
    for relation in &note.relations {
        let name = match &relation.target.project {
            Some(project) => format!("{project}::{}", relation.target.name),
            None => relation.target.name.clone(),
        };
        let (kind, name) = (dropped(&relation.kind).into_owned(), dropped(&name).into_owned());
        let named = Named::read(change, path, &name)?;
        let target = named.target(change, path, known.get(&(kind.clone(), named.key.clone())).copied())?;
        let context = relation.context.as_deref().map(|context| dropped(context).into_owned());
        statement.execute(params![whole.id, kind, name, named.key, target, context, relation.line])?;
    }
    Ok(())
}

/// The links to memories that a file contains: relations with a known link type and a UUID.
pub(super) fn links(change: &Change<'_>, source: MemoryUuid) -> Result<BTreeSet<Link>, StoreError> {
    let mut statement = change.tx.prepare_cached("SELECT type, name, context FROM relations WHERE source = ?1")?;
    let rows = statement.query_map([source], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut links = BTreeSet::new();
    for row in rows {
        let (kind, name, context): (String, String, Option<String>) = row?;
        let to = context.and_then(|context| context.parse().ok()).or_else(|| name.parse().ok());
        links.extend(LinkKind::kept(&kind).ok().zip(to).map(|(kind, to)| Link { kind, to }));
    }
    Ok(links)
}

/// Resolves the relations with this name that have no target. A relation with this name that already has a target is
/// resolved again, because the new file may be nearer. A renamed target stays.
fn find_targets(change: &Change<'_>, key: &str) -> Result<(), StoreError> {
    let sql =
        "SELECT source, type, name, path, target FROM relations JOIN files ON files.memory = source WHERE key = ?1
               AND (target IS NULL OR EXISTS (SELECT 1 FROM names WHERE names.key = ?1 AND names.memory = target))";
    let mut statement = change.tx.prepare_cached(sql)?;
    let rows =
        statement.query_map([key], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?;
    let waiting: Vec<(MemoryUuid, String, String, String, Option<MemoryUuid>)> = rows.collect::<Result<_, _>>()?;
    for (source, kind, name, path, before) in waiting {
        let path: FilePath = path.parse()?;
        let target = Named::read(change, &path, &name)?.target(change, &path, before)?;
        if target != before {
            let sql = "UPDATE relations SET target = ?4 WHERE source = ?1 AND type = ?2 AND key = ?3";
            change.tx.run(sql, params![source, kind, key, target])?;
        }
    }
    Ok(())
}

/// A parsed target of a relation: the folder, the name in this folder, and the normalised name.
struct Named {
    folder: String,
    name: String,
    key: String,
}

impl Named {
    /// Parses `name` or `folder::name`. Without a folder, the name belongs to the folder of the note itself. If no
    /// folder has this name, `::` is part of the name.
    fn read(change: &Change<'_>, from: &FilePath, said: &str) -> Result<Self, StoreError> {
        let own = || from.folder().to_owned();
        let (folder, name) = match said.split_once("::") {
            Some((folder, name)) => match folder_called(change.tx, folder.trim())? {
                Some(folder) => (folder, name.trim()),
                None => (own(), said),
            },
            None => (own(), said),
        };
        let key = match beside(from, name) {
            Some(path) if name.starts_with('.') => key::folded(without_ending(&path)),
            _ => key::folded(name.trim_matches('/')),
        };
        Ok(Self { folder, name: name.to_owned(), key })
    }

    /// The target file. If several files match, the file nearest to the note. A target that was renamed stays the
    /// target.
    fn target(
        &self,
        change: &Change<'_>,
        from: &FilePath,
        before: Option<MemoryUuid>,
    ) -> Result<Option<MemoryUuid>, StoreError> {
        if let Some(before) = before {
            let sql = "SELECT EXISTS (SELECT 1 FROM names WHERE key = ?1 AND memory = ?2)";
            let has_name: bool = change.tx.one(sql, params![self.key, before], |row| row.get(0))?;
            if !has_name {
                return Ok(Some(before));
            }
        }
        let folders = std::slice::from_ref(&self.folder);
        Ok(match resolved(change.tx, &self.name, folders, Some(from), Purpose::Read)? {
            Resolution::Exact(id) | Resolution::Loose(id) => id.parse().ok(),
            Resolution::Ambiguous(_) | Resolution::Unknown => None,
        }
        .or(before))
    }
}

/// The folder with this name, or the first folder whose project has this name.
fn folder_called(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT name FROM folders WHERE name = ?1 COLLATE NOCASE OR scope = ?1 ORDER BY name <> ?1, name LIMIT 1";
    connection.maybe(sql, [name], |row| row.get(0))
}

/// Resolves a name among the files of these folders, or of all if none is given.
pub(super) fn resolved(
    connection: &Connection,
    name: &str,
    folders: &[String],
    from: Option<&FilePath>,
    purpose: Purpose,
) -> rusqlite::Result<Resolution> {
    let names = Names::of(candidates(connection, name, folders, from)?);
    Ok(names.resolve(Asked { name, project: None, from: from.map(FilePath::as_str), purpose }))
}

/// The files that a name may mean.
fn candidates(
    connection: &Connection,
    name: &str,
    folders: &[String],
    from: Option<&FilePath>,
) -> rusqlite::Result<Vec<Candidate>> {
    let sql = "SELECT files.memory, path, title, permalink FROM names JOIN files ON files.memory = names.memory
               WHERE key = ?1 ORDER BY path";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found: BTreeMap<MemoryUuid, Candidate> = BTreeMap::new();
    let bare = name.trim().trim_start_matches("[[").trim_end_matches("]]").trim();
    for key in keys_for(bare, from) {
        let rows = statement.query_map([&key], candidate)?;
        for row in rows {
            let (memory, mut candidate) = row?;
            let said = [&candidate.title, &candidate.path].map(|text| key::folded(without_ending(text)));
            if !said.iter().any(|said| *said == key || said.ends_with(&format!("/{key}"))) {
                // The exact spelling of other names is not recorded, so they are compared in normalised form.
                candidate.aliases.push(key.clone());
            }
            found.entry(memory).or_insert(candidate);
        }
    }
    if let Ok(id) = bare.parse::<MemoryUuid>() {
        let sql = "SELECT memory, path, title, permalink FROM files WHERE memory = ?1";
        found.extend(connection.maybe(sql, [id], candidate)?);
    }
    let is_in = |candidate: &Candidate| {
        let folder = candidate.path.trim_start_matches('/').split('/').next().unwrap_or_default();
        folders.is_empty() || folders.iter().any(|wanted| wanted == folder)
    };
    Ok(found.into_values().filter(is_in).collect())
}

fn candidate(row: &Row<'_>) -> rusqlite::Result<(MemoryUuid, Candidate)> {
    let id: MemoryUuid = row.get(0)?;
    let (path, title, permalink) = (row.get(1)?, row.get(2)?, Some(row.get(3)?));
    Ok((id, Candidate { id: id.to_string(), permalink, title, aliases: Vec::new(), path }))
}

/// The forms in which a name may be recorded: unchanged, without its extension, without its folder, and relative to the
/// file.
fn keys_for(name: &str, from: Option<&FilePath>) -> Vec<String> {
    let plain = name.trim_start_matches("./").trim_matches('/');
    let mut forms = vec![name.to_owned(), plain.to_owned(), without_ending(plain).to_owned()];
    if let Some((_, inside)) = plain.split_once('/') {
        forms.extend([inside.to_owned(), without_ending(inside).to_owned()]);
    }
    if name.contains('/') {
        forms.extend(from.and_then(|from| beside(from, name)).map(|path| without_ending(&path).to_owned()));
    }
    let mut keys: Vec<String> = forms.iter().map(|form| key::folded(form)).filter(|key| !key.is_empty()).collect();
    keys.sort();
    keys.dedup();
    keys
}

/// Returns the name without its extension, if it seems to have one. The caller tries both.
fn without_ending(name: &str) -> &str {
    let is_ending = |ending: &str| {
        (1..=8).contains(&ending.len())
            && ending.starts_with(|c: char| c.is_ascii_alphabetic())
            && !ending.contains('/')
    };
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && !stem.ends_with('/') && is_ending(ending) => stem,
        _ => name,
    }
}

/// Resolves a name that is relative to a file, and returns the path in the folder; `None` if the path leaves the
/// folder.
fn beside(from: &FilePath, name: &str) -> Option<String> {
    if name.starts_with('/') {
        return None;
    }
    let above = from.inside().rsplit_once('/').map_or("", |(above, _)| above);
    let mut segments: Vec<&str> = above.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in name.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()?),
            _ => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

/// Removes the names of a deleted file, and resolves its relations again.
pub(super) fn forget(change: &Change<'_>, memory: MemoryUuid) -> Result<(), StoreError> {
    forget_names(change, memory)?;
    let sql = "SELECT DISTINCT key FROM relations WHERE target = ?1";
    let keys: Vec<String> = { change.tx.all(sql, [memory], |row| row.get(0))? };
    change.tx.run("DELETE FROM relations WHERE source = ?1", [memory])?;
    change.tx.run("UPDATE relations SET target = NULL WHERE target = ?1", [memory])?;
    keys.iter().try_for_each(|key| find_targets(change, key))
}
