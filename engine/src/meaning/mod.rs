//! What a text means, as vectors: its passages, and the encoder that reads them.
//!
//! The encoder is a crate of its own, so that it is fast in tests too, where the rest is not optimised.
//!
//! Pure: texts in, vectors out, the same bits on every machine.

mod passages;

pub use passages::{embeddings_about, is_understood, meanings, passages_of};
pub use tessera_encoder::{
    DIMENSIONS, ENCODER_VERSION, Encoder, Kernel, Made, Meaning, Passages, SIGN_BYTES, VECTOR_BYTES, Vector,
    differing_signs, signs_of,
};
