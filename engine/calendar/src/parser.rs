//! Parses a point or a period of time from tokens, without its bounds: `last Friday`, `3 March 2026`, `two weeks ago`.
//!
//! Each method tries to parse at one position, and returns the period and the position after it. The methods ignore the
//! language: both orders of words are accepted (`last week`, `semaine dernière`).

use std::cell::RefCell;

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{ToSpan as _, Zoned};

use super::civil::{self, Period, span, start_of, whole};
use super::token::Token;
use super::value::{Value, on_clock};
use super::words::{Reading, Unit, Which};
use super::{Problem, Toward};

/// A parsed value and the position after it.
pub(crate) type Read<T> = Option<(T, usize)>;

/// A parser of one text in one language.
pub(crate) struct Parser<'a> {
    pub(crate) tokens: &'a [Token],
    pub(crate) now: DateTime,
    pub(crate) zoned: &'a Zoned,
    pub(crate) toward: Toward,
    /// True in a question, where the beginning of a month has several days.
    pub(crate) is_question: bool,
    /// The first problem of something that looked like a time.
    pub(crate) problem: RefCell<Option<Problem>>,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(tokens: &'a [Token], now: &'a Zoned, toward: Toward) -> Self {
        Self { tokens, now: now.datetime(), zoned: now, toward, is_question: false, problem: RefCell::new(None) }
    }

    pub(crate) fn today(&self) -> Date {
        self.now.date()
    }

    pub(crate) fn is_ahead(&self) -> bool {
        self.toward == Toward::Future
    }

    pub(crate) fn token(&self, at: usize) -> Option<&'a Token> {
        self.tokens.get(at)
    }

    /// Finds a reading of a token.
    pub(crate) fn find<T>(&self, at: usize, wanted: impl Fn(Reading) -> Option<T>) -> Option<T> {
        self.token(at)?.readings.iter().find_map(|reading| wanted(*reading))
    }

    pub(crate) fn has(&self, at: usize, reading: Reading) -> bool {
        self.token(at).is_some_and(|token| token.readings.contains(&reading))
    }

    /// The position after a token, if the token has a reading.
    pub(crate) fn after(&self, at: usize, reading: Reading) -> Option<usize> {
        self.has(at, reading).then_some(at + 1)
    }

    /// The position after a token, if the token has a reading; otherwise the same position.
    pub(crate) fn past(&self, at: usize, reading: Reading) -> usize {
        self.after(at, reading).unwrap_or(at)
    }

    /// The position after articles.
    pub(crate) fn past_articles(&self, at: usize) -> usize {
        (at..self.tokens.len()).find(|at| !self.has(*at, Reading::The)).unwrap_or_else(|| at.max(self.tokens.len()))
    }

    /// Remembers why something that looks like a time is none.
    pub(crate) fn refuse<T>(&self, problem: Problem) -> Option<T> {
        self.problem.borrow_mut().get_or_insert(problem);
        None
    }

    pub(crate) fn checked<T>(&self, result: Result<T, Problem>) -> Option<T> {
        result.map_or_else(|problem| self.refuse(problem), Some)
    }

    pub(crate) fn value(&self, at: usize) -> Option<&'a Value> {
        let value = self.token(at)?.value.as_ref();
        if let Some(Value::Wrong(problem)) = value {
            return self.refuse(*problem);
        }
        value
    }

    /// A number in digits or in letters.
    pub(crate) fn number(&self, at: usize) -> Option<i64> {
        match self.value(at) {
            Some(Value::Number(number, _)) => Some(*number),
            Some(_) => None,
            None => self.find(at, |reading| if let Reading::Number(number) = reading { Some(number) } else { None }),
        }
    }

    pub(crate) fn ordinal(&self, at: usize) -> Option<i64> {
        match self.value(at) {
            Some(Value::Ordinal(number)) => Some(*number),
            Some(_) => None,
            None => self.find(at, |reading| if let Reading::Ordinal(number) = reading { Some(number) } else { None }),
        }
    }

    pub(crate) fn unit(&self, at: usize) -> Option<Unit> {
        self.find(at, |reading| if let Reading::Unit(unit) = reading { Some(unit) } else { None })
    }

    /// A unit in one word with `last`, `this` or `next`.
    pub(crate) fn unit_of(&self, at: usize) -> Option<(Which, Unit)> {
        self.find(at, |reading| if let Reading::UnitOf(which, unit) = reading { Some((which, unit)) } else { None })
    }

    pub(crate) fn which(&self, at: usize) -> Option<Which> {
        self.find(at, |reading| if let Reading::Which(which) = reading { Some(which) } else { None })
    }

    pub(crate) fn weekday(&self, at: usize) -> Option<i8> {
        self.find(at, |reading| if let Reading::Weekday(day) = reading { Some(day) } else { None })
    }

    pub(crate) fn part(&self, at: usize) -> Option<(i8, i8)> {
        self.find(at, |reading| if let Reading::Part(from, to) = reading { Some((from, to)) } else { None })
    }

    /// A year of four digits, perhaps with a mark after it.
    pub(crate) fn year(&self, at: usize) -> Read<i16> {
        let era = self.find(at, |reading| if let Reading::Era(year) = reading { Some(year) } else { None });
        if let Some(era) = era {
            let year = era.checked_add(i16::try_from(self.number(at + 1)?).ok()?)?;
            return Some((year, self.after(at + 2, Reading::Unit(Unit::Year))?));
        }
        let Some(Value::Number(number, 4)) = self.value(at) else { return None };
        let year = i16::try_from(*number).ok().filter(|year| *year >= 1)?;
        // In `2026年`, the mark belongs to the year.
        Some((year, if self.is_dense(at + 1) { self.past(at + 1, Reading::Unit(Unit::Year)) } else { at + 1 }))
    }

    /// True if no space separates a token from the one before it.
    pub(crate) fn is_dense(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.token(before));
        before.zip(self.token(at)).is_some_and(|(before, token)| before.range.end == token.range.start)
    }

    /// The longest period at this position.
    pub(crate) fn period(&self, at: usize) -> Read<Period> {
        let found = [
            self.dated(at),
            self.daily(at),
            self.weekly(at),
            self.relative(at),
            self.ago(at),
            self.numbered(at),
            self.edge(at),
            self.timed(at).and_then(|((time, has_seconds), end)| self.at_clock(time, has_seconds, end)),
        ];
        found.into_iter().flatten().max_by_key(|(_, end)| *end)
    }

    /// A time of day, perhaps with a day after it. Without a day: the latest such time, or the next one.
    pub(crate) fn at_clock(&self, time: Time, has_seconds: bool, end: usize) -> Read<Period> {
        // `9 am yesterday`
        let next = self.past_articles(self.past(self.past_articles(end), Reading::On));
        let days = [self.dated(next), self.daily(next), self.weekly(next)].into_iter().flatten();
        if let Some((day, end)) = days.max_by_key(|(_, end)| *end)
            && Period::day(day.from.date()) == Some(day)
        {
            return Some((Period::clock(day.from.date().to_datetime(time), has_seconds)?, end));
        }
        let moment = self.today().to_datetime(time);
        let moment = match self.toward {
            Toward::Future if moment <= self.now => moment.checked_add(1.day()).ok()?,
            Toward::Past if moment > self.now && !self.is_question => moment.checked_sub(1.day()).ok()?,
            _ => moment,
        };
        Some((Period::clock(moment, has_seconds)?, end))
    }

    /// A time of day: `14:30`, `3 pm`, `18 Uhr 30`, `下午3点`, `noon`. Returns the time, and whether it has seconds.
    pub(crate) fn timed(&self, at: usize) -> Read<(Time, bool)> {
        let half_of = |at: usize| match () {
            () if self.has(at, Reading::Pm) => Some(12),
            () if self.has(at, Reading::Am) => Some(0),
            () => None,
        };
        if let Some(Value::Clock(time, has_seconds)) = self.value(at) {
            let end = self.past(at + 1, Reading::Clock);
            let Some(half) = half_of(end) else { return Some(((*time, *has_seconds), end)) };
            let hour = self.checked(on_clock(time.hour(), Some(half)))?;
            return Some(((Time::new(hour, time.minute(), time.second(), 0).ok()?, *has_seconds), end + 1));
        }
        // `18h` is also a length.
        if let Some(Value::Length(hour, Unit::Hour)) = self.value(at)
            && self.token(at).is_some_and(|token| token.range.len() <= 3)
            && let Some(hour) = i8::try_from(*hour).ok().filter(|hour| *hour < 24)
        {
            return Some(((Time::new(hour, 0, 0, 0).ok()?, false), at + 1));
        }
        let is_named = self.has(at, Reading::Noon) || self.has(at, Reading::Midnight);
        if is_named && self.number(at + 1).is_none_or(|_| !self.has(at + 2, Reading::Clock)) {
            let hour = if self.has(at, Reading::Noon) { 12 } else { 0 };
            return Some(((Time::constant(hour, 0, 0, 0), false), at + 1));
        }
        let before = half_of(at);
        let first = if before.is_some() { at + 1 } else { at };
        let hour = self.number(first).and_then(|hour| i8::try_from(hour).ok())?;
        let marked = self.after(first + 1, Reading::Clock);
        let mut end = marked.unwrap_or(first + 1);
        let half = before.or_else(|| half_of(end));
        if marked.is_none() && (half.is_none() || before.is_some()) {
            return None;
        }
        let mut minute = 0;
        if before.is_none() && half.is_some() {
            end += 1;
        } else if let Some(number) = self.number(end).filter(|number| (0..60).contains(number) && marked.is_some())
            && (self.is_dense(end) || self.unit(end + 1).is_none())
        {
            minute = i8::try_from(number).ok()?;
            end = self.past(end + 1, Reading::Unit(Unit::Minute));
        } else if self.has(end, Reading::Half) && self.is_dense(end) {
            (minute, end) = (30, end + 1);
        }
        let hour = self.checked(on_clock(hour, half))?;
        Some(((Time::new(hour, minute, 0, 0).ok()?, false), end))
    }

    /// A day, and the part of it or the time that follows.
    pub(crate) fn within_day(&self, date: Date, end: usize) -> Read<Period> {
        let opener = self.past_articles(end);
        let next =
            self.past_articles(if self.has(opener, Reading::At) { opener + 1 } else { self.past(opener, Reading::On) });
        if let Some((from, to)) = self.part(next) {
            // `mañana a las 18:00`, `下午3点`: the part belongs to the time.
            if let Some(((time, has_seconds), end)) = self.timed(next) {
                return Some((Period::clock(date.to_datetime(time), has_seconds)?, end));
            }
            return Some((Period::hours(date, from, to)?, next + 1));
        }
        if let Some(((time, has_seconds), end)) = self.timed(next) {
            return Some((Period::clock(date.to_datetime(time), has_seconds)?, end));
        }
        Some((Period::day(date)?, end))
    }

    /// `yesterday`, `today at 18:00`, `last night`
    pub(crate) fn daily(&self, at: usize) -> Read<Period> {
        let day = |reading| if let Reading::Day(days) = reading { Some(days) } else { None };
        if let Some(days) = self.find(at, day) {
            return self.within_day(self.today().checked_add(days.days()).ok()?, at + 1);
        }
        let night = |reading| if let Reading::Night(days) = reading { Some(days) } else { None };
        if let Some(days) = self.find(at, night) {
            let date = self.today().checked_add(days.days()).ok()?;
            return Some((Period::hours(date, 18, 30)?, at + 1));
        }
        let which = self.which(at)?;
        let (from, to) = self.part(at + 1)?;
        let date = match which {
            Which::This => self.today(),
            Which::Last => self.today().yesterday().ok()?,
            Which::Next => self.today().tomorrow().ok()?,
            Which::BeforeLast | Which::AfterNext => return None,
        };
        Some((Period::hours(date, from, to)?, at + 2))
    }

    /// The nearest such weekday, before today or after it.
    pub(crate) fn nearest(&self, day: i8, which: Option<Which>) -> Option<Date> {
        let weekday = Weekday::from_monday_one_offset(day).ok()?;
        let is_ahead = match which {
            None => self.is_ahead(),
            Some(Which::Next | Which::AfterNext) => true,
            Some(Which::Last | Which::BeforeLast) => false,
            Some(Which::This) => {
                let monday = civil::first_of(Unit::Week, self.today())?;
                return monday.checked_add(i64::from(day - 1).days()).ok();
            }
        };
        let date = self.today().nth_weekday(if is_ahead { 1 } else { -1 }, weekday).ok()?;
        match which {
            Some(Which::BeforeLast) => date.checked_sub(7.days()).ok(),
            Some(Which::AfterNext) => date.checked_add(7.days()).ok(),
            _ => Some(date),
        }
    }

    /// `Friday`, `last Friday`, `vendredi dernier`, `Friday evening`, `Friday of last week`, `上周五`
    pub(crate) fn weekly(&self, at: usize) -> Read<Period> {
        if let Some(found) = self.weekday_of_week(at) {
            return Some(found);
        }
        let before = self.which(at);
        let first = if before.is_some() { self.past_articles(at + 1) } else { at };
        let day = self.weekday(first)?;
        let after =
            if before.is_none() { self.which(first + 1).filter(|_| self.unit(first + 2).is_none()) } else { None };
        let end = if after.is_some() { first + 2 } else { first + 1 };
        // `Friday last week`
        let next = self.past_articles(end);
        if after.is_none()
            && let Some((week, end)) = self.relative(next)
            && week.is_week()
        {
            let date = week.from.date().checked_add(i64::from(day - 1).days()).ok()?;
            return self.within_day(date, end);
        }
        self.within_day(self.nearest(day, before.or(after))?, end)
    }

    /// A week and a day of it: `上周五`, `先週の金曜日`, `letzte Woche Freitag`
    pub(crate) fn weekday_of_week(&self, at: usize) -> Read<Period> {
        let (week, end) = self.relative(at)?;
        if !week.is_week() {
            return None;
        }
        let next = self.past_articles(end);
        let day = match self.weekday(next) {
            Some(day) => day,
            None if self.is_dense(next) && next == end => match self.token(next)?.value.as_ref() {
                Some(Value::Number(day, 1)) if (1..=6).contains(day) => i8::try_from(*day).ok()?,
                None if self.has(next, Reading::DayMark) => 7,
                _ => return None,
            },
            None => return None,
        };
        self.within_day(week.from.date().checked_add(i64::from(day - 1).days()).ok()?, next + 1)
    }

    /// A number of units: `3 days`, `7d`, `a week`
    pub(crate) fn length(&self, at: usize) -> Read<(i64, Unit)> {
        if let Some(Value::Length(number, unit)) = self.value(at) {
            return Some(((*number, *unit), at + 1));
        }
        // `half an hour`, `media hora`, `半小时`
        if let Some(next) = self.after(at, Reading::Half).or_else(|| self.after(self.past_articles(at), Reading::Half))
        {
            let place = self.past_articles(next);
            return Some((half_of(self.unit(place)?)?, place + 1));
        }
        let number = self.number(at)?;
        let place = (at + 1..=at + 2).find(|place| self.unit(*place).is_some())?;
        if place == at + 2 && !self.has(at + 1, Reading::The) {
            return None;
        }
        // In Chinese and Japanese, `月` after a number is the name of a month, and `个月` is a length.
        let unit = self.unit(place).filter(|_| !self.has(place, Reading::MonthMark))?;
        // `an hour and a half`
        if let Some(next) = self.after(place + 1, Reading::And)
            && let Some(end) = self.after(self.past_articles(next), Reading::Half)
            && let Some((half, smaller)) = half_of(unit)
        {
            return Some(((number.checked_mul(2)?.checked_add(1)?.checked_mul(half)?, smaller), end));
        }
        Some(((number, unit), place + 1))
    }

    /// The time a length ago or ahead.
    pub(crate) fn ago(&self, at: usize) -> Read<Period> {
        if let Some(start) = self.after(at, Reading::BackIn)
            && let Some(((number, unit), end)) = self.length(start)
        {
            return Some((self.reached(-number, unit)?, self.past(end, Reading::Back)));
        }
        if let Some(start) = self.after(at, Reading::AheadIn)
            && let Some(((number, unit), end)) = self.length(start)
        {
            return Some((self.reached(number, unit)?, end));
        }
        let ((number, unit), end) = self.length(at)?;
        if let Some(end) = self.after(end, Reading::Back) {
            return Some((self.reached(-number, unit)?, end));
        }
        let end = self.after(end, Reading::Ahead)?;
        Some((self.reached(number, unit)?, end))
    }

    /// The whole day a number of units away. For hours and minutes: the minute, or in a question the hour around it.
    pub(crate) fn reached(&self, number: i64, unit: Unit) -> Option<Period> {
        let moment = self.moved(number, unit)?;
        if !unit.is_short() {
            return Period::day(moment.date());
        }
        if self.is_question && unit == Unit::Hour {
            let [from, to] = [-30, 30].map(|minutes: i64| moment.checked_add(minutes.minutes()).ok());
            return Some(Period { from: from?, to: to?, is_clock: true });
        }
        Period::clock(whole_minute(moment)?, false)
    }

    /// The start of a period that ends now: from the beginning of the day, or exact for hours and minutes.
    pub(crate) fn begun(&self, number: i64, unit: Unit) -> Option<DateTime> {
        let moment = self.moved(-number, unit)?;
        Some(if unit.is_short() { moment } else { start_of(moment.date()) })
    }

    /// The local time a number of units away. Hours and minutes are exact when the clocks change.
    fn moved(&self, number: i64, unit: Unit) -> Option<DateTime> {
        let moved = span(number, unit).and_then(|span| {
            let moved = if unit.is_short() {
                self.zoned.checked_add(span).map(|time| time.datetime())
            } else {
                self.now.checked_add(span)
            };
            moved.map_err(|_| Problem::OutOfRange)
        });
        self.checked(moved)
    }

    /// The first or the last day of a period: `end of March`, `三月底`
    pub(crate) fn edge(&self, at: usize) -> Read<Period> {
        let edge_of = |one| if let Reading::EdgeOf(is_end, unit) = one { Some((is_end, unit)) } else { None };
        if let Some((is_end, unit)) = self.find(at, edge_of) {
            return Some((first_or_last(whole(unit, 0, self.today())?, !is_end)?, at + 1));
        }
        if let Some(next) = self.after(at, Reading::Mid) {
            let (month, end) = self.dated(self.past_articles(next))?;
            return Some((third(month, 2)?, end));
        }
        let (is_start, is_end) = (self.has(at, Reading::Start), self.has(at, Reading::End));
        if is_start || is_end {
            let next = self.past_articles(at + 1);
            let (period, end) = self.inner(next)?;
            return Some((self.edge_of(period, is_start)?, end));
        }
        let (period, end) = self.inner(at)?;
        let next = self.past_articles(end);
        if let Some(part) = self.find(next, |one| if let Reading::Third(part) = one { Some(part) } else { None }) {
            return Some((third(period, part)?, next + 1));
        }
        let (is_start, is_end) = (self.has(next, Reading::StartEnd), self.has(next, Reading::EndEnd));
        (is_start || is_end).then(|| Some((self.edge_of(period, is_start)?, next + 1)))?
    }

    /// The beginning or the end of a period: one day, or in a question about a month ten days.
    pub(crate) fn edge_of(&self, period: Period, is_start: bool) -> Option<Period> {
        let part = if is_start { 1 } else { 3 };
        let days = if self.is_question { third(period, part) } else { None };
        days.or_else(|| first_or_last(period, is_start))
    }

    /// A period that has a start and an end of its own. `the year` is the current one.
    pub(crate) fn inner(&self, at: usize) -> Read<Period> {
        let found = [self.dated(at), self.relative(at), self.numbered(at)].into_iter().flatten();
        found.max_by_key(|(_, end)| *end).or_else(|| {
            let unit = self.unit(at).filter(|unit| !unit.is_short())?;
            Some((whole(unit, 0, self.today())?, at + 1))
        })
    }
}

/// Half a unit in smaller units.
fn half_of(unit: Unit) -> Option<(i64, Unit)> {
    Some(match unit {
        Unit::Minute => (30, Unit::Second),
        Unit::Hour => (30, Unit::Minute),
        Unit::Day => (12, Unit::Hour),
        Unit::Year => (6, Unit::Month),
        _ => return None,
    })
}

/// A third of a month: days 1 to 10, 11 to 20, or the rest.
fn third(month: Period, part: i8) -> Option<Period> {
    let first = month.from.date();
    let is_month = first.day() == 1 && month.last_day()? == first.last_of_month();
    let day = |day: i8| Date::new(first.year(), first.month(), day).ok();
    let last = if part == 3 { first.last_of_month() } else { day(part * 10)? };
    is_month.then(|| Period::days(day(part * 10 - 9)?, last))?
}

fn first_or_last(period: Period, is_start: bool) -> Option<Period> {
    Period::day(if is_start { period.from.date() } else { period.last_day()? })
}

fn whole_minute(moment: DateTime) -> Option<DateTime> {
    let time = moment.time();
    Some(moment.date().to_datetime(Time::new(time.hour(), time.minute(), 0, 0).ok()?))
}
