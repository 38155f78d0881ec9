//! How long a memory stays in recall when nobody uses it.

use crate::domain::{Category, Importance, Timestamp};

/// From this importance on, a memory never expires by itself (hundredths).
const KEPT_FOR_EVER: u8 = 60;
const SHORTEST_DAYS: i64 = 90;
const DAYS_PER_POINT: i64 = 5;

/// When a memory written at `now` expires: preferences, decisions and people never, nor anything
/// of importance 0.60 or more; the rest after 90 days plus 5 for every hundredth (90 to 385 days).
pub fn expiry(category: &Category, importance: Importance, now: Timestamp) -> Option<Timestamp> {
    let is_kept = category.is_standing() || category.as_str() == "people" || importance.percent() >= KEPT_FOR_EVER;
    (!is_kept).then(|| now.plus_days(SHORTEST_DAYS + DAYS_PER_POINT * i64::from(importance.percent())))
}

/// The expiry after a use at `now`: as if written now, and never earlier than before.
pub fn refreshed_expiry(
    current: Option<Timestamp>,
    category: &Category,
    importance: Importance,
    now: Timestamp,
) -> Option<Timestamp> {
    let current = current?;
    expiry(category, importance, now).map(|fresh| fresh.max(current))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unimportant_facts_fade_and_use_keeps_them() {
        let now = Timestamp::from_micros(0).plus_days(1000);
        let facts = Category::default();
        let at = |percent| expiry(&facts, Importance::from_percent(percent), now);
        assert_eq!(at(0), Some(now.plus_days(90)));
        assert_eq!(at(40), Some(now.plus_days(290)));
        assert_eq!(at(60), None);
        assert_eq!(expiry(&"decisions".parse().unwrap(), Importance::from_percent(0), now), None);
        let later = now.plus_days(100);
        assert_eq!(refreshed_expiry(at(0), &facts, Importance::from_percent(0), later), Some(later.plus_days(90)));
        let far = Some(now.plus_days(9_000));
        assert_eq!(refreshed_expiry(far, &facts, Importance::from_percent(0), later), far);
        assert_eq!(refreshed_expiry(None, &facts, Importance::from_percent(0), later), None);
    }
}
