//! Checkpoints show whether two histories of a server's database differ.
//!
//! With every change that a user sees, the server writes a random stamp beside the user's change counter. A machine
//! stores some of the received checkpoints and sends the newest with each request. After a restore from a backup or a
//! failover to a lagging standby, the database does not know the newest checkpoint, however high its counter is. The
//! histories are equal up to the newest checkpoint that both sides know.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// All of the newest checkpoints are stored, up to this number. The number of older checkpoints is limited by
/// [`BLOCKS`].
const NEWEST: usize = 32;
/// Checkpoints whose age is between a power of two and the next one are divided into blocks, and one checkpoint per
/// block is stored. The value is the binary logarithm of the number of blocks.
const BLOCKS: u32 = 2;

/// A checkpoint: a value of a user's change counter, with a random stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The user's change counter.
    pub seq: u64,
    /// A random number.
    pub stamp: i64,
}

impl Checkpoint {
    /// The request header with a machine's checkpoints: `seq:stamp`, separated by commas.
    pub const HEADER: &str = "tessera-checkpoints";

    /// Formats checkpoints for the header.
    pub fn header(checkpoints: &[Self]) -> String {
        let mut text = String::new();
        for Self { seq, stamp } in checkpoints {
            let comma = if text.is_empty() { "" } else { "," };
            let _ = write!(text, "{comma}{seq}:{stamp}");
        }
        text
    }

    /// Parses the header; invalid checkpoints are skipped.
    pub fn listed(header: &str) -> Vec<Self> {
        let checkpoint = |item: &str| {
            let (seq, stamp) = item.trim().split_once(':')?;
            Some(Self { seq: seq.parse().ok()?, stamp: stamp.parse().ok()? })
        };
        header.split(',').filter_map(checkpoint).collect()
    }

    /// Returns the checkpoints to keep, newest first: all new ones, and fewer of the older ones. If the two histories
    /// were equal until recently, the common position is known more precisely.
    pub fn thinned(mut checkpoints: Vec<Self>) -> Vec<Self> {
        checkpoints.sort_unstable();
        checkpoints.dedup();
        let (head, newest) =
            (checkpoints.last().map_or(0, |checkpoint| checkpoint.seq), checkpoints.len().saturating_sub(NEWEST));
        let (mut place, mut last) = (0, None);
        // The oldest of a block stays the oldest of the larger block to which it belongs later.
        checkpoints.retain(|checkpoint| {
            let age = (head - checkpoint.seq).checked_ilog2().unwrap_or(0);
            let block = Some((age, checkpoint.seq >> age.saturating_sub(BLOCKS)));
            let is_first = std::mem::replace(&mut last, block) != block;
            place += 1;
            place > newest || is_first
        });
        checkpoints.reverse();
        checkpoints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(seq: u64) -> Checkpoint {
        Checkpoint { seq, stamp: i64::MIN + i64::try_from(seq).unwrap() }
    }

    #[test]
    fn marks_pass_through_the_header_and_nonsense_does_not() {
        let checkpoints = [checkpoint(0), checkpoint(7), Checkpoint { seq: u64::MAX, stamp: -1 }];
        assert_eq!(Checkpoint::listed(&Checkpoint::header(&checkpoints)), checkpoints);
        assert_eq!(
            Checkpoint::listed("1:2, 3:4 ,5,:6,x:1,7:,-1:1"),
            [Checkpoint { seq: 1, stamp: 2 }, Checkpoint { seq: 3, stamp: 4 }]
        );
        assert_eq!(Checkpoint::listed(""), []);
    }

    #[test]
    fn the_newest_marks_are_kept_and_some_of_every_age() {
        let kept = Checkpoint::thinned((0..1_000_000).map(checkpoint).collect());
        assert!(kept.len() < 120, "{}", kept.len());
        assert!(kept.iter().take(NEWEST).map(|checkpoint| checkpoint.seq).eq((999_968..1_000_000).rev()));
        for age in [64, 1_000, 30_000, 500_000] {
            assert!(kept.iter().any(|checkpoint| (age / 2..=age * 2).contains(&(999_999 - checkpoint.seq))), "{age}");
        }
        // Even if thinned after each change, checkpoints of every age remain.
        let mut checkpoints = Vec::new();
        for seq in 0..20_000 {
            checkpoints.push(checkpoint(seq));
            checkpoints = Checkpoint::thinned(checkpoints);
        }
        assert!(checkpoints.len() < 120);
        for age in [64, 1_000, 10_000] {
            assert!(
                checkpoints.iter().any(|checkpoint| (age / 2..=age * 2).contains(&(19_999 - checkpoint.seq))),
                "{age}: {checkpoints:?}"
            );
        }
    }
}
