//! Parses windows of time: a period with its bounds, such as `since Friday` or `from 1 to 15 October`.

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime, Time};

use super::civil::{Period, start_of};
use super::parser::{Parser, Read};
use super::value::Value;
use super::words::{Reading, Side, Which};
use super::{Toward, Window};

impl Parser<'_> {
    /// The longest window at this position.
    pub(crate) fn window(&self, at: usize) -> Read<Window> {
        let found = [self.range(at), self.bounded(at), self.recent(at), self.plain(at)];
        found.into_iter().flatten().max_by_key(|(_, end)| *end)
    }

    /// `in October`, `yesterday after 14:00`, `周五以来`
    fn plain(&self, at: usize) -> Read<Window> {
        let first = self.past_prepositions(at);
        let (period, end) = self.period(first)?;
        if let Some((window, end)) = self.ended(period, end) {
            return Some((window, end));
        }
        // `yesterday after 14:00`, `today between 9:00 and 11:00`
        if Period::day(period.from.date()) == Some(period)
            && let Some((window, end)) = self.bounded(end).or_else(|| self.range(end))
            && self.bounds_day(&window)
        {
            let on_day = |time: DateTime| period.from.date().to_datetime(time.time());
            let window = Window {
                from: window.from.map(on_day).or(Some(period.from)),
                to: window.to.map(on_day).or(Some(period.to)),
            };
            return Some((window, end));
        }
        Some((period.into(), end))
    }

    /// True if the bounds are times of today, which may be times of another day.
    fn bounds_day(&self, window: &Window) -> bool {
        let of_today =
            |time: &DateTime| (time.date() == self.today() || self.is_ahead()) && *time != start_of(time.date());
        let bounds: Vec<DateTime> = window.from.into_iter().chain(window.to).collect();
        !bounds.is_empty() && bounds.iter().all(of_today)
    }

    /// The position after prepositions and articles.
    pub(crate) fn past_prepositions(&self, at: usize) -> usize {
        let is_one = |at: usize| [Reading::On, Reading::At, Reading::The].into_iter().any(|one| self.has(at, one));
        let end = (at..at + 3).find(|at| !is_one(*at)).unwrap_or(at + 3);
        // `in 3 days`, `a week ago`: the word also belongs to the time.
        (at..=end).find(|start| self.period(*start).is_some()).unwrap_or(end)
    }

    /// A bound after its period.
    fn ended(&self, period: Period, end: usize) -> Read<Window> {
        let side = self.find(end, |reading| if let Reading::SideEnd(side) = reading { Some(side) } else { None })?;
        Some((bound(side, period), end + 1))
    }

    /// `since Friday`, `before 10 November`, `older than 3 months`
    fn bounded(&self, at: usize) -> Read<Window> {
        let side = self.find(at, |reading| if let Reading::Side(side) = reading { Some(side) } else { None })?;
        let mut first = self.past_articles(at + 1);
        if let Some((period, end)) = self.period(first).or_else(|| self.period(self.past_prepositions(first))) {
            let end = if let Some((_, longer)) = self.ended(period, end) { longer } else { end };
            return Some((bound(side, period), end));
        }
        first = self.past(first, Reading::BackIn);
        let ((number, unit), end) = self.length(first)?;
        match side {
            Side::Since => {
                Some((Window { from: Some(self.begun(number, unit)?), to: None }, self.past(end, Reading::Back)))
            }
            Side::Before => Some((Window { from: None, to: Some(self.begun(number, unit)?) }, end)),
            Side::After | Side::Until => None,
        }
    }

    /// `in the last 7 days`, `los últimos siete días`, `过去三天`, `the past week`, `in the last hour`
    fn recent(&self, at: usize) -> Read<Window> {
        let is_one = |at: usize| self.has(at, Reading::On) || self.has(at, Reading::The);
        let mut first = (at..at + 3).find(|at| !is_one(*at)).unwrap_or(at + 3);
        let ((number, unit), end) = if let Some(next) = self.after(first, Reading::Past) {
            if let Some(found) = self.length(next) {
                found
            } else {
                let unit = self.unit(next)?;
                // `last week` is a week of the calendar, `the past week` is a length, and `the last hour` too.
                let is_short = unit.is_short();
                let is_length = is_short && (first > at || !self.is_question) || self.which(first).is_none();
                is_length.then_some(((1, unit), next + 1))?
            }
        } else {
            first = self.past(first, Reading::Which(Which::This));
            let number = self.number(first)?;
            first = self.after(first + 1, Reading::Past)?;
            ((number, self.unit(first)?), first + 1)
        };
        Some((Window { from: Some(self.begun(number, unit)?), to: None }, end))
    }

    /// `from 1 October to 15 October`, `between Monday and Wednesday`, `2026-11-01..2026-11-15`
    fn range(&self, at: usize) -> Read<Window> {
        let is_between = self.has(at, Reading::Between);
        let mut first = if is_between { at + 1 } else { self.past(at, Reading::From) };
        first = self.past_articles(first);
        let start_at = |at| self.range_start(at, is_between);
        let start = start_at(first).or_else(|| start_at(self.past_prepositions(first)));
        let (from, next) = start?;
        let joined = if self.has(next, Reading::To)
            || (is_between || self.is_marked_range(next)) && self.has(next, Reading::And)
        {
            self.past_articles(next + 1)
        } else {
            return None;
        };
        let joined = self.past(joined, Reading::From);
        let last = self.period(joined).or_else(|| self.period(self.past_prepositions(joined)));
        let (mut to, mut end) = last?;
        end = self.past(end, Reading::BetweenEnd);
        end = self.past(end, Reading::SideEnd(Side::Until));
        if let Bound::Period(from) = from
            && !from.is_clock
            && self.lone_day(first).is_none()
            && let Some(day) = self.day_after(from, joined, end)
        {
            to = day;
        }
        let mut from = match from {
            Bound::Period(period) => period,
            // `9 bis 11 Uhr`
            Bound::Day(hour) if to.is_clock => {
                let time = Time::new(hour, 0, 0, 0).ok()?;
                Period::clock(to.from.date().to_datetime(time), false)?
            }
            // `from 1 to 15 October`
            Bound::Day(day) => {
                let date = to.from.date();
                let first = Date::new(date.year(), date.month(), day).ok()?;
                Period::day(first)?
            }
        };
        // `between 9am and 11am yesterday`: the day at the end is the day of both times.
        if from.is_clock && to.is_clock && from.from.date() != to.from.date() {
            let day = if to.from.date() == self.today() { from.from.date() } else { to.from.date() };
            from = Period { from: day.to_datetime(from.from.time()), ..from };
            to = Period { from: day.to_datetime(to.from.time()), ..to };
        }
        if !from.is_clock && !to.is_clock && from.from > to.from {
            (from, to) = self.in_order(from, to)?;
        }
        // `9 bis 11 Uhr` and other times are bounds themselves.
        let to = if to.is_clock { to.from } else { to.to };
        (from.from < to).then_some((Window { from: Some(from.from), to: Some(to) }, end))
    }

    /// In Chinese and Japanese, `and` also joins the ends of a range if a mark follows.
    fn is_marked_range(&self, at: usize) -> bool {
        (at..at + 6).any(|at| self.has(at, Reading::BetweenEnd))
    }

    fn range_start(&self, at: usize, is_between: bool) -> Read<Bound> {
        let joins = |at: usize| self.has(at, Reading::To) || is_between && self.has(at, Reading::And);
        // `from 9 to 11 October`: a number alone is a day of the month of the end.
        let number = self.number(at).filter(|number| (1..=31).contains(number) && joins(at + 1));
        if let Some((period, end)) = self.period(at).filter(|(_, end)| *end > at + 1 || number.is_none()) {
            let is_ordinal = end == at + 1 && self.unit(at).is_none() && self.ordinal_day(at).is_some() && joins(end);
            if !is_ordinal {
                return Some((Bound::Period(period), end));
            }
        }
        if let Some(day) = self.ordinal_day(at).filter(|_| joins(at + 1)) {
            return Some((Bound::Day(day), at + 1));
        }
        let day = i8::try_from(number?).ok()?;
        Some((Bound::Day(day), at + 1))
    }

    /// The day of `the 1st to the 15th of October`, whose month is at the end.
    fn ordinal_day(&self, at: usize) -> Option<i8> {
        let Some(Value::Ordinal(day)) = self.token(at)?.value.as_ref() else { return None };
        i8::try_from(*day).ok()
    }

    /// A day without a month at the end of a range: `10月10日至20日`. It is in the month in which the range begins.
    fn day_after(&self, from: Period, at: usize, end: usize) -> Option<Period> {
        let (lone, _) = self.lone_day(at).filter(|(_, lone)| *lone == end)?;
        let (first, day) = (from.from.date(), lone.from.date().day());
        let month = if day < first.day() { first.checked_add(1.month()).ok()? } else { first };
        Period::day(Date::new(month.year(), month.month(), day).ok()?)
    }

    /// Moves one end of a range so that it is in order: `from October to January`, `Monday to Friday`.
    fn in_order(&self, from: Period, to: Period) -> Option<(Period, Period)> {
        let days = from.to.date().since(from.from.date()).ok()?.get_days();
        let gap = from.from.date().since(to.from.date()).ok()?.get_days();
        let step = if days <= 1 && gap < 7 {
            7.days()
        } else if days <= 1 && gap < 31 {
            1.month()
        } else {
            1.year()
        };
        let moved = |period: Period, step: jiff::Span| {
            Some(Period { from: period.from.checked_add(step).ok()?, to: period.to.checked_add(step).ok()?, ..period })
        };
        if self.toward == Toward::Future { Some((from, moved(to, step)?)) } else { Some((moved(from, -step)?, to)) }
    }
}

/// The beginning of a range.
#[derive(Clone, Copy)]
enum Bound {
    Period(Period),
    /// A day of the month in which the range ends.
    Day(i8),
}

/// A window on one side of a period.
fn bound(side: Side, period: Period) -> Window {
    let end = if period.is_clock { period.from } else { period.to };
    match side {
        Side::Since => Window { from: Some(period.from), to: None },
        Side::After => Window { from: Some(end), to: None },
        Side::Before => Window { from: None, to: Some(period.from) },
        Side::Until => Window { from: None, to: Some(end) },
    }
}

impl From<Period> for Window {
    fn from(period: Period) -> Self {
        Self { from: Some(period.from), to: Some(period.to) }
    }
}
