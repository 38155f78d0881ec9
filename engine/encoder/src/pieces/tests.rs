//! The reference's pieces of texts that a tokenizer may stumble over (`engine/weights/reference.py`), and no panic ever.

use proptest::prelude::*;

use super::*;
use crate::weights::WordTable;

fn cut(text: &str, most: usize) -> Vec<u16> {
    let weights = Minilm::of(tessera_weights::minilm()).unwrap();
    Cutter::new(&weights).cut(text, most)
}

#[test]
fn pieces_are_those_of_the_reference() {
    let committed = include_str!("../../fixtures/pieces.jsonl").to_owned();
    let lines = option_env!("TESSERA_PIECES").map_or(committed, |file| std::fs::read_to_string(file).unwrap());
    let mut compared = 0;
    for line in lines.lines() {
        let (text, pieces): (String, Vec<u16>) = serde_json::from_str(line).unwrap();
        assert_eq!(cut(&text, usize::MAX), pieces, "{text:?}");
        compared += 1;
    }
    assert!(compared > 700, "{compared}");
}

#[test]
fn a_long_text_is_cut_and_a_word_without_end_is_unknown() {
    let all = cut("one two three unbelievable four", usize::MAX);
    for most in 0..all.len() {
        assert_eq!(cut("one two three unbelievable four", most), all[..most]);
    }
    let endless = "x".repeat(1 << 20);
    assert_eq!(cut(&endless, 100), [UNKNOWN]);
    assert_eq!(cut(&format!("{endless} two"), 100), [UNKNOWN, all[1]]);
    assert!(cut(&"\0".repeat(1000), 100).is_empty());
    assert_eq!(framed(&[]), [BEGIN, END]);
}

proptest! {
    #[test]
    fn any_text_is_cut_into_known_pieces(text in any::<String>()) {
        let weights = Minilm::of(tessera_weights::minilm()).unwrap();
        let WordTable::Bytes(rows) = weights.network.words else { panic!("the first network has rows of bytes") };
        let pieces = cut(&text, 200);
        prop_assert!(pieces.len() <= 200);
        prop_assert!(pieces.iter().all(|piece| usize::from(*piece) < rows.len()));
        prop_assert!(!pieces.contains(&BEGIN) && !pieces.contains(&END), "marks stand only around a text");
    }
}
