//! Notes, natural questions and prompts in one JSON file. Each set has its own store, and all questions have the same
//! token budget. Each reply gets a readable verdict.

mod tally;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tessera_engine::domain::{FixedClock, RecallRequest, ShortId, Timestamp, TokenBudget};
use tessera_engine::store::{ImportAs, SecretRules, StoreError};
use tessera_hooks::{Settings, Surroundings, answer};

pub use tally::{PromptTally, QuestionReport, Verdict, Verdicts};

use crate::ranker::{Asker, Ranker};
use crate::{EvalConfig, EvalError, Scratch, read};

/// The time at which all questions are asked, and the hour of the day at which every note was written.
const ASKED_AT: &str = "2026-11-21T12:00:00Z";
const WRITTEN_AT: &str = "T10:00:00Z";
/// The number of characters that identify a note in the text that a hook adds to a prompt.
const BEGINNING: usize = 60;

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct QuestionFile {
    #[serde(default)]
    notes: Vec<Note>,
    #[serde(default)]
    questions: Vec<Question>,
    #[serde(default)]
    prompts: Vec<Prompt>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Note {
    #[serde(alias = "key")]
    id: String,
    #[serde(alias = "content")]
    text: String,
    /// A day, or a time on it.
    created: String,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    set: Value,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Question {
    q: String,
    gold: Vec<String>,
    kind: String,
    #[serde(default)]
    set: Value,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Prompt {
    #[serde(rename = "prompt")]
    text: String,
    gold: Vec<String>,
    #[serde(default)]
    set: Value,
}

/// A question with its results.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Answered {
    /// The set of notes.
    pub set: String,
    /// The question.
    pub q: String,
    /// Why it is difficult.
    pub kind: String,
    /// The notes that answer the question; empty if no note does.
    pub gold: Vec<String>,
    /// The verdict on the reply.
    pub verdict: Verdict,
    /// The notes in the reply, full results first.
    pub shown: Vec<String>,
    /// 1/rank of the first note that answers the question; 0 if there is none.
    pub rr: f64,
    /// The share of the notes with the answer that the reply contains; `None` for unanswerable questions.
    pub share: Option<f64>,
    /// Tokens of the reply.
    pub tokens: u32,
}

/// The name of a note's set. Notes without a set form one set.
fn name_of(set: &Value) -> String {
    match set {
        Value::Null => "1".to_owned(),
        Value::String(name) => name.clone(),
        other => other.to_string(),
    }
}

impl QuestionFile {
    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or parsed.
    pub fn read(path: &Path) -> Result<Self, EvalError> {
        let format = |problem: String| EvalError::Format { path: path.to_path_buf(), problem };
        let file: Self = serde_json::from_str(&read(path)?).map_err(|error| format(error.to_string()))?;
        match file.notes.iter().find(|note| note.created.get(..10).is_none()) {
            Some(note) => Err(format(format!("note {}: `created` does not begin with a date", note.id))),
            None => Ok(file),
        }
    }

    /// The names of the sets, in order.
    fn sets(&self) -> Vec<String> {
        let mut sets: Vec<String> = self.notes.iter().map(|note| name_of(&note.set)).collect();
        sets.sort();
        sets.dedup();
        sets
    }

    /// Asks every question with a token budget. If the ranker is Tessera, also sends every prompt through the hook.
    ///
    /// # Errors
    /// Returns an error if a note is rejected, a store fails, or the budget is too small for any reply.
    pub fn evaluate(&self, budget: u32, config: &EvalConfig) -> Result<QuestionReport, EvalError> {
        let mut report = QuestionReport::default();
        for set in self.sets() {
            let mut notes = Notes::store(self.notes.iter().filter(|note| name_of(&note.set) == set), config)?;
            let mut asker = Asker::new(&mut notes.scratch.store, config.ranker)?;
            for question in self.questions.iter().filter(|question| name_of(&question.set) == set) {
                report.add(ask(&mut asker, &notes.names, &set, question, budget)?);
            }
            if config.ranker == Ranker::Tessera {
                let prompts = self.prompts.iter().filter(|prompt| name_of(&prompt.set) == set);
                report.prompts.add(&notes.give(prompts)?);
            }
        }
        Ok(report)
    }
}

fn ask(
    asker: &mut Asker<'_>,
    names: &BTreeMap<ShortId, String>,
    set: &str,
    question: &Question,
    budget: u32,
) -> Result<Answered, EvalError> {
    let budget = TokenBudget::try_from(budget).map_err(StoreError::from)?;
    let reply = asker.recall_json(&RecallRequest { budget, ..RecallRequest::new(&question.q) })?;
    let name = |short_id: ShortId| names.get(&short_id).cloned().unwrap_or_else(|| "?".to_owned());
    let details: Vec<String> = reply.details.iter().map(|detail| name(detail.memory.short_id)).collect();
    let listed = reply.index.iter().map(|entry| name(entry.memory.short_id));
    let shown: Vec<String> = details.iter().cloned().chain(listed).collect();
    let is_gold = |note: &&String| question.gold.contains(note);
    let first = shown.iter().position(|note| is_gold(&note));
    let verdict = match (question.gold.is_empty(), shown.is_empty()) {
        (true, true) => Verdict::Quiet,
        (true, false) => Verdict::Noise,
        (false, true) => Verdict::Silent,
        (false, false) if details.first().is_some_and(|note| is_gold(&note)) => Verdict::Top,
        (false, false) if first.is_some() => Verdict::Shown,
        (false, false) => Verdict::Wrong,
    };
    let found = question.gold.iter().filter(|gold| shown.contains(gold)).count();
    Ok(Answered {
        set: set.to_owned(),
        q: question.q.clone(),
        kind: question.kind.clone(),
        gold: question.gold.clone(),
        verdict,
        rr: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
        share: (!question.gold.is_empty()).then(|| found as f64 / question.gold.len() as f64),
        tokens: reply.tokens_used,
        shown,
    })
}

/// A store with the notes of one set.
struct Notes {
    scratch: Scratch,
    names: BTreeMap<ShortId, String>,
    /// The beginning of each note's text, and the note's name.
    beginnings: Vec<(String, String)>,
}

impl Notes {
    /// Imports notes as the user's own.
    fn store<'a>(notes: impl Iterator<Item = &'a Note> + Clone, config: &EvalConfig) -> Result<Self, EvalError> {
        let now: Timestamp = ASKED_AT.parse().map_err(StoreError::from)?;
        let mut scratch = Scratch::new(now, &config.store_weights())?;
        let lines: String = notes.clone().map(|note| format!("{}\n", line_of(note))).collect();
        let imported = scratch.store.import(&mut Cursor::new(lines.as_bytes()), ImportAs::Own, |_| ())?;
        if let Some((line, problem)) = imported.rejected.first() {
            return Err(StoreError::Line { line: *line, problem: problem.clone() }.into());
        }
        config.vectors.give(&mut scratch.store)?;
        let by_text: BTreeMap<&str, &str> = notes.clone().map(|note| (note.text.trim(), note.id.as_str())).collect();
        let mut names = BTreeMap::new();
        scratch.store.each_embedding(|short_id, text, _| {
            names.extend(by_text.get(text.trim()).map(|id| (short_id, (*id).to_owned())));
        })?;
        let beginning = |note: &Note| (note.text.chars().take(BEGINNING).collect(), note.id.clone());
        Ok(Self { scratch, names, beginnings: notes.map(beginning).collect() })
    }

    /// Sends prompts through the real hook, each in its own session.
    fn give<'a>(&self, prompts: impl Iterator<Item = &'a Prompt>) -> Result<PromptTally, EvalError> {
        let surroundings = Surroundings {
            secrets: SecretRules::default(),
            home: self.scratch.store.home().clone(),
            clock: Arc::new(FixedClock(self.scratch.store.now())),
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
        let mut tally = PromptTally::default();
        for (number, prompt) in prompts.enumerate() {
            let event = json!({
                "session_id": format!("s{number}"), "transcript_path": "/nonexistent", "cwd": self.scratch.path(),
                "hook_event_name": "UserPromptSubmit", "prompt": prompt.text,
            });
            let said = answer(event.to_string().as_bytes(), &surroundings)
                .map_err(|error| EvalError::Prompt { problem: error.to_string() })?;
            let said = said.filter(|said| said != "{}").unwrap_or_default();
            let given: Vec<&String> =
                self.beginnings.iter().filter(|(begins, _)| says(&said, begins)).map(|(_, name)| name).collect();
            let right = given.iter().filter(|name| prompt.gold.contains(**name)).count();
            tally.note(!prompt.gold.is_empty(), !said.is_empty(), given.len(), right);
        }
        Ok(tally)
    }
}

/// True if the JSON form of an object contains a text.
fn says(said: &str, text: &str) -> bool {
    let escaped = Value::from(text).to_string();
    escaped.get(1..escaped.len() - 1).is_some_and(|text| said.contains(text))
}

fn line_of(note: &Note) -> Value {
    let day = note.created.get(..10).unwrap_or(&note.created);
    let created = format!("{day}{WRITTEN_AT}");
    let mut line = json!({ "content": note.text, "created": created, "origin": "user" });
    if let (Some(line), false) = (line.as_object_mut(), note.tags.is_empty()) {
        line.insert("tags".to_owned(), json!(note.tags));
    }
    line
}

#[cfg(test)]
mod tests;
