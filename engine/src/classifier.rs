//! A small classifier over whole numbers: a sum of decision trees, stored as a table.
//!
//! All trees are complete and have the same depth. `benches/train` trains them; this module only evaluates the table.

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

#[cfg(test)]
mod tests {
    use super::*;

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
