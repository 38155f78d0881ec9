//! The importance of a memory.

use serde::{Deserialize, Serialize};

use super::DomainError;

/// The importance of a memory, from 0 to 1, with six decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Importance(u32);

impl Importance {
    const WHOLE: u32 = 1_000_000;
    const HUNDREDTH: u32 = Self::WHOLE / 100;

    /// Creates an importance from hundredths; more than 100 counts as 100.
    pub const fn from_percent(percent: u8) -> Self {
        Self(if percent > 100 { Self::WHOLE } else { percent as u32 * Self::HUNDREDTH })
    }

    /// Creates an importance from the two numbers that [`Self::percent`] and [`Self::beyond_percent`] returned.
    pub const fn kept(percent: u8, beyond: Option<u32>) -> Self {
        match beyond {
            Some(millionths) if millionths <= Self::WHOLE => Self(millionths),
            _ => Self::from_percent(percent),
        }
    }

    /// Creates an importance from a given number: 0 to 1, or up to 10 on the scale of older clients. Exactly 1 means
    /// 1.0.
    ///
    /// # Errors
    /// Returns an error if the number is below 0 or above 10.
    pub fn on_either_scale(value: f64) -> Result<Self, DomainError> {
        if value > 1.0 && value <= 10.0 {
            return Self::try_from(value / 10.0);
        }
        Self::try_from(value).map_err(|_| {
            let problem = format!("{value} is out of range");
            DomainError::invalid("importance", problem, "use 0 to 1, for example 0.8; a value above 1 is divided by 10")
        })
    }

    /// The importance in hundredths, 0 to 100, rounded. Ranking uses this value.
    pub const fn percent(self) -> u8 {
        #[expect(clippy::cast_possible_truncation, reason = "0 to 100")]
        let percent = ((self.0 + Self::HUNDREDTH / 2) / Self::HUNDREDTH) as u8;
        percent
    }

    /// The importance in millionths; `None` if it can be expressed exactly in hundredths.
    pub const fn beyond_percent(self) -> Option<u32> {
        if self.0.is_multiple_of(Self::HUNDREDTH) { None } else { Some(self.0) }
    }
}

impl TryFrom<f64> for Importance {
    type Error = DomainError;

    fn try_from(value: f64) -> Result<Self, DomainError> {
        if !(0.0..=1.0).contains(&value) {
            let problem = format!("{value} is out of range");
            return Err(DomainError::invalid("importance", problem, "use 0 to 1, for example 0.8"));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1,000,000")]
        let millionths = (value * f64::from(Self::WHOLE)).round() as u32;
        Ok(Self(millionths))
    }
}

impl From<Importance> for f64 {
    fn from(importance: Importance) -> Self {
        Self::from(importance.0) / Self::from(Importance::WHOLE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_is_a_number_from_0_to_1() {
        for (given, percent) in [(0.555, 56), (0.058, 6), (0.999, 100), (0.004, 0), (0.5, 50), (1.0, 100)] {
            let importance = Importance::try_from(given).unwrap();
            assert_eq!(importance.percent(), percent, "{given}");
            assert_eq!(serde_json::to_value(importance).unwrap(), serde_json::json!(given));
            assert_eq!(Importance::kept(importance.percent(), importance.beyond_percent()), importance);
        }
        assert_eq!(Importance::from_percent(7).beyond_percent(), None);
        for bad in [-0.01, 1.01, 8.0, f64::NAN, f64::INFINITY] {
            assert!(Importance::try_from(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn importance_above_1_is_on_the_scale_of_10() {
        for (given, percent) in [(0.0, 0), (0.8, 80), (1.0, 100), (1.5, 15), (9.0, 90), (10.0, 100)] {
            assert_eq!(Importance::on_either_scale(given).unwrap().percent(), percent, "{given}");
        }
        for bad in [-1.0, 10.1, 11.0, f64::NAN, f64::INFINITY] {
            let error = Importance::on_either_scale(bad).unwrap_err().to_string();
            assert!(error.starts_with("importance: "), "{error}");
        }
    }
}
