//! Extremely randomised trees (Geurts, Ernst and Wehenkel, *Machine Learning* 63, 2006). The random numbers have a fixed
//! seed, so the result is the same on every machine.

#![expect(clippy::indexing_slicing, reason = "a developer's tool: a wrong index is an error of the program")]

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use fastrand::Rng;

use crate::boost::Example;

/// The parameters of the training.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growing {
    /// The number of trees.
    pub(crate) trees: usize,
    /// Maximum leaves of a tree. The format allows 128.
    pub(crate) leaves: usize,
    /// The share of the features that are tried for a node.
    pub(crate) tried: f64,
    /// The minimum number of examples in a leaf.
    pub(crate) least: usize,
    /// The first seed.
    pub(crate) seed: u64,
}

/// A node that may be divided, with the best division that was found.
struct Open {
    gain: f64,
    /// The order in which nodes were found, so that the order of equal gains is fixed.
    order: usize,
    rows: Vec<usize>,
    /// The feature and the threshold.
    split: (usize, i16),
    /// The inner node above, and true for its right child.
    above: Option<(usize, bool)>,
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(other.order.cmp(&self.order))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

/// Trains a forest. Returns its trees.
pub(crate) fn grow(examples: &[Example], growing: Growing) -> Vec<u8> {
    (0..growing.trees as u64)
        .flat_map(|tree| Tree::grow(examples, growing, Rng::with_seed(growing.seed + tree)))
        .collect()
}

struct Tree<'e> {
    examples: &'e [Example],
    growing: Growing,
    random: Rng,
    found: usize,
    /// Feature, threshold, and the two children: inner nodes, or leaves plus [`LEAF`].
    nodes: Vec<(usize, i16, [usize; 2])>,
    votes: Vec<u8>,
}

/// Added to the numbers of leaves until the number of inner nodes is known.
const LEAF: usize = 1 << 16;

impl Tree<'_> {
    fn grow(examples: &[Example], growing: Growing, random: Rng) -> Vec<u8> {
        let mut tree = Tree { examples, growing, random, found: 0, nodes: Vec::new(), votes: Vec::new() };
        let mut open = BinaryHeap::from([tree.open((0..examples.len()).collect(), None)]);
        while let Some(best) = open.pop() {
            if best.gain <= 0.0 || tree.nodes.len() + 1 >= growing.leaves {
                tree.close(&best);
                continue;
            }
            let at = tree.nodes.len();
            tree.nodes.push((best.split.0, best.split.1, [0; 2]));
            tree.link(best.above, at);
            let (left, right): (Vec<usize>, Vec<usize>) =
                best.rows.iter().partition(|row| examples[**row].features[best.split.0] <= best.split.1);
            open.push(tree.open(left, Some((at, false))));
            open.push(tree.open(right, Some((at, true))));
        }
        tree.encoded()
    }

    fn link(&mut self, above: Option<(usize, bool)>, child: usize) {
        if let Some((node, is_right)) = above {
            self.nodes[node].2[usize::from(is_right)] = child;
        }
    }

    fn close(&mut self, open: &Open) {
        let total: f64 = open.rows.iter().map(|row| self.examples[*row].weight).sum();
        let votes = 255.0 * self.positive(&open.rows) / total;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let vote = votes.round() as u8;
        self.link(open.above, LEAF + self.votes.len());
        self.votes.push(vote);
    }

    fn positive(&self, rows: &[usize]) -> f64 {
        let positive = rows.iter().map(|row| &self.examples[*row]).filter(|example| example.label);
        positive.map(|example| example.weight).sum()
    }

    /// Tries some features, each with one random threshold.
    fn open(&mut self, rows: Vec<usize>, above: Option<(usize, bool)>) -> Open {
        self.found += 1;
        let mut open = Open { gain: 0.0, order: self.found, rows, split: (0, 0), above };
        let width = self.examples[0].features.len();
        let mut features: Vec<usize> = (0..width).collect();
        self.random.shuffle(&mut features);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small positive number")]
        let wanted = (width as f64 * self.growing.tried) as usize;
        let mut tried = 0;
        for feature in features {
            let values = || open.rows.iter().map(|row| self.examples[*row].features[feature]);
            let (Some(low), Some(high)) = (values().min(), values().max()) else { break };
            if low == high {
                continue;
            }
            let threshold = self.random.i16(low..high);
            let gain = self.gain(&open.rows, feature, threshold);
            if gain > open.gain {
                (open.gain, open.split) = (gain, (feature, threshold));
            }
            tried += 1;
            if tried == wanted {
                break;
            }
        }
        open
    }

    /// How much a division reduces the Gini impurity of all rows.
    fn gain(&self, rows: &[usize], feature: usize, threshold: i16) -> f64 {
        let mut counts = [0_usize; 2];
        let mut sums = [[0.0_f64; 2]; 2];
        for row in rows {
            let example = &self.examples[*row];
            let side = usize::from(example.features[feature] > threshold);
            counts[side] += 1;
            sums[side][usize::from(example.label)] += example.weight;
        }
        if counts.iter().any(|count| *count < self.growing.least) {
            return 0.0;
        }
        let impurity = |[no, yes]: [f64; 2]| 2.0 * no * yes / (no + yes).max(f64::MIN_POSITIVE);
        let all = [sums[0][0] + sums[1][0], sums[0][1] + sums[1][1]];
        impurity(all) - impurity(sums[0]) - impurity(sums[1])
    }

    fn encoded(&self) -> Vec<u8> {
        let inner = self.nodes.len();
        let byte = |number: usize| u8::try_from(number).expect("a tree has at most 128 leaves");
        let child = |child: usize| byte(if child >= LEAF { inner + child - LEAF } else { child });
        let mut bytes = vec![byte(inner)];
        for (feature, threshold, [left, right]) in &self.nodes {
            bytes.push(byte(*feature));
            bytes.extend(threshold.to_le_bytes());
            bytes.extend([child(*left), child(*right)]);
        }
        bytes.extend(&self.votes);
        bytes
    }
}
