//! Replays prompts through the real hook, and reports the added memories, their relevance, and their cost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{EvalError, Fixture, Vectors};
use serde::{Deserialize, Serialize};
use tessera_engine::domain::{FixedClock, MemoryRef, MemoryUuid};
use tessera_engine::score::Weights;
use tessera_engine::store::{DeliveryFilter, SecretRules};

use tessera_desk::project::{NAME_FILE, claim_of};
use tessera_hooks::{Settings, Surroundings, answer};

/// A prompt with its relevant notes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Prompt {
    kind: String,
    text: String,
    #[serde(default)]
    project: Option<String>,
    /// Keys of the relevant notes; empty if there are none.
    #[serde(default)]
    gold: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct PromptFile {
    prompt: Vec<Prompt>,
}

/// The result of a replay.
#[derive(Debug, Clone, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct ReplayReport {
    /// Prompts.
    pub prompts: u32,
    /// Prompts that got nothing.
    pub silent: u32,
    /// Prompts with a relevant note.
    pub answerable: u32,
    /// Prompts that received a relevant note.
    pub answered: u32,
    /// Notes given.
    pub given: u32,
    /// Added notes that are relevant.
    pub to_the_point: u32,
    /// Added tokens, in the default token profile of hooks.
    pub tokens: u32,
    /// The maximum tokens for one prompt.
    pub most_tokens: u32,
    /// The maximum characters for one prompt.
    pub most_characters: u32,
    /// The prompts that received irrelevant notes: the number of each prompt, counted from 1, with the notes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub beside_the_point: BTreeMap<u32, Vec<String>>,
    /// The numbers of the prompts, counted from 1, that received none of their relevant notes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<u32>,
}

impl ReplayReport {
    /// The share of relevant notes among the added ones; 1 if nothing was added.
    pub fn precision(&self) -> f64 {
        if self.given == 0 { 1.0 } else { f64::from(self.to_the_point) / f64::from(self.given) }
    }

    fn add(&mut self, other: &Self) {
        self.prompts += other.prompts;
        self.silent += other.silent;
        self.answerable += other.answerable;
        self.answered += other.answered;
        self.given += other.given;
        self.to_the_point += other.to_the_point;
        self.tokens += other.tokens;
        self.most_tokens = self.most_tokens.max(other.most_tokens);
        self.most_characters = self.most_characters.max(other.most_characters);
        self.beside_the_point.extend(other.beside_the_point.clone());
        self.missed.extend(&other.missed);
    }
}

/// Replays the prompts of a file, each in its own session, with the notes of the directory `corpus` next to the file.
/// Returns a report per kind. If semantic search is off, the memories get no embeddings.
///
/// # Errors
/// Returns an error if a file cannot be read or parsed.
pub fn replay(path: &Path, vectors: &Vectors) -> Result<BTreeMap<String, ReplayReport>, EvalError> {
    let format = |problem: String| EvalError::Format { path: path.to_path_buf(), problem };
    let text = std::fs::read_to_string(path).map_err(|source| EvalError::File { path: path.to_path_buf(), source })?;
    let file: PromptFile = toml_edit::de::from_str(&text).map_err(|error| format(error.to_string()))?;
    let mut scratch = Fixture::read_corpus(path)?.load_with(&Weights::default(), vectors)?;
    let projects = scratch.path().join("projects");
    let mut surroundings = Surroundings {
        secrets: SecretRules::default(),
        home: scratch.store.home().clone(),
        clock: Arc::new(FixedClock(scratch.store.now())),
        settings: Settings::default(),
        unknown_settings: Vec::new(),
        project_dir: None,
        older: tessera_desk::older::Places::default(),
        user_home: None,
        program: PathBuf::new(),
        claude: None,
        search_path: None,
        ollama: String::new(),
    };
    let mut reports: BTreeMap<String, ReplayReport> = BTreeMap::new();
    for (number, prompt) in (1..).zip(&file.prompt) {
        let dir = project_dir(&projects, prompt.project.as_deref()).map_err(|e| format(e.to_string()))?;
        let claim = claim_of(&dir, None);
        scratch.store.trust_place(&claim.place, &claim.scope)?;
        surroundings.project_dir = Some(dir);
        let session = format!("replay-{number}");
        let payload =
            serde_json::json!({ "hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt.text });
        answer(payload.to_string().as_bytes(), &surroundings)
            .map_err(|error| format(format!("prompt {number}: {error}")))?;
        let one = judge(&scratch.store, number, prompt, &session)?;
        reports.entry(prompt.kind.clone()).or_default().add(&one);
    }
    Ok(reports)
}

/// All kinds together.
pub fn total(reports: &BTreeMap<String, ReplayReport>) -> ReplayReport {
    let mut total = ReplayReport::default();
    reports.values().for_each(|report| total.add(report));
    total
}

fn project_dir(projects: &Path, name: Option<&str>) -> std::io::Result<PathBuf> {
    let dir = projects.join(name.unwrap_or("elsewhere"));
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join(NAME_FILE), format!("project = {:?}\n", name.unwrap_or("elsewhere")))?;
    Ok(dir)
}

fn judge(
    store: &tessera_engine::Store,
    number: u32,
    prompt: &Prompt,
    session: &str,
) -> Result<ReplayReport, EvalError> {
    let filter = DeliveryFilter { session: Some(session.to_owned()), ..DeliveryFilter::default() };
    let deliveries = store.deliveries(&filter)?;
    let gold: BTreeSet<MemoryUuid> = prompt.gold.iter().map(|key| MemoryUuid::from_key(key)).collect();
    let mut report = ReplayReport { prompts: 1, answerable: u32::from(!gold.is_empty()), ..ReplayReport::default() };
    let mut beside = Vec::new();
    for delivery in &deliveries {
        report.tokens += delivery.tokens;
        report.most_tokens = report.most_tokens.max(delivery.tokens);
        report.most_characters = report.most_characters.max(delivery.characters);
        for given in &delivery.given {
            report.given += 1;
            let memory = store.get(MemoryRef::ShortId(given.short_id))?;
            match memory {
                Some(memory) if gold.contains(&memory.id) => report.to_the_point += 1,
                Some(memory) => beside.push(format!("{} {}", memory.short_id, memory.summary)),
                None => {}
            }
        }
    }
    report.silent = u32::from(report.given == 0);
    report.answered = u32::from(report.to_the_point > 0);
    if report.answerable > report.answered {
        report.missed.push(number);
    }
    if !beside.is_empty() {
        report.beside_the_point.insert(number, beside);
    }
    Ok(report)
}
