//! Resolves a name to a note: by ID, permalink, title, alias, path, and finally by normalised spelling.
//!
//! The steps are tried in order. If several notes match, a read uses the note nearest to the note that contains the
//! name. A change fails as ambiguous.

use std::collections::BTreeMap;

use crate::key::folded;
use crate::permalink::without_ending;

/// A note that a name may mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The note's ID: any text, compared without regard to case.
    pub id: String,
    /// Its permalink, with or without the folder's name.
    pub permalink: Option<String>,
    /// Its title.
    pub title: String,
    /// Its aliases.
    pub aliases: Vec<String>,
    /// Its path with the folder's name: `memories/user/preferences.md`. A leading slash is allowed.
    pub path: String,
}

/// A name with its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The name to resolve, from a [`crate::Target`], a person or a model. Surrounding brackets are removed.
    pub name: &'a str,
    /// The required folder.
    pub project: Option<&'a str>,
    /// The path of the note that contains the name.
    pub from: Option<&'a str>,
    /// The purpose.
    pub purpose: Purpose,
}

/// Why a note is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To follow a link or show a note. If several notes match, the nearest one is used.
    Read,
    /// To change, move or delete the note. If several notes match, none is chosen.
    Change,
}

/// The result of resolving a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// The note with exactly this name.
    Exact(String),
    /// The note with a similar spelling.
    Loose(String),
    /// Several notes, sorted by path.
    Ambiguous(Vec<String>),
    /// No note.
    Unknown,
}

/// The steps in order.
const STEPS: [Step; 7] =
    [Step::Id, Step::Permalink, Step::Title, Step::Alias, Step::Path, Step::PathWithoutEnding, Step::Loose];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Id,
    Permalink,
    Title,
    Alias,
    Path,
    PathWithoutEnding,
    Loose,
}

/// Notes by their names.
#[derive(Debug, Default)]
pub struct Names {
    candidates: Vec<Candidate>,
    by_name: BTreeMap<(Step, String), Vec<usize>>,
}

impl Names {
    /// Adds the names of all candidates.
    pub fn of(candidates: impl IntoIterator<Item = Candidate>) -> Self {
        let mut names = Self::default();
        for candidate in candidates {
            names.add(candidate);
        }
        names
    }

    /// Adds the names of one candidate.
    pub fn add(&mut self, mut candidate: Candidate) {
        candidate.path = bare(&candidate.path).into();
        let (folder, rest) = candidate.path.split_once('/').unwrap_or(("", &candidate.path));
        let mut found: Vec<(Step, String)> = vec![
            (Step::Id, candidate.id.to_lowercase()),
            (Step::Title, candidate.title.clone()),
            (Step::Loose, folded(&candidate.title)),
        ];
        for alias in &candidate.aliases {
            found.push((Step::Alias, alias.clone()));
            found.push((Step::Loose, folded(alias)));
        }
        if let Some(permalink) = candidate.permalink.as_deref().map(bare) {
            let inside = permalink.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
            let outside = format!("{folder}/{permalink}");
            for spelled in [Some(permalink), inside, Some(&outside)].into_iter().flatten() {
                found.push((Step::Permalink, spelled.to_owned()));
                found.push((Step::Loose, folded(spelled)));
            }
        }
        for path in [candidate.path.as_str(), rest] {
            found.push((Step::Path, path.to_owned()));
            found.push((Step::PathWithoutEnding, without_ending(path).to_owned()));
            found.push((Step::Loose, folded(without_ending(path))));
        }
        // Links in a vault are file names, in any folder.
        let name = rest.rsplit('/').next().unwrap_or(rest);
        found.push((Step::Loose, folded(without_ending(name))));
        found.push((Step::Loose, folded(name)));
        let at = self.candidates.len();
        for (step, name) in found {
            let known = self.by_name.entry((step, name)).or_default();
            if known.last() != Some(&at) {
                known.push(at);
            }
        }
        self.candidates.push(candidate);
    }

    /// Resolves a name.
    pub fn resolve(&self, asked: Asked<'_>) -> Resolution {
        let name = asked.name.trim();
        let name = name.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")).unwrap_or(name).trim();
        if name.is_empty() {
            return Resolution::Unknown;
        }
        for step in STEPS {
            let mut found: Vec<&Candidate> = Vec::new();
            for spelled in spellings(step, name, asked.from) {
                let known = self.by_name.get(&(step, spelled)).map_or(&[][..], Vec::as_slice);
                let known = known.iter().filter_map(|at| self.candidates.get(*at));
                found.extend(known.filter(|candidate| asked.project.is_none_or(|folder| is_in(candidate, folder))));
                if !found.is_empty() {
                    break;
                }
            }
            if !found.is_empty() {
                return choose(found, step, asked);
            }
        }
        Resolution::Unknown
    }
}

/// The spellings of a name that one step compares. A path is first resolved relative to the folder of the note that
/// contains the path.
fn spellings(step: Step, name: &str, from: Option<&str>) -> Vec<String> {
    match step {
        Step::Id => vec![name.to_lowercase()],
        Step::Title | Step::Alias => vec![name.to_owned()],
        Step::Permalink => vec![bare(name).to_owned()],
        Step::Path | Step::PathWithoutEnding => {
            let beside = from.and_then(|from| joined(parent(bare(from)), name));
            beside.into_iter().chain([bare(name).to_owned()]).collect()
        }
        Step::Loose => vec![folded(bare(name)), folded(without_ending(bare(name)))],
    }
}

fn choose(mut found: Vec<&Candidate>, step: Step, asked: Asked<'_>) -> Resolution {
    found.sort_by(|one, other| one.path.cmp(&other.path).then_with(|| one.id.cmp(&other.id)));
    if found.len() > 1 {
        if asked.purpose == Purpose::Change {
            return Resolution::Ambiguous(found.into_iter().map(|candidate| candidate.id.clone()).collect());
        }
        let from = asked.from.map(bare);
        found.sort_by_key(|candidate| {
            let far = from.map_or(0, |from| distance(parent(from), parent(&candidate.path)));
            (far, candidate.path.matches('/').count(), candidate.path.chars().count())
        });
    }
    match found.first() {
        Some(nearest) if step == Step::Loose => Resolution::Loose(nearest.id.clone()),
        Some(nearest) => Resolution::Exact(nearest.id.clone()),
        None => Resolution::Unknown,
    }
}

/// The distance between two folders: equal, above (one per level), below, or elsewhere.
fn distance(from: &str, to: &str) -> usize {
    const BELOW: usize = 100;
    const ELSEWHERE: usize = 1_000;
    let steps = |path: &str| path.matches('/').count() + usize::from(!path.is_empty());
    let is_above = |above: &str, path: &str| {
        above.is_empty() || path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let (here, there) = (steps(from), steps(to));
    if is_above(to, from) {
        (here - there).min(BELOW - 1)
    } else if is_above(from, to) {
        (BELOW + there - here).min(ELSEWHERE - 1)
    } else {
        ELSEWHERE
    }
}

/// Returns the path without `./` at its beginning and without slashes at either end.
fn bare(path: &str) -> &str {
    path.trim_start_matches("./").trim_matches('/')
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Returns the path relative to a folder; `None` if it leads above the top folder.
fn joined(folder: &str, name: &str) -> Option<String> {
    if name.starts_with('/') {
        return None;
    }
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in name.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            _ => segments.push(segment),
        }
    }
    Some(segments.join("/"))
}

fn is_in(candidate: &Candidate, folder: &str) -> bool {
    candidate.path.split_once('/').is_some_and(|(name, _)| folded(name) == folded(folder))
}
