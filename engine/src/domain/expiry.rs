//! The expiry of a memory, as given by a person or a caller.

use std::str::FromStr;

use super::{DomainError, Timestamp, WrittenTime};

/// A requested expiry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expiry {
    /// Never.
    Never,
    /// At this time.
    At(Timestamp),
    /// After this number of days.
    After(u32),
    /// At the end of a written period: `Friday`, `end of March`.
    Written(WrittenTime),
}

const FIX: &str = "use a date such as 2027-03-02, a period such as 30d or end of March, or never";

impl Expiry {
    /// The time of expiry, calculated from `now`; `None` for never.
    ///
    /// # Errors
    /// Returns an error if the time is in the past.
    pub fn seen_from(self, now: Timestamp) -> Result<Option<Timestamp>, DomainError> {
        let time = match self {
            Self::Never => return Ok(None),
            Self::At(time) => time,
            Self::After(days) => now.plus_days(i64::from(days)),
            Self::Written(time) => time.of("expires_at").next_end(now)?,
        };
        if time <= now {
            return Err(DomainError::invalid("expires_at", "is in the past", "use a time in the future, or never"));
        }
        Ok(Some(time))
    }
}

impl FromStr for Expiry {
    type Err = DomainError;

    /// Parses `never`, whole days (`30d`), and a date or a time in any form of [`WrittenTime`]. A plain date
    /// means the end of that day. Also parses milliseconds since 1970 (13 digits), because memory-mcp writes them.
    fn from_str(text: &str) -> Result<Self, DomainError> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("never") {
            return Ok(Self::Never);
        }
        if let Some(days) = text.strip_suffix(['d', 'D']).and_then(|days| days.parse().ok()) {
            return Ok(Self::After(days));
        }
        let is_milliseconds = text.len() == 13 && text.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(milliseconds) = text.parse::<i64>().ok().filter(|_| is_milliseconds) {
            return Ok(Self::At(Timestamp::from_micros(milliseconds * 1_000)));
        }
        let is_day = text.len() == "2027-03-02".len();
        if let Some(time) = text.parse().ok().filter(|_| !is_day) {
            return Ok(Self::At(time));
        }
        WrittenTime::in_field(text, "expires_at").map(Self::Written).map_err(|error| match error {
            DomainError::Invalid { field, problem, .. } => DomainError::invalid(field, problem, FIX),
            other => other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_days_and_never_are_read_and_what_is_over_is_refused() {
        let now: Timestamp = "2026-11-20".parse().unwrap();
        let at = |text: &str| text.parse::<Expiry>().and_then(|expiry| expiry.seen_from(now));
        assert_eq!(at("never"), Ok(None));
        assert_eq!(at("30d").unwrap().unwrap().to_string(), "2026-12-20T00:00:00Z");
        assert_eq!(at("2027-01-02").unwrap().unwrap().to_string(), "2027-01-03T00:00:00Z");
        assert_eq!(at("1798761600000").unwrap().unwrap().to_string(), "2027-01-01T00:00:00Z");
        for bad in ["1798761600", "1763596800000", "0d", "2026-11-19", "2001-01-01", "soon", "-3d", "", "d"] {
            assert!(at(bad).is_err(), "{bad}");
        }
    }
}
