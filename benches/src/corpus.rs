//! A seeded corpus with the word statistics of natural text: Zipf-Mandelbrot over made-up words, two fifths function
//! words.

use fastrand::Rng;

/// A note with its importance, its age and its access count.
#[derive(Debug, Clone)]
pub struct Note {
    /// 20 to 60 words.
    pub text: String,
    /// Hundredths.
    pub importance: u8,
    /// Minutes before now.
    pub age_minutes: u32,
    /// Deliveries.
    pub accesses: u32,
}

/// A generator of notes and queries; the same seed gives the same notes and queries.
#[derive(Debug)]
pub struct Corpus {
    random: Rng,
    cumulative: Vec<f64>,
}

const VOCABULARY: u32 = 200_000;
const FUNCTION_WORDS: [&str; 30] = [
    "the", "of", "and", "to", "in", "is", "that", "it", "was", "for", "on", "are", "with", "as", "his", "they", "be",
    "at", "have", "this", "from", "or", "had", "by", "but", "what", "some", "we", "can", "out",
];
/// Exponent and shift of Zipf-Mandelbrot, fitted to English.
const EXPONENT: f64 = 1.03;
const SHIFT: f64 = 2.7;

impl Corpus {
    /// A corpus from a seed.
    pub fn new(seed: u64) -> Self {
        let mut sum = 0.0;
        let weigh = |rank: u32| {
            sum += (f64::from(rank) + SHIFT).powf(-EXPONENT);
            sum
        };
        Self { random: Rng::with_seed(seed), cumulative: (1..=VOCABULARY).map(weigh).collect() }
    }

    /// Returns an invented word for a rank. The word can be pronounced, and each rank has its own word.
    fn word(rank: usize) -> String {
        const CONSONANTS: &[u8] = b"bcdfghjklmnprstvz";
        const VOWELS: &[u8] = b"aeiou";
        let mut word = String::new();
        let mut rest = rank + 90;
        while rest > 0 {
            word.push(char::from(CONSONANTS.get(rest % 17).copied().unwrap_or(b'b')));
            rest /= 17;
            word.push(char::from(VOWELS.get(rest % 5).copied().unwrap_or(b'a')));
            rest /= 5;
        }
        word
    }

    fn content_word(&mut self) -> String {
        let total = self.cumulative.last().copied().unwrap_or(1.0);
        let at = self.random.f64() * total;
        Self::word(self.cumulative.partition_point(|sum| *sum < at))
    }

    fn words(&mut self, count: usize) -> Vec<String> {
        let word = |corpus: &mut Self| {
            if corpus.random.f64() < 0.4 {
                return corpus.random.choice(FUNCTION_WORDS).unwrap_or("the").to_owned();
            }
            corpus.content_word()
        };
        (0..count).map(|_| word(self)).collect()
    }

    /// A note.
    pub fn note(&mut self) -> Note {
        let count = self.random.usize(20..=60);
        Note {
            text: self.words(count).join(" "),
            importance: self.random.u8(0..=100),
            age_minutes: self.random.u32(0..525_600),
            accesses: self.random.u32(0..40),
        }
    }

    /// Many notes.
    pub fn notes(&mut self, count: usize) -> Vec<Note> {
        (0..count).map(|_| self.note()).collect()
    }

    /// A question of 5 to 15 words: function words, and two content words of rank 120 to 3120.
    pub fn query(&mut self) -> String {
        let count = self.random.usize(3..=13);
        let mut words: Vec<String> =
            (0..count).map(|_| self.random.choice(FUNCTION_WORDS).unwrap_or("the").to_owned()).collect();
        for _ in 0..2 {
            let at = self.random.usize(0..=words.len());
            words.insert(at, Self::word(self.random.usize(120..3120)));
        }
        words.join(" ")
    }

    /// Many questions.
    pub fn queries(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.query()).collect()
    }
}
