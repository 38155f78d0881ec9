//! Embeddings of texts: their passages, and the encoder.
//!
//! The encoder is a separate crate, so that it is optimised even in test builds.
//!
//! It is pure and deterministic: the same text gives the same bits on every machine.

mod passages;

pub use passages::{as_read, embeddings, embeddings_about, passages_of};
pub use tessera_encoder::{
    DIMENSIONS, ENCODER_VERSION, Embedding, Encoder, Kernel, Made, Passages, SIGN_BYTES, Side, VECTOR_BYTES, Vector,
    WIDTH, differing_signs, signs_of,
};
