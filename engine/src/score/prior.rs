//! The prior of a memory, independent of a question: importance, recency, use.

use super::Weights;
use crate::domain::Timestamp;
use crate::index::Features;

/// The three signals of a row, each 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Prior {
    /// Importance.
    pub importance: f64,
    /// 1 for just now; halved with every half-life since it was last used or created.
    pub recency: f64,
    /// The logarithm of the use count: 0 for none, 1 for 255 or more.
    pub frequency: f64,
}

const MINUTES_PER_DAY: f64 = 1440.0;
const MOST_COUNTED: f64 = 256.0;

impl Prior {
    /// The signals of a row at `now`. If the clock was moved back, the elapsed time counts as zero.
    pub fn of(features: &Features, now: Timestamp, weights: &Weights) -> Self {
        let age_days = f64::from(now.minutes().saturating_sub(features.used)) / MINUTES_PER_DAY;
        Self {
            importance: f64::from(features.importance) / 100.0,
            recency: (-age_days / weights.half_life_days).exp2(),
            frequency: (1.0 + f64::from(features.access_count)).ln() / MOST_COUNTED.ln(),
        }
    }

    /// The shares by which importance, recency and use increase the evidence, together at most [`Weights::prior`].
    pub fn lifts(&self, weights: &Weights) -> [f64; 3] {
        let whole = weights.importance + weights.recency + weights.frequency;
        if whole <= 0.0 {
            return [0.0; 3];
        }
        let unit = weights.prior / whole;
        [
            unit * weights.importance * self.importance,
            unit * weights.recency * self.recency,
            unit * weights.frequency * self.frequency,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recency_halves_and_the_lift_is_bounded() {
        let weights = Weights::default();
        let now = Timestamp::from_micros(0).plus_days(100);
        let at = |days: i64| Features { used: now.plus_days(-days).minutes(), ..Features::default() };
        assert!((Prior::of(&at(30), now, &weights).recency - 0.5).abs() < 1e-9);
        assert!((Prior::of(&at(-5), now, &weights).recency - 1.0).abs() < 1e-9, "the future counts as now");
        let best = Features { importance: 100, access_count: 255, ..at(0) };
        let lift: f64 = Prior::of(&best, now, &weights).lifts(&weights).iter().sum();
        assert!((lift - weights.prior).abs() < 1e-9);
        assert!(Prior::default().lifts(&weights).iter().all(|lift| *lift < 1e-12));
    }
}
