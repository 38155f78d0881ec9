//! A vector of small integers, and the similarity of two such vectors.

use super::join::foreign_size;
use super::kernels::{Kernel, Query, Values};
use super::scan::{Passages, similarities};
use super::weights::WIDTH;

/// Numbers of a vector: those of both networks.
pub const DIMENSIONS: usize = 2 * WIDTH;

/// The version of the encoder. Vectors of different versions cannot be compared.
pub const ENCODER_VERSION: u8 = 2;

/// The bytes of a stored vector: first the sum of its squares, then its numbers.
pub const VECTOR_BYTES: usize = 4 + DIMENSIONS;

/// The embedding of a passage: a direction, as integers from -127 to 127.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    values: [i8; DIMENSIONS],
    squares: u32,
    is_foreign: bool,
}

impl Default for Vector {
    /// The zero vector, which is similar to nothing.
    fn default() -> Self {
        Self { values: [0; DIMENSIONS], squares: 0, is_foreign: false }
    }
}

impl Vector {
    /// Rounds to integers, scaled so that the largest is 127.
    #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
    pub(crate) fn of(values: &[f32; DIMENSIONS]) -> Self {
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if largest <= 0.0 || !largest.is_finite() {
            return Self::default();
        }
        let values = values.map(|value| (value / largest * 127.0).round() as i8);
        let squares = values.iter().map(|value| u32::from(value.unsigned_abs()).pow(2)).sum();
        Self { values, squares, is_foreign: false }
    }

    /// The vector of a question.
    pub(crate) fn of_question(values: &[f32; DIMENSIONS], is_foreign: bool) -> Self {
        Self { is_foreign, ..Self::of(values) }
    }

    /// True for a question that is probably not in English.
    pub fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// The numbers of the vector with this length. Larger numbers than 127 are cut off.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "small numbers")]
    pub fn scaled(&self, length: f32) -> Vec<i8> {
        let scale = length / (self.squares as f32).sqrt().max(1.0);
        let limit = f32::from(i8::MAX);
        self.values.iter().map(|value| (f32::from(*value) * scale).clamp(-limit, limit) as i8).collect()
    }

    /// The cosine similarity, from -1 to 1; 0 if one of the vectors is zero. If only this vector is that of a question in
    /// another language, the similarity is that of a search.
    pub fn similarities(&self, other: &Self) -> f64 {
        let is_foreign = self.is_foreign && !other.is_foreign;
        f64::from(Self { is_foreign, ..self.clone() }.similarities_to_bytes(&other.to_bytes()))
    }

    /// The similarity to a stored vector (see [`Embedding::vectors`]); 0 for invalid bytes.
    pub fn similarities_to_bytes(&self, bytes: &[u8]) -> f32 {
        let mut near = [0.0];
        if let Some((squares, values)) = bytes.split_first_chunk::<4>() {
            similarities(Kernel::best(), self, Passages { values, squares }, &mut near);
        }
        near[0]
    }

    /// Returns the similarity of many passages. Each result equals that of [`Vector::similarities_to_bytes`].
    pub fn similarities_to_all(&self, passages: Passages<'_>) -> Vec<f32> {
        let mut near = vec![0.0; passages.len()];
        similarities(Kernel::best(), self, passages, &mut near);
        near
    }

    /// Reads a stored vector (see [`Embedding::vectors`]). Returns `None` if the length is not that of a vector.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (squares, values) = bytes.split_first_chunk::<4>()?;
        let values = <&[u8; DIMENSIONS]>::try_from(values).ok()?.map(u8::cast_signed);
        Some(Self { values, squares: u32::from_le_bytes(*squares), is_foreign: false })
    }

    /// The stored form: the sum of its squares, then its numbers.
    pub fn to_bytes(&self) -> [u8; VECTOR_BYTES] {
        let mut bytes = [0; VECTOR_BYTES];
        let (squares, values) = bytes.split_at_mut(4);
        squares.copy_from_slice(&self.squares.to_le_bytes());
        values.iter_mut().zip(self.values).for_each(|(byte, value)| *byte = value.cast_unsigned());
        bytes
    }

    /// What a product with a vector of length 1 is divided by.
    #[expect(clippy::cast_precision_loss, reason = "below 2^24")]
    pub(crate) fn size(&self) -> f32 {
        (self.squares as f32).sqrt() * if self.is_foreign { foreign_size() } else { 1.0 }
    }

    /// Its numbers, from -127 to 127.
    pub fn numbers(&self) -> &[i8; DIMENSIONS] {
        &self.values
    }

    /// The sum of their squares.
    pub fn squares(&self) -> u32 {
        self.squares
    }

    pub(crate) fn query(&self) -> Query {
        Query::of(&self.values)
    }

    pub(crate) fn bytes(&self) -> Values {
        self.values.map(i8::cast_unsigned)
    }
}

/// The stored embeddings of a memory: the version of the encoder, then one vector per passage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Embedding(Vec<u8>);

impl Embedding {
    /// The stored form of these vectors.
    pub fn of(vectors: &[Vector]) -> Self {
        let mut bytes = vec![ENCODER_VERSION];
        vectors.iter().for_each(|vector| bytes.extend(vector.to_bytes()));
        Self(bytes)
    }

    /// From checked bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// As bytes, never empty.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The vectors of stored embeddings, as bytes; none if they are damaged or from another encoder.
    pub fn vectors(bytes: &[u8]) -> std::slice::ChunksExact<'_, u8> {
        let vectors = bytes.get(1..).filter(|_| Self::is_current(bytes)).unwrap_or_default();
        vectors.chunks_exact(VECTOR_BYTES)
    }

    /// True for bytes of this encoder version.
    pub fn is_current(bytes: &[u8]) -> bool {
        bytes.first() == Some(&ENCODER_VERSION) && (bytes.len() - 1).is_multiple_of(VECTOR_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(values: [f32; 3]) -> Vector {
        let mut all = [0.0; DIMENSIONS];
        all[..3].copy_from_slice(&values);
        Vector::of(&all)
    }

    #[test]
    fn nearness_is_the_cosine() {
        let x = vector([1.0, 0.0, 0.0]);
        // 127 · 127 / (127 · √(127² + 127²)) = 1/√2; 51 is the nearest to 127 · 0.4.
        for (other, cosine) in [
            (vector([2.0, 0.0, 0.0]), 1.0),
            (vector([1.0, 1.0, 0.0]), std::f64::consts::FRAC_1_SQRT_2),
            (vector([0.0, 5.0, 1.0]), 0.0),
            (vector([-0.4, 1.0, 0.0]), -51.0 / (51.0_f64 * 51.0 + 127.0 * 127.0).sqrt()),
            (Vector::default(), 0.0),
        ] {
            assert!((x.similarities(&other) - cosine).abs() < 1e-6, "{cosine}");
            assert!((other.similarities(&x) - cosine).abs() < 1e-6, "{cosine}");
        }
        assert_eq!(vector([f32::NAN, 1.0, 0.0]), vector([0.0, 1.0, 0.0]));
        assert_eq!(vector([f32::INFINITY, 1.0, 0.0]), Vector::default());
    }

    #[test]
    fn a_embedding_is_read_as_it_was_written_and_no_other() {
        let one = vector([3.0, -1.0, 0.5]);
        assert_eq!((Vector::of_bytes(&one.to_bytes()), Vector::of_bytes(b"short")), (Some(one), None));
        let vectors = [vector([1.0, 2.0, 3.0]), vector([-1.0, 0.5, 0.0])];
        let mut bytes = Embedding::of(&vectors).into_bytes();
        let read: Vec<_> = Embedding::vectors(&bytes).map(<[u8]>::to_vec).collect();
        assert_eq!(read, vectors.map(|vector| vector.to_bytes().to_vec()));
        bytes.push(0);
        assert!(!Embedding::is_current(&bytes) && Embedding::vectors(&bytes).count() == 0, "too long");
        bytes.pop();
        bytes[0] += 1;
        assert!(!Embedding::is_current(&bytes) && Embedding::vectors(&bytes).count() == 0, "of another encoder");
        assert!(!Embedding::is_current(&[]) && Embedding::vectors(&[]).count() == 0, "waits");
        assert!(Embedding::is_current(&Embedding::of(&[]).into_bytes()), "a text without passages needs no embedding");
    }
}
