//! The sentence encoder. It consists of two networks: the first one was trained on English, the second one on many
//! languages. A vector contains the results of both.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use super::english::is_english;
use super::join::{Side, joined};
use super::kernels::{Kernel, run};
use super::net::{Continue, Encode, EncodePieces};
use super::pieces::{Cutter, framed};
use super::unigram::{MARKS, UnigramCutter};
use super::vector::Vector;
use super::weights::{E5, Minilm, WIDTH};

/// Maximum word pieces of a question, including its begin and end marks. Time grows with them. Only the first pieces
/// are read. We encoded different parts of the 60 prompts of the development set with the first network. With the first
/// pieces of a prompt, the right note comes first for 45 % of the prompts. With the last pieces, the right note comes
/// first for 38 %; with half of each, for 40 %; with the complete prompt, for 48 %.
const QUESTION_PIECES: usize = 32;
/// The language of a text is recognised by this number of its first characters.
const LANGUAGE_CHARS: usize = 240;
/// The number of texts that go through a network together.
const BATCH: usize = 16;
/// The rows of pieces are those after this number of layers. They say more about single words than those of the last
/// layer, which was trained for complete texts.
const PIECE_LAYERS: usize = 9;

/// The results of a network: one row for each text.
type Rows = Vec<[f32; WIDTH]>;

/// The pieces of a text for both networks.
struct Pieces {
    /// `None` if the text is probably not in English: the first network was trained on English, so its result has no
    /// share in the vector.
    first: Option<Vec<u16>>,
    second: Vec<u16>,
}

/// The rows of a text after `PIECE_LAYERS` layers of the second network.
#[derive(Debug, Default)]
struct Halfway {
    pieces: Vec<u16>,
    rows: Arc<OnceLock<Vec<f32>>>,
}

/// Computes embeddings of texts.
#[derive(Debug)]
pub struct Encoder {
    first: Minilm,
    second: E5,
    kernel: Kernel,
    /// The last text that was alone. A new memory is read twice at the same time: for its embedding, and for secrets.
    halfway: Mutex<Halfway>,
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
        let read = Minilm::of(tessera_weights::minilm()).zip(E5::of(tessera_weights::e5()));
        let (first, second) = read.expect("the weights are built into the program and covered by tests");
        Self { first, second, kernel, halfway: Mutex::default() }
    }

    /// The embedding of a question. For a long question, only the beginning is read, about twenty-five words.
    pub fn question(&self, text: &str) -> Vector {
        self.questions(&[text]).pop().unwrap_or_default()
    }

    /// The embedding of each question. Several at once are faster.
    pub fn questions(&self, texts: &[&str]) -> Vec<Vector> {
        self.vectors(Side::Question, texts)
    }

    /// The embedding of each passage, from about its first hundred words. Several at once are faster.
    pub fn passages(&self, texts: &[&str]) -> Vec<Vector> {
        self.vectors(Side::Passage, texts)
    }

    /// Like [`Encoder::question`], on two threads: about a third faster if a second processor is idle.
    pub fn question_in_parallel(&self, text: &str) -> Vector {
        self.in_parallel(Side::Question, text)
    }

    /// The embedding of one passage, on two threads (see [`Encoder::passages`]).
    pub fn passage_in_parallel(&self, text: &str) -> Vector {
        self.in_parallel(Side::Passage, text)
    }

    fn vectors(&self, side: Side, texts: &[&str]) -> Vec<Vector> {
        let mut vectors = Vec::with_capacity(texts.len());
        for texts in texts.chunks(BATCH) {
            let cut: Vec<Pieces> = texts.iter().map(|text| self.cut(side, text)).collect();
            let first: Vec<&[u16]> = cut.iter().filter_map(|pieces| pieces.first.as_deref()).collect();
            let second: Vec<&[u16]> = cut.iter().map(|pieces| pieces.second.as_slice()).collect();
            let (mut first, second) = (self.first_vectors(&first).into_iter(), self.second_vectors(&second));
            vectors.extend(cut.iter().zip(&second).map(|(pieces, second)| {
                let first = pieces.first.as_ref().and_then(|_| first.next());
                joined(first.as_ref(), second, side)
            }));
        }
        vectors
    }

    /// The vector of one text. Each network runs on a thread of its own.
    fn in_parallel(&self, side: Side, text: &str) -> Vector {
        let Pieces { first, second } = self.cut(side, text);
        let begin = || first.as_deref().and_then(|first| self.first_vectors(&[first]).pop());
        let (first, second) = thread::scope(|scope| {
            let other = first.as_ref().and_then(|_| thread::Builder::new().spawn_scoped(scope, begin).ok());
            let second = self.second_vectors(&[&second]);
            (other.map_or_else(begin, |other| other.join().unwrap_or_else(|panic| resume_unwind(panic))), second)
        });
        second.first().map_or_else(Vector::default, |second| joined(first.as_ref(), second, side))
    }

    /// The pieces of a text that the networks read.
    fn cut(&self, side: Side, text: &str) -> Pieces {
        let [first, second] = match side {
            Side::Question => [QUESTION_PIECES - 2; 2],
            Side::Passage => [&self.first.network, &self.second.network].map(|network| network.places.len() - 2),
        };
        let is_english = self.is_english(side, text);
        Pieces {
            first: is_english.then(|| framed(&Cutter::new(&self.first).cut(text, first))),
            second: self.second_pieces(side, text, second),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a text has few pieces")]
    fn is_english(&self, side: Side, text: &str) -> bool {
        let end = text.char_indices().nth(LANGUAGE_CHARS).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or(text);
        is_english(text, side, || {
            let first = Cutter::new(&self.first).cut(text, usize::MAX).len();
            let second = UnigramCutter::new(&self.second).cut("", text, usize::MAX).len() - MARKS;
            first as f32 / second.max(1) as f32
        })
    }

    /// The results of the second network alone, before they are centred. They are needed to compute the centre.
    pub fn second_alone(&self, side: Side, texts: &[&str]) -> Vec<[f32; WIDTH]> {
        let most = self.second.network.places.len() - 2;
        let pieces: Vec<Vec<u16>> = texts.iter().map(|text| self.second_pieces(side, text, most)).collect();
        let pieces: Vec<&[u16]> = pieces.iter().map(Vec::as_slice).collect();
        pieces.chunks(BATCH).flat_map(|pieces| self.second_vectors(pieces)).collect()
    }

    /// The rows of the second network for the pieces of a text, after nine of its twelve layers, and the place of each
    /// piece in the text. The marks and the pieces of the prefix have an empty place. The text is in the normal form C.
    pub fn pieces(&self, text: &str) -> Vec<(Range<usize>, [f32; WIDTH])> {
        let most = self.second.network.places.len() - 2;
        let (pieces, places) = UnigramCutter::new(&self.second).cut_with_places(Side::Passage.prefix(), text, most);
        let rows = self.halfway(&pieces);
        places.into_iter().zip(rows.as_chunks::<WIDTH>().0.iter().copied()).collect()
    }

    /// Computes the rows of a text after `PIECE_LAYERS` layers of the second network. If another thread computes the
    /// rows of the same text, it waits for them.
    fn halfway(&self, pieces: &[u16]) -> Vec<f32> {
        let rows = {
            let mut last = self.halfway.lock().unwrap_or_else(PoisonError::into_inner);
            if last.pieces != pieces {
                *last = Halfway { pieces: pieces.to_vec(), rows: Arc::default() };
            }
            Arc::clone(&last.rows)
        };
        let compute = || {
            let network = &self.second.network;
            network.wake();
            let texts = Encode { network, texts: &[pieces] };
            run(self.kernel, EncodePieces { texts, layers: PIECE_LAYERS })
        };
        rows.get_or_init(compute).clone()
    }

    /// Releases the memory of the encoder's weights while the process is idle. The next text takes longer.
    pub fn rest(&self) {
        *self.halfway.lock().unwrap_or_else(PoisonError::into_inner) = Halfway::default();
        tessera_weights::rest();
    }

    /// The pieces of a text for the second network, which was trained with a word before each text.
    fn second_pieces(&self, side: Side, text: &str, most: usize) -> Vec<u16> {
        UnigramCutter::new(&self.second).cut(side.prefix(), text, most)
    }

    fn first_vectors(&self, texts: &[&[u16]]) -> Rows {
        if texts.is_empty() {
            return Rows::new();
        }
        self.first.network.wake();
        run(self.kernel, Encode { network: &self.first.network, texts })
    }

    fn second_vectors(&self, texts: &[&[u16]]) -> Rows {
        let network = &self.second.network;
        network.wake();
        if let [text] = texts {
            let rows = self.halfway(text);
            return vec![run(self.kernel, Continue { network, rows, layers: PIECE_LAYERS })];
        }
        run(self.kernel, Encode { network, texts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_read_for_its_pieces_has_the_same_embedding_and_the_reverse() {
        let texts = ["The proxy is nginx", "Der Cache liegt auf der Birke"];
        let both = |text: &str, has_pieces_first: bool| {
            let encoder = Encoder::on(Kernel::best());
            if has_pieces_first {
                let pieces = encoder.pieces(text);
                return (pieces, encoder.passage_in_parallel(text));
            }
            let vector = encoder.passages(&[text]).remove(0);
            (encoder.pieces(text), vector)
        };
        let together = Encoder::shared().passages(&texts);
        for (text, vector) in texts.into_iter().zip(together) {
            assert_eq!(both(text, true), both(text, false));
            assert_eq!(both(text, true).1, vector, "a text in a batch has no rows of its own");
        }
    }

    #[test]
    fn two_threads_read_one_text_and_others_in_between() {
        let encoder = Encoder::on(Kernel::best());
        let texts = ["The proxy is nginx", "The cache lives on birch", "Lunch is at noon"];
        let expected = texts.map(|text| Encoder::on(Kernel::best()).pieces(text));
        thread::scope(|scope| {
            for start in 0..4 {
                let (encoder, expected) = (&encoder, &expected);
                scope.spawn(move || {
                    for at in 0..12 {
                        let at = (start / 2 + at) % texts.len();
                        assert_eq!(encoder.pieces(texts[at]), expected[at]);
                    }
                });
            }
        });
    }
}
