//! Every number that ranking can be tuned by. The defaults are what the evaluation supports;
//! `docs/decisions/0003-scoring.md` has the ablation.

/// Weights of the blend. All are finite and not negative.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// BM25 saturation: how soon repeating a word stops helping.
    pub k1: f64,
    /// BM25 length normalisation of the text, 0 to 1.
    pub b: f64,
    /// Weight of a word of the caller's keywords against one of the text.
    pub keywords: f64,
    /// Weight of a word of tags and entities.
    pub tags: f64,
    /// Weight of a word of the category.
    pub category: f64,
    /// Weight of a word of the turn before or after, in a captured conversation.
    pub context: f64,
    /// Weight of a whole identifier beside its words.
    pub compounds: f64,
    /// Weight of the caller's expanded query against the query.
    pub expanded: f64,
    /// Weight of a near spelling or a longer word that stands for an unknown word of the query.
    pub near_words: f64,
    /// Weight of a word near in meaning that stands for a word of the query.
    pub related: f64,
    /// Weight of the same word in other letters: an abbreviation, a compound.
    pub aliases: f64,
    /// Weight of a word that tells little.
    pub light: f64,
    /// Weight of an everyday word.
    pub everyday: f64,
    /// What a word that no memory holds tells, against one that a single memory holds.
    pub unknown: f64,
    /// Factor on that for a word that tells little.
    pub unknown_light: f64,
    /// The same for a name that no memory holds.
    pub unknown_names: f64,
    /// What a date named in the query tells, against a word that a single memory holds.
    pub when: f64,
    /// Share of its word's information that a near spelling or a word near in meaning holds.
    pub near_share: f64,
    /// Extra weight of a capitalised word of the query that the text holds.
    pub names: f64,
    /// Added when the month named in the query is the month of the memory (and the year, if named).
    pub month: f64,
    /// Added on top when the day is within one of the day named.
    pub day: f64,
    /// Added when only a year is named and it is the year of the memory.
    pub year: f64,
    /// Weight of nearness in meaning; 0 switches that leg off.
    pub meaning: f64,
    /// Weight of the share of the query's information that a row holds, beside nearness.
    pub held: f64,
    /// Weight of nearness on top, for a memory that states a lasting wish or rule.
    pub standing_meaning: f64,
    /// How near a row is taken to be that waits for its vector and holds all of the query.
    pub meaning_waiting: f64,
    /// How near in meaning a row must be to be looked at that holds no word of the query.
    pub meaning_least: f64,
    /// From where on it is above the floor by its nearness alone.
    pub meaning_floor: f64,
    /// Where it is less near than that: the share of the best one's evidence that it must have.
    pub meaning_near_best: f64,
    /// Whether a query has an answer: nearness of the nearest row, and so much for the greatest share that a row holds.
    pub gate_held: f64,
    /// And so much for what the query tells, in words that one row alone has.
    pub gate_told: f64,
    /// Of which at most so many count.
    pub gate_told_most: f64,
    /// And so much less where it names what no row names.
    pub gate_unknown_name: f64,
    /// What these must come to.
    pub gate: f64,
    /// And so much more with each e-fold of rows beyond the first hundred: among more rows one is nearer by chance.
    pub gate_rows: f64,
    /// `half_score` where nearness counts.
    pub half_score_meaning: f64,
    /// `charge_power` where nearness counts: scores lie closer together then.
    pub charge_power_meaning: f64,
    /// `index_share` where nearness counts.
    pub index_share_meaning: f64,
    /// Where nobody asked and nearness counts: what a memory holds, a word that it alone has, beside its nearness.
    pub unasked_held: f64,
    /// Of which at most so many words count.
    pub unasked_held_most: f64,
    /// What these must come to.
    pub unasked_gate: f64,
    /// And so much more for a memory that does not hold so much as a word: two texts in another language are near by that.
    pub unasked_without_word: f64,
    /// What counts as a word here.
    pub unasked_word: f64,
    /// And the share of the best one's.
    pub unasked_gate_near_best: f64,
    /// Added to a memory that states a lasting wish or rule.
    pub standing: f64,
    /// How far the prior may lift what is about equally relevant: by this share at most.
    pub prior: f64,
    /// Share of importance in the prior.
    pub importance: f64,
    /// Share of recency in the prior.
    pub recency: f64,
    /// Share of use in the prior.
    pub frequency: f64,
    /// Days after which recency is halved.
    pub half_life_days: f64,
    /// Factor on memories of other projects.
    pub other_scope: f64,
    /// The raw score that maps to a relevance of one half.
    pub half_score: f64,
    /// Least share of the query's information that a memory must hold when it holds one word of several.
    pub floor: f64,
    /// The same for a memory that holds several words.
    pub floor_several: f64,
    /// Least share of the query's information that a weak match must hold.
    pub weak_floor: f64,
    /// A weak match must have this share of the best one's evidence.
    pub weak_near_best: f64,
    /// Where nobody asked: the least and the most that a memory must hold, in words that one memory alone has.
    pub unasked_words: [f64; 2],
    /// Where nobody asked: the share of the query's information that it must hold, between those two.
    pub unasked_share: f64,
    /// Where nobody asked: the share of a short query that is always enough.
    pub unasked_whole: f64,
    /// Where nobody asked: how many words a matching name or identifier counts for.
    pub unasked_names: f64,
    /// Where nobody asked: the share of the best match's evidence below which a match is not shown beside it.
    pub unasked_near_best: f64,
    /// Tokens up to which a text is not charged for its length when the budget is filled.
    pub charge_from_tokens: f64,
    /// How strongly a longer text is charged: score over (tokens / charge_from_tokens) to this power.
    pub charge_power: f64,
    /// Share of the budget kept for the index when not everything fits in full.
    pub index_share: f64,
}

impl Default for Weights {
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
            meaning: 65.0,
            held: 20.0,
            standing_meaning: 8.0,
            meaning_waiting: 0.6,
            meaning_least: 0.1,
            meaning_floor: 0.25,
            meaning_near_best: 0.45,
            gate_held: 1.2,
            gate_told: 0.1,
            gate_told_most: 6.0,
            gate_unknown_name: 0.2,
            gate: 0.94,
            gate_rows: 0.02,
            half_score_meaning: 60.0,
            charge_power_meaning: 0.1,
            index_share_meaning: 0.4,
            unasked_held: 0.1,
            unasked_held_most: 3.0,
            unasked_gate: 0.55,
            unasked_without_word: 0.15,
            unasked_word: 0.6,
            unasked_gate_near_best: 0.85,
            standing: 1.0,
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
            unasked_words: [1.25, 2.2],
            unasked_share: 0.25,
            unasked_whole: 0.9,
            unasked_names: 1.5,
            unasked_near_best: 0.7,
            charge_from_tokens: 60.0,
            charge_power: 0.3,
            index_share: 0.3,
        }
    }
}

/// Rows among which nearness by chance was measured.
const FEW_ROWS: f64 = 100.0;

impl Weights {
    /// What nearness by chance adds among so many rows.
    pub fn chance(&self, rows: u32) -> f64 {
        self.gate_rows * (f64::from(rows) / FEW_ROWS).max(1.0).ln()
    }

    /// BM25 over stemmed words without function words, and nothing else: what textbooks have.
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
            meaning: 0.0,
            standing: 0.0,
            prior: 0.0,
            other_scope: 1.0,
            floor: 0.0,
            floor_several: 0.0,
            charge_power: 0.0,
            ..Self::default()
        }
    }

    /// The numbers for a question that nobody asked: its words are taken as they stand, and each tells what it tells.
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

    /// The default without one signal each, and BM25 alone: what each signal gives.
    pub fn ablations() -> Vec<(&'static str, Self)> {
        let all = Self::default;
        vec![
            ("no meaning", Self { meaning: 0.0, ..all() }),
            ("no share held beside meaning", Self { held: 0.0, ..all() }),
            ("no gate", Self { gate: 0.0, ..all() }),
            ("no context", Self { context: 0.0, ..all() }),
            ("no dates", Self { month: 0.0, day: 0.0, year: 0.0, ..all() }),
            ("no names", Self { names: 0.0, ..all() }),
            ("no standing cue", Self { standing: 0.0, ..all() }),
            ("no tags, keywords, category", Self { tags: 0.0, keywords: 0.0, category: 0.0, ..all() }),
            ("no compounds", Self { compounds: 0.0, ..all() }),
            ("no near words", Self { near_words: 0.0, ..all() }),
            ("no words near in meaning", Self { related: 0.0, ..all() }),
            ("no aliases, compounds in one or two words", Self { aliases: 0.0, ..all() }),
            ("no words that tell little", Self { light: 1.0, everyday: 1.0, ..all() }),
            ("unknown words as telling as the rarest", Self { unknown: 1.25, ..all() }),
            ("no date as a match", Self { when: 0.0, ..all() }),
            ("no prior", Self { prior: 0.0, ..all() }),
            ("no recency", Self { recency: 0.0, ..all() }),
            ("no frequency", Self { frequency: 0.0, ..all() }),
            ("no importance", Self { importance: 0.0, ..all() }),
            ("no length charge", Self { charge_power: 0.0, ..all() }),
            ("no floor", Self { floor: 0.0, floor_several: 0.0, ..all() }),
            ("BM25 alone", Self::bm25_alone()),
        ]
    }
}
