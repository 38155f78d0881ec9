//! basic-memory: folders of Markdown. basic-memory's database is only a cache of the files, so it is not read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};
use tessera_markdown::resolve::{Asked, Candidate, Names, Purpose, Resolution};
use tessera_markdown::{Bound, Note, Part, PartKind, parse};

use crate::draft::{Draft, Link, Skipped, Told};
use crate::error::OlderError;
use crate::json::skipped;
use crate::source::RowSink;
use crate::system;

/// The maximum size of a note.
const MOST_BYTES: u64 = 1 << 20;
/// Folders within folders.
const MOST_DEPTH: usize = 32;
/// Folders that basic-memory itself skips, and the reason.
const LEFT_OUT_AS_THERE: &str = "is skipped, as in basic-memory";
const LEFT_OUT: [&str; 7] = ["node_modules", "__pycache__", "venv", "env", "build", "dist", "target"];

/// Folders of notes, read.
#[derive(Debug)]
pub(crate) struct Vault {
    notes: Vec<File>,
    skipped: Vec<Skipped>,
}

/// A note.
#[derive(Debug)]
struct File {
    /// The folder's name, followed by the path inside the folder.
    path: String,
    /// A path that is unique across all folders, because two folders may contain files of the same name.
    place: String,
    text: String,
    note: Note,
    changed: Option<Timestamp>,
}

/// True for the directory with basic-memory's settings.
pub(crate) fn projects(dir: &Path, home: &Path) -> Option<Vec<PathBuf>> {
    let settings = dir.join("config.json");
    settings.metadata().ok().filter(|found| found.is_file() && found.len() <= MOST_BYTES)?;
    let text = fs::read_to_string(settings).ok()?;
    let config: Value = serde_json::from_str(&text).ok()?;
    let projects = config.get("projects")?.as_object()?;
    let path = |project: &Value| {
        let path = project.as_str().or_else(|| project.get("path")?.as_str())?;
        Some(Path::new(path).strip_prefix("~").map_or_else(|_| PathBuf::from(path), |rest| home.join(rest)))
    };
    Some(projects.values().filter_map(path).collect())
}

/// True if a folder in basic-memory's settings contains a note.
pub(crate) fn holds_note(dir: &Path, home: &Path) -> bool {
    let mut left: Vec<(PathBuf, usize)> = projects(dir, home).into_iter().flatten().map(|folder| (folder, 0)).collect();
    while let Some((dir, depth)) = left.pop() {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_file() && !is_hidden && is_note(&entry.path()) {
                return true;
            }
            if kind.is_dir() && !is_hidden && depth < MOST_DEPTH {
                left.push((entry.path(), depth + 1));
            }
        }
    }
    false
}

fn is_note(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

impl Vault {
    /// Reads the notes of a folder. If the folder contains basic-memory's settings, reads the notes of every project in
    /// them.
    pub(crate) fn open(path: &Path, home: &Path) -> Result<Self, OlderError> {
        let foreign = |problem: &str| OlderError::Foreign { path: path.to_owned(), problem: problem.to_owned() };
        if !path.is_dir() {
            return Err(foreign("is not a folder; pass the folder of notes, or the directory with config.json"));
        }
        let mut vault = Self { notes: Vec::new(), skipped: Vec::new() };
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in projects(path, home).unwrap_or_else(|| vec![path.to_owned()]) {
            match folder.canonicalize() {
                Ok(real) if real.is_dir() && folders.contains(&real) => {}
                Ok(real) if real.is_dir() => folders.push(real),
                _ => vault.skipped.push(skipped(folder.display().to_string(), "is not a folder on this machine")),
            }
        }
        for folder in &folders {
            let name = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
            let others = folders.iter().filter(|other| *other != folder).map(PathBuf::as_path).collect();
            let walk = Walk { place: system::of_place(folder), others };
            vault.walk(&walk, folder, &name, 0);
        }
        if vault.notes.is_empty() && vault.skipped.iter().all(|skipped| skipped.problem == LEFT_OUT_AS_THERE) {
            return Err(foreign("contains no notes: no file name ends in .md"));
        }
        Ok(vault)
    }

    /// Walks a directory in order, without leaving it.
    fn walk(&mut self, walk: &Walk<'_>, dir: &Path, name: &str, depth: usize) {
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) => return self.skipped.push(skipped(name, error.to_string())),
        };
        let mut found = Vec::new();
        for entry in entries {
            match entry {
                Ok(entry) => found.push(entry),
                Err(error) => self.skipped.push(skipped(name, error.to_string())),
            }
        }
        found.sort_by_key(fs::DirEntry::file_name);
        for entry in found {
            let own = entry.file_name().to_string_lossy().into_owned();
            let (path, name) = (entry.path(), format!("{name}/{own}"));
            let kind = match entry.file_type() {
                Ok(kind) => kind,
                Err(error) => {
                    self.skipped.push(skipped(name, error.to_string()));
                    continue;
                }
            };
            if own.starts_with('.') {
                continue;
            }
            if kind.is_dir() && LEFT_OUT.contains(&own.as_str()) {
                self.skipped.push(skipped(name, LEFT_OUT_AS_THERE));
                continue;
            }
            if kind.is_dir() && walk.others.contains(&path.as_path()) {
                // It is read as a separate project.
            } else if kind.is_dir() && depth < MOST_DEPTH {
                self.walk(walk, &path, &name, depth + 1);
            } else if kind.is_dir() {
                self.skipped.push(skipped(name, "is nested too deeply"));
            } else if kind.is_symlink() && path.is_dir() {
                self.skipped.push(skipped(
                    name,
                    "is a symbolic link to a folder, which Tessera does not follow; import that folder itself",
                ));
            } else if is_note(&path) {
                match read(&path, kind.is_file()) {
                    Ok((text, changed)) => {
                        let file = File::of(walk, name, text, changed);
                        if file.note.parts.is_empty() && file.note.relations.is_empty() {
                            self.skipped.push(skipped(file.path, "contains no text and no relation"));
                        } else {
                            self.notes.push(file);
                        }
                    }
                    Err(problem) => self.skipped.push(skipped(name, problem)),
                }
            }
        }
    }

    /// Reports a memory for each section of each note, and the relations.
    pub(crate) fn tell(&self, tell: &mut RowSink<'_>) -> Result<(), rusqlite::Error> {
        let names = Names::of(self.notes.iter().map(File::candidate));
        let told: Vec<Vec<Draft>> = self.notes.iter().map(File::drafts).collect();
        let firsts: BTreeMap<String, &Draft> = self
            .notes
            .iter()
            .zip(&told)
            .filter_map(|(file, drafts)| Some((file.place.to_lowercase(), drafts.first()?)))
            .collect();
        for (file, drafts) in self.notes.iter().zip(&told) {
            let mut drafts = drafts.clone();
            for relation in file.note.edges() {
                let source = relation.part.unwrap_or(0);
                let Some(draft) = drafts.get_mut(source) else { continue };
                let asked = Asked {
                    name: &relation.target.name,
                    project: relation.target.project.as_deref(),
                    from: Some(&file.path),
                    purpose: Purpose::Read,
                };
                let target = match names.resolve(asked) {
                    Resolution::Exact(id) | Resolution::Loose(id) => firsts.get(&id.to_lowercase()),
                    Resolution::Ambiguous(_) | Resolution::Unknown => None,
                };
                match target {
                    Some(target) if target.key != draft.key => {
                        draft.links.push(Link { kind: relation.kind.clone(), to: target.key.clone() });
                    }
                    Some(_) => {}
                    // The name of a missing note becomes a keyword.
                    None => draft.keywords.push(relation.target.name.clone()),
                }
            }
            for draft in drafts {
                tell.told(Told::Row(Box::new(draft)))?;
            }
        }
        for skipped in &self.skipped {
            tell.told(Told::Skipped(skipped.clone()))?;
        }
        Ok(())
    }
}

/// A folder that is read.
struct Walk<'a> {
    /// Its name in keys.
    place: String,
    /// Folders that are read separately, as projects of their own.
    others: Vec<&'a Path>,
}

/// The text of a file, and its modification time.
fn read(path: &Path, is_file: bool) -> Result<(String, Option<Timestamp>), String> {
    if !is_file {
        return Err("is a symbolic link or a special file, which Tessera does not follow".into());
    }
    let found = path.metadata().map_err(|error| error.to_string())?;
    if found.len() > MOST_BYTES {
        return Err(format!("is {} bytes long; notes above {MOST_BYTES} bytes are skipped", found.len()));
    }
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("is not UTF-8 at byte {}", error.utf8_error().valid_up_to()))?;
    Ok((text, found.modified().ok().and_then(|time| Timestamp::try_from(time).ok())))
}

impl File {
    fn of(walk: &Walk<'_>, path: String, text: String, changed: Option<Timestamp>) -> Self {
        let way = path.split_once('/').map_or(path.as_str(), |(_, way)| way);
        let place = format!("{}/{way}", walk.place);
        let stem = Path::new(&path).file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let note = parse(&text, &stem, Bound::default());
        Self { path, place, text, note, changed }
    }

    fn candidate(&self) -> Candidate {
        Candidate {
            id: self.place.clone(),
            permalink: self.note.permalink.clone(),
            title: self.note.title.clone(),
            aliases: self.note.aliases.clone(),
            path: self.path.clone(),
        }
    }

    /// One memory per section; for a note that has only relations, one memory with its title.
    fn drafts(&self) -> Vec<Draft> {
        let name = self.note.permalink.as_deref().unwrap_or(&self.place);
        let mut times = system::Times::default();
        let mut drafts = Vec::new();
        for part in &self.note.parts {
            let text = self.text.get(part.text.clone()).unwrap_or_default();
            let key = times.next(format!("{name}#{}", system::of_text(text, "")));
            drafts.push(self.draft(key, self.content(part, text), Some(part)));
        }
        if drafts.is_empty() {
            drafts.push(self.draft(name.to_owned(), self.note.title.clone(), None));
        }
        drafts
    }

    /// Returns the text of a section with the title of its note before it. Otherwise the section might not name its
    /// subject.
    fn content(&self, part: &Part, text: &str) -> String {
        let title = self.note.title.trim();
        match part.kind {
            _ if title.is_empty() || text.to_lowercase().contains(&title.to_lowercase()) => text.to_owned(),
            PartKind::Observation => format!("{title}: {text}"),
            PartKind::Text => format!("{title}\n\n{text}"),
        }
    }

    fn draft(&self, key: String, content: String, part: Option<&Part>) -> Draft {
        let note = &self.note;
        let mut kept = Map::from_iter([
            ("path".to_owned(), Value::String(self.path.clone())),
            ("title".to_owned(), Value::String(note.title.clone())),
            ("note_type".to_owned(), Value::String(note.kind.clone())),
        ]);
        kept.extend(note.permalink.clone().map(|permalink| ("permalink".to_owned(), Value::String(permalink))));
        if !note.fields.is_empty() {
            kept.insert("frontmatter".to_owned(), note.fields.clone().into_iter().collect());
        }
        let mut tags = note.tags.clone();
        tags.extend(part.into_iter().flat_map(|part| part.tags.clone()).filter(|tag| !note.tags.contains(tag)));
        let (created, updated) = (note.created.or(self.changed), note.modified.or(self.changed));
        let headings = part.map_or_else(Vec::new, |part| part.headings.to_vec());
        Draft {
            key: format!("basic-memory:{key}"),
            name: note.permalink.clone().unwrap_or_else(|| self.path.clone()),
            content,
            category: part.and_then(|part| part.category.clone()),
            tags,
            keywords: headings,
            created,
            updated,
            metadata: Some(kept),
            ..Draft::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::source::Source;
    use crate::system::System;

    fn told(dir: &Path) -> Vec<Draft> {
        let mut drafts = Vec::new();
        let mut see = |told| {
            if let Told::Row(draft) = told {
                drafts.push(*draft);
            }
            ControlFlow::Continue(())
        };
        Source::open(System::BasicMemory, dir, dir).unwrap().each(&mut see).unwrap();
        drafts
    }

    #[test]
    fn a_part_keeps_its_key_wherever_it_stands_and_two_of_one_text_have_two() {
        let dir = tempfile::tempdir().unwrap();
        let note = dir.path().join("a.md");
        let front = "---\npermalink: p/a\n---\n\n";
        fs::write(&note, format!("{front}- [fact] one\n- [fact] two\n- [fact] one\n")).unwrap();
        let keys = |drafts: &[Draft]| drafts.iter().map(|draft| draft.key.clone()).collect::<Vec<_>>();
        let before = keys(&told(dir.path()));
        assert_eq!(before.len(), 3);
        assert_ne!(before[0], before[2]);
        fs::rename(&note, dir.path().join("b.md")).unwrap();
        fs::write(dir.path().join("b.md"), format!("{front}# New\n\n- [fact] two\n- [fact] one\n")).unwrap();
        let after = keys(&told(dir.path()));
        assert!(after.contains(&before[0]) && after.contains(&before[1]), "{before:?} {after:?}");
    }

    #[test]
    fn folders_that_the_older_system_leaves_out_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.md"), "- [fact] one\n").unwrap();
        for folder in ["build", ".git"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
            fs::write(dir.path().join(folder).join("b.md"), "- [fact] two\n").unwrap();
        }
        let vault = Vault::open(dir.path(), dir.path()).unwrap();
        let left: Vec<&Skipped> = vault.skipped.iter().collect();
        assert!(matches!(left.as_slice(), [one] if one.at.ends_with("/build")), "{left:?}");
        fs::remove_file(dir.path().join("a.md")).unwrap();
        assert!(matches!(Vault::open(dir.path(), dir.path()), Err(OlderError::Foreign { .. })));
    }

    #[test]
    fn no_key_follows_from_a_credential() {
        let dir = tempfile::tempdir().unwrap();
        let write = |value: &str| {
            fs::write(dir.path().join("a.md"), format!("- [fact] the password is {value} #ops\n")).unwrap();
            told(dir.path())[0].key.clone()
        };
        assert_eq!(write("qX7pL2vN9dRtW4mZ"), write("Zm4WtRd9Nv2Lp7Xq"));
    }

    #[test]
    fn a_note_that_only_names_others_is_there_for_them_and_the_empty_folder_is_said() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("hub.md"), "- part_of [[Leaf]]\n").unwrap();
        fs::write(dir.path().join("Leaf.md"), "A leaf is green.\n").unwrap();
        fs::write(dir.path().join("nothing.md"), "---\ntitle: Nothing\n---\n").unwrap();
        let drafts = told(dir.path());
        assert_eq!(drafts.len(), 2, "a note without text is not imported");
        let hub = drafts.iter().find(|draft| draft.content == "hub").unwrap();
        let leaf = drafts.iter().find(|draft| draft.content.contains("green")).unwrap();
        assert_eq!(hub.links, [Link { kind: "part_of".into(), to: leaf.key.clone() }]);
        let empty = tempfile::tempdir().unwrap();
        assert!(Source::open(System::BasicMemory, empty.path(), empty.path()).is_err());
    }
}
