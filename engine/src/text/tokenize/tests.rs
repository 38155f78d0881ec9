//! What people type, and which terms it must give.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn check(text: &str, expected: &Expect) {
    let terms: Vec<String> = tokenize(text)
        .iter()
        .map(|token| {
            let mark = match token.kind {
                TokenKind::Word => "",
                TokenKind::Stop => "~",
                TokenKind::Part => "+",
                TokenKind::Compound => "=",
                TokenKind::Pair => "",
                TokenKind::Single => "'",
            };
            format!("{mark}{}", token.term)
        })
        .collect();
    expected.assert_eq(&terms.join(" "));
}

#[test]
fn prose_gives_stems_and_keeps_function_words_apart() {
    check("What are the user's coding preferences?", &expect!["~what ~are ~the user code prefer"]);
    check("I don't know; Mara’s cat ran.", &expect!["~i ~don't know mara cat run"]);
}

#[test]
fn identifiers_give_their_words_and_one_compound_in_every_style() {
    check("snake_case", &expect!["=snakecas snake case"]);
    check("snakeCase", &expect!["=snakecas snake case"]);
    check("kebab-case", &expect!["=kebabcas kebab case"]);
    check("parseHTTPRequest", &expect!["=parsehttprequest pars http request"]);
    check("python-fastapi C++ C# .NET", &expect!["=pythonfastapi python fastapi =c++ c =c# c =.net net"]);
}

#[test]
fn paths_versions_addresses_and_ids_are_kept_whole_and_split() {
    check("src/main.rs", &expect!["=src/main.rs src =main.rs main rs"]);
    check("v2.1.0", &expect!["=2.1.0 +2 v2 1 0"]);
    check("bob@example.com", &expect!["=bob@example.com bob =example.com exampl com"]);
    check(
        "550e8400-e29b-41d4-a716-446655440000",
        &expect!["=550e8400e29b41d4a716446655440000 550e8400 e29b 41d4 a716 446655440000"],
    );
    check("https://example.com/a?b=1", &expect!["=https://example.com/a https =example.com exampl com ~a b 1"]);
}

#[test]
fn scripts_without_spaces_give_pairs() {
    check("用户身份", &expect!["'用 '户 '身 '份 用户 户身 身份"]);
    check("茶", &expect!["'茶"]);
    check("서울 리전", &expect!["'서 '울 서울 '리 '전 리전"]);
}

#[test]
fn other_scripts_emoji_and_nul_are_terms_or_gaps() {
    check("ship 🚀 it 👩‍💻", &expect!["ship 🚀 ~it 👩 💻"]);
    check("a\0b", &expect!["~a b"]);
    check("?! … \"\" ()", &expect![""]);
    check("الكتابُ", &expect!["كتاب"]);
}

#[test]
fn names_are_capitalised_words_inside_a_sentence() {
    let tokens = tokenize("Did Mara meet Bob? Yes.");
    let names: Vec<_> = tokens.iter().filter(|t| t.is_name).map(|t| t.term.as_str()).collect();
    assert_eq!(names, ["mara", "bob"]);
}

#[test]
fn overlong_terms_stay_distinct_and_short() {
    let long = |last: char| format!("{}{last}", "x".repeat(9_000));
    let (a, b) = (tokenize(&long('a')), tokenize(&long('b')));
    assert!(a.iter().chain(&b).all(|token| token.term.len() <= MAX_TERM_BYTES));
    assert_ne!(a, b);
}

proptest! {
    #[test]
    fn any_text_is_cut_into_bounded_terms(text in any::<String>()) {
        for token in tokenize(&text) {
            prop_assert!(!token.term.is_empty() && token.term.len() <= MAX_TERM_BYTES);
        }
    }

    #[test]
    fn case_does_not_matter_to_plain_words(text in "([a-z]{1,8} ){0,6}") {
        let terms = |text: &str| tokenize(text).into_iter().map(|t| t.term).collect::<Vec<_>>();
        prop_assert_eq!(terms(&text), terms(&text.to_uppercase()));
    }
}
