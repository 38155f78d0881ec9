//! What is derived from a text, beside the patterns that define it: on every character, on random sequences of what
//! the patterns look for, and on real texts.

mod by_pattern;

use std::fs;
use std::path::PathBuf;

use tessera_engine::enrich;

fn check(text: &str) {
    assert_eq!(enrich::summary(text), by_pattern::summary(text), "summary of {text:?}");
    let entities = enrich::entities(text);
    assert_eq!(entities, by_pattern::entities(text), "entities of {text:?}");
    assert_eq!(enrich::is_instruction(text), by_pattern::is_instruction(text), "standing of {text:?}");
    assert_eq!(enrich::category(text), by_pattern::category(text), "category of {text:?}");
    assert_eq!(enrich::importance(text), by_pattern::importance(text), "importance of {text:?}");
    let named = ["one".to_owned(), "two".to_owned()];
    for entities in [&named[..0], &named[..1], &named, &entities] {
        assert_eq!(enrich::kind(text, entities), by_pattern::kind(text, entities), "kind of {text:?}");
    }
}

#[test]
fn characters_are_taken_alike_before_in_and_behind_what_the_patterns_look_for() {
    // Which class each is of, is tested beside the table; of those that are like most others, some are enough here.
    for c in ('\0'..=char::MAX).filter(|c| u32::from(*c) < 0x2200 || u32::from(*c) % 97 == 0) {
        check(&format!("{c}b is a B{c} c{c}D"));
        check(&format!("{c}always{c} {c}@{c}{c} `{c}a` A{c}: - {c} ma{c}e {c}1"));
    }
}

/// What the patterns look for, whole and in parts, and what stands between.
const PIECES: &[&[&str]] = &[
    &[
        "always",
        "Never",
        "whenever",
        "i",
        "We",
        "you",
        "when",
        "ask",
        "from now on",
        "they",
        "user",
        "prefers",
        "prefer ",
    ],
    &["prefers to ", "i'd rather", "Id rather", "please", "make sure", "to", "that", "please remember", "by default,"],
    &["by default use", "do not ever", "must", "not", "we", "have", "decided", "chose", "agreed", "settled", "it was"],
    &["was decided", "on", "against", "in", "decision:", "will", "are going to", "use", "chosen over", "instead of"],
    &[
        "because",
        "is",
        "our",
        "my",
        "the",
        "manager",
        "designer",
        "works",
        "at",
        "for",
        "reports to",
        "on-call contact",
    ],
    &["on call contact", "birthday", "owns", "owned by", "maintains", "depends on", "with", "belongs to", "is part of"],
    &["talks to", "calls", "written by", "me", "the user", "likes", "am", "live", "favourite", "favor", "time zone"],
    &[
        "allergic",
        "speaks",
        "critical",
        "vulnerable",
        "vulnerab",
        "data loss",
        "don't",
        "dont",
        "don’t",
        "maybe",
        "i think",
    ],
    &["not sure", "seems", "seem", "are", "a", "an", "uſe", "aſk", "maKe", "MAKE SURE", "İ", "ALWAYS", "WE DECIDED TO"],
    &[
        "`",
        "``",
        "```",
        "`x",
        "y`",
        "`code span`",
        "\"",
        "“",
        "”",
        "\"quoted\"",
        "@",
        "@bob",
        "@b-c",
        "bob@example.com",
    ],
    &[
        "a@b",
        "x.y@z-w.",
        "https://",
        "http://a.b",
        "https://example.com./",
        "http",
        "://",
        "h",
        "+",
        ".",
        "..",
        "--",
        "#",
    ],
    &[
        "aB",
        "AbCd",
        "ABC",
        "AB1",
        "a_b",
        "_a",
        "b_",
        "A1",
        "Ab",
        "PostgreSQL",
        "16.2",
        "16.2x",
        "1.",
        "7",
        "C#",
        "O'Neil",
    ],
    &["Mara", "Ann-Marie", "Élan", "ǅ", "ʰ", "é\u{301}", "\u{345}", "Ⓐ", "Ⅷ", "½", "٣", "\u{200d}", "用户", "。", "🚀"],
    &[
        "Mara: ",
        "Mara Lee: ",
        "M_1: ",
        ": ",
        "# ",
        "###### ",
        "####### ",
        "> ",
        "- ",
        "* [x] ",
        "+ [ ]",
        "1. ",
        "2) ",
        "10",
    ],
    &["/", "_", "-", "'", "’", "?", "!", ",", ";", ":", "(", ")", "a/b", "/b", "word", "Hello", "ok", "…"],
];
const GAPS: &[&str] =
    &["", "", " ", " ", " ", " ", "\n", "\n\n", "\t", "  ", "\u{a0}", ". ", ".\n", "\r\n", "\u{2028}"];

#[test]
fn random_sequences_of_what_the_patterns_look_for_are_taken_alike() {
    let mut random = fastrand::Rng::with_seed(17);
    for _ in 0..8_000 {
        let length = random.usize(1..24);
        let mut text = String::new();
        for _ in 0..length {
            let pieces = random.choice(PIECES).unwrap();
            text.push_str(random.choice(*pieces).unwrap());
            text.push_str(random.choice(GAPS).unwrap());
        }
        check(&text);
    }
}

#[test]
fn counted_repetitions_end_where_the_patterns_end_them() {
    for count in (0..=4).chain([19, 20, 21, 29, 30, 31, 38, 39, 40, 41, 58, 59, 60, 61, 62, 119, 120, 121]) {
        for unit in ["a", "é", "1", "-", " ", "A", "_", "."] {
            let run = unit.repeat(count);
            for text in [
                format!("`{run}` \"{run}\" @{run} “{run}”"),
                format!("I{run} prefer"),
                format!("i {run}prefer"),
                format!("instead of {run} because we"),
                format!("B{run} is the best"),
                format!("A{run}: said it now and then"),
                format!("Abc B{run}: said it now and then"),
                format!("{run}# title of a text\n{run}- item\n{run}1. item of a list"),
                format!("{run}@b.c a@{run}.c a@b.{run} http://{run}"),
            ] {
                check(&text);
            }
        }
    }
}

#[test]
fn long_texts_are_taken_alike_and_in_time() {
    for unit in
        ["\n", "a", "A", "A ", "a@", "a.", "`", "\"", "#", "- ", "http://", "i ", "is a ", "use\n", "```", "1.", "a_"]
    {
        check(&unit.repeat(16_384 / unit.len()));
    }
}

#[test]
fn real_texts_are_taken_alike() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut waiting: Vec<PathBuf> = ["README.md", "docs", "fixtures"].map(|name| root.join(name)).to_vec();
    let mut texts = 0;
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            let parts = text.split("\n\n").chain(text.lines().take(1_000));
            for part in parts.filter(|part| part.len() < 16_384) {
                check(part);
                texts += 1;
            }
        }
    }
    assert!(texts > 1_000, "only {texts} texts were found");
}
