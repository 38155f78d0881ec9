//! Gradient boosting (Friedman, *Greedy function approximation*, 2001) of complete trees with the logistic loss. The
//! result is the same on every machine: sums have a fixed order, and the exponential function uses only basic
//! arithmetic.

#![expect(clippy::indexing_slicing, reason = "a developer's tool: a wrong index is an error of the program")]

use tessera_engine::classifier::{DEPTH, LEAVES, NODES, Trees, odds_ratio};

/// A labelled example.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    /// The features.
    pub(crate) features: Vec<i16>,
    /// The wanted answer.
    pub(crate) label: bool,
    /// How much it counts.
    pub(crate) weight: f64,
}

/// The parameters of the training.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Training {
    /// The number of trees.
    pub(crate) trees: usize,
    /// The share of each step that is taken.
    pub(crate) rate: f64,
    /// The regularisation of leaves.
    pub(crate) lambda: f64,
    /// The minimum second derivative of a leaf, so that no leaf rests on a few examples.
    pub(crate) least: f64,
}

/// Maximum number of thresholds of a feature.
const BINS: usize = 64;
/// One, in the unit of leaves.
const ONE: f64 = 1024.0;

fn probability(odds: i32) -> f64 {
    1.0 / (1.0 + odds_ratio(odds.saturating_neg()))
}

/// The sums of derivatives in a bin or a node.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    first: f64,
    second: f64,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.first += other.first;
        self.second += other.second;
    }

    fn without(self, other: Self) -> Self {
        Self { first: self.first - other.first, second: self.second - other.second }
    }

    fn gain(self, lambda: f64) -> f64 {
        self.first * self.first / (self.second + lambda)
    }
}

/// Trains a classifier. Returns its trees.
pub(crate) fn train(examples: &[Example], training: Training) -> Vec<u8> {
    let width = examples.first().map_or(0, |example| example.features.len());
    let thresholds: Vec<Vec<i16>> = (0..width).map(|feature| thresholds_of(examples, feature)).collect();
    let bins: Vec<Vec<u8>> = (0..width).map(|feature| bins_of(examples, feature, &thresholds[feature])).collect();
    let mut head = first_tree(examples);
    let mut odds: Vec<i32> = examples.iter().map(|example| Trees(&head).odds(&example.features)).collect();
    for _ in 0..training.trees {
        let derivatives: Vec<Sums> =
            examples.iter().zip(&odds).map(|(example, odds)| derivative(example, *odds)).collect();
        let tree = grow(&thresholds, &bins, &derivatives, training);
        for (odds, example) in odds.iter_mut().zip(examples) {
            *odds += Trees(&tree).odds(&example.features);
        }
        head.extend(tree);
    }
    head
}

/// A tree whose leaves all contain the logarithm of the odds of all examples.
fn first_tree(examples: &[Example]) -> Vec<u8> {
    let total: f64 = examples.iter().map(|example| example.weight).sum();
    let positive: f64 = examples.iter().filter(|example| example.label).map(|example| example.weight).sum();
    // The odds are halved or doubled until they are near one, so that no logarithm is needed.
    let (mut odds, mut steps) = ((positive + 1.0) / (total - positive + 1.0), 0.0);
    while odds < 0.75 {
        odds *= 2.0;
        steps -= std::f64::consts::LN_2;
    }
    encoded(&[(0, i16::MAX); NODES], &[steps; LEAVES])
}

fn derivative(example: &Example, odds: i32) -> Sums {
    let probability = probability(odds);
    let wanted = if example.label { 1.0 } else { 0.0 };
    Sums { first: example.weight * (wanted - probability), second: example.weight * probability * (1.0 - probability) }
}

/// At most [`BINS`] thresholds that divide the examples evenly.
fn thresholds_of(examples: &[Example], feature: usize) -> Vec<i16> {
    let mut values: Vec<i16> = examples.iter().map(|example| example.features[feature]).collect();
    values.sort_unstable();
    let mut distinct = values.clone();
    distinct.dedup();
    distinct.pop();
    if distinct.len() < BINS {
        return distinct;
    }
    let mut chosen: Vec<i16> = (1..BINS).map(|bin| values[bin * (values.len() - 1) / BINS]).collect();
    chosen.dedup();
    chosen
}

fn bins_of(examples: &[Example], feature: usize, thresholds: &[i16]) -> Vec<u8> {
    let bin = |example: &Example| thresholds.partition_point(|threshold| *threshold < example.features[feature]);
    examples.iter().map(|example| u8::try_from(bin(example)).unwrap_or(u8::MAX)).collect()
}

/// Grows one tree, level by level.
fn grow(thresholds: &[Vec<i16>], bins: &[Vec<u8>], derivatives: &[Sums], training: Training) -> Vec<u8> {
    let mut nodes = [(0_u8, i16::MAX); NODES];
    let mut place = vec![0_usize; derivatives.len()];
    for level in 0..DEPTH {
        let first = (1 << level) - 1;
        let width = 1 << level;
        for (at, node) in nodes.iter_mut().enumerate().skip(first).take(width) {
            let inside: Vec<usize> = (0..place.len()).filter(|row| place[*row] == at).collect();
            *node = best_split(thresholds, bins, derivatives, &inside, training);
        }
        for (row, at) in place.iter_mut().enumerate() {
            let (feature, threshold) = nodes[*at];
            let feature = usize::from(feature);
            let is_left =
                thresholds[feature].get(usize::from(bins[feature][row])).is_some_and(|upper| *upper <= threshold)
                    || threshold == i16::MAX;
            *at = 2 * *at + if is_left { 1 } else { 2 };
        }
    }
    let mut leaves = [Sums::default(); LEAVES];
    place.iter().zip(derivatives).for_each(|(at, sums)| leaves[at - NODES].add(*sums));
    let values = leaves.map(|sums| training.rate * sums.first / (sums.second + training.lambda));
    encoded(&nodes, &values)
}

fn best_split(
    thresholds: &[Vec<i16>],
    bins: &[Vec<u8>],
    derivatives: &[Sums],
    inside: &[usize],
    training: Training,
) -> (u8, i16) {
    let mut all = Sums::default();
    inside.iter().for_each(|row| all.add(derivatives[*row]));
    let (mut best, mut found) = (1e-6, (0, i16::MAX));
    for feature in 0..bins.len() {
        let mut histogram = [Sums::default(); BINS + 1];
        inside.iter().for_each(|row| histogram[usize::from(bins[feature][*row])].add(derivatives[*row]));
        let mut left = Sums::default();
        for (threshold, sums) in thresholds[feature].iter().zip(histogram) {
            left.add(sums);
            let right = all.without(left);
            if left.second < training.least || right.second < training.least {
                continue;
            }
            let gain = left.gain(training.lambda) + right.gain(training.lambda) - all.gain(training.lambda);
            if gain > best {
                (best, found) = (gain, (u8::try_from(feature).unwrap_or(0), *threshold));
            }
        }
    }
    found
}

fn encoded(nodes: &[(u8, i16); NODES], leaves: &[f64; LEAVES]) -> Vec<u8> {
    let mut tree = Vec::new();
    for (feature, threshold) in nodes {
        tree.push(*feature);
        tree.extend(threshold.to_le_bytes());
    }
    for leaf in leaves {
        let value = (leaf * ONE).round().clamp(f64::from(i16::MIN), f64::from(i16::MAX));
        #[expect(clippy::cast_possible_truncation, reason = "clamped to the range")]
        let value = value as i16;
        tree.extend(value.to_le_bytes());
    }
    tree
}
