//! Merges two versions of a file's text if their changes do not overlap. The result is the same on all machines, in
//! either order.

mod align;
mod units;

use std::ops::Range;

use self::align::aligned;
use self::units::{lines, units};
use crate::domain::{Content, FilePath, content_of_file, file_of_content};

/// A part of the base that one side changed, with its new text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Hunk<'a> {
    begin: usize,
    end: usize,
    now: Vec<&'a str>,
}

impl Hunk<'_> {
    fn is_insertion(&self) -> bool {
        self.begin == self.end
    }
}

/// The text with both changes, if they do not overlap. In a note, each observation, paragraph and heading is a unit. In
/// any other text, there must be an unchanged line between the changes of both sides. If both versions add text in one
/// place, the result contains both. `None` if the texts cannot be merged.
pub fn merged_file(path: &FilePath, base: &Content, one: &Content, other: &Content) -> Option<Content> {
    let [base, one, other] = [base, one, other].map(|content| file_of_content(content.as_str()));
    let merged = merged_text(path.is_markdown(), base, one, other)?;
    Content::try_from(content_of_file(&merged)).ok()
}

fn merged_text(is_note: bool, base: &str, one: &str, other: &str) -> Option<String> {
    if one == other || other == base {
        return Some(one.to_owned());
    }
    if one == base {
        return Some(other.to_owned());
    }
    // From here on, the order of the texts has no effect.
    let (one, other) = if one <= other { (one, other) } else { (other, one) };
    let (base_body, base_ends) = without_end(base);
    let (one_body, one_ends) = without_end(one);
    let (other_body, other_ends) = without_end(other);
    let cut = if is_note { units } else { lines };
    let (base, one, other) = (cut(base_body), cut(one_body), cut(other_body));
    let hunks = [hunks(&base, &one)?, hunks(&base, &other)?];
    let body = together(&base, hunks, is_note)?.join("\n");
    let ends = if one_ends == base_ends { other_ends } else { one_ends };
    Some(if ends && !body.is_empty() { body + "\n" } else { body })
}

/// A text without its final newline, and whether it had one.
fn without_end(text: &str) -> (&str, bool) {
    text.strip_suffix('\n').map_or((text, false), |body| (body, true))
}

/// The changes from the base to one of the two versions. If the number of units is unchanged, each changed unit is a
/// separate change; removed units are removed one by one.
fn hunks<'a>(base: &[&'a str], side: &[&'a str]) -> Option<Vec<Hunk<'a>>> {
    let mut hunks = Vec::new();
    for (old, new) in gaps(&aligned(base, side)?, base.len(), side.len()) {
        let now = side.get(new.clone()).unwrap_or_default();
        if old.len() == now.len() {
            let each = old.zip(now).map(|(at, text)| Hunk { begin: at, end: at + 1, now: vec![text] });
            hunks.extend(each);
        } else if now.is_empty() {
            hunks.extend(old.map(|at| Hunk { begin: at, end: at + 1, now: Vec::new() }));
        } else {
            hunks.push(Hunk { begin: old.start, end: old.end, now: now.to_vec() });
        }
    }
    Some(hunks)
}

/// The ranges between unchanged units.
fn gaps(stayed: &[(usize, usize)], base: usize, side: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut gaps = Vec::new();
    let (mut old, mut new) = (0, 0);
    for (stays, at) in stayed.iter().copied().chain([(base, side)]) {
        if old < stays || new < at {
            gaps.push((old..stays, new..at));
        }
        (old, new) = (stays + 1, at + 1);
    }
    gaps
}

/// True if one side adds text below a heading that the other side removed. A merge would move this text under another
/// heading.
fn leaves_orphans(base: &[&str], hunks: &[(Hunk<'_>, usize)]) -> bool {
    let is_heading = |unit: &&str| unit.starts_with('#');
    let removes = |hunk: &Hunk<'_>, at: usize| {
        let before = base.get(hunk.begin..hunk.end).unwrap_or_default().iter().filter(|unit| is_heading(unit)).count();
        (hunk.begin..hunk.end).contains(&at) && before > hunk.now.iter().filter(|unit| is_heading(unit)).count()
    };
    hunks.iter().any(|(hunk, side)| {
        let heading = base.get(..hunk.begin).unwrap_or_default().iter().rposition(is_heading);
        let says_something = hunk.now.iter().any(|unit| !unit.trim().is_empty());
        says_something && heading.is_some_and(|at| hunks.iter().any(|(other, of)| of != side && removes(other, at)))
    })
}

/// The base with the changes of both sides; `None` if they overlap.
fn together<'a>(base: &[&'a str], sides: [Vec<Hunk<'a>>; 2], is_note: bool) -> Option<Vec<&'a str>> {
    let mut hunks: Vec<(Hunk<'a>, usize)> = Vec::new();
    for (side, of) in sides.into_iter().enumerate() {
        hunks.extend(of.into_iter().map(|hunk| (hunk, side)));
    }
    if is_note && leaves_orphans(base, &hunks) {
        return None;
    }
    hunks.sort_by_key(|(hunk, side)| (hunk.begin, hunk.end, *side));
    let mut merged: Vec<&str> = Vec::new();
    let (mut at, mut last_side) = (0, None);
    let mut hunks = hunks.into_iter().peekable();
    while let Some((hunk, side)) = hunks.next() {
        let is_same_place = |next: &(Hunk<'_>, usize)| (next.0.begin, next.0.end) == (hunk.begin, hunk.end);
        let rival = hunks.next_if(|next| next.1 != side && is_same_place(next));
        let touches =
            hunk.begin < at || (!is_note && at > 0 && hunk.begin == at && last_side.is_some_and(|last| last != side));
        if touches {
            return None;
        }
        let now = match rival {
            None => hunk.now,
            Some((rival, _)) if rival.now == hunk.now => hunk.now,
            Some((rival, _)) if hunk.is_insertion() => both(hunk.now, rival.now),
            Some(_) => return None,
        };
        merged.extend(base.get(at..hunk.begin).unwrap_or_default());
        merged.extend(now);
        (at, last_side) = (hunk.end, Some(side));
    }
    merged.extend(base.get(at..).unwrap_or_default());
    Some(merged)
}

/// The additions of both sides in one place: their common beginning once, then the rest of each, sorted by text. If one
/// addition contains the other, only the longer one is kept.
fn both<'a>(one: Vec<&'a str>, other: Vec<&'a str>) -> Vec<&'a str> {
    if holds(&one, &other) {
        return one;
    }
    if holds(&other, &one) {
        return other;
    }
    let common = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let says = |units: &[&str]| units.iter().any(|unit| !unit.trim().is_empty());
    // An empty line between two sections belongs to both.
    let common = if says(one.get(..common).unwrap_or_default()) { common } else { 0 };
    let (head, one) = one.split_at(common);
    let other = other.get(common..).unwrap_or_default();
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    [head, first, second].concat()
}

/// True if `all` contains the units of `some` in order.
fn holds(all: &[&str], some: &[&str]) -> bool {
    let mut left = all.iter();
    some.iter().all(|unit| left.any(|there| there == unit))
}

#[cfg(test)]
mod tests;
