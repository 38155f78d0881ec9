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
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
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
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, schemars::JsonSchema)]
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

/// A store with the notes of one set, or of several sets.
struct LifeStore<'a> {
    scratch: Scratch,
    /// The set and the name of each memory's note.
    names: HashMap<ShortId, (&'a World, &'a str)>,
    filing: Filing,
}

impl<'a> LifeStore<'a> {
    fn new(worlds: &'a [World], now: Timestamp, weights: &Weights) -> Result<Self, EvalError> {
        let mut scratch = Scratch::new(now, weights)?;
        let (mut names, mut filing) = (HashMap::new(), Filing::default());
        let mut notes = Vec::new();
        for world in worlds {
            for note in &world.notes {
                notes.push((note.time()?, world, note));
            }
        }
        notes.sort_by_key(|(time, ..)| *time);
        for (time, world, note) in notes {
            let draft = Draft { scope: note.scope()?, created: Some(time), ..Draft::new(note.text.clone()) };
            let stored = scratch.store.remember(draft)?;
            filing.add(note, &stored.memory)?;
            names.entry(stored.memory.short_id).or_insert((world, note.id.as_str()));
            scratch.store.embed_newest(|| true)?;
        }
        Ok(Self { scratch, names, filing })
    }

    fn rated(&mut self, world: &World, question: &WorldQuestion) -> Result<Vec<RatedRow>, EvalError> {
        let request =
            RecallRequest { explain: true, scope: question.scope()?, ..RecallRequest::new(question.q.clone()) };
        let ranking = self.scratch.store.rank(&request)?;
        let row = |(id, features): &(ShortId, Features)| {
            let (of, name) = self.names.get(id)?;
            let is_wanted = of.name == world.name && question.gold.iter().any(|gold| gold == name);
            Some(RatedRow { asked_of: world.name.clone(), from: of.name.clone(), features: *features, is_wanted })
        };
        Ok(ranking.rated().iter().filter_map(row).collect())
    }

    fn ask(
        &mut self,
        world: &World,
        question: &WorldQuestion,
        budget: TokenBudget,
        ranker: Ranker,
    ) -> Result<LifeAnswer, EvalError> {
        let request = RecallRequest { budget, scope: question.scope()?, ..RecallRequest::new(question.q.clone()) };
        let reply = Asker::new(&mut self.scratch.store, ranker)?.recall_json(&request)?;
        let details = reply.details.iter().map(|detail| &detail.ranked);
        let rows: Vec<_> = details.chain(reply.index.iter().map(|entry| &entry.ranked)).collect();
        let name = |id: &ShortId| match self.names.get(id) {
            Some((of, name)) if of.name == world.name => (*name).to_owned(),
            Some((of, name)) => format!("{}/{name}", of.name),
            None => String::new(),
        };
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
    let mut store = LifeStore::new(std::slice::from_ref(world), now, weights)?;
    let answers = world.questions.iter().map(|question| store.ask(world, question, budget, ranker));
    Ok((answers.collect::<Result<_, _>>()?, store.filing))
}

/// Prepares sets for one store. Every other set keeps its projects, under names of their own. The notes of the others
/// become global, and their questions are asked outside of projects.
fn together(worlds: &[&World]) -> Vec<World> {
    let keeps = |at: usize| at.is_multiple_of(2);
    let prepared = worlds.iter().enumerate().map(|(at, world)| {
        let mut world = World::clone(world);
        let name = |project: &str| keeps(at).then(|| format!("{}-{project}", world.name));
        let projects = world.notes.iter_mut().map(|note| &mut note.project);
        for project in projects.chain(world.questions.iter_mut().map(|question| &mut question.project)) {
            *project = project.as_deref().and_then(name);
        }
        world
    });
    prepared.collect()
}

/// Asks the questions of some sets in a store with the notes of all sets.
///
/// # Errors
/// Returns an error if a set is invalid or the store fails.
pub fn evaluate_together(
    worlds: &[&World],
    is_asked: impl Fn(&World) -> bool,
    now: Timestamp,
    budget: u32,
    weights: &Weights,
) -> Result<Vec<LifeAnswer>, EvalError> {
    let budget = TokenBudget::try_from(budget).map_err(StoreError::from)?;
    let worlds = together(worlds);
    let mut store = LifeStore::new(&worlds, now, weights)?;
    let mut answers = Vec::new();
    for world in worlds.iter().filter(|world| is_asked(world)) {
        for question in &world.questions {
            answers.push(store.ask(world, question, budget, Ranker::Tessera)?);
        }
    }
    Ok(answers)
}

/// A row of a reply before it is cut, for training.
#[derive(Debug, Clone)]
pub struct RatedRow {
    /// The set of the question.
    pub asked_of: String,
    /// The set of the note.
    pub from: String,
    /// The features for the classifier of relevance.
    pub features: Features,
    /// True if the note answers the question.
    pub is_wanted: bool,
}

/// The rows that recall rates for the questions of some sets, in a store with the notes of all sets.
///
/// # Errors
/// Returns an error if a set is invalid or the store fails.
pub fn rated(
    worlds: &[&World],
    is_asked: impl Fn(&World) -> bool,
    now: Timestamp,
    weights: &Weights,
) -> Result<Vec<RatedRow>, EvalError> {
    let worlds = if let [world] = worlds { vec![World::clone(world)] } else { together(worlds) };
    let mut store = LifeStore::new(&worlds, now, weights)?;
    let mut rows = Vec::new();
    for world in worlds.iter().filter(|world| is_asked(world)) {
        for question in &world.questions {
            rows.extend(store.rated(world, question)?);
        }
    }
    Ok(rows)
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
