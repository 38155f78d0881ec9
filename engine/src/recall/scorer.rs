//! The score of one row for one query.

use super::information::{Held, Information};
use super::lookup::{Embedding, Gate, Terms};
use super::query::{DATE, QueryTerm, QueryTerms, Relation};
use super::rank::{Match, Standing};
use super::relevance::Question;
use crate::domain::{Purpose, RecallRequest, Scope, ShortId, Sort, Timestamp};
use crate::index::{DocId, Features, FieldTf, Flags, IndexView, TermPostings};
use crate::score::{Bm25, DateHints, Prior, ScoreParts, Weights, idf};

/// The data that all rows of one query share.
pub(super) struct Scorer<'a> {
    request: &'a RecallRequest,
    weights: &'a Weights,
    now: Timestamp,
    bm25: Bm25,
    dates: DateHints,
    embedding: Option<Embedding<'a>>,
    gains: Vec<Gain>,
    information: Information,
    /// The information of a word that only one row contains.
    rarest: f64,
    /// Where rows belong; `None` if the question has no project.
    locate: Option<Box<dyn Fn(DocId) -> Location + 'a>>,
}

/// What the words and the scope of a row say about its relevance.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Signs {
    /// The information of the words of the query that the row itself contains. The unit is the information of a word
    /// that only one row contains; a name counts more.
    pub(super) told: f64,
    /// The share of the information of the query's subject that the row contains.
    pub(super) subject: f64,
    /// The information of the most informative word of the query that the row contains, in the same unit.
    pub(super) best: f64,
    /// The number of words of the query that the row contains.
    pub(super) words: u32,
    /// The number of words of the query to which the row contains only a similar word.
    pub(super) similar: u32,
    /// The number of words of the query that the row itself contains, without its neighbours.
    pub(super) own_words: u32,
    /// The number of words of the row.
    pub(super) length: u16,
    /// Where the row belongs.
    pub(super) location: Location,
    /// True if its words or its similarity alone are enough.
    pub(super) is_match: bool,
}

/// Where a row belongs, as seen from the project of the question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Location {
    /// To this project or to all projects; or the question has no project.
    #[default]
    Here,
    /// To another project that the question names.
    Named,
    /// To another project.
    Elsewhere,
}

/// How a row compares with the relevance threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relevance {
    /// Above.
    Match,
    /// Neither its words nor its similarity alone make the row a match. Such a row is a match if the best match is not
    /// much better.
    Doubtful,
    /// The row is a little below the threshold, and contains an informative word.
    Weak,
    /// The row is below the minimum for a weak match, but contains an informative word.
    Near,
    /// The row is below the threshold, and contains only words of little information.
    Below,
}

/// True for terms without a meaning of their own: a single letter is a part of an identifier, and hiragana alone is
/// grammar.
fn tells_nothing(term: &str) -> bool {
    let is_letter = term.len() == 1 && term.bytes().all(|b| b.is_ascii_alphabetic());
    is_letter || term.chars().all(|c| matches!(c, '\u{3040}'..='\u{309f}'))
}

/// The words of a text in lower case, each between spaces.
fn words_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |words, word| words + &word.to_lowercase() + " ")
}

/// True if these words contain the name of a project, without the names of its host and owner.
fn names(asked: &str, project: &str) -> bool {
    let name = words_of(project.rsplit(['/', '\\', ':']).next().unwrap_or(project));
    !name.trim().is_empty() && asked.contains(&name)
}

#[derive(Clone, Copy)]
struct Gain {
    bm25: f64,
    name: f64,
    concepts: u64,
    relation: Relation,
    /// The number of words as which a match of this term counts in automatic recall. An identifier or a name counts
    /// more.
    telling: f64,
}

impl<'a> Scorer<'a> {
    pub(super) fn new<B: AsRef<[u8]>>(
        view: &'a IndexView<'_, B>,
        request: &'a RecallRequest,
        now: Timestamp,
        weights: &'a Weights,
        terms: &Terms,
        dates: DateHints,
        embedding: Option<Embedding<'a>>,
    ) -> Self {
        let rows = view.rows();
        let information = Information::of(&terms.query, &terms.lists, rows, &dates, request.purpose, weights);
        let gain = |(term, list): (&QueryTerm, &TermPostings)| {
            let name = if term.is_name {
                weights.names * (1.0 + f64::from(rows) / f64::from(list.own.max(1))).ln()
            } else {
                0.0
            };
            let telling = match term {
                term if tells_nothing(&term.term) => 0.0,
                term if term.is_name || term.is_identifier => weights.unasked_names,
                _ => 1.0,
            };
            let bm25 = term.weight * information.idf(term, list.own);
            Gain { bm25, name, concepts: term.concepts, relation: term.relation, telling }
        };
        let gains = terms.query.terms.iter().zip(&terms.lists).map(gain).collect();
        let scope = request.scope.as_ref().filter(|scope| **scope != Scope::Global && view.knows_every_scope());
        let locate = scope.map(|scope| {
            let (here, asked) = (scope.as_str().to_owned(), words_of(&request.query));
            let is_here = view.scope_test(move |name| name == here || name == Scope::Global.as_str());
            let is_named = view.scope_test(move |name| names(&asked, name));
            let locate = move |doc| match doc {
                doc if is_here(doc) => Location::Here,
                doc if is_named(doc) => Location::Named,
                _ => Location::Elsewhere,
            };
            Box::new(locate) as Box<dyn Fn(DocId) -> Location + 'a>
        });
        Self {
            request,
            weights,
            now,
            bm25: Bm25::new(weights, view.mean_length()),
            dates,
            embedding,
            gains,
            information,
            rarest: idf(rows, 1),
            locate,
        }
    }

    /// True if the row passes the filters on numbers, such as times.
    pub(super) fn admits(&self, features: &Features) -> bool {
        let filters = &self.request.filters;
        let is_early = filters.since.is_some_and(|since| features.created < since.minutes());
        // Rows have a precision of minutes, so both ends include the whole minute.
        let until = filters.until.map(|until| until.minutes() + u32::from(until.as_micros() % 60_000_000 != 0));
        let is_late = until.is_some_and(|until| features.created >= until);
        let own_only = filters.own_only || self.request.purpose == Purpose::Unasked;
        let is_foreign = own_only && features.flags.has(Flags::FOREIGN);
        let is_excluded = !self.request.exclude.is_empty()
            && ShortId::try_from(features.short_id).is_ok_and(|short_id| self.request.exclude.contains(&short_id));
        !(self.is_over(features) || is_early || is_late || is_foreign || is_excluded)
    }

    /// True if nobody requested the reply.
    pub(super) fn is_unasked(&self) -> bool {
        self.request.purpose == Purpose::Unasked
    }

    /// True for an expired row.
    pub(super) fn is_over(&self, features: &Features) -> bool {
        features.expires != 0 && features.expires <= self.now.minutes()
    }

    /// If the question asks mainly about a date, returns all rows of this date.
    pub(super) fn rows_of_date<B: AsRef<[u8]>>(&self, view: &IndexView<'_, B>) -> Option<TermPostings> {
        let is_listed = self.dates.is_close() && self.information.is_about_a_date(self.weights);
        is_listed.then(|| view.rows_where(|features| self.dates.score(features.created, self.weights) > 0.0))
    }

    /// The value of each term of the query.
    pub(super) fn worths(&self) -> impl Iterator<Item = f64> + '_ {
        self.gains.iter().map(|gain| gain.bm25)
    }

    /// The score of a row, and how the row compares with the relevance threshold.
    pub(super) fn score(&self, doc: DocId, features: &Features, hits: &[(usize, FieldTf)]) -> (Match, Relevance) {
        let mut parts = ScoreParts::default();
        let mut held = Held::default();
        let mut own_held = Held::default();
        let mut telling = 1.0_f64;
        for (at, (term, tf)) in hits.iter().enumerate() {
            let Some(gain) = self.gains.get(*term) else { continue };
            let (own, around) = self.bm25.frequency(*tf, features.length);
            held.add(gain);
            if own > 0.0 && gain.telling > 0.0 {
                own_held.add(gain);
            }
            if gain.relation != Relation::Word && self.is_outdone(at, gain, hits, features.length) {
                continue;
            }
            let score = self.bm25.saturate(gain.bm25, own + around);
            if around > 0.0 {
                let share = score * around / (own + around);
                parts.context += share;
                parts.text += score - share;
            } else {
                parts.text += score;
            }
            if own > 0.0 {
                parts.names += gain.name;
                telling = telling.max(gain.telling);
            }
        }
        if !self.dates.is_empty() {
            parts.date = self.dates.score(features.created, self.weights);
            held.whole |= if parts.date > 0.0 { DATE } else { 0 };
        }
        let share = self.information.share(held);
        let near = self.embedding.map(|embedding| embedding.near(doc, share, self.weights));
        self.add_embedding(&mut parts, features, near, share);
        let told = self.information.sum(own_held.whole | own_held.near) * telling / self.rarest();
        let pointed = near.map(|near| near + self.weights.unasked_held * told.min(self.weights.unasked_held_most));
        let relevance = match (self.request.purpose, near) {
            (Purpose::Asked, Some(near)) => self.relevance_of(held, near),
            (Purpose::Asked, None) => self.relevance(held),
            (Purpose::Unasked, _) if self.is_to_the_point(told, pointed) => Relevance::Match,
            (Purpose::Unasked, _) => Relevance::Below,
        };
        let found = self.finish(doc, features, parts);
        let signs = Signs {
            told,
            subject: self.information.share_of_subject(share),
            best: self.information.most(held.whole) / self.rarest(),
            words: held.whole.count_ones(),
            similar: held.near.count_ones(),
            own_words: own_held.whole.count_ones(),
            is_match: relevance == Relevance::Match,
            ..found.signs
        };
        let is_doubtful = self.embedding.is_some() && relevance == Relevance::Doubtful;
        let standing = if is_doubtful { Standing::Doubtful } else { Standing::Match };
        let (near, pointed) = (near.unwrap_or(0.0), pointed.unwrap_or(0.0));
        (Match { share, near, standing, pointed, signs, ..found }, relevance)
    }

    /// Adds semantic similarity to the score.
    fn add_embedding(&self, parts: &mut ScoreParts, features: &Features, near: Option<f64>, share: f64) {
        let is_instruction = features.flags.has(Flags::INSTRUCTION);
        let Some(near) = near else {
            parts.instruction = if is_instruction { self.weights.instruction } else { 0.0 };
            return;
        };
        let is_turn = features.flags.has(Flags::CAPTURED);
        parts.embedding = near * if is_turn { self.weights.embedding_turn } else { self.weights.embedding };
        parts.held = self.weights.held * share;
        parts.instruction = if is_instruction { self.weights.instruction_embedding * near } else { 0.0 };
    }

    /// True if the row also contains the word itself or a better form of it. A word counts only once.
    fn is_outdone(&self, at: usize, gain: &Gain, hits: &[(usize, FieldTf)], length: u16) -> bool {
        let worth = |gain: &Gain, tf: &FieldTf| {
            let (own, around) = self.bm25.frequency(*tf, length);
            self.bm25.saturate(gain.bm25, own + around)
        };
        let all = || hits.iter().enumerate().filter_map(|(at, (term, tf))| Some((at, self.gains.get(*term)?, tf)));
        let words = all().filter(|(_, gain, _)| gain.relation == Relation::Word);
        if gain.concepts & !words.fold(0, |held, (_, gain, _)| held | gain.concepts) == 0 {
            return true;
        }
        let Some(own) = hits.get(at).map(|(_, tf)| worth(gain, tf)) else { return false };
        all().any(|(other, rival, tf)| {
            let is_rival = other != at && rival.relation != Relation::Word && rival.concepts & gain.concepts != 0;
            is_rival && worth(rival, tf).total_cmp(&own).then(at.cmp(&other)).is_gt()
        })
    }

    /// A match contains a sufficient share of the query's information. The share may be smaller if the row contains
    /// several words.
    fn relevance(&self, held: Held) -> Relevance {
        let share = self.information.share(held);
        let several = self.information.has_several(held);
        if share >= self.weights.floor || (several && share >= self.weights.floor_several) {
            Relevance::Match
        } else if !self.information.has_content(held) {
            Relevance::Below
        } else if share >= self.weights.weak_floor {
            Relevance::Weak
        } else {
            Relevance::Near
        }
    }

    /// A row with enough similarity is a match, whatever its words.
    fn relevance_of(&self, held: Held, near: f64) -> Relevance {
        match self.relevance(held) {
            _ if near >= self.weights.embedding_floor => Relevance::Match,
            Relevance::Match => Relevance::Match,
            _ if near >= self.weights.embedding_least => Relevance::Doubtful,
            relevance => relevance,
        }
    }

    /// The information of a word that only one row contains.
    pub(super) fn rarest(&self) -> f64 {
        self.rarest.max(f64::MIN_POSITIVE)
    }

    /// True if the question is probably not in English.
    pub(super) fn is_foreign(&self) -> bool {
        self.embedding.is_some_and(Embedding::is_foreign)
    }

    /// True if the rows seen so far show that the question can be answered here.
    pub(super) fn is_answered(&self, gate: &Gate, query: &QueryTerms) -> bool {
        self.embedding.is_none() || self.answerability(gate, query) >= self.weights.gate
    }

    fn answerability(&self, gate: &Gate, query: &QueryTerms) -> f64 {
        gate.answerability(query, &self.information, self.rarest(), self.weights)
    }

    /// What the rows of a question share, for the classifier of relevance.
    pub(super) fn question(&self, gate: &Gate, query: &QueryTerms) -> Question {
        let content = query.asked & !query.light;
        Question {
            answerability: self.answerability(gate, query),
            nearest: gate.nearest,
            most_held: self.information.share_of_subject(gate.most_held),
            subject: self.information.subject() / self.rarest(),
            has_unknown_name: self.information.has_unknown_name(query),
            is_foreign: self.is_foreign(),
            rows: self.information.rows(),
            words: query.asked.count_ones(),
            content: content.count_ones(),
            known: self.information.known(content),
        }
    }

    /// In automatic recall, a row must contain as much information as a certain number of rare words. The required
    /// information grows with the information of the query up to a limit. A long prompt has several subjects, and a row
    /// needs to match only one of them. If the similarity is known, the sum of words and similarity decides.
    fn is_to_the_point(&self, told: f64, pointed: Option<f64>) -> bool {
        if let Some(pointed) = pointed {
            let without = if told < self.weights.unasked_word { self.weights.unasked_without_word } else { 0.0 };
            return pointed >= self.weights.unasked_gate + without + self.weights.chance(self.information.rows());
        }
        let rare = self.rarest();
        let [least, most] = self.weights.unasked_words;
        let information = self.information.total();
        let wanted = (self.weights.unasked_share * information / rare).clamp(least, most);
        let all = self.weights.unasked_whole * information / rare;
        told >= wanted.min(all)
    }

    /// Where a row belongs, as seen from the project of the question.
    pub(super) fn location(&self, doc: DocId) -> Location {
        self.locate.as_ref().map_or(Location::Here, |locate| locate(doc))
    }

    fn finish(&self, doc: DocId, features: &Features, mut parts: ScoreParts) -> Match {
        let location = self.location(doc);
        if location != Location::Here {
            parts = parts.scaled(self.weights.other_scope);
        }
        let evidence = parts.evidence();
        if self.request.sort == Sort::Hybrid {
            let [importance, recency, frequency] = Prior::of(features, self.now, self.weights).lifts(self.weights);
            parts.importance = evidence * importance;
            parts.recency = evidence * recency;
            parts.frequency = evidence * frequency;
        }
        let half = if self.embedding.is_some() { self.weights.half_score_embedding } else { self.weights.half_score };
        let parts = parts.scaled(1.0 / (parts.sum() + half));
        Match {
            short_id: features.short_id,
            created: features.created,
            importance: features.importance,
            score: parts.sum(),
            evidence,
            parts,
            share: 0.0,
            near: 0.0,
            standing: Standing::Match,
            is_turn: features.flags.has(Flags::CAPTURED),
            pointed: 0.0,
            redirected_from: None,
            signs: Signs { length: features.length, location, ..Signs::default() },
            is_updated: features.flags.has(Flags::UPDATED),
            newer: None,
        }
    }
}

impl Held {
    fn add(&mut self, gain: &Gain) {
        match gain.relation {
            Relation::Near => self.near |= gain.concepts,
            Relation::Word | Relation::Same => self.whole |= gain.concepts,
        }
    }
}
