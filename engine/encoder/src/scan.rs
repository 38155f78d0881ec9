//! The similarity of one vector to many. If there are very many, only the signs of most of them are compared.

use super::kernels::{Job, Kernel, Kernels, run};
use super::vector::{DIMENSIONS, Vector};

/// The number of vectors that are compared before the results are stored.
const STEP: usize = 64;

/// The signs of a vector's numbers, one bit each.
pub const SIGN_BYTES: usize = DIMENSIONS / 8;

/// Vectors of passages in an order for sequential reading.
#[derive(Debug, Clone, Copy, Default)]
pub struct Passages<'a> {
    /// The numbers, [`DIMENSIONS`] bytes each.
    pub values: &'a [u8],
    /// For each vector, the sum of the squares of its numbers: four bytes, little-endian.
    pub squares: &'a [u8],
}

impl<'a> Passages<'a> {
    /// Their number.
    pub fn len(&self) -> usize {
        (self.values.len() / DIMENSIONS).min(self.squares.len() / 4)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A range of them.
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        Self {
            values: self.values.get(range.start * DIMENSIONS..range.end * DIMENSIONS).unwrap_or_default(),
            squares: self.squares.get(range.start * 4..range.end * 4).unwrap_or_default(),
        }
    }

    /// The numbers of each.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8; DIMENSIONS]> {
        self.values.as_chunks().0.iter()
    }
}

/// Computes the similarity of each passage to `to`: -1 to 1, or 0 if one of the two vectors is zero. For a question and a
/// passage in other languages than English, it may be up to 1.3.
pub(crate) fn similarities(kernel: Kernel, to: &Vector, passages: Passages<'_>, near: &mut [f32]) {
    run(kernel, Compare { to, passages, near });
}

struct Compare<'a> {
    to: &'a Vector,
    passages: Passages<'a>,
    near: &'a mut [f32],
}

impl Job for Compare<'_> {
    type Output = ();

    /// Sums are below 2^24, where an f32 is exact. Square roots and divisions have identical results on all machines.
    #[inline(always)]
    fn run<K: Kernels>(self) {
        let (query, own) = (self.to.query(), self.to.size());
        let (values, squares) = (self.passages.values.as_chunks().0, self.passages.squares.as_chunks::<4>().0);
        let mut dots = [0; STEP];
        for ((near, squares), values) in self.near.chunks_mut(STEP).zip(squares.chunks(STEP)).zip(values.chunks(STEP)) {
            K::dots(&query, values, &mut dots);
            for ((near, squares), dot) in near.iter_mut().zip(squares).zip(&dots) {
                let size = (u32::from_le_bytes(*squares) as f32).sqrt() * own;
                *near = if size > 0.0 { *dot as f32 / size } else { 0.0 };
            }
        }
    }
}

/// The signs of a vector: 1 for a negative number.
pub fn signs_of(values: &[u8; DIMENSIONS]) -> [u8; SIGN_BYTES] {
    let mut signs = [0; SIGN_BYTES];
    for (byte, values) in signs.iter_mut().zip(values.as_chunks::<8>().0) {
        *byte = values.iter().enumerate().fold(0, |byte, (bit, value)| byte | (value >> 7) << bit);
    }
    signs
}

/// The number of signs of each vector that differ from another: 0 to [`DIMENSIONS`].
pub fn differing_signs(from: &Vector, signs: &[u8]) -> Vec<u16> {
    let signs = signs.as_chunks::<SIGN_BYTES>().0;
    let mut differing = vec![0; signs.len()];
    // The first half of a question in another language is zero, so its signs say nothing.
    let skipped = if from.is_foreign() { SIGN_BYTES / 8 / 2 } else { 0 };
    run(Kernel::best(), Differ { own: &signs_of(&from.bytes()), skipped, signs, differing: &mut differing });
    differing
}

struct Differ<'a> {
    own: &'a [u8; SIGN_BYTES],
    /// The number of words of 64 signs at the beginning that are not compared.
    skipped: usize,
    signs: &'a [[u8; SIGN_BYTES]],
    differing: &'a mut [u16],
}

impl Job for Differ<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number of differing bits is at most the number of dimensions"
    )]
    fn run<K: Kernels>(self) {
        let words = |signs: &[u8; SIGN_BYTES]| {
            let mut words = [0; SIGN_BYTES / 8];
            words.iter_mut().zip(signs.as_chunks::<8>().0).for_each(|(word, bytes)| *word = u64::from_le_bytes(*bytes));
            words
        };
        let own = words(self.own);
        for (signs, differing) in self.signs.iter().zip(self.differing) {
            let signs = words(signs);
            *differing =
                own.iter().zip(&signs).skip(self.skipped).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>() as u16;
        }
    }
}
