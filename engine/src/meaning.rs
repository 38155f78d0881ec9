//! What a text means, as a vector: two texts that say the same in other words are near.
//!
//! The encoder is a crate of its own, so that it is fast in tests too, where the rest is not optimised.

pub use tessera_encoder::{
    DIMENSIONS, ENCODER_VERSION, Encoder, Kernel, Meaning, Passages, SIGN_BYTES, VECTOR_BYTES, Vector, differing_signs,
    passages_of, signs_of,
};
