//! The sentence encoder.

use std::sync::OnceLock;

use super::mini::Mini;
use super::vector::Vector;
use super::wp::Wp;

/// Word pieces of a question that are read: time grows with them.
const QUESTION_PIECES: usize = 32;
/// Word pieces of a passage that are read.
const PASSAGE_PIECES: usize = 128;

/// Makes vectors of texts.
pub struct Encoder {
    net: Mini<'static>,
    pieces: Wp<'static>,
}

impl std::fmt::Debug for Encoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Encoder")
    }
}

impl Encoder {
    /// The encoder that is part of the program.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Encoder> = OnceLock::new();
        SHARED.get_or_init(|| Self {
            net: Mini::new(tessera_weights::minilm()),
            pieces: Wp::new(tessera_weights::vocabulary()),
        })
    }

    /// What a question is about.
    pub fn question(&self, text: &str) -> Vector {
        let ids = self.pieces.enc(text, QUESTION_PIECES);
        self.net.enc(&[ids]).first().map(|values| Vector::of(values)).unwrap_or_default()
    }

    /// What each passage says.
    pub fn passages(&self, texts: &[&str]) -> Vec<Vector> {
        let ids: Vec<Vec<u32>> = texts.iter().map(|text| self.pieces.enc(text, PASSAGE_PIECES)).collect();
        if ids.is_empty() {
            return Vec::new();
        }
        self.net.enc(&ids).iter().map(|values| Vector::of(values)).collect()
    }
}
