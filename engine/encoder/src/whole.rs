//! Whether the stored embeddings of a memory are valid.

use super::vector::{DIMENSIONS, ENCODER_VERSION, Embedding, VECTOR_BYTES};

/// The relation of stored embeddings to this encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// The row has no embedding, or an older encoder computed it. It must be computed.
    Waits,
    /// This encoder made them.
    Here,
    /// A newer encoder computed the embeddings. They stay, but this version does not use them.
    Later,
}

impl Embedding {
    /// The encoder of stored bytes.
    pub fn made(bytes: &[u8]) -> Made {
        match bytes.first() {
            Some(&version) if version == ENCODER_VERSION => Made::Here,
            Some(&version) if version > ENCODER_VERSION => Made::Later,
            _ => Made::Waits,
        }
    }

    /// Checks embeddings from another program. Returns `None` if they are not valid for this encoder and this number of
    /// passages. The version, the number of vectors and the sums of squares must be right, so that no similarity
    /// exceeds 1.
    pub fn read(bytes: &[u8], passages: usize) -> Option<Self> {
        (Self::made(bytes) == Made::Here && Self::is_whole(bytes, passages)).then(|| Self::of_bytes(bytes))
    }

    /// False for bytes with this encoder's version that it cannot have written: a wrong number of vectors, or
    /// inconsistent numbers.
    pub fn is_whole(bytes: &[u8], passages: usize) -> bool {
        let Some((_, vectors)) = bytes.split_first().filter(|_| Self::made(bytes) == Made::Here) else { return true };
        let is_vector = |vector: &[u8]| {
            let Some((squares, values)) = vector.split_first_chunk::<4>() else { return false };
            let sum: u32 = values.iter().map(|value| u32::from(value.cast_signed().unsigned_abs()).pow(2)).sum();
            values.len() == DIMENSIONS && sum == u32::from_le_bytes(*squares)
        };
        vectors.len() == passages * VECTOR_BYTES && vectors.chunks_exact(VECTOR_BYTES).all(is_vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoder;

    #[test]
    fn what_was_written_is_whole_and_what_was_changed_is_not() {
        let encoder = Encoder::shared();
        let bytes = Embedding::of(&encoder.passages(&["The proxy is nginx", "The cache lives on birch"])).into_bytes();
        assert!(Embedding::is_whole(&bytes, 2) && Embedding::made(&bytes) == Made::Here);
        assert!(!Embedding::is_whole(&bytes, 1) && !Embedding::is_whole(&bytes[..bytes.len() - 1], 2));
        for at in (1..bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed[at] ^= 5;
            assert!(!Embedding::is_whole(&changed, 2), "{at}");
        }
        assert!(Embedding::is_whole(&Embedding::of(&[]).into_bytes(), 0));
        assert_eq!((Embedding::made(&[]), Embedding::made(&[255, 1])), (Made::Waits, Made::Later));
        assert!(Embedding::is_whole(&[255, 1], 9), "this version cannot check embeddings from a newer version");
    }
}
