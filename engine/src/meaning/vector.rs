//! A vector of small whole numbers, and how near two are.

/// Numbers of a vector.
pub const DIMENSIONS: usize = 384;

/// Which encoder made a vector: those of different ones cannot be compared.
pub const ENCODER_VERSION: u8 = 1;

/// What a passage means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vector {
    values: [i8; DIMENSIONS],
    squares: u32,
}

impl Default for Vector {
    fn default() -> Self {
        Self { values: [0; DIMENSIONS], squares: 0 }
    }
}

/// Bytes of a vector: the sum of its squares, then its numbers.
pub const VECTOR_BYTES: usize = 4 + DIMENSIONS;

impl Vector {
    /// The nearest whole numbers, so scaled that the largest is 127.
    #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
    pub(crate) fn of(values: &[f32; DIMENSIONS]) -> Self {
        let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        if largest <= 0.0 || !largest.is_finite() {
            return Self::default();
        }
        let values = values.map(|value| (value / largest * 127.0).round() as i8);
        Self { values, squares: squares(&values) }
    }

    /// The cosine of the angle between two: -1 to 1, 0 where one is nothing.
    pub fn nearness(&self, other: &Self) -> f64 {
        cosine(dot(&self.values, &other.values), self.squares, other.squares)
    }

    /// The same against a vector as bytes; 0 for bytes that are none.
    #[expect(clippy::cast_possible_truncation, reason = "a cosine needs no more digits")]
    pub(crate) fn nearness_to_bytes(&self, bytes: &[u8]) -> f32 {
        let Some((squares, values)) = bytes.split_first_chunk::<4>() else { return 0.0 };
        let dot = self.values.iter().zip(values).map(|(a, b)| i32::from(*a) * i32::from(b.cast_signed())).sum();
        cosine(dot, self.squares, u32::from_le_bytes(*squares)) as f32
    }

    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.squares.to_le_bytes());
        out.extend(self.values.map(i8::cast_unsigned));
    }
}

/// True for the bytes of a vector whose sum of squares is that of its numbers.
fn is_sound(vector: &[u8]) -> bool {
    let Some((sum, values)) = vector.split_first_chunk::<4>() else { return false };
    let squares: u32 = values.iter().map(|value| u32::from(value.cast_signed().unsigned_abs()).pow(2)).sum();
    u32::from_le_bytes(*sum) == squares
}

fn squares(values: &[i8; DIMENSIONS]) -> u32 {
    values.iter().map(|value| u32::from(value.unsigned_abs()).pow(2)).sum()
}

fn dot(a: &[i8; DIMENSIONS], b: &[i8; DIMENSIONS]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

fn cosine(dot: i32, a: u32, b: u32) -> f64 {
    if a == 0 || b == 0 {
        return 0.0;
    }
    f64::from(dot) / (f64::from(a) * f64::from(b)).sqrt()
}

/// The vectors of a memory, as they are stored: the version of the encoder, then one for each passage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meaning(Vec<u8>);

impl Meaning {
    /// Of these vectors.
    pub fn of(vectors: &[Vector]) -> Self {
        let mut bytes = vec![ENCODER_VERSION];
        vectors.iter().for_each(|vector| vector.put(&mut bytes));
        Self(bytes)
    }

    /// What came from elsewhere as bytes, if it can be the work of this program's encoder on so many passages: its
    /// version, so many vectors, and each with the sum of its own squares, so that no nearness is beyond 1.
    pub fn read(bytes: &[u8], passages: usize) -> Option<Self> {
        let mut vectors = Self::vectors(bytes);
        let is_whole = Self::is_current(bytes) && vectors.len() == passages;
        (is_whole && vectors.all(is_sound)).then(|| Self(bytes.to_vec()))
    }

    /// As bytes; never empty.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The vectors of a stored meaning, as bytes; none where another encoder made it, or it is damaged.
    pub(crate) fn vectors(bytes: &[u8]) -> std::slice::ChunksExact<'_, u8> {
        let vectors = match bytes.split_first() {
            Some((&ENCODER_VERSION, vectors)) if vectors.len().is_multiple_of(VECTOR_BYTES) => vectors,
            _ => &[],
        };
        vectors.chunks_exact(VECTOR_BYTES)
    }

    /// True for bytes that this program's encoder made.
    pub fn is_current(bytes: &[u8]) -> bool {
        bytes.first() == Some(&ENCODER_VERSION) && (bytes.len() - 1).is_multiple_of(VECTOR_BYTES)
    }
}
