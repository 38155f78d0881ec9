//! The sentence encoder.

use std::sync::OnceLock;

use super::kernels::{Kernel, run};
use super::net::Encode;
use super::pieces::{Cutter, framed};
use super::vector::Vector;
use super::weights::{PLACES, WIDTH, Weights};

/// Maximum word pieces of a question, including its begin and end marks. Time grows with them. Only the first pieces
/// are read. We encoded different parts of the 60 prompts of the development set. With the first pieces of a prompt,
/// the right note comes first for 45 % of the prompts. With the last pieces, the right note comes first for 38 %; with
/// half of each, for 40 %; with the complete prompt, for 48 %.
const QUESTION_PIECES: usize = 32;
/// The number of texts that go through the network together.
const BATCH: usize = 16;

/// Computes embeddings of texts.
#[derive(Debug)]
pub struct Encoder {
    weights: Weights,
    kernel: Kernel,
}

impl Encoder {
    /// The built-in encoder. The weights are read only when the first text is encoded.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Encoder> = OnceLock::new();
        SHARED.get_or_init(|| Self::on(Kernel::best()))
    }

    /// The encoder for a kind of processor from [`Kernel::here`]. All kernels compute the same embeddings.
    ///
    /// # Panics
    /// Panics if this machine does not support the kernel.
    pub fn on(kernel: Kernel) -> Self {
        assert!(Kernel::here().contains(&kernel), "this processor does not support {kernel:?}");
        let weights = Weights::of(tessera_weights::minilm())
            .expect("the weights are built into the program and covered by tests");
        Self { weights, kernel }
    }

    /// The embedding of a question. For a long question, only the beginning is read, about twenty-five words.
    pub fn question(&self, text: &str) -> Vector {
        self.encode(&[framed(&self.pieces(text, QUESTION_PIECES - 2))]).pop().unwrap_or_default()
    }

    /// The embedding of each passage, from its first 126 word pieces, about a hundred words. Several at once are
    /// faster.
    pub fn passages(&self, texts: &[&str]) -> Vec<Vector> {
        let pieces: Vec<Vec<u16>> = texts.iter().map(|text| framed(&self.pieces(text, PLACES - 2))).collect();
        pieces.chunks(BATCH).flat_map(|pieces| self.encode(pieces)).collect()
    }

    /// Releases the memory of the encoder's weights while the process is idle. The next text takes longer.
    pub fn rest(&self) {
        tessera_weights::rest();
    }

    fn pieces(&self, text: &str, most: usize) -> Vec<u16> {
        Cutter::new(&self.weights.pieces, &self.weights.characters).cut(text, most)
    }

    fn encode(&self, texts: &[Vec<u16>]) -> Vec<Vector> {
        let rows: Vec<[f32; WIDTH]> = run(self.kernel, Encode { weights: &self.weights, texts });
        rows.iter().map(Vector::of).collect()
    }
}
