//! Compares an action with a note: whole numbers for a classifier.

use std::collections::BTreeSet;

use crate::action::{Action, Fresh, LONGEST};
use crate::note::{Kind, Note, Place, Term};
use crate::path::{self, Precision};
use crate::stance::{Stance, ends_command, is_empty_word};

/// The largest count that a feature states.
const MOST: usize = 4;
const KINDS: [Kind; 4] = [Kind::Code, Kind::Plain, Kind::Common, Kind::Flag];
const STANCES: [Stance; 3] = [Stance::Against, Stance::Open, Stance::For];

/// The result of a comparison.
#[derive(Debug, Clone, Default)]
pub struct Match {
    /// The features, in a fixed order.
    pub features: Vec<i16>,
    /// The words and paths of the note that the action contains.
    pub found: BTreeSet<String>,
    /// The kinds of these words and paths: command, code, option, module, path.
    pub because: BTreeSet<&'static str>,
}

/// Compares an action with a note. Returns `None` if they have nothing in common.
pub fn compare(action: &Action, note: &Note) -> Option<Match> {
    let seen = Seen::of(action, note);
    if seen.is_nothing() {
        return None;
    }
    let mut row = Row::default();
    seen.kinds(&mut row);
    seen.changes(&mut row);
    seen.subject(&mut row);
    seen.shares(&mut row);
    seen.sequences(&mut row);
    seen.runs(&mut row);
    seen.phrases(&mut row);
    seen.places(&mut row);
    seen.note(&mut row);
    let because = seen.because();
    let written = seen.places.iter().filter(|met| met.is_written()).map(|met| met.place.pattern.clone());
    let found = seen.found.into_iter().chain(written).collect();
    Some(Match { features: row.0, found, because })
}

#[derive(Default)]
struct Row(Vec<i16>);

impl Row {
    fn push(&mut self, value: usize) {
        self.0.push(i16::try_from(value).unwrap_or(i16::MAX));
    }

    fn count(&mut self, value: usize) {
        self.push(value.min(MOST));
    }
}

/// A unit of the note: a word, or a name with several parts such as `String.to_atom`.
struct Unit<'a> {
    terms: &'a [Term],
    kind: Kind,
    stance: Stance,
    /// Where the action contains it.
    parts: Vec<Part>,
}

/// A part of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Code that it adds.
    Code,
    /// Its commands.
    Commands,
    /// Comments, documents and search patterns.
    Mentions,
    /// Code that it removes.
    Removed,
    /// Code that it edits, before or after.
    Touched,
    /// Packages and modules that it adds.
    Imports,
}

impl Part {
    const ALL: [Self; 6] = [Self::Code, Self::Commands, Self::Mentions, Self::Removed, Self::Touched, Self::Imports];

    fn of(self, action: &Action) -> &Fresh {
        match self {
            Self::Code => &action.code,
            Self::Commands => &action.commands,
            Self::Mentions => &action.mentions,
            Self::Removed => &action.removed,
            Self::Touched => &action.touched,
            Self::Imports => &action.imports,
        }
    }
}

impl<'a> Unit<'a> {
    fn of(terms: &'a [Term], action: &Action) -> Option<Self> {
        let last = terms.last()?;
        let first = terms.first()?;
        let telling: Vec<&Term> = terms.iter().filter(|term| !is_empty_word(&term.word)).collect();
        let is_number = terms.iter().all(|term| term.word.starts_with(|c: char| c.is_ascii_digit()));
        let kind = if terms.len() > 1 && first.kind != Kind::Flag && !is_number { Kind::Code } else { first.kind };
        let is_short = terms.len() == 1 && first.word.chars().count() < 2;
        if kind == Kind::Path || is_short || telling.is_empty() && kind != Kind::Code {
            return None;
        }
        let mut parts: Vec<Part> =
            Part::ALL.into_iter().filter(|part| contains(part.of(action), terms, last)).collect();
        // `use std::sync::{Arc, Mutex}`
        if terms.iter().all(|term| action.imports.has(std::iter::once(term.word.as_str()))) {
            parts.push(Part::Imports);
            if action.is_edit {
                parts.push(Part::Code);
            }
        }
        Some(Self { terms, kind, stance: first.stance, parts })
    }

    fn is_present(&self) -> bool {
        self.is_in(Part::Code) || self.is_in(Part::Commands)
    }

    /// True for a name of code or an option.
    fn is_name(&self) -> bool {
        matches!(self.kind, Kind::Code | Kind::Flag)
    }

    fn is_in(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    fn name(&self) -> String {
        self.terms.iter().map(|term| term.word.as_str()).collect::<Vec<_>>().join(".")
    }
}

/// True if the word occurs, or the last two parts of a name occur together.
fn contains(fresh: &Fresh, terms: &[Term], last: &Term) -> bool {
    let word = |term: &Term| fresh.has(std::iter::once(term.word.as_str()));
    match terms {
        [one] => word(one),
        [.., before, _] => fresh.has([before.word.as_str(), last.word.as_str()].into_iter()),
        [] => false,
    }
}

/// The action beside the note.
struct Seen<'a> {
    action: &'a Action,
    note: &'a Note,
    units: Vec<Unit<'a>>,
    places: Vec<Met<'a>>,
    found: BTreeSet<String>,
}

/// A path of the note with the precision of its best match.
struct Met<'a> {
    place: &'a Place,
    /// Among the written files.
    written: Precision,
    /// Among the further files that commands name.
    named: Precision,
}

impl Met<'_> {
    fn is_written(&self) -> bool {
        self.written != Precision::None
    }
}

impl<'a> Seen<'a> {
    fn of(action: &'a Action, note: &'a Note) -> Self {
        let units: Vec<Unit<'_>> =
            groups(&note.terms).into_iter().filter_map(|terms| Unit::of(terms, action)).collect();
        let best = |pattern: &str, files: &[String]| {
            files.iter().map(|file| path::precision(pattern, file)).max().unwrap_or_default()
        };
        let met = |place: &'a Place| Met {
            place,
            written: best(&place.pattern, &action.writes),
            named: best(&place.pattern, &action.names),
        };
        let places = note.places.iter().map(met).collect();
        let found =
            units.iter().filter(|unit| unit.is_present() && unit.kind != Kind::Common).map(Unit::name).collect();
        Self { action, note, units, places, found }
    }

    fn because(&self) -> BTreeSet<&'static str> {
        let units = self.units.iter().filter(|unit| unit.is_present());
        let kinds = units.map(|unit| match unit.kind {
            _ if unit.is_in(Part::Imports) => "module",
            Kind::Flag => "option",
            _ if unit.is_in(Part::Commands) => "command",
            _ => "code",
        });
        let path = self.places.iter().any(Met::is_written).then_some("path");
        kinds.chain(path).collect()
    }

    fn is_nothing(&self) -> bool {
        let is_met = |met: &Met<'_>| met.is_written() || met.named != Precision::None;
        !self.units.iter().any(Unit::is_present) && !self.places.iter().any(is_met)
    }

    /// How many words of each kind and stance the action contains.
    fn kinds(&self, row: &mut Row) {
        for kind in KINDS {
            for stance in STANCES {
                let same = || self.units.iter().filter(|unit| unit.kind == kind && unit.stance == stance);
                row.count(same().filter(|unit| unit.is_in(Part::Code)).count());
                row.count(same().filter(|unit| unit.is_in(Part::Commands)).count());
                row.count(same().filter(|unit| !unit.is_present()).count());
            }
        }
    }

    /// What the action removes, edits and imports.
    fn changes(&self, row: &mut Row) {
        for stance in STANCES {
            row.count(self.units.iter().filter(|unit| unit.stance == stance && unit.is_in(Part::Removed)).count());
        }
        for stance in STANCES {
            let same = || self.units.iter().filter(|unit| unit.stance == stance);
            row.count(same().filter(|unit| unit.is_in(Part::Imports) && unit.kind == Kind::Code).count());
            row.count(same().filter(|unit| unit.is_in(Part::Imports) && unit.kind == Kind::Plain).count());
            row.count(
                same()
                    .filter(|unit| unit.is_in(Part::Touched) && unit.kind == Kind::Code && !unit.is_in(Part::Code))
                    .count(),
            );
        }
    }

    /// What the note is about, and what it recommends.
    fn subject(&self, row: &mut Row) {
        let named = |stance: Stance| {
            let named: Vec<&Unit<'_>> =
                self.units.iter().filter(|unit| unit.stance == stance && unit.is_name()).collect();
            let fresh = named.iter().filter(|unit| unit.is_present()).count();
            match (named.len(), fresh) {
                (0, _) => 0,
                (all, fresh) if all == fresh => 5,
                (_, 2..) => 4,
                (_, 1) => 3,
                _ if named.iter().any(|unit| unit.is_in(Part::Touched)) => 2,
                _ => 1,
            }
        };
        let [against, open, recommended] = STANCES.map(named);
        // A note is about what it warns about, otherwise about what it names.
        row.push(if against > 0 { against } else { 10 + open });
        row.push(recommended);
        let first = self.units.iter().find(|unit| unit.stance == Stance::Against && unit.is_name());
        row.push(match first {
            None => 0,
            Some(unit) if unit.is_present() => 3,
            Some(unit) if unit.is_in(Part::Touched) => 2,
            Some(_) => 1,
        });
    }

    /// The share of the note's words that the action contains.
    fn shares(&self, row: &mut Row) {
        let telling = || self.units.iter().filter(|unit| unit.kind != Kind::Common);
        row.count(telling().filter(|unit| !unit.is_present() && unit.is_in(Part::Mentions)).count());
        row.count(
            telling().filter(|unit| unit.terms.iter().any(|term| self.action.path_words.contains(&term.word))).count(),
        );
        let share =
            |units: Vec<&Unit<'_>>| units.iter().filter(|unit| unit.is_present()).count() * 100 / units.len().max(1);
        row.push(share(telling().collect()));
        row.push(share(telling().filter(|unit| unit.stance == Stance::Against).collect()));
        row.push(share(telling().filter(|unit| unit.is_name()).collect()));
    }

    /// The longest and the most telling sequences of the note's words that the action contains.
    fn sequences(&self, row: &mut Row) {
        let terms = &self.note.terms;
        for stance in STANCES {
            for fresh in [&self.action.code, &self.action.commands] {
                let (mut longest, mut heaviest) = (0, 0);
                for start in 0..terms.len() {
                    for length in 2..=LONGEST {
                        let Some(sequence) = terms.get(start..start + length) else { break };
                        let tells = sequence.iter().any(|term| term.stance == stance && !is_empty_word(&term.word));
                        if tells && fresh.has(sequence.iter().map(|term| term.word.as_str())) {
                            longest = longest.max(length);
                            heaviest = heaviest.max(sequence.iter().map(weight).sum());
                        }
                    }
                }
                row.push(longest);
                row.push(heaviest);
            }
        }
    }

    /// The run that matches best.
    fn runs(&self, row: &mut Row) {
        let in_note = |word: &str| self.note.terms.iter().find(|term| term.word == word);
        let mut best = [0_usize; 11];
        for run in &self.action.runs {
            let named = in_note(&run.program);
            let first = run.plain.first().and_then(|word| in_note(word));
            let second = run.plain.get(1).and_then(|word| in_note(word));
            let follows = named.zip(first).is_some_and(|(named, first)| {
                self.note
                    .terms
                    .windows(2)
                    .any(|pair| matches!(pair, [one, two] if one.word == named.word && two.word == first.word))
            });
            let options_of = |stance: Stance| {
                self.note.terms.iter().filter(move |term| term.kind == Kind::Flag && term.stance == stance)
            };
            let count = |stance: Stance| options_of(stance).filter(|term| run.words.contains(&term.word)).count();
            let row = [
                usize::from(named.is_some())
                    + usize::from(first.is_some()) * 2
                    + usize::from(follows) * 2
                    + usize::from(second.is_some())
                    + count(Stance::Against) * 2
                    + count(Stance::Open),
                named.map_or(0, |term| 1 + term.stance as usize),
                first.map_or(0, |term| 1 + term.stance as usize),
                usize::from(second.is_some()),
                usize::from(follows),
                count(Stance::Against),
                count(Stance::Open),
                count(Stance::For),
                options_of(Stance::For).count().saturating_sub(count(Stance::For)).min(MOST),
                options_of(Stance::Against).count().saturating_sub(count(Stance::Against)).min(MOST),
                run.plain.len(),
            ];
            best = best.max(row);
        }
        best.iter().for_each(|value| row.push(*value));
    }

    /// Commands that the note spells out, such as `git push --force`: how much of them a run contains.
    fn phrases(&self, row: &mut Row) {
        // Per stance: the longest complete phrase, and the longest phrase of which something is missing.
        let mut complete = [0_usize; 3];
        let mut partial = [0_usize; 3];
        for run in &self.action.runs {
            let subcommand = run.plain.first();
            for (at, term) in self.note.terms.iter().enumerate() {
                let is_program = run.program == term.word;
                let is_subcommand = subcommand == Some(&term.word) && term.kind != Kind::Common;
                if !is_program && !is_subcommand {
                    continue;
                }
                let phrase = self.note.terms.get(at..).unwrap_or_default();
                let count = 1 + phrase.iter().take(5).take_while(|term| term.is_followed).count();
                let phrase = phrase.get(..count).unwrap_or(phrase);
                let phrase: Vec<&Term> = phrase.iter().take_while(|term| !ends_command(&term.word)).collect();
                let has = phrase.iter().filter(|term| run.words.contains(&term.word)).count();
                let stance = phrase.last().map_or(term.stance, |last| last.stance) as usize;
                let list = if has == phrase.len() { &mut complete } else { &mut partial };
                if let Some(longest) = list.get_mut(stance) {
                    *longest = (*longest).max(has * 2 + usize::from(is_program));
                }
            }
        }
        complete.iter().chain(&partial).for_each(|length| row.push(*length));
    }

    /// How precisely the paths of the note match the files and directories of the action.
    fn places(&self, row: &mut Row) {
        for stance in STANCES {
            let same = self.places.iter().filter(|met| met.place.stance == stance);
            row.push(same.map(|met| met.written as usize).max().unwrap_or(0));
        }
        row.push(self.places.iter().map(|met| met.named as usize).max().unwrap_or(0));
        // The directory of the commands: 0 for the root of the repository, 1 for a directory that the note does not name,
        // otherwise 1 plus the precision of the note's path.
        let directories = self.action.directories.iter().filter(|directory| !directory.is_empty());
        let inside = |directory: &String| {
            self.places.iter().map(|met| path::precision(&met.place.pattern, directory) as usize).max().unwrap_or(0)
        };
        row.push(directories.map(|directory| 1 + inside(directory)).max().unwrap_or(0));
        row.push(self.addresses());
        let matched = self.places.iter().filter(|met| met.is_written()).max_by_key(|met| met.written);
        row.push(matched.map_or(0, |met| met.written as usize));
        row.push(matched.map_or(10, |met| met.place.tenth));
        row.push(matched.map_or(0, |met| 1 + usize::from(met.place.is_located)));
        row.count(self.places.iter().filter(|met| !met.is_written()).count());
        row.count(self.places.iter().filter(|met| met.place.is_located && !met.is_written()).count());
        row.push(self.places.first().map_or(0, |met| 1 + met.written as usize));
        row.push(self.scope());
    }

    /// 0 if the note names no address, 1 if the action uses other addresses, 2 if it uses none, 3 if it uses one of the
    /// note's.
    fn addresses(&self) -> usize {
        let mut addresses = self.places.iter().filter(|met| path::is_address(&met.place.pattern)).peekable();
        if addresses.peek().is_none() {
            0
        } else if addresses.any(|met| met.named != Precision::None) {
            3
        } else {
            1 + usize::from(!self.action.names.iter().any(|name| path::is_address(name)))
        }
    }

    /// 0 if the note applies everywhere, 1 if it applies elsewhere, 2 if the files of the action are not known, otherwise
    /// 2 plus the precision of the path where it applies.
    fn scope(&self) -> usize {
        let limits = |place: &Place| match place.stance {
            Stance::Against => true,
            Stance::Open => place.is_located || place.tenth == 0,
            Stance::For => place.is_located,
        };
        let here = self.places.iter().filter(|met| limits(met.place)).map(|met| met.written as usize).max();
        match here {
            None => 0,
            Some(0) => 1 + usize::from(self.action.writes.is_empty() && self.action.names.is_empty()),
            Some(here) => 2 + here,
        }
    }

    fn note(&self, row: &mut Row) {
        self.note.cues.iter().for_each(|count| row.count(*count));
        row.push(self.note.length);
        row.count(self.note.places.len());
        for kind in [Kind::Code, Kind::Flag] {
            row.count(self.note.terms.iter().filter(|term| term.kind == kind).count());
        }
        row.push(usize::from(self.action.is_edit) + usize::from(self.action.is_new_file));
        row.count(self.action.runs.len());
        row.push(usize::from(self.action.code.is_empty()));
        row.count(self.action.writes.len());
    }
}

/// The weight of a word.
fn weight(term: &Term) -> usize {
    match term.kind {
        _ if is_empty_word(&term.word) => 0,
        Kind::Code | Kind::Flag => 3,
        Kind::Plain | Kind::Path => 2,
        Kind::Common => 1,
    }
}

/// Single terms, and terms that only punctuation separates: `String.to_atom`.
fn groups(terms: &[Term]) -> Vec<&[Term]> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < terms.len() {
        let mut end = start;
        while terms.get(end).is_some_and(|term| term.is_glued) && end + 1 < terms.len() {
            end += 1;
        }
        found.extend(terms.get(start..=end));
        start = end + 1;
    }
    found
}
