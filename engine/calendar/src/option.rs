//! Parses the value of an option: the whole text is one time.

use jiff::Zoned;

use super::parser::Parser;
use super::token::{Token, chunks, tokens};
use super::words::{LANGUAGES, Reading, Unit};
use super::{Problem, Toward, Window};

/// Maximum number of bytes of an option.
const MAX_BYTES: usize = 200;

/// The window that a text names, such as `since Monday`, `23.11.2026`, `3 days ago` or `letzte Woche`. Bare lengths
/// (`7d`, `3 months`) count back from now, or forward if only future times count.
///
/// # Errors
/// Returns the problem if the text is not a time.
pub fn option(text: &str, now: &Zoned, toward: Toward) -> Result<Window, Problem> {
    if text.trim().is_empty() {
        return Err(Problem::Empty);
    }
    if text.len() > MAX_BYTES {
        return Err(Problem::Unknown);
    }
    let mut problem = None;
    let mut known: Vec<bool> = Vec::new();
    let mut is_incomplete = false;
    let chunks = chunks(text);
    for language in &LANGUAGES {
        let tokens = tokens(&chunks, language, now.time_zone());
        let parser = Parser::new(&tokens, now, toward);
        if let Some(window) = parser.whole() {
            return Ok(window);
        }
        problem = problem.or(parser.problem.into_inner());
        if !language.is_dense {
            known.resize(known.len().max(tokens.len()), false);
            let is_known = |token: &Token| token.value.is_some() || !token.readings.is_empty();
            known.iter_mut().zip(&tokens).for_each(|(known, token)| *known |= is_known(token));
            is_incomplete |= !tokens.is_empty() && tokens.iter().all(is_known);
        }
    }
    Err(problem.unwrap_or(match known.as_slice() {
        [true] if text.trim().bytes().all(|byte| byte.is_ascii_digit()) => Problem::NoUnit,
        _ if is_incomplete => Problem::Incomplete,
        known if known.len() > 1 && known.iter().all(|known| *known) => Problem::Mixed,
        _ => Problem::Unknown,
    }))
}

impl Parser<'_> {
    /// The window that all tokens together name.
    fn whole(&self) -> Option<Window> {
        // `1h` and `5 heures` are lengths, although `18h` and `18 heures` are also times of day.
        if let Some(((number, unit @ (Unit::Hour | Unit::Minute | Unit::Second)), end)) = self.length(0)
            && end == self.tokens.len()
        {
            return self.reached_from_now(number, unit);
        }
        // In Japanese, a particle may follow.
        let is_particle = |at: usize| self.has(at, Reading::On) && self.is_dense(at);
        let ends = |end: usize| (end..self.tokens.len()).all(|at| self.has(at, Reading::The) || is_particle(at));
        if let Some((window, end)) = self.window(0)
            && ends(end)
        {
            return Some(window);
        }
        let first = self.past_prepositions(0);
        if let Some((window, end)) = self.window(first)
            && ends(end)
        {
            return Some(window);
        }
        // `from Monday`
        if let Some(next) = self.after(0, Reading::From)
            && let Some((period, end)) = self.period(self.past_articles(next))
            && ends(end)
        {
            return Some(Window { from: Some(period.from), to: None });
        }
        let ((number, unit), end) = self.length(0)?;
        if end == self.tokens.len() { self.reached_from_now(number, unit) } else { None }
    }

    /// The time a bare length away: in the past, or in the future if only future times count.
    fn reached_from_now(&self, number: i64, unit: Unit) -> Option<Window> {
        self.reached(if self.is_ahead() { number } else { -number }, unit).map(Window::from)
    }
}
