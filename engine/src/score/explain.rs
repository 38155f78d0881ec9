//! A score that can account for itself.

use serde::{Deserialize, Serialize};

/// The parts of a score. Their sum is the score, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ScoreParts {
    /// It says what the query asks for, in whatever words.
    pub meaning: f64,
    /// How much of what the query tells it holds.
    pub held: f64,
    /// Words of the query that the memory holds.
    pub text: f64,
    /// Words of the query that its neighbours in the conversation hold.
    pub context: f64,
    /// Names of the query that it holds.
    pub names: f64,
    /// A date of the query that it agrees with.
    pub date: f64,
    /// It states a lasting wish or rule.
    pub standing: f64,
    /// How much it matters.
    pub importance: f64,
    /// How lately it was used or made.
    pub recency: f64,
    /// How often it was used.
    pub frequency: f64,
}

impl ScoreParts {
    /// The names of the parts, as they are shown.
    pub const NAMES: [&'static str; 10] =
        ["meaning", "held", "text", "context", "names", "date", "standing", "importance", "recency", "frequency"];

    /// The parts in the order of [`ScoreParts::NAMES`].
    pub fn values(&self) -> [f64; 10] {
        let Self { meaning, held, text, context, names, date, standing, importance, recency, frequency } = *self;
        [meaning, held, text, context, names, date, standing, importance, recency, frequency]
    }

    /// The score.
    pub fn sum(&self) -> f64 {
        self.values().iter().sum()
    }

    /// Evidence without the prior: what was found, unscaled.
    pub(crate) fn evidence(&self) -> f64 {
        self.meaning + self.held + self.text + self.context + self.names + self.date + self.standing
    }

    /// Every part times `factor`.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        for part in [
            &mut self.meaning,
            &mut self.held,
            &mut self.text,
            &mut self.context,
            &mut self.names,
            &mut self.date,
            &mut self.standing,
            &mut self.importance,
            &mut self.recency,
            &mut self.frequency,
        ] {
            *part *= factor;
        }
        self
    }
}
