//! The reference's pieces of texts that a tokenizer may handle wrongly (`engine/weights/reference_e5.py`).

use proptest::prelude::*;

use super::*;

fn cut(text: &str, most: usize) -> Vec<u16> {
    let weights = E5::of(tessera_weights::e5()).unwrap();
    let cut = UnigramCutter::new(&weights).cut("", text, most);
    assert_eq!((cut.first(), cut.last()), (Some(&BEGIN), Some(&END)));
    cut[1..cut.len() - 1].to_vec()
}

#[test]
fn pieces_are_those_of_the_reference() {
    let mut compared = 0;
    for line in include_str!("../../fixtures/unigrams.jsonl").lines() {
        let (text, pieces): (String, Vec<u16>) = serde_json::from_str(line).unwrap();
        assert_eq!(cut(&text, usize::MAX), pieces, "{text:?}");
        compared += 1;
    }
    assert!(compared > 700, "{compared}");
}

#[test]
fn a_long_text_and_a_long_word_are_cut() {
    let all = cut("one two three unbelievable four", usize::MAX);
    for most in 0..all.len() {
        assert_eq!(cut("one two three unbelievable four", most), all[..most]);
    }
    let endless = "漢".repeat(1 << 18);
    assert_eq!(cut(&endless, 100).len(), 100);
    assert!(cut(&"\0 \n".repeat(1000), 100).is_empty());
    assert!(!cut("</s> <unk>", 100).iter().any(|piece| [BEGIN, END].contains(piece)));
}

proptest! {
    #[test]
    fn any_text_has_pieces(text in "\\PC{0,80}") {
        let weights = E5::of(tessera_weights::e5()).unwrap();
        let rows = weights.pieces.scores.len() + SPECIAL;
        prop_assert!(cut(&text, usize::MAX).iter().all(|piece| usize::from(*piece) < rows));
    }
}
