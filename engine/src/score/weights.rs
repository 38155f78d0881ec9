//! All ranking weights. The defaults were chosen with `tessera eval`; `docs/decisions/0003-scoring.md` shows the effect
//! of each signal.

use std::borrow::Cow;

use crate::classifier::{RELEVANCE, UPDATES};

/// The ranking weights. All are finite and not negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// BM25 saturation: how soon repetition of a word stops helping.
    pub k1: f64,
    /// BM25 length normalisation of the text, 0 to 1.
    pub b: f64,
    /// Weight of a word in the keywords, relative to one in the text.
    pub keywords: f64,
    /// Weight of a word in tags and entities.
    pub tags: f64,
    /// Weight of a word in the category.
    pub category: f64,
    /// Weight of a word in the turn before or after, in a captured conversation.
    pub context: f64,
    /// Weight of a whole identifier in addition to its words.
    pub compounds: f64,
    /// Weight of the caller's expanded query, relative to the query.
    pub expanded: f64,
    /// Weight of a spelling correction or a longer word for an unknown word of the query.
    pub near_words: f64,
    /// Weight of a word with similar meaning.
    pub related: f64,
    /// Weight of another form of a word: an abbreviation, a compound.
    pub aliases: f64,
    /// Weight of a word with little information.
    pub light: f64,
    /// Weight of an everyday word.
    pub everyday: f64,
    /// Information of a word that no memory contains, relative to a word that a single memory contains.
    pub unknown: f64,
    /// The factor for an unknown word that has little information.
    pub unknown_light: f64,
    /// The information of a name that no memory contains, compared with a word in one memory.
    pub unknown_names: f64,
    /// Information of a date in the query, relative to a word that a single memory contains.
    pub when: f64,
    /// If a row contains only a similar word, it gets this share of the word's information.
    pub near_share: f64,
    /// A capitalised word of the query has this additional weight if the text contains it.
    pub names: f64,
    /// Added to the score if the query's month is the month of the memory (and the year, if the query has one).
    pub month: f64,
    /// Also added to the score if the days differ by at most one.
    pub day: f64,
    /// Added if only a year is given and it is the year of the memory.
    pub year: f64,
    /// Weight of semantic similarity; 0 switches semantic search off.
    pub embedding: f64,
    /// The same for a turn of a conversation. A turn depends on those around it, so its words tell more than its
    /// embedding.
    pub embedding_turn: f64,
    /// Weight of the share of the query's information in a row, in addition to similarity.
    pub held: f64,
    /// Additional weight of similarity for a memory that states a lasting preference or rule.
    pub instruction_embedding: f64,
    /// The assumed similarity of a row without an embedding that contains the whole query.
    pub embedding_waiting: f64,
    /// Minimum similarity to consider a row without any word of the query.
    pub embedding_least: f64,
    /// Minimum similarity to be above the threshold by similarity alone.
    pub embedding_floor: f64,
    /// A row whose words alone are not enough may have a similarity between `embedding_least` and `embedding_floor`.
    /// Such a row must have at least this share of the best match's evidence.
    pub embedding_near_best: f64,
    /// The answerability check adds two numbers: the similarity of the nearest row, and the greatest share of the query
    /// in any row, multiplied by this weight.
    pub gate_held: f64,
    /// The answerability check also adds this number times the query's information. The unit is the information of a
    /// word that only one row contains.
    pub gate_told: f64,
    /// The answerability check uses at most this much of the query's information, in the same unit.
    pub gate_told_most: f64,
    /// The answerability check subtracts this number if the query contains an unknown name.
    pub gate_unknown_name: f64,
    /// The minimum of this sum.
    pub gate: f64,
    /// In a larger store, the threshold of the answerability check is higher. It grows by this number each time the
    /// number of rows is multiplied by e, beginning at a hundred rows. Among many rows, the probability is higher that
    /// one row is similar by chance.
    pub gate_rows: f64,
    /// Replaces `half_score` if similarity counts.
    pub half_score_embedding: f64,
    /// The value of `charge_power` with semantic search, because scores then differ less.
    pub charge_power_embedding: f64,
    /// `index_share` if similarity counts.
    pub index_share_embedding: f64,
    /// In automatic recall with similarity, a matched word that only one memory contains adds this value to the
    /// similarity.
    pub unasked_held: f64,
    /// In automatic recall with similarity, at most this number of rare words adds `unasked_held`.
    pub unasked_held_most: f64,
    /// The minimum of this sum.
    pub unasked_gate: f64,
    /// If a memory contains no word of the prompt, the threshold of automatic recall is higher by this number. Two
    /// texts in the same foreign language are similar without a common word.
    pub unasked_without_word: f64,
    /// In automatic recall, a memory matches the words of the prompt only if it has at least this share of a rare
    /// word's information.
    pub unasked_word: f64,
    /// The minimum value in automatic recall, as a share of the best match's value.
    pub unasked_gate_near_best: f64,
    /// Added to the score of a memory that states a lasting preference or rule.
    pub instruction: f64,
    /// Maximum share by which the prior can increase the evidence.
    pub prior: f64,
    /// Share of importance in the prior.
    pub importance: f64,
    /// Share of recency in the prior.
    pub recency: f64,
    /// Share of use in the prior.
    pub frequency: f64,
    /// Days after which recency is halved.
    pub half_life_days: f64,
    /// The factor for memories of other projects.
    pub other_scope: f64,
    /// The raw score that becomes a relevance of one half.
    pub half_score: f64,
    /// The minimum share of the query's information if a memory contains only one of several words.
    pub floor: f64,
    /// The minimum share of the query's information if a memory contains several words.
    pub floor_several: f64,
    /// Minimum share of the query's information for a low-confidence match.
    pub weak_floor: f64,
    /// A low-confidence match must have at least this share of the best match's evidence.
    pub weak_near_best: f64,
    /// How close to the best match the others must be, for a question about time with a subject.
    pub near_best: NearBest,
    /// Automatic recall: the lower and the upper limit of the required information. The unit is the information of a
    /// word that only one memory contains.
    pub unasked_words: [f64; 2],
    /// Automatic recall: the required share of the query's information, within the limits of `unasked_words`.
    pub unasked_share: f64,
    /// Automatic recall: this share of a short query's information is always enough.
    pub unasked_whole: f64,
    /// Automatic recall: a matching name or identifier counts as this number of words.
    pub unasked_names: f64,
    /// In automatic recall: the minimum share of the best match's evidence.
    pub unasked_near_best: f64,
    /// When a reply is packed, a text of at most this number of tokens is not charged for its length.
    pub charge_from_tokens: f64,
    /// How strongly a longer text is charged: its score is divided by (tokens / charge_from_tokens) to this power.
    pub charge_power: f64,
    /// Share of the budget that is reserved for the index if not everything fits in full.
    pub index_share: f64,
    /// The trees that give the probability that a memory answers a question.
    pub relevance: Cow<'static, [u8]>,
    /// In requested recall, memories with a lower score are omitted, if the store is small.
    pub relevance_least: f64,
    /// The number of rows at which this limit is halved.
    pub relevance_rows: f64,
    /// In requested recall, all memories are low-confidence matches if the result of the answerability check and this
    /// multiple of the best score are together lower than `sure`.
    pub sure_score: f64,
    /// The limit for this sum.
    pub sure: f64,
    /// The trees that decide whether a new memory updates an older one.
    pub updates: Cow<'static, [u8]>,
    /// The minimum odds of an update, as a logarithm in 1/1024.
    pub updates_least: i32,
    /// The minimum odds of a possible update, which is only reported.
    pub may_update_least: i32,
    /// The minimum value of a line of the review queue that a reply shows: the share of the question's words in it plus
    /// its cosine similarity.
    pub unreviewed_least: f64,
}

/// How close to the best match the others must be, for a question about time with a subject.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearBest {
    /// The smallest ratio of the evidence, for a question that names a window.
    pub in_window: f64,
    /// The same for a question that only names an order.
    pub in_order: f64,
}

impl Default for NearBest {
    fn default() -> Self {
        Self { in_window: 0.25, in_order: 0.5 }
    }
}

impl Default for Weights {
    #[expect(clippy::too_many_lines, reason = "a table with one line for each weight")]
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            keywords: 0.6,
            tags: 0.4,
            category: 0.2,
            context: 0.3,
            compounds: 0.5,
            expanded: 0.5,
            near_words: 0.6,
            related: 0.4,
            aliases: 0.7,
            light: 0.8,
            everyday: 0.9,
            unknown: 0.9,
            unknown_light: 0.5,
            unknown_names: 1.25,
            when: 1.0,
            near_share: 0.6,
            names: 0.3,
            month: 2.0,
            day: 1.0,
            year: 0.3,
            embedding: 160.0,
            held: 20.0,
            instruction_embedding: 8.0,
            embedding_turn: 55.0,
            embedding_waiting: 0.6,
            embedding_least: 0.06,
            embedding_floor: 0.16,
            embedding_near_best: 0.45,
            gate_held: 1.2,
            gate_told: 0.1,
            gate_told_most: 6.0,
            gate_unknown_name: 0.2,
            gate: 0.82,
            gate_rows: 0.02,
            half_score_embedding: 60.0,
            charge_power_embedding: 0.1,
            index_share_embedding: 0.4,
            unasked_held: 0.1,
            unasked_held_most: 3.0,
            unasked_gate: 0.47,
            unasked_without_word: 0.15,
            unasked_word: 0.6,
            unasked_gate_near_best: 0.85,
            instruction: 1.0,
            prior: 0.3,
            importance: 0.3,
            recency: 0.2,
            frequency: 0.1,
            half_life_days: 30.0,
            other_scope: 0.6,
            half_score: 6.0,
            floor: 0.4,
            floor_several: 0.0,
            weak_floor: 0.345,
            weak_near_best: 0.6,
            near_best: NearBest::default(),
            unasked_words: [1.25, 2.2],
            unasked_share: 0.25,
            unasked_whole: 0.9,
            unasked_names: 1.5,
            unasked_near_best: 0.7,
            charge_from_tokens: 60.0,
            charge_power: 0.3,
            index_share: 0.3,
            relevance: Cow::Borrowed(RELEVANCE),
            relevance_least: 0.05,
            relevance_rows: 2000.0,
            sure_score: 0.3,
            sure: 1.27,
            updates: Cow::Borrowed(UPDATES),
            updates_least: 200,
            may_update_least: -900,
            unreviewed_least: 0.62,
        }
    }
}

/// We measured with this number of rows how similar rows are by chance.
const FEW_ROWS: f64 = 100.0;

impl Weights {
    /// The answerability check and automatic recall add this value to their thresholds in a store with this number of
    /// rows.
    pub fn chance(&self, rows: u32) -> f64 {
        self.gate_rows * (f64::from(rows) / FEW_ROWS).max(1.0).ln()
    }

    /// The score below which memories are omitted. The more memories a store has, the smaller is the probability of each,
    /// and the more of them may belong to the answer.
    pub(crate) fn least_relevance(&self, rows: u32) -> f64 {
        self.relevance_least / (1.0 + f64::from(rows) / self.relevance_rows)
    }

    /// Only BM25 over stemmed words without function words, as in textbooks.
    pub fn bm25_alone() -> Self {
        Self {
            keywords: 0.0,
            tags: 0.0,
            category: 0.0,
            context: 0.0,
            compounds: 0.0,
            near_words: 0.0,
            related: 0.0,
            aliases: 0.0,
            light: 1.0,
            everyday: 1.0,
            unknown: 1.25,
            unknown_names: 1.25,
            when: 0.0,
            names: 0.0,
            month: 0.0,
            day: 0.0,
            year: 0.0,
            embedding: 0.0,
            instruction: 0.0,
            prior: 0.0,
            other_scope: 1.0,
            floor: 0.0,
            floor_several: 0.0,
            charge_power: 0.0,
            ..Self::default()
        }
    }

    /// The weights for automatic recall: words are used without correction and without special weights.
    pub fn automatic(&self) -> Self {
        Self {
            related: 0.0,
            aliases: 0.0,
            light: 1.0,
            everyday: 1.0,
            unknown: 1.25,
            unknown_light: 1.0,
            when: 0.0,
            ..self.clone()
        }
    }

    /// The default weights with one signal switched off each time, and BM25 alone.
    pub fn ablations() -> Vec<(&'static str, Self)> {
        let all = Self::default;
        vec![
            ("no embedding", Self { embedding: 0.0, ..all() }),
            ("with semantic search, but without the share of the query's information", Self { held: 0.0, ..all() }),
            ("no gate", Self { gate: 0.0, ..all() }),
            ("no context", Self { context: 0.0, ..all() }),
            ("no dates", Self { month: 0.0, day: 0.0, year: 0.0, ..all() }),
            ("no names", Self { names: 0.0, ..all() }),
            ("no instruction cue", Self { instruction: 0.0, ..all() }),
            ("no tags, keywords or category", Self { tags: 0.0, keywords: 0.0, category: 0.0, ..all() }),
            ("no compounds", Self { compounds: 0.0, ..all() }),
            ("no similar spellings", Self { near_words: 0.0, ..all() }),
            ("no words of similar meaning", Self { related: 0.0, ..all() }),
            (
                "without abbreviations, inflected forms, and compounds written as one or two words",
                Self { aliases: 0.0, ..all() },
            ),
            ("common words have full weight", Self { light: 1.0, everyday: 1.0, ..all() }),
            ("unknown words of a query count as the rarest words", Self { unknown: 1.25, ..all() }),
            ("dates do not count as matches", Self { when: 0.0, ..all() }),
            ("no prior", Self { prior: 0.0, ..all() }),
            ("no recency", Self { recency: 0.0, ..all() }),
            ("no frequency", Self { frequency: 0.0, ..all() }),
            ("no importance", Self { importance: 0.0, ..all() }),
            ("no length normalisation", Self { charge_power: 0.0, ..all() }),
            ("no floor", Self { floor: 0.0, floor_several: 0.0, ..all() }),
            ("BM25 alone", Self::bm25_alone()),
        ]
    }
}
