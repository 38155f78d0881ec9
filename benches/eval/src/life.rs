//! Asks questions about notes that change. Each set has its own store; the notes are stored in the order of time, and
//! nothing is said about what replaces what.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use tessera_engine::domain::{Draft, RecallRequest, ShortId, Timestamp, TokenBudget};
use tessera_engine::recall::Features;
use tessera_engine::score::Weights;
use tessera_engine::store::StoreError;

use crate::filing::Filing;
use crate::ranker::Asker;
use crate::worlds::{World, WorldQuestion};
use crate::{EvalError, Ranker, Scratch};

/// The reply to a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LifeAnswer {
    /// The question.
    pub q: String,
    /// What makes it difficult.
    pub kind: String,
    /// The notes that answer it.
    pub gold: Vec<String>,
    /// Notes that are no longer true.
    pub stale: Vec<String>,
    /// The notes in the reply, best first.
    pub shown: Vec<String>,
    /// Those of them that the reply marks as older.
    pub marked: Vec<String>,
    /// True if no row of the reply is a confident match.
    pub is_unsure: bool,
    /// The tokens of the reply.
    pub tokens: u32,
}

/// The figures of a group of questions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct LifeTally {
    /// The questions with an answer.
    pub asked: u32,
    /// Those whose reply begins with a note that answers them.
    pub first: u32,
    /// Those whose reply contains such a note.
    pub shown: u32,
    /// Those with an empty reply.
    pub silent: u32,
    /// Those for which a note exists that is no longer true.
    pub with_stale: u32,
    /// Those of them whose reply has such a note before each note that answers.
    pub stale_first: u32,
    /// Those of them whose reply has such a note without a mark.
    pub stale_unmarked: u32,
    /// Rows of the replies, and those of them that answer.
    pub rows: u32,
    /// Rows that answer.
    pub wanted: u32,
    /// The sum of the reciprocal ranks of the first note that answers.
    pub reciprocal: f64,
    /// The tokens of the replies.
    pub tokens: u32,
    /// The sum of the shares of the answer that each reply contains.
    pub complete: f64,
    /// The replies with at least two notes of the answer, and the sum of the shares of their pairs in the right order.
    pub ordered: u32,
    /// The sum of these shares.
    pub order: f64,
    /// The questions without an answer.
    pub unanswerable: u32,
    /// Those with an empty reply.
    pub quiet: u32,
    /// Those without a confident row.
    pub unsure: u32,
    /// The questions with an answer whose reply has no confident row.
    pub unsure_answers: u32,
}

/// A store with the notes of a set.
struct LifeStore {
    scratch: Scratch,
    /// The name of each memory's note.
    names: HashMap<ShortId, String>,
    filing: Filing,
}

impl LifeStore {
    fn new(world: &World, now: Timestamp, weights: &Weights) -> Result<Self, EvalError> {
        let mut scratch = Scratch::new(now, weights)?;
        let (mut names, mut filing) = (HashMap::new(), Filing::default());
        for note in &world.notes {
            let draft = Draft { scope: note.scope()?, created: Some(note.time()?), ..Draft::new(note.text.clone()) };
            let stored = scratch.store.remember(draft)?;
            filing.add(note, &stored.memory)?;
            names.entry(stored.memory.short_id).or_insert_with(|| note.id.clone());
            scratch.store.embed_newest(|| true)?;
        }
        Ok(Self { scratch, names, filing })
    }

    fn rated(&mut self, question: &WorldQuestion) -> Result<Vec<RatedRow>, EvalError> {
        let request =
            RecallRequest { explain: true, scope: question.scope()?, ..RecallRequest::new(question.q.clone()) };
        let ranking = self.scratch.store.rank(&request)?;
        let rows = ranking.rated().iter();
        let is_wanted = |id: &ShortId| self.names.get(id).is_some_and(|name| question.gold.contains(name));
        Ok(rows.map(|(id, features)| RatedRow { features: *features, is_wanted: is_wanted(id) }).collect())
    }

    fn ask(&mut self, question: &WorldQuestion, budget: TokenBudget, ranker: Ranker) -> Result<LifeAnswer, EvalError> {
        let request = RecallRequest { budget, scope: question.scope()?, ..RecallRequest::new(question.q.clone()) };
        let reply = Asker::new(&mut self.scratch.store, ranker)?.recall_json(&request)?;
        let details = reply.details.iter().map(|detail| &detail.ranked);
        let rows: Vec<_> = details.chain(reply.index.iter().map(|entry| &entry.ranked)).collect();
        let name = |id: &ShortId| self.names.get(id).cloned().unwrap_or_default();
        let marked = rows.iter().filter(|ranked| ranked.newer.is_some());
        Ok(LifeAnswer {
            q: question.q.clone(),
            kind: question.kind.clone(),
            gold: question.gold.clone(),
            stale: question.stale.clone(),
            shown: rows.iter().map(|ranked| name(&ranked.short_id)).collect(),
            marked: marked.map(|ranked| name(&ranked.short_id)).collect(),
            is_unsure: rows.iter().all(|ranked| ranked.is_weak || ranked.is_unsure),
            tokens: reply.tokens_used,
        })
    }
}

/// Asks the questions of a set. Also returns how well its notes were filed. Rankers other than Tessera's ignore scopes.
///
/// # Errors
/// Returns an error if the set is invalid or the store fails.
pub fn evaluate(
    world: &World,
    now: Timestamp,
    budget: u32,
    (ranker, weights): (Ranker, &Weights),
) -> Result<(Vec<LifeAnswer>, Filing), EvalError> {
    let budget = TokenBudget::try_from(budget).map_err(StoreError::from)?;
    let mut store = LifeStore::new(world, now, weights)?;
    let answers = world.questions.iter().map(|question| store.ask(question, budget, ranker));
    Ok((answers.collect::<Result<_, _>>()?, store.filing))
}

/// A row of a reply before it is cut, for training.
#[derive(Debug, Clone, Copy)]
pub struct RatedRow {
    /// The features for the classifier of relevance.
    pub features: Features,
    /// True if the note answers the question.
    pub is_wanted: bool,
}

/// The rows that recall rates for each question of a set. Some questions have none.
///
/// # Errors
/// Returns an error if the set is invalid or the store fails.
pub fn rated(world: &World, now: Timestamp, weights: &Weights) -> Result<Vec<Vec<RatedRow>>, EvalError> {
    let mut store = LifeStore::new(world, now, weights)?;
    world.questions.iter().map(|question| store.rated(question)).collect()
}

/// The group of a kind of question.
fn group_of(kind: &str) -> &str {
    match kind {
        "update" | "update-chain" | "reverted" | "negated" | "opposite-preference" | "renamed" | "partial" => "update",
        kind if ["time-", "latest", "changed", "order"].iter().any(|start| kind.starts_with(start)) => "time",
        other => other,
    }
}

impl LifeTally {
    /// The figures of each group, and of all questions except those about time.
    pub fn by_group(answers: &[LifeAnswer]) -> BTreeMap<String, Self> {
        let mut groups: BTreeMap<String, Self> = BTreeMap::new();
        for answer in answers {
            let group = group_of(&answer.kind);
            groups.entry(group.to_owned()).or_default().add(answer);
            if group != "time" {
                groups.entry("all but time".to_owned()).or_default().add(answer);
            }
        }
        groups
    }

    fn add(&mut self, answer: &LifeAnswer) {
        if answer.gold.is_empty() {
            self.unanswerable += 1;
            self.quiet += u32::from(answer.shown.is_empty());
            self.unsure += u32::from(answer.is_unsure);
            return;
        }
        let is_gold = |name: &&String| answer.gold.contains(name);
        let best = answer.shown.iter().position(|name| answer.gold.contains(name));
        self.asked += 1;
        self.first += u32::from(best == Some(0));
        self.reciprocal += best.map_or(0.0, |at| 1.0 / (at + 1) as f64);
        self.tokens += answer.tokens;
        self.shown += u32::from(best.is_some());
        self.silent += u32::from(answer.shown.is_empty());
        self.unsure_answers += u32::from(answer.is_unsure);
        self.rows += u32::try_from(answer.shown.len()).unwrap_or(u32::MAX);
        self.wanted += u32::try_from(answer.shown.iter().filter(is_gold).count()).unwrap_or(u32::MAX);
        let found: BTreeSet<&String> = answer.shown.iter().filter(is_gold).collect();
        self.complete += found.len() as f64 / answer.gold.len() as f64;
        if !answer.stale.is_empty() {
            let before = answer.shown.iter().take(best.unwrap_or(answer.shown.len()));
            let is_unmarked = |name: &String| answer.stale.contains(name) && !answer.marked.contains(name);
            self.with_stale += 1;
            self.stale_first += u32::from(before.into_iter().any(|name| answer.stale.contains(name)));
            self.stale_unmarked += u32::from(answer.shown.iter().any(is_unmarked));
        }
        let places: Vec<usize> =
            answer.gold.iter().filter_map(|gold| answer.shown.iter().position(|name| name == gold)).collect();
        let pairs: Vec<bool> = (0..places.len())
            .flat_map(|at| places.iter().skip(at + 1).map(move |next| (at, next)))
            .map(|(at, next)| places.get(at) < Some(next))
            .collect();
        if !pairs.is_empty() {
            self.ordered += 1;
            self.order += pairs.iter().filter(|is_right| **is_right).count() as f64 / pairs.len() as f64;
        }
    }
}
