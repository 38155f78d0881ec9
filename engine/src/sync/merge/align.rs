//! Finds the unchanged units of a version by the longest common subsequence.

/// Maximum cells of the table. If two texts differ so much that the comparison would need a larger table, they are not
/// merged.
const MOST_CELLS: usize = 8_000_000;

/// The unchanged units, with their positions in both versions; `None` if the texts are too large.
pub(super) fn aligned(base: &[&str], side: &[&str]) -> Option<Vec<(usize, usize)>> {
    let head = base.iter().zip(side).take_while(|(old, new)| old == new).count();
    let (old, new) = (base.get(head..)?, side.get(head..)?);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (old.get(..old.len() - tail)?, new.get(..new.len() - tail)?);
    let mut stayed: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    stayed.extend(longest(old, new)?.into_iter().map(|(one, other)| (head + one, head + other)));
    stayed.extend((0..tail).map(|at| (base.len() - tail + at, side.len() - tail + at)));
    Some(stayed)
}

fn longest(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    if old.is_empty() || new.is_empty() {
        return Some(Vec::new());
    }
    let width = new.len() + 1;
    let cells = (old.len() + 1).checked_mul(width).filter(|cells| *cells <= MOST_CELLS)?;
    // The maximum weight of common units in the rest of both; an empty line counts less.
    let mut table = vec![0_u32; cells];
    let value = |table: &[u32], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or(0);
    for (i, one) in old.iter().enumerate().rev() {
        for (j, other) in new.iter().enumerate().rev() {
            let skipped = value(&table, i + 1, j).max(value(&table, i, j + 1));
            let taken = if one == other { value(&table, i + 1, j + 1) + weight(one) } else { 0 };
            if let Some(cell) = table.get_mut(i * width + j) {
                *cell = skipped.max(taken);
            }
        }
    }
    let (mut i, mut j, mut stayed) = (0, 0, Vec::new());
    while let (Some(one), Some(other)) = (old.get(i), new.get(j)) {
        let best = value(&table, i, j);
        if one == other && best == value(&table, i + 1, j + 1) + weight(one) {
            stayed.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best == value(&table, i + 1, j) {
            i += 1;
        } else {
            j += 1;
        }
    }
    Some(stayed)
}

fn weight(unit: &str) -> u32 {
    if unit.trim().is_empty() { 1 } else { 4 }
}
