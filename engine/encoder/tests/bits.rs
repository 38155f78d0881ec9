//! The same bits everywhere: on each kind of processor, alone and among others, today and as they were released.

#![cfg(test)]

use sha2::{Digest, Sha256};
use tessera_encoder::{Encoder, Kernel, Passages, VECTOR_BYTES, Vector};

/// Texts that every kernel encodes; `TESSERA_KERNEL_TEXTS` raises it.
const TEXTS: usize = 60;

/// What `engine/weights/make.py` and `make_e5.py` print.
const WEIGHTS: [&str; 2] = [
    "18de7cfa6e5e441184e4dd63524fcf8d600a972a960ff1d1ab074abd61d673ef",
    "b98b6b8ff7e31af88fd017b45fb90fc5251c1947f5a2ba68f863b87e76595e4c",
];

/// Of the vectors of the first [`TEXTS`] texts. Whoever changes it changes `ENCODER_VERSION` too.
const VECTORS: &str = "ab52e36a528105c3bec0722a5577271c4ca5e6d856123b592fa0bf60f8f969b5";

const WORDS: [&str; 40] = [
    "the",
    "deploy",
    "key",
    "of",
    "billing",
    "is",
    "rotated",
    "every",
    "ninety",
    "days",
    "we",
    "prefer",
    "Svelte",
    "over",
    "React",
    "because",
    "postgres",
    "runs",
    "on",
    "port",
    "5433",
    "in",
    "staging",
    "Anna",
    "owns",
    "CI",
    "and",
    "never",
    "merges",
    "on",
    "Friday",
    "afternoon",
    "fn main() {}",
    "naïve",
    "データベース",
    "🚀",
    "x86_64",
    "résumé",
    "#42",
    "unbelievably",
];

fn texts(count: usize) -> Vec<String> {
    let hostile = include_str!("../fixtures/pieces.jsonl").lines();
    let hostile: Vec<String> =
        hostile.map(|line| serde_json::from_str::<(String, Vec<u16>)>(line).unwrap().0).collect();
    let mut random = fastrand::Rng::with_seed(12);
    let mut sentence = |at: usize| {
        let words = 1 + random.usize(..if at.is_multiple_of(10) { 150 } else { 24 });
        let words: Vec<&str> = (0..words).map(|_| WORDS[random.usize(..WORDS.len())]).collect();
        words.join(" ")
    };
    let text = |at: usize| if at % 5 == 4 { hostile[at / 5 % hostile.len()].clone() } else { sentence(at) };
    (0..count).map(text).collect()
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn digest(vectors: &[Vector]) -> String {
    let bytes: Vec<u8> = vectors.iter().flat_map(Vector::to_bytes).collect();
    hex(Sha256::digest(bytes))
}

#[test]
fn the_weights_are_those_that_the_scripts_make() {
    let files = [tessera_weights::minilm(), tessera_weights::e5()];
    assert_eq!(files.map(|file| hex(Sha256::digest(file))), WEIGHTS);
}

#[test]
fn every_kernel_makes_the_same_vectors_as_ever() {
    let count = option_env!("TESSERA_KERNEL_TEXTS").and_then(|n| n.parse().ok()).unwrap_or(TEXTS);
    let texts = texts(count);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expected = Encoder::on(Kernel::best()).passages(&texts);
    assert_eq!(digest(&expected[..TEXTS]), VECTORS);
    for kernel in Kernel::here() {
        let made = Encoder::on(kernel).passages(&texts);
        assert!(made == expected, "{kernel:?}");
        println!("{kernel:?}: {count} texts, {}", digest(&made));
    }
}

/// Few enough texts for a memory checker (`.ci/memory`), which knows no newer instructions than AVX2.
#[test]
fn plain_kernels_make_the_vectors_of_the_best() {
    let texts = ["", "a", "The staging port is 7433", "naïve café 東京 👍🏽"];
    let expected = Encoder::on(Kernel::best()).passages(&texts);
    for kernel in Kernel::here().into_iter().take(2) {
        assert!(Encoder::on(kernel).passages(&texts) == expected, "{kernel:?}");
    }
}

#[test]
fn a_text_has_the_same_vector_alone_as_among_others() {
    let texts = texts(40);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let encoder = Encoder::shared();
    let together = encoder.passages(&texts);
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(&encoder.passages(&[text])[0], vector, "{text:?}");
    }
    assert!(encoder.passages(&[]).is_empty());
}

#[test]
fn what_is_said_in_other_words_is_nearer() {
    let encoder = Encoder::shared();
    let notes = ["We keep invoices in PostgreSQL.", "Anna is on holiday in June.", "Tabs, not spaces, in Go files."];
    let notes = encoder.passages(&notes);
    for (question, right) in [
        ("which database does billing use?", 0),
        ("when is my colleague away?", 1),
        ("how do I indent source code?", 2),
    ] {
        let question = encoder.question(question);
        let near: Vec<f64> = notes.iter().map(|note| question.similarities(note)).collect();
        assert!((0..3).all(|other| other == right || near[other] < near[right] - 0.05), "{near:?}");
    }
}

#[test]
fn a_question_in_another_language_is_near_its_answer() {
    let encoder = Encoder::shared();
    let notes = encoder.passages(&[
        "Translations are done by the agency Tavira and take three working days.",
        "The firmware is built with Zephyr 3.7.",
        "Free shipping starts at 65 euros.",
    ]);
    for (question, right) in [
        ("Wie lange dauern Übersetzungen im Moment?", 0),
        ("どのバージョンのZephyrでビルドしますか", 1),
        ("¿A partir de qué importe el envío es gratis?", 2),
        ("С какой суммы доставка бесплатная?", 2),
    ] {
        let question = encoder.question(question);
        let near: Vec<f64> = notes.iter().map(|note| question.similarities(note)).collect();
        assert!((0..3).all(|other| other == right || near[other] < near[right] - 0.05), "{near:?}");
    }
    let is_foreign = |text: &str| encoder.question(text).is_foreign();
    assert!(is_foreign("Wie lange dauern Übersetzungen im Moment?") && is_foreign("端口是多少？"));
    assert!(!is_foreign("which agency translates our texts?"));
}

#[test]
fn any_text_has_a_vector() {
    let encoder = Encoder::shared();
    let long = "word ".repeat(300_000);
    let odd = ["", " ", "\0", "\u{301}\u{301}", "👩‍👩‍👧‍👦", "\u{202e}שלום", &"x".repeat(1 << 20), &long, &"é".repeat(5000)];
    for text in odd {
        let passage = &encoder.passages(&[text])[0];
        assert!((passage.similarities(passage) - 1.0).abs() < 1e-6, "{} bytes", text.len());
        let near = encoder.question(text).similarities(passage);
        assert!((0.2..1.5).contains(&near), "{near}, {} bytes", text.len());
    }
    assert_eq!(encoder.passages(&odd).len(), odd.len());
}

#[test]
fn a_scan_says_of_each_what_is_said_of_it_alone() {
    let texts = texts(100);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors: Vec<[u8; VECTOR_BYTES]> = Encoder::shared().passages(&texts).iter().map(Vector::to_bytes).collect();
    let question = Encoder::shared().question("who owns the deploy key?");
    let (squares, values): (Vec<_>, Vec<_>) = vectors.iter().map(|vector| vector.split_at(4)).unzip();
    let (squares, values) = (squares.concat(), values.concat());
    let all = question.similarities_to_all(Passages { values: &values, squares: &squares });
    let alone: Vec<f32> = vectors.iter().map(|vector| question.similarities_to_bytes(vector)).collect();
    assert_eq!(all, alone);
    assert!(all.iter().any(|near| *near > 0.3) && all.iter().any(|near| *near < 0.1));
    assert!(question.similarities_to_bytes(&[1, 2, 3]).abs() < f32::EPSILON);
}
