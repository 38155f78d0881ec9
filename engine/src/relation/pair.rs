//! What a new statement and an older one have in common, as whole numbers. The unit of most features is 1/1024.

use std::collections::{BTreeMap, BTreeSet};

use super::statement::{Cue, Statement, ValueKind};

/// The number of features of a pair.
pub const FEATURES: usize = 47;
/// One, as a feature.
const ONE: i32 = 1024;
/// In a store with fewer rows, terms have as much information as in a store with this number.
const FEW_ROWS: u32 = 8;
/// The limit of a feature.
const MOST: i32 = i16::MAX as i32;
/// The number of terms at the beginning of a statement that usually name its subject.
const OPENING: usize = 3;

/// The features of a pair of statements.
pub type Features = [i16; FEATURES];

/// The data about an older memory that its text does not contain.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside {
    /// The cosine similarity of both embeddings; `None` if one is missing.
    pub near: Option<f64>,
    /// The rank by similarity among the candidates, from 0.
    pub rank: u32,
    /// True if both have the same scope.
    pub is_same_scope: bool,
    /// True if another memory already updates the older one.
    pub is_updated: bool,
}

/// The number of rows that contain a term.
#[derive(Debug, Clone, Default)]
pub struct Holders {
    /// The number of rows of the store.
    pub rows: u32,
    /// For each term, the number of rows with it. A missing term has no rows.
    pub terms: BTreeMap<String, u32>,
}

impl Holders {
    /// The information of a term, `log2((rows + 1) / (holders + 1/2))`, as a share of the information of a term that no
    /// row contains. So it depends little on the size of the store. The logarithm is linear between powers of two, so
    /// it needs only whole numbers.
    pub(super) fn information(&self, term: &str) -> i32 {
        let holders = u64::from(self.terms.get(term).copied().unwrap_or(0));
        let rows = u64::from(self.rows.max(FEW_ROWS));
        let bits = |holders: u64| log2(((rows + 1) << 17) / (2 * holders + 1)) - 16 * ONE;
        share(bits(holders), bits(0))
    }
}

/// The logarithm to the base 2 in 1/1024, linear between powers of two; 0 for 0.
fn log2(number: u64) -> i32 {
    let Some(whole) = number.checked_ilog2() else { return 0 };
    // The ten bits below the highest one.
    let fraction = if whole >= 10 { number >> (whole - 10) } else { number << (10 - whole) } & 1023;
    i32::try_from(whole * 1024).unwrap_or(0) + i32::try_from(fraction).unwrap_or(0)
}

/// A share of a total in 1/1024; 0 if the total is 0.
fn share(part: i32, whole: i32) -> i32 {
    if whole <= 0 {
        0
    } else {
        i32::try_from(i64::from(part.max(0)) * i64::from(ONE) / i64::from(whole)).unwrap_or(ONE)
    }
}

fn count(number: usize) -> i32 {
    i32::try_from(number.min(64)).unwrap_or(64) * 256
}

fn flag(holds: bool) -> i32 {
    if holds { ONE } else { 0 }
}

#[expect(clippy::cast_possible_truncation, reason = "a similarity is between -1 and 1")]
fn whole(similarity: f64) -> i32 {
    (similarity.clamp(-1.0, 1.0) * 1024.0).round() as i32
}

/// The features of a new statement with each older one. Also compares the older ones with each other: a new statement
/// usually updates the one with which it shares most.
pub(super) fn features(new: &Statement, older: &[(&Statement, Beside)], holders: &Holders) -> Vec<Features> {
    let shares: Vec<i32> = older.iter().map(|(old, _)| shared_information(new, old, holders)).collect();
    let most = shares.iter().copied().max().unwrap_or(0);
    let second = |at: usize| {
        let others = shares.iter().enumerate().filter(|(other, _)| *other != at);
        others.map(|(_, share)| *share).max().unwrap_or(0)
    };
    let nearer = |at: usize, beside: &Beside| {
        let others = older.iter().enumerate().filter(|(other, _)| *other != at);
        whole(others.filter_map(|(_, (_, other))| other.near).fold(0.0, f64::max)) - beside.near.map_or(0, whole)
    };
    let pair = |(at, (old, beside)): (usize, &(&Statement, Beside))| {
        let share = shares.get(at).copied().unwrap_or_default();
        let rank = shares.iter().filter(|other| **other > share).count();
        let among = [ONE / (count(rank) / 256 + 1), most - share, share - second(at), nearer(at, beside)];
        of_pair(new, old, holders, beside, among)
    };
    older.iter().enumerate().map(pair).collect()
}

/// The information of the terms that both statements contain.
fn shared_information(new: &Statement, old: &Statement, holders: &Holders) -> i32 {
    let shared = new.terms.keys().filter(|term| old.terms.contains_key(*term));
    shared.map(|term| holders.information(term).max(0)).fold(0, i32::saturating_add)
}

/// The features of a pair. `among` contains those that compare the older statement with other older ones.
fn of_pair(new: &Statement, old: &Statement, holders: &Holders, beside: &Beside, among: [i32; 4]) -> Features {
    let position = [
        beside.near.map_or(0, whole),
        ONE / i32::try_from(beside.rank.min(1000) + 1).unwrap_or(1),
        flag(beside.near.is_some()),
        flag(beside.is_same_scope),
        flag(beside.is_updated),
    ];
    let parts: [&[i32]; 6] =
        [&position, &terms(new, old, holders), &names(new, old), &cues(new, old), &values(new, old), &among];
    let mut features = [0; FEATURES];
    for (feature, value) in features.iter_mut().zip(parts.into_iter().flatten()) {
        *feature = i16::try_from((*value).clamp(-MOST, MOST)).unwrap_or(0);
    }
    features
}

/// How much the terms of two statements agree.
fn terms(new: &Statement, old: &Statement, holders: &Holders) -> [i32; 14] {
    let information = |term: &String| holders.information(term).max(0);
    let sum = |terms: &mut dyn Iterator<Item = &String>| terms.map(information).fold(0, i32::saturating_add);
    let most = |terms: &mut dyn Iterator<Item = &String>| terms.map(information).max().unwrap_or(0);
    let shared: Vec<&String> = new.terms.keys().filter(|term| old.terms.contains_key(*term)).collect();
    let all_shared = sum(&mut shared.iter().copied());
    let opening = |one: &Statement, other: &Statement| {
        let mut terms: Vec<(&u32, &String)> = one.terms.iter().map(|(term, at)| (at, term)).collect();
        terms.sort();
        terms.truncate(OPENING);
        let all = sum(&mut terms.iter().map(|(_, term)| *term));
        let held = sum(&mut terms.iter().map(|(_, term)| *term).filter(|term| other.terms.contains_key(*term)));
        share(held, all)
    };
    let first = |one: &Statement| one.terms.iter().min_by_key(|(_, at)| **at).map(|(term, _)| term.clone());
    let alone = |one: &Statement, other: &Statement| {
        most(&mut one.terms.keys().filter(|term| !other.terms.contains_key(*term)))
    };
    let (new_length, old_length) = (log2(u64::from(new.length) + 1), log2(u64::from(old.length) + 1));
    [
        all_shared,
        share(all_shared, sum(&mut new.terms.keys())),
        share(all_shared, sum(&mut old.terms.keys())),
        most(&mut shared.iter().copied()),
        count(shared.len()),
        opening(old, new),
        opening(new, old),
        flag(first(new).is_some() && first(new) == first(old)),
        alone(new, old),
        alone(old, new),
        new_length / 4,
        old_length / 4,
        new_length - old_length,
        in_order(&shared, new, old),
    ]
}

/// The names that both statements contain, and those that only one contains.
fn names(new: &Statement, old: &Statement) -> [i32; 3] {
    [
        count(new.names.intersection(&old.names).count()),
        count(old.names.difference(&new.names).count()),
        count(new.names.difference(&old.names).count()),
    ]
}

/// The words that show how the new statement relates to an older one.
fn cues(new: &Statement, old: &Statement) -> [i32; 14] {
    let places_apart =
        !new.places.is_empty() && !old.places.is_empty() && new.places.intersection(&old.places).next().is_none();
    [
        flag(new.has(Cue::Change)),
        flag(old.has(Cue::Change)),
        flag(new.has(Cue::Addition)),
        flag(new.has(Cue::Stays)),
        flag(new.has(Cue::Unsettled)),
        flag(old.has(Cue::Unsettled)),
        flag(new.has(Cue::Passing)),
        flag(old.has(Cue::Passing)),
        flag(new.has(Cue::Negation)),
        flag(new.has(Cue::Negation) != old.has(Cue::Negation)),
        flag(new.is_question),
        flag(old.is_question),
        flag(places_apart),
        flag(new.places.is_empty() != old.places.is_empty()),
    ]
}

/// How the values of two statements agree.
fn values(new: &Statement, old: &Statement) -> [i32; 7] {
    let kinds = |one: &Statement| one.values.iter().map(|(kind, _)| *kind).collect::<BTreeSet<_>>();
    let (new_kinds, old_kinds) = (kinds(new), kinds(old));
    let common: Vec<ValueKind> = new_kinds.intersection(&old_kinds).copied().collect();
    let only = |one: &Statement, other: &Statement, kind: ValueKind| {
        one.values.iter().any(|value| value.0 == kind && !other.values.contains(value))
    };
    let is_other = |kind: &&ValueKind| only(new, old, **kind) && only(old, new, **kind);
    // `7171 instead of 7070`: the new statement contains the old value and another one of this kind.
    let has_both = |kind: &&ValueKind| {
        let is_known = |value: &&(ValueKind, String)| value.0 == **kind && old.values.contains(*value);
        only(new, old, **kind) && new.values.iter().any(|value| is_known(&value))
    };
    [
        flag(!old.values.is_empty()),
        count(common.len()),
        count(new.values.intersection(&old.values).count()),
        count(common.iter().filter(is_other).count()),
        count(common.iter().filter(has_both).count()),
        count(old_kinds.difference(&new_kinds).count()),
        count(new_kinds.difference(&old_kinds).count()),
    ]
}

/// The share of neighbouring shared terms that have the same order in both statements.
fn in_order(shared: &[&String], new: &Statement, old: &Statement) -> i32 {
    let mut places: Vec<(u32, u32)> =
        shared.iter().filter_map(|term| Some((*new.terms.get(*term)?, *old.terms.get(*term)?))).collect();
    places.sort_unstable();
    let steps = places.len().saturating_sub(1);
    let ascending = places.iter().zip(places.iter().skip(1)).filter(|(one, next)| one.1 < next.1).count();
    share(count(ascending), count(steps))
}
