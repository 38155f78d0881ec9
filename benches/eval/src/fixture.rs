//! Our own notes and questions: `queries.toml`, with `corpus/*.jsonl` beside it.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::metrics::{Asked, Report, Tally};
use crate::ranker::Asker;
use crate::{EvalConfig, EvalError, Leg, Scratch, Vectors, read};
use tessera_engine::domain::{MemoryRef, MemoryUuid, RecallRequest, Scope, ShortId, Timestamp};
use tessera_engine::score::Weights;
use tessera_engine::store::{ImportAs, Store, StoreError};

/// The time of the questions.
const ASKED_AT: &str = "2026-11-16T09:00:00Z";

/// Notes and questions, as text.
#[derive(Debug, Clone, Default)]
pub struct Fixture {
    /// Import lines.
    pub corpus: String,
    /// Questions.
    pub queries: Vec<FixtureQuery>,
}

/// A question of a fixture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FixtureQuery {
    /// The question.
    pub text: String,
    /// Why it is difficult.
    #[serde(default)]
    pub kind: String,
    /// The keys of the notes that answer the question; empty if no note does.
    pub gold: Vec<String>,
    /// The current project.
    #[serde(default)]
    pub scope: Option<Scope>,
}

#[derive(Debug, Deserialize)]
struct QueryFile {
    query: Vec<FixtureQuery>,
}

/// A [`Report`] over the answerable questions, and counts of the others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct QueryReport {
    /// Over the answerable questions.
    #[serde(flatten)]
    pub report: Report,
    /// Questions that no note answers.
    pub unrelated: u32,
    /// Of these, without a result.
    pub silent: u32,
}

impl Fixture {
    /// Reads `queries.toml` at `path`, and the corpus beside it.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or parsed.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let Self { corpus, .. } = Self::read_corpus(path)?;
        Self::parse(corpus, &read(path)?).map_err(|problem| EvalError::Format { path: path.to_path_buf(), problem })
    }

    /// Reads the corpus in the directory of the file `path`, but not its questions.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn read_corpus(path: &Path) -> Result<Self, EvalError> {
        let dir = path.parent().unwrap_or(Path::new(".")).join("corpus");
        let failed = |source| EvalError::File { path: dir.clone(), source };
        let entries = std::fs::read_dir(&dir).map_err(failed)?;
        let mut files: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        let corpus = files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?.concat();
        Ok(Self { corpus, queries: Vec::new() })
    }

    /// Combines corpus lines and the text of a `queries.toml`.
    ///
    /// # Errors
    /// Returns an error if the text cannot be parsed.
    pub fn parse(corpus: String, queries: &str) -> Result<Self, String> {
        let file: QueryFile = toml_edit::de::from_str(queries).map_err(|error| error.to_string())?;
        Ok(Self { corpus, queries: file.query })
    }

    /// Returns a temporary store with the corpus. The store's clock shows the time of the questions. The memories have
    /// no embeddings.
    ///
    /// # Errors
    /// Returns an error if a line is rejected, or the store fails.
    pub fn load(&self, weights: &Weights) -> Result<Scratch, EvalError> {
        self.load_with(weights, &Vectors { leg: Leg::Off, cache: None })
    }

    /// The same with embeddings.
    ///
    /// # Errors
    /// Returns an error if a line is rejected, or the store fails.
    pub fn load_with(&self, weights: &Weights, vectors: &Vectors) -> Result<Scratch, EvalError> {
        let now: Timestamp = ASKED_AT.parse().map_err(StoreError::from)?;
        let mut scratch = Scratch::new(now, weights)?;
        let imported = scratch.store.import(&mut Cursor::new(self.corpus.as_bytes()), ImportAs::Own, |_| ())?;
        if let Some((line, problem)) = imported.rejected.first() {
            return Err(StoreError::Line { line: *line, problem: problem.clone() }.into());
        }
        vectors.give(&mut scratch.store)?;
        scratch.store.rebuild_snapshot()?;
        Ok(scratch)
    }

    /// Asks every question once for each token budget.
    ///
    /// # Errors
    /// Returns an error if the corpus cannot be loaded, or lacks a note that answers a question.
    pub fn evaluate(&self, config: &EvalConfig) -> Result<QueryReport, EvalError> {
        let mut scratch = self.load_with(&config.store_weights(), &config.vectors)?;
        let store = &mut scratch.store;
        let mut short_ids = BTreeMap::new();
        for key in self.queries.iter().flat_map(|query| &query.gold) {
            short_id_of(store, key, &mut short_ids)?;
        }
        let mut asker = Asker::new(store, config.ranker)?;
        let mut tally = Tally::default();
        let (mut unrelated, mut silent) = (0, 0);
        for query in &self.queries {
            let request = RecallRequest { scope: query.scope.clone(), ..RecallRequest::new(query.text.clone()) };
            if query.gold.is_empty() {
                unrelated += 1;
                silent += u32::from(asker.order(&request)?.is_empty());
                continue;
            }
            let gold = query.gold.iter().filter_map(|key| short_ids.get(key).copied()).collect();
            tally.ask(&mut asker, &Asked { request, gold, category: query.kind.clone() }, config)?;
        }
        Ok(QueryReport { report: tally.finish(), unrelated, silent })
    }
}

/// The ID of the note with a key.
pub(crate) fn short_id_of(
    store: &Store,
    key: &str,
    known: &mut BTreeMap<String, ShortId>,
) -> Result<ShortId, EvalError> {
    if let Some(short_id) = known.get(key) {
        return Ok(*short_id);
    }
    let reference = MemoryRef::Id(MemoryUuid::from_key(key));
    let short_id = store.get(reference)?.ok_or(StoreError::NotFound(reference))?.short_id;
    known.insert(key.to_owned(), short_id);
    Ok(short_id)
}
