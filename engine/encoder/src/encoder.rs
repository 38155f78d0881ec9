//! The sentence encoder. It consists of two networks: the first one was trained on English, the second one on many
//! languages. A vector contains the results of both.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

use super::english::is_english;
use super::join::{Side, first_share, joined};
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
        let (first, second) = self.cut(Side::Question, text, [QUESTION_PIECES - 2; 2]);
        let vectors = (self.first_vectors(&[first]), self.second_vectors(&[second]));
        self.vector(Side::Question, text, vectors)
    }

    /// Like [`Encoder::question`], on two threads: about a third faster if a second processor is idle.
    pub fn question_in_parallel(&self, text: &str) -> Vector {
        let pieces = self.cut(Side::Question, text, [QUESTION_PIECES - 2; 2]);
        self.vector(Side::Question, text, self.in_parallel(pieces))
    }

    /// The embedding of one passage, on two threads (see [`Encoder::passages`]).
    pub fn passage_in_parallel(&self, text: &str) -> Vector {
        let pieces = self.cut(Side::Passage, text, self.most_pieces());
        self.vector(Side::Passage, text, self.in_parallel(pieces))
    }

    /// The pieces of a text for both networks.
    fn cut(&self, side: Side, text: &str, most: [usize; 2]) -> (Vec<u16>, Vec<u16>) {
        let first = framed(&Cutter::new(&self.first).cut(text, most[0]));
        (first, self.second_pieces(side, text, most[1]))
    }

    /// The number of pieces of a passage that each network reads, without the two marks.
    fn most_pieces(&self) -> [usize; 2] {
        [&self.first.network, &self.second.network].map(|network| network.places.len() - 2)
    }

    /// The results of both networks for one text, each computed on a thread of its own.
    fn in_parallel(&self, (first, second): (Vec<u16>, Vec<u16>)) -> (Rows, Rows) {
        let texts = [first];
        thread::scope(|scope| {
            let first = thread::Builder::new().spawn_scoped(scope, || self.first_vectors(&texts)).ok();
            let second = self.second_vectors(&[second]);
            let first = first.and_then(|first| first.join().ok());
            (first.unwrap_or_else(|| self.first_vectors(&texts)), second)
        })
    }

    /// The vector of one text from the results of both networks.
    fn vector(&self, side: Side, text: &str, (first, second): (Rows, Rows)) -> Vector {
        let share = self.share(side, text);
        let vector = first.first().zip(second.first());
        vector.map_or_else(Vector::default, |(first, second)| joined(first, second, side, share))
    }

    /// The share of the first network in the vector of a text.
    #[expect(clippy::cast_precision_loss, reason = "a text has few pieces")]
    fn share(&self, side: Side, text: &str) -> f32 {
        let end = text.char_indices().nth(LANGUAGE_CHARS).map_or(text.len(), |(at, _)| at);
        let text = text.get(..end).unwrap_or(text);
        first_share(is_english(text, side, || {
            let first = Cutter::new(&self.first).cut(text, usize::MAX).len();
            let second = UnigramCutter::new(&self.second).cut("", text, usize::MAX).len() - MARKS;
            first as f32 / second.max(1) as f32
        }))
    }

    /// The embedding of each passage, from about its first hundred words. Several at once are faster.
    pub fn passages(&self, texts: &[&str]) -> Vec<Vector> {
        let most = self.most_pieces();
        let cut = |text: &&str| (self.share(Side::Passage, text), self.cut(Side::Passage, text, most));
        let mut vectors = Vec::with_capacity(texts.len());
        for texts in texts.chunks(BATCH) {
            let (shares, (first, second)): (Vec<f32>, (Vec<_>, Vec<_>)) = texts.iter().map(cut).unzip();
            let (first, second) = (self.first_vectors(&first), self.second_vectors(&second));
            let both = first.iter().zip(&second).zip(shares);
            vectors.extend(both.map(|((first, second), share)| joined(first, second, Side::Passage, share)));
        }
        vectors
    }

    /// The results of the second network alone, before they are centred. They are needed to compute the centre.
    pub fn second_alone(&self, side: Side, texts: &[&str]) -> Vec<[f32; WIDTH]> {
        let most = self.second.network.places.len() - 2;
        let pieces: Vec<Vec<u16>> = texts.iter().map(|text| self.second_pieces(side, text, most)).collect();
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
            let texts = Encode { network, texts: &[pieces.to_vec()] };
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

    fn first_vectors(&self, texts: &[Vec<u16>]) -> Rows {
        self.first.network.wake();
        run(self.kernel, Encode { network: &self.first.network, texts })
    }

    fn second_vectors(&self, texts: &[Vec<u16>]) -> Rows {
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
