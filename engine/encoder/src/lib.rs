//! The sentence encoder: texts with similar meaning get similar vectors.
//!
//! The encoder is deterministic: the same text gives the same bits on every machine.
//!
//! `vector`, `scan` and `kernels` use each other: the kernels are compiled for the length of a vector, and a comparison
//! of two vectors is a scan with one row.

#![expect(
    clippy::inline_always,
    reason = "inlining lets the compiler generate this code once for each instruction set"
)]

mod encoder;
mod english;
mod join;
mod kernels;
mod net;
mod pieces;
mod scan;
mod steps;
mod tables;
mod unigram;
mod vector;
mod weights;
mod whole;

pub use encoder::Encoder;
pub use join::Side;
pub use kernels::Kernel;
pub use scan::{Passages, SIGN_BYTES, differing_signs, signs_of};
pub use vector::{DIMENSIONS, ENCODER_VERSION, Embedding, VECTOR_BYTES, Vector};
pub use weights::WIDTH;
pub use whole::Made;
