//! The sentence encoder.

use std::sync::OnceLock;

use super::kernels::{Kernel, run};
use super::net::Encode;
use super::pieces::{Cutter, framed};
use super::vector::Vector;
use super::weights::{PLACES, WIDTH, Weights};

/// Word pieces of a question that are read, its marks of beginning and end among them: time grows with them. The first
/// ones: on 60 prompts of the development set they put the right note first for 45 %, the last ones for 38, half of each
/// for 40, all of the prompt for 48.
const QUESTION_PIECES: usize = 32;
/// Texts that go through the net together.
const BATCH: usize = 16;

/// Makes vectors of texts.
#[derive(Debug)]
pub struct Encoder {
    weights: Weights,
    kernel: Kernel,
}

impl Encoder {
    /// The encoder that is part of the program. Nothing is read before the first text.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Encoder> = OnceLock::new();
        SHARED.get_or_init(|| Self::on(Kernel::best()))
    }

    /// The same for a chosen kind of processor, out of [`Kernel::here`]: all of them make the same vectors.
    ///
    /// # Panics
    /// When this machine is of another kind.
    pub fn on(kernel: Kernel) -> Self {
        assert!(Kernel::here().contains(&kernel), "{kernel:?} is another kind of processor");
        let weights = Weights::of(tessera_weights::minilm()).expect("the weights are part of the program, and tested");
        Self { weights, kernel }
    }

    /// What a question is about. Of a long one the beginning is read, about twenty-five words.
    pub fn question(&self, text: &str) -> Vector {
        self.encode(&[framed(&self.pieces(text, QUESTION_PIECES - 2))]).pop().unwrap_or_default()
    }

    /// What each passage says: its first 126 word pieces, about a hundred words. Several are faster than one by one.
    pub fn passages(&self, texts: &[&str]) -> Vec<Vector> {
        let pieces: Vec<Vec<u16>> = texts.iter().map(|text| framed(&self.pieces(text, PLACES - 2))).collect();
        pieces.chunks(BATCH).flat_map(|pieces| self.encode(pieces)).collect()
    }

    /// Gives back the memory that the weights take in this process: for one that waits. The next text takes longer.
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
