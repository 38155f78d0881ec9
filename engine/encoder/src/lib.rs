//! What a text means, as a vector: two texts that say the same in other words are near.
//!
//! Pure: texts in, vectors out, the same bits on every machine.
//!
//! `vector`, `scan` and `kernels` use each other: the kernels are compiled for the length of a vector, and comparing two
//! vectors is a scan of one.

#![expect(
    clippy::inline_always,
    reason = "the steps are compiled anew for each kind of processor, which inlining does"
)]

mod encoder;
mod kernels;
mod net;
mod pieces;
mod scan;
mod steps;
mod vector;
mod weights;
mod whole;

pub use encoder::Encoder;
pub use kernels::Kernel;
pub use scan::{Passages, SIGN_BYTES, differing_signs, signs_of};
pub use vector::{DIMENSIONS, ENCODER_VERSION, Meaning, VECTOR_BYTES, Vector};
pub use whole::Made;
