//! Three small classifiers over whole numbers, each stored as a table.
//!
//! The values of [`Trees`] are added. These trees are complete and have the same depth. The trees of a [`Forest`] have
//! any shape, and each of them votes. A [`Linear`] classifier adds up weighted inputs. `benches/train` trains all three;
//! this module only evaluates the tables.

/// The trees that decide whether a new memory updates an older one; see [`crate::relation`].
pub const UPDATES: &[u8] = include_bytes!("classifier/updates.bin");
/// The trees that decide whether a memory answers a question; see [`crate::recall`].
pub const RELEVANCE: &[u8] = include_bytes!("classifier/relevance.bin");
/// The depth of each tree.
pub const DEPTH: usize = 4;
/// The inner nodes of a tree, in the order of a binary heap.
pub const NODES: usize = (1 << DEPTH) - 1;
/// The leaves of a tree, from left to right.
pub const LEAVES: usize = 1 << DEPTH;
/// The bytes of a node: the feature, and the threshold as a little-endian number.
const NODE: usize = 3;
/// The bytes of a tree.
pub const TREE: usize = NODES * NODE + LEAVES * 2;

/// The trees of a classifier, one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Trees<'a>(pub &'a [u8]);

impl Trees<'_> {
    /// The logarithm of the odds, in 1/1024.
    pub fn odds(self, features: &[i16]) -> i32 {
        self.0.chunks_exact(TREE).map(|tree| i32::from(leaf(tree, features))).sum()
    }
}

/// The value of the leaf to which the features lead.
fn leaf(tree: &[u8], features: &[i16]) -> i16 {
    let mut at = 0;
    while at < NODES {
        let node = tree.get(at * NODE..(at + 1) * NODE).and_then(<[u8]>::first_chunk::<NODE>);
        let [feature, low, high] = node.copied().unwrap_or_default();
        let value = features.get(usize::from(feature)).copied().unwrap_or_default();
        at = 2 * at + if value <= i16::from_le_bytes([low, high]) { 1 } else { 2 };
    }
    let place = NODES * NODE + (at - NODES) * 2;
    let bytes = tree.get(place..place + 2).and_then(<[u8]>::first_chunk::<2>);
    i16::from_le_bytes(bytes.copied().unwrap_or_default())
}

/// The odds that belong to a logarithm in 1/1024. Only basic arithmetic is used, so the result is the same on every
/// machine.
pub fn odds_ratio(logarithm: i32) -> f64 {
    let halvings = 10;
    let small = (f64::from(logarithm) / 1024.0).clamp(-30.0, 30.0) / f64::from(1 << halvings);
    let series = 1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0 * (1.0 + small / 4.0)));
    (0..halvings).fold(series, |power, _| power * power)
}

/// A logistic regression: weights as little-endian numbers of 16 bits, then the bias of 32 bits.
#[derive(Debug, Clone, Copy)]
pub struct Linear<'a>(pub &'a [u8]);

impl Linear<'_> {
    /// The bytes of a table with this number of weights.
    pub const fn bytes(weights: usize) -> usize {
        2 * weights + 4
    }

    /// The stored form of weights and a bias.
    pub fn table(weights: &[i16], bias: i32) -> Vec<u8> {
        weights.iter().flat_map(|weight| weight.to_le_bytes()).chain(bias.to_le_bytes()).collect()
    }

    /// The bias, plus each input times its weight. An input comes with the place of its weight.
    pub fn sum(self, inputs: impl Iterator<Item = (usize, i8)>) -> i64 {
        let (weights, bias) = self.0.split_last_chunk::<4>().unwrap_or((&[], &[0; 4]));
        let (weights, _) = weights.as_chunks::<2>();
        let weight = |place: usize| weights.get(place).map_or(0, |bytes| i16::from_le_bytes(*bytes));
        let products = inputs.map(|(place, input)| i64::from(weight(place)) * i64::from(input));
        products.sum::<i64>() + i64::from(i32::from_le_bytes(*bias))
    }
}

/// A forest of decision trees: the mean of their votes.
///
/// A tree begins with the number of its inner nodes. Each node has the feature, the threshold as a little-endian number,
/// and its two children. A child is an inner node, or a leaf if it is at least the number of inner nodes. The votes of
/// the leaves follow: 0 to 255.
#[derive(Debug, Clone, Copy)]
pub struct Forest<'a>(pub &'a [u8]);

/// The bytes of an inner node of a forest.
const INNER_NODE: usize = 5;

impl<'a> Forest<'a> {
    /// The probability, 0 to 1.
    pub fn probability(self, features: &[i16]) -> f64 {
        let (mut rest, mut votes, mut trees) = (self.0, 0_u32, 0_u32);
        while let Some((vote, after)) = Self::vote(rest, features) {
            (rest, votes, trees) = (after, votes + u32::from(vote), trees + 1);
        }
        f64::from(votes) / f64::from(trees.max(1)) / 255.0
    }

    /// The vote of the first tree, and the trees after it.
    fn vote(trees: &'a [u8], features: &[i16]) -> Option<(u8, &'a [u8])> {
        let (inner, rest) = trees.split_first()?;
        let inner = usize::from(*inner);
        let (nodes, rest) = rest.split_at_checked(inner * INNER_NODE)?;
        let (leaves, rest) = rest.split_at_checked(inner + 1)?;
        let mut at = 0;
        while at < inner {
            let node = nodes.get(at * INNER_NODE..)?.first_chunk::<INNER_NODE>()?;
            let [feature, low, high, left, right] = *node;
            let value = features.get(usize::from(feature)).copied().unwrap_or_default();
            at = usize::from(if value <= i16::from_le_bytes([low, high]) { left } else { right });
        }
        leaves.get(at - inner).map(|vote| (*vote, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forest_is_the_mean_of_its_votes() {
        // Feature 1 above 3 leads to the second node, which asks for feature 0. The votes are 0, 0.4 and 1; the other
        // tree always votes 0.2.
        let tree = [2, 1, 3, 0, 2, 1, 0, 0, 0, 3, 4, 0, 102, 255];
        let single = [0, 51];
        let forest = [&tree[..], &single].concat();
        for (features, wanted) in [([9, 3], 0.1), ([0, 4], 0.3), ([1, 4], 0.6)] {
            assert!((Forest(&forest).probability(&features) - wanted).abs() < 1e-9, "{features:?}");
        }
        for end in 0..forest.len() {
            let _ = Forest(&forest[..end]).probability(&[1, 4]);
        }
    }

    #[test]
    fn a_tree_compares_each_feature_with_its_threshold() {
        let mut tree = vec![0; TREE];
        // The root asks for feature 2; the other nodes ask for feature 0, which is always at most 0.
        tree[..3].copy_from_slice(&[2, 10, 0]);
        tree[NODES * NODE..NODES * NODE + 2].copy_from_slice(&(-7_i16).to_le_bytes());
        tree[NODES * NODE + 16..NODES * NODE + 18].copy_from_slice(&300_i16.to_le_bytes());
        let mut features = [0; 3];
        assert_eq!(Trees(&tree).odds(&features), -7);
        features[2] = 11;
        assert_eq!(Trees(&[tree.clone(), tree].concat()).odds(&features), 600);
    }
}
