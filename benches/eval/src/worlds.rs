//! Labelled sets of notes that change ("worlds"): one person or team with several projects. Each note names the older
//! notes that it replaces, amends or repeats, and those that only look alike.

use std::path::Path;

use serde::Deserialize;
use tessera_engine::domain::{Scope, Timestamp};

use crate::{EvalError, read};

/// One set.
#[derive(Debug, Clone, PartialEq)]
pub struct World {
    /// Its name: the author and a number.
    pub name: String,
    /// The notes, in the order in which they were written.
    pub notes: Vec<WorldNote>,
    /// The questions, asked after the last note.
    pub questions: Vec<WorldQuestion>,
}

/// A note.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct WorldNote {
    /// Its name in the set.
    pub id: String,
    /// When it was written: `2026-06-02T09:12`.
    #[serde(alias = "created")]
    pub at: String,
    /// The project in which it was written; `None` outside of all projects.
    pub project: Option<String>,
    /// The text.
    pub text: String,
    /// The category that a careful person would choose.
    pub category: String,
    /// Where it counts: `project` or `global`.
    pub scope: String,
    /// Older notes that are no longer true.
    #[serde(default, alias = "supersedes")]
    pub replaces: Vec<String>,
    /// Older notes that this note changes in part.
    #[serde(default)]
    pub amends: Vec<String>,
    /// Older notes that say the same.
    #[serde(default)]
    pub same_as: Vec<String>,
    /// Older notes that this note seems to replace, but does not.
    #[serde(default)]
    pub lookalike_of: Vec<String>,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct WorldQuestion {
    /// The question.
    pub q: String,
    /// The project in which it is asked.
    pub project: Option<String>,
    /// What makes it difficult.
    pub kind: String,
    /// The notes that answer it, best first; empty if no note does.
    pub gold: Vec<String>,
    /// Notes that must not be presented as true.
    #[serde(default)]
    pub stale: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Header { world: String },
    Note(WorldNote),
    Question(WorldQuestion),
}

impl World {
    /// Reads a file of JSON lines: a header, the notes, and the questions.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or a line has another form.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let format = |problem: String| EvalError::Format { path: path.to_path_buf(), problem };
        let mut world = Self { name: String::new(), notes: Vec::new(), questions: Vec::new() };
        for (number, line) in (1..).zip(read(path)?.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            match serde_json::from_str(line).map_err(|error| format(format!("line {number}: {error}")))? {
                Line::Header { world: name } => world.name = name,
                Line::Note(note) => world.notes.push(note),
                Line::Question(question) => world.questions.push(question),
            }
        }
        Ok(world)
    }

    /// Reads a file with several sets, or with one set as JSON lines.
    ///
    /// # Errors
    /// Returns the same errors as [`World::read`].
    pub fn read_file(path: &Path) -> Result<Vec<Self>, EvalError> {
        #[derive(Deserialize)]
        struct Whole {
            sets: Vec<Set>,
        }
        #[derive(Deserialize)]
        struct Set {
            #[serde(rename = "set")]
            number: u32,
            notes: Vec<WorldNote>,
            questions: Vec<WorldQuestion>,
        }
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            return Ok(vec![Self::read(path)?]);
        }
        let format = |problem: String| EvalError::Format { path: path.to_path_buf(), problem };
        let whole: Whole = serde_json::from_str(&read(path)?).map_err(|error| format(error.to_string()))?;
        let world = |Set { number, mut notes, questions }: Set| {
            notes.sort_by(|one, other| one.at.cmp(&other.at));
            Self { name: format!("life{number}"), notes, questions }
        };
        Ok(whole.sets.into_iter().map(world).collect())
    }

    /// Reads all sets of a directory, in the order of their names.
    ///
    /// # Errors
    /// Returns the same errors as [`World::read`].
    pub fn read_all(dir: &Path) -> Result<Vec<Self>, EvalError> {
        let file = |source| EvalError::File { path: dir.to_path_buf(), source };
        let mut paths = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(file)? {
            paths.push(entry.map_err(file)?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }
}

impl WorldQuestion {
    /// The scope in which the question is asked.
    ///
    /// # Errors
    /// Returns an error if the project's name is not a valid scope.
    pub fn scope(&self) -> Result<Option<Scope>, EvalError> {
        let invalid = |name: &str| format!("`{name}` is not a valid scope");
        let scope = self.project.as_deref().map(|name| {
            name.parse().map_err(|_| EvalError::Format { path: self.q.clone().into(), problem: invalid(name) })
        });
        scope.transpose()
    }
}

impl WorldNote {
    /// The scope in which the note is stored.
    ///
    /// # Errors
    /// Returns an error if the project's name is not a valid scope.
    pub fn scope(&self) -> Result<Scope, EvalError> {
        let name = self.project.as_deref().unwrap_or("global");
        name.parse().map_err(|_| self.invalid(format!("`{name}` is not a valid scope")))
    }

    /// The time of writing.
    ///
    /// # Errors
    /// Returns an error if the time cannot be parsed.
    pub fn time(&self) -> Result<Timestamp, EvalError> {
        let whole = if self.at.ends_with('Z') { self.at.clone() } else { format!("{}:00Z", self.at) };
        whole.parse().map_err(|_| self.invalid(format!("`{}` is not a valid time", self.at)))
    }

    /// The older notes that this note updates.
    pub fn updates(&self) -> impl Iterator<Item = &String> {
        self.replaces.iter().chain(&self.amends)
    }

    fn invalid(&self, problem: String) -> EvalError {
        EvalError::Format { path: self.id.clone().into(), problem }
    }
}
