//! Finds the time that a question names.
//!
//! A word such as `Friday`, `May` or `today` often names something else: a service, a person, a widget. So a question
//! names a time only in a form that does not fit a name: with a preposition (`on Friday`), with `last` or `ago`, or
//! before a word such as `notes`.

use std::ops::Range;

use jiff::Zoned;

use super::parser::Parser;
use super::token::{Token, chunks, tokens};
use super::value::Value;
use super::words::{Kana, LANGUAGES, Language, Reading, Unit, Which};
use super::{Toward, Window};

/// A time in a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The window.
    pub window: Window,
    /// The bytes of the phrase in the question, with its preposition.
    pub range: Range<usize>,
}

/// A Japanese text without kana has at most this number of characters.
const MAX_WITHOUT_KANA: usize = 8;
/// Maximum number of bytes that are searched.
const MAX_BYTES: usize = 2_000;

/// The time in the past that a question names; `None` if it names none. A question about what lies ahead (`next
/// Tuesday`) or happens regularly (`every Monday`) names none.
pub fn mention(question: &str, now: &Zoned) -> Option<Mention> {
    let end =
        question.char_indices().map(|(at, _)| at).chain([question.len()]).take_while(|at| *at <= MAX_BYTES).last()?;
    let question = question.get(..end)?;
    let has_kana = question.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}'));
    let is_long = question.chars().nth(MAX_WITHOUT_KANA).is_some();
    let has_han = question.chars().any(|c| matches!(c, '\u{3400}'..='\u{9fff}'));
    let is_possible = |language: &&Language| match language.kana {
        Kana::Never => has_han && !has_kana,
        Kana::Usual => has_kana || has_han && !is_long,
        Kana::Unknown => true,
    };
    let chunks = chunks(question);
    let found = LANGUAGES.iter().filter(is_possible).filter_map(|language| {
        let tokens = tokens(&chunks, language, now.time_zone());
        let parser = Parser { is_question: true, ..Parser::new(&tokens, now, Toward::Past) };
        parser.first(language)
    });
    // Of equally long phrases, the one in the first language counts.
    found.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(mention, _)| mention)
}

impl Parser<'_> {
    /// The first phrase that names a time of the past, and the number of its words.
    fn first(&self, language: &Language) -> Option<(Mention, usize)> {
        let is_ahead = |token: &Token| {
            token.readings.iter().any(|one| match one {
                Reading::Day(days) => *days > 0 && token.readings.len() == 1,
                Reading::Which(Which::Next) | Reading::UnitOf(Which::Next, _) => true,
                _ => false,
            })
        };
        let mut at = 0;
        while let Some(token) = self.token(at) {
            // Most words have no meaning in time.
            if token.readings.is_empty() && token.value.is_none() {
                at += 1;
                continue;
            }
            // `notes from Thursday`
            let from = || self.after(at, Reading::From).and_then(|next| self.window(next));
            if let Some((window, end)) = self.window(at).or_else(from)
                && let Some(range) = self.named(at, end, language)
            {
                let ahead = self.tokens.get(at..end)?.iter().any(is_ahead);
                let starts_ahead = window.from.is_some_and(|from| from > self.now);
                return (!ahead && !starts_ahead).then(|| (Mention { window, range }, end - at));
            }
            at += 1;
        }
        None
    }

    /// The bytes of the phrase, if its form shows that it names a time.
    fn named(&self, at: usize, end: usize, language: &Language) -> Option<Range<usize>> {
        let token = self.token(at)?;
        let last = self.token(end.checked_sub(1)?)?;
        if at.checked_sub(1).is_some_and(|before| self.has(before, Reading::Habit)) || self.has(at, Reading::Habit) {
            return None;
        }
        // `the week before August 3` is not the time before August 3.
        let is_side =
            self.token(at).is_some_and(|token| token.readings.iter().any(|one| matches!(one, Reading::Side(_))));
        if is_side && at.checked_sub(1).is_some_and(|before| self.unit(before).is_some()) {
            return None;
        }
        let is_title = self.has(end, Reading::Title);
        let is_quoted = self.tokens.get(at..end)?.iter().any(|token| token.is_quoted);
        if is_quoted || is_title {
            return None;
        }
        let is_record = self.has(end, Reading::Record) && !self.token(end)?.is_apart;
        if last.is_possessive && !is_record {
            return None;
        }
        let range = token.range.start..last.range.end;
        let is_record_before = at.checked_sub(1).is_some_and(|before| self.has(before, Reading::Record));
        let is_lone = self.tokens.len() == end && at == 0;
        let is_opened = self.is_opened(at, end);
        let first = (at..end).find(|at| !self.has(*at, Reading::On) && !self.has(*at, Reading::The)).unwrap_or(at);
        let is_unmistakable = self.is_unmistakable(first, end, language);
        let is_planned = self.tokens.iter().any(|token| token.readings.contains(&Reading::Plan));
        if is_planned && !is_unmistakable {
            return None;
        }
        // `everything about the parser, September`
        let is_last = end == self.tokens.len() && self.token(first)?.is_apart;
        let is_set_apart = is_record_before || is_lone || is_last;
        let is_named = is_unmistakable
            || is_record
            || is_opened && !self.is_name(first, end, language)
            || is_set_apart && self.is_calendar(first) && !self.is_ordinary(first);
        is_named.then_some(range)
    }

    /// True if the phrase begins with a preposition or a bound.
    fn is_opened(&self, at: usize, end: usize) -> bool {
        let opens = |reading: Reading| {
            matches!(reading, Reading::On | Reading::Side(_) | Reading::From | Reading::Between | Reading::AheadIn)
        };
        let is_opener = |at: usize| self.token(at).is_some_and(|token| token.readings.iter().any(|one| opens(*one)));
        let is_closed = (at..end).any(|at| {
            self.token(at).is_some_and(|token| {
                token.readings.iter().any(|one| matches!(one, Reading::SideEnd(_) | Reading::BetweenEnd))
            })
        });
        is_opener(at)
            || is_closed
            || self.has(at, Reading::The)
                && self.token(at + 1).is_some_and(|token| matches!(token.value, Some(Value::Ordinal(_))))
    }

    /// True for a word that may be a name: `May` after an article, or a capital letter where the language has none.
    fn is_name(&self, first: usize, end: usize, language: &Language) -> bool {
        let is_article =
            first.checked_sub(1).is_some_and(|before| self.has(before, Reading::The) && !self.has(before, Reading::On));
        let is_month = self.find(first, |one| {
            if matches!(one, Reading::Month(_) | Reading::Weekday(_) | Reading::Season(_)) { Some(()) } else { None }
        });
        let token = self.token(first);
        let is_capital = token.is_some_and(|token| token.is_capital && !token.is_first);
        let is_small = token.is_some_and(|token| !token.is_capital);
        // `na sexta versão`
        let is_count = self.find(first, |one| if let Reading::Ordinal(_) = one { Some(()) } else { None }).is_some();
        let ends = self.token(end).is_none_or(|next| next.is_apart || !next.readings.is_empty());
        if is_count && end == first + 1 && is_month.is_some() && !ends {
            return true;
        }
        match is_month {
            Some(()) if is_article && end == first + 1 && language.has_capitals => true,
            Some(()) if !language.has_capitals && !language.is_dense => is_capital,
            Some(()) => is_small && self.is_ordinary(first) && end == first + 1,
            None => self.unit(first).is_some() && end == first + 1,
        }
    }

    /// True for abbreviations of months and weekdays that are also ordinary words.
    fn is_ordinary(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.range.len() <= 3 || token.readings.len() > 1)
    }

    fn is_calendar(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| {
            token.value.is_some()
                || token.readings.iter().any(|one| {
                    matches!(one, Reading::Month(_) | Reading::Weekday(_) | Reading::Day(_) | Reading::Weekend)
                })
        })
    }

    /// True for forms that fit no name: `yesterday`, `last week`, `two days ago`, `12 November`.
    fn is_unmistakable(&self, first: usize, end: usize, language: &Language) -> bool {
        let Some(token) = self.token(first) else { return false };
        let has = |wanted: fn(Reading) -> bool| {
            self.tokens
                .get(first..end)
                .unwrap_or_default()
                .iter()
                .any(|token| token.readings.iter().any(|one| wanted(*one)))
        };
        let is_capital = token.is_capital && !token.is_first && !language.is_dense;
        if has(|one| matches!(one, Reading::Day(_) | Reading::Night(_))) {
            return !is_capital;
        }
        let is_counted = has(|one| matches!(one, Reading::UnitOf(..) | Reading::Back | Reading::BackIn))
            || has(|one| matches!(one, Reading::Which(_) | Reading::Past)) && end > first + 1;
        let is_short = has(|one| matches!(one, Reading::Unit(Unit::Minute | Unit::Second)))
            && !has(|one| matches!(one, Reading::Back | Reading::BackIn));
        if is_counted && !is_short {
            return !is_capital || !language.has_capitals;
        }
        let has_month = has(|one| matches!(one, Reading::Month(_) | Reading::MonthMark));
        let has_number = self.tokens.get(first..end).unwrap_or_default().iter().any(|token| token.value.is_some());
        let is_label = self.has(first, Reading::WeekLabel) || self.has(first, Reading::OrdinalMark);
        let is_week = matches!(token.value, Some(Value::Week(..))) || is_label && has_number;
        let is_part = has(|one| matches!(one, Reading::Start | Reading::End | Reading::Mid | Reading::Third(_)));
        let is_week = is_week || has_month && is_part || has_month && has(|one| one == Reading::Unit(Unit::Week));
        has_month && has_number || is_week
    }
}
