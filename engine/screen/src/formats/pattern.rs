//! The format of a token, as a pattern in a table: `glsa_{w32}_{H8}`.
//!
//! Letters match themselves. `{w32}` matches 32 bytes of the alphabet `w` (see [`super::alphabet`]), `{w20-40}` 20 to
//! 40, `{w20+}` 20 or more. A pattern begins with its anchor, a literal that the search looks for first. If a token
//! begins before its anchor, `^` marks the anchor: `{h32}^-us{d1-2}`. Text before `<` is required, but not part of the
//! token: `AccountKey=<{b60+}`. A run matches as much as possible, without backtracking.

use std::ops::Range;

use super::alphabet::{Class, may_begin, may_end};

/// Maximum length of a run without its own maximum.
const MOST: usize = 1024;

#[derive(Debug, Clone, Copy)]
enum Step {
    Literal(&'static str),
    Run {
        class: Class,
        least: usize,
        most: usize,
    },
    /// The token begins here and not at the anchor.
    Begin,
}

/// A pattern in parts. Each part is parsed only if a text contains the anchor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pattern {
    before: &'static str,
    /// The anchor of the format.
    pub(super) anchor: &'static str,
    after: &'static str,
}

/// A match of a pattern.
pub(super) struct Match {
    /// The token.
    pub(super) span: Range<usize>,
    /// Its random part, without the anchor.
    pub(super) random: Range<usize>,
}

impl Pattern {
    /// Parses a pattern.
    pub(super) const fn of(text: &'static str) -> Self {
        let (before, rest) = match position(text, b"^") {
            Some(at) => (text.split_at(at).0, text.split_at(at + 1).1),
            None => ("", text),
        };
        let (anchor, after) = match position(rest, b"{<") {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        Self { before, anchor, after }
    }

    /// The token whose anchor begins at a position.
    pub(super) fn matched(&self, bytes: &[u8], anchor: usize) -> Option<Match> {
        let mut start = anchor;
        if !self.before.is_empty() {
            for step in Steps(self.before).collect::<Vec<_>>().iter().rev() {
                start = back(step, bytes, start)?;
            }
        }
        // Checked first, so that a run in a long text is not visited from every position.
        if !self.is_outside() && (!may_begin(bytes, start) || self.continues(bytes, start)) {
            return None;
        }
        let anchor_end = forth(&Step::Literal(self.anchor), bytes, anchor)?;
        let (mut end, mut inside, mut last) = (anchor_end, None, None);
        for step in Steps(self.after) {
            end = forth(&step, bytes, end)?;
            if matches!(step, Step::Begin) {
                inside = Some(end);
            }
            last = Some(step);
        }
        if !may_end(bytes, end) || last.is_some_and(|step| goes_on(&step, bytes, end)) {
            return None;
        }
        if matches!(last, Some(Step::Run { least, most, .. }) if least < most) {
            // A full stop after a token ends a sentence, though some alphabets contain it.
            end -= bytes.get(..end)?.iter().rev().take_while(|byte| **byte == b'.').count();
        }
        let begin = inside.unwrap_or(start);
        let random = inside.unwrap_or(if start < anchor { start } else { anchor_end });
        (begin < end).then_some(Match { span: begin..end, random: random.min(end)..end })
    }

    /// True if the anchor stands before the token.
    fn is_outside(&self) -> bool {
        self.after.contains('<')
    }

    /// True if the byte before a token could belong to the token's first run.
    fn continues(&self, bytes: &[u8], start: usize) -> bool {
        let Some(before) = start.checked_sub(1).and_then(|at| bytes.get(at)) else { return false };
        let first = || Steps(self.before).next().or_else(|| Steps(self.after).next());
        matches!(before, b'-' | b'+' | b'.') && matches!(first(), Some(Step::Run { class, .. }) if class.holds(*before))
    }
}

/// The position of the first of some ASCII bytes.
const fn position(text: &str, wanted: &[u8]) -> Option<usize> {
    let (mut rest, mut at) = (text.as_bytes(), 0);
    while let [byte, after @ ..] = rest {
        let mut others = wanted;
        while let [one, more @ ..] = others {
            if *one == *byte {
                return Some(at);
            }
            others = more;
        }
        (rest, at) = (after, at + 1);
    }
    None
}

/// Iterates over the steps of one part of a pattern, until its end or an invalid step.
struct Steps(&'static str);

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if let Some(rest) = self.0.strip_prefix('<') {
            self.0 = rest;
            return Some(Step::Begin);
        }
        if let Some(rest) = self.0.strip_prefix('{') {
            let (run, rest) = rest.split_once('}')?;
            let step = run_of(run)?;
            self.0 = rest;
            return Some(step);
        }
        let end = self.0.find(['{', '<']).unwrap_or(self.0.len());
        let (literal, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        (!literal.is_empty()).then_some(Step::Literal(literal))
    }
}

fn forth(step: &Step, bytes: &[u8], at: usize) -> Option<usize> {
    match step {
        Step::Literal(literal) => bytes.get(at..)?.starts_with(literal.as_bytes()).then(|| at + literal.len()),
        Step::Begin => Some(at),
        Step::Run { class, least, most } => {
            let run = class.run(bytes, at, *most);
            (run >= *least).then_some(at + run)
        }
    }
}

fn back(step: &Step, bytes: &[u8], end: usize) -> Option<usize> {
    match step {
        Step::Literal(literal) => bytes.get(..end)?.ends_with(literal.as_bytes()).then(|| end - literal.len()),
        Step::Begin => Some(end),
        Step::Run { class, least, most } => {
            let run = class.run_before(bytes, end, *most);
            (run >= *least).then_some(end - run)
        }
    }
}

/// True if the text continues in the alphabet of the last run, so that the token would be too long. After a token, a
/// dot belongs to it only if a letter or digit follows.
fn goes_on(step: &Step, bytes: &[u8], end: usize) -> bool {
    let Step::Run { class, .. } = step else { return false };
    let holds = |at: usize| bytes.get(at).is_some_and(|byte| class.holds(*byte));
    holds(end) && (bytes.get(end) != Some(&b'.') || holds(end + 1))
}

fn run_of(text: &str) -> Option<Step> {
    let class = Class::named(*text.as_bytes().first()?)?;
    let length = text.get(1..)?;
    let (least, most) = if let Some(least) = length.strip_suffix('+') {
        (least.parse().ok()?, MOST)
    } else if let Some((least, most)) = length.split_once('-') {
        (least.parse().ok()?, most.parse().ok()?)
    } else {
        let exactly = length.parse().ok()?;
        (exactly, exactly)
    };
    (least <= most).then_some(Step::Run { class, least, most })
}

#[cfg(test)]
impl Pattern {
    /// True if the pattern can be parsed completely.
    pub(super) fn is_sound(&self) -> bool {
        let is_read = |text| {
            let mut steps = Steps(text);
            while steps.next().is_some() {}
            steps.0.is_empty()
        };
        !self.anchor.is_empty() && is_read(self.before) && is_read(self.after)
    }
}

/// For tests: a text that matches a pattern. Each run has its minimum length, and the caller chooses the characters.
#[cfg(test)]
pub(super) fn drawn(pattern: &'static str, draw: impl Fn(&str, usize, usize) -> String) -> String {
    let pattern = Pattern::of(pattern);
    let anchor = Step::Literal(pattern.anchor);
    let steps = Steps(pattern.before).chain([anchor]).chain(Steps(pattern.after));
    let text = |(at, step)| match step {
        Step::Literal(literal) => literal.to_owned(),
        Step::Begin => "<".to_owned(),
        Step::Run { class, least, .. } => {
            let signs = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
            let signs: String = signs.iter().filter(|sign| class.holds(**sign)).map(|sign| char::from(*sign)).collect();
            draw(&signs, least, at)
        }
    };
    steps.enumerate().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &'static str, text: &str) -> Option<String> {
        let pattern = Pattern::of(pattern);
        let (at, _) = text.match_indices(pattern.anchor).next()?;
        let found = pattern.matched(text.as_bytes(), at)?;
        Some(text[found.span].to_owned())
    }

    #[test]
    fn a_pattern_finds_what_it_says_and_only_whole() {
        for (pattern, text, expected) in [
            ("ab_{w4}", "see ab_12Cd.", Some("ab_12Cd")),
            ("ab_{w4}", "see ab_12Cde", None),
            ("ab_{w4}", "see ab_12C", None),
            ("ab_{w4}", "xab_12Cd", None),
            ("ab_{w4}", "\\nab_12Cd\"", Some("ab_12Cd")),
            ("ab_{t4+}", "ab_12.Cd. And", Some("ab_12.Cd")),
            ("{h4}^-us{d1-2}", "key 12ab-us10 ", Some("12ab-us10")),
            ("{h4}^-us{d1-2}", "key 012ab-us10 ", None),
            ("Key=<{b4+}", "Key=ab+/==;", Some("ab+/==")),
            ("ab-{s4}", "ab-ab-12Cd", None),
            ("ab_{w2}.{w2}", "ä ab_12.34 ö", Some("ab_12.34")),
        ] {
            assert_eq!(found(pattern, text).as_deref(), expected, "{pattern} in {text}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_known_for_none() {
        for text in ["", "{w4}", "ab{?4}", "ab{w}", "ab{w4-2}", "ab{w4"] {
            assert!(!Pattern::of(text).is_sound(), "{text}");
        }
    }
}
