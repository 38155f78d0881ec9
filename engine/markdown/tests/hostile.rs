//! No text makes the reader fail: whatever it is given, spans are on character boundaries, inside the text and in order.
#![expect(clippy::unwrap_used, reason = "tests may")]

use std::time::{Duration, Instant};

use proptest::prelude::*;
use tessera_markdown::{Bound, Note, PartKind, parse, parse_plain};

fn check(text: &str, most_bytes: usize, note: &Note) {
    let mut end = 0;
    let lines = u32::try_from(text.matches('\n').count()).unwrap() + 1;
    assert!(text.get(note.body..).is_some());
    for part in &note.parts {
        assert!(part.block.start >= end, "{part:?} begins before {end}");
        end = part.block.end;
        for span in [&part.block, &part.text, &part.bare] {
            assert!(text.get(span.clone()).is_some_and(|said| !said.is_empty()), "{part:?}");
            assert!(span.start >= part.block.start && span.end <= part.block.end, "{part:?}");
        }
        assert!(1 <= part.lines.0 && part.lines.0 <= part.lines.1 && part.lines.1 <= lines, "{part:?}");
        let is_memory = text.get(part.block.clone()).is_some_and(|block| block.contains("memory"));
        if part.kind == PartKind::Text && !is_memory {
            assert!(part.text.len() <= most_bytes.max(1) * 4, "{part:?}");
        }
        assert_eq!(part.kind == PartKind::Observation, part.category.is_some());
    }
    for relation in &note.relations {
        assert!(text.get(relation.at.clone()).is_some_and(|said| said.contains("[[")), "{relation:?}");
        assert!(!relation.kind.is_empty() && !relation.target.name.trim().is_empty(), "{relation:?}");
        assert!(relation.line >= 1 && relation.line <= lines);
        if let Some(part) = relation.part {
            let part = note.parts.get(part).unwrap();
            assert!(part.block.start <= relation.at.start && relation.at.end <= part.block.end);
        }
    }
}

fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("- [a] ".to_owned()),
        Just("- ".to_owned()),
        Just("  - ".to_owned()),
        Just("1. ".to_owned()),
        Just("> ".to_owned()),
        Just("\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\r".to_owned()),
        Just("\t".to_owned()),
        Just("    ".to_owned()),
        Just("# ".to_owned()),
        Just("## ".to_owned()),
        Just("---\n".to_owned()),
        Just("```\n".to_owned()),
        Just("~~~memory [a] #b (c)\n".to_owned()),
        Just("~~~\n".to_owned()),
        Just("~~~memory\n".to_owned()),
        Just("[[".to_owned()),
        Just("]]".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just("|".to_owned()),
        Just("::".to_owned()),
        Just("#tag ".to_owned()),
        Just("#".to_owned()),
        Just("(".to_owned()),
        Just(")".to_owned()),
        Just("%%".to_owned()),
        Just("<!--".to_owned()),
        Just("-->".to_owned()),
        Just("<div>".to_owned()),
        Just("`".to_owned()),
        Just("\\".to_owned()),
        Just("!".to_owned()),
        Just("[a]: b\n".to_owned()),
        Just("[^1]".to_owned()),
        Just("[^1]: ".to_owned()),
        Just("|a|b|\n|-|-|\n".to_owned()),
        Just("title: x\n".to_owned()),
        Just("深色。".to_owned()),
        Just("e\u{301}".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("\u{a0}".to_owned()),
        Just("\u{2028}".to_owned()),
        Just("\0".to_owned()),
        Just("🙂".to_owned()),
        "[a-z. ]{0,12}",
        "\\PC{0,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_markdown_has_a_reading(text in markdown(), most_bytes in prop_oneof![0_usize..40, Just(1_000)]) {
        check(&text, most_bytes, &parse(&text, "stem", Bound { most_bytes }));
        check(&text, most_bytes, &parse_plain(&text, "stem", Bound { most_bytes }));
    }

    #[test]
    fn any_text_has_a_reading(text in any::<String>(), most_bytes in 0_usize..40) {
        check(&text, most_bytes, &parse(&text, "stem", Bound { most_bytes }));
        check(&text, most_bytes, &parse_plain(&text, "stem", Bound { most_bytes }));
    }

    #[test]
    fn any_name_and_question_has_an_answer(text in any::<String>(), other in "\\PC{0,20}") {
        let made = tessera_markdown::permalink::of_path(&text);
        prop_assert_eq!(tessera_markdown::permalink::of_path(&made).split('/').count(), made.split('/').count());
        let _ = tessera_markdown::key::folded(&text);
        if let Ok(url) = tessera_markdown::url::NoteUrl::parse(&text) {
            let _ = url.matches(Some(&other), &text);
        }
    }
}

/// Pieces of which a text is made a megabyte long.
const PIECES: [&str; 50] = [
    "[",
    "[[",
    "]]",
    "[[a",
    "[[a]]",
    "[[ ",
    "[[\n",
    "]",
    "![[",
    "(",
    "- [a] (",
    ">",
    "> ",
    "- ",
    "  - a\n",
    "* * ",
    "#",
    "# a\n",
    "#a ",
    "#a#",
    "`",
    "``a",
    "*",
    "_a*",
    "<",
    "<!--",
    "<a ",
    "<!-- -->\n",
    "%%",
    "%%\n",
    "%% a\n",
    "\\",
    "\0",
    "\r",
    "\n",
    "\t",
    "- [a] b\n",
    "- a [[b]]\n",
    "[a]: b\n",
    "[^1]: b\n",
    "|a|b|\n|-|-|\n",
    "|",
    "```\n",
    "~~~memory\na\n~~~\n",
    "---\n",
    "a: b\n",
    "x",
    "x ",
    "。",
    "- [a] b (c) #d\n\n",
];

fn megabytes() -> Vec<String> {
    let fill = |piece: &str| piece.repeat(1_000_000 / piece.len());
    let each = |count: usize, shape: fn(usize) -> String| (0..count).map(shape).collect::<String>();
    let mut texts: Vec<String> = PIECES.iter().map(|piece| fill(piece)).collect();
    texts.extend([
        format!("---\n{}\n---\n", fill("a: b\n")),
        format!("---\na: {}\n---\n", fill("[")),
        format!("---\na: &a [{}]\n---\n", fill("a,")),
        format!("---\na: \"{}\"\n---\n", fill("\\n")),
        format!("---\ntags: [{}]\n---\n", each(100_000, |n| format!("a{n}, "))),
        format!("- [a] {}", fill("#b ")),
        format!("- [a] {}", fill("(")),
        format!("- [a] {}", fill(")")),
        each(150_000, |n| format!("#a{n} ")),
        format!("- [a] {}", each(150_000, |n| format!("#a{n} "))),
        each(100_000, |n| format!("[[a{n}]] ")),
        each(90_000, |n| format!("[a{n}]: b\n")),
        each(70_000, |n| format!("[^a{n}]: b\n")),
        each(60_000, |n| format!("# h{n}\n\n- [a] b\n")),
        each(100_000, |_| "a %%b%% c\n".to_owned()),
        each(5_000, |n| format!("{}- a\n", " ".repeat(n % 100 * 2))),
        each(1_400, |n| format!("{}a\n", "> ".repeat(n % 1_000))),
        format!("# {}\n\n{}", "h".repeat(500_000), each(60_000, |_| "- [a] b\n".to_owned())),
        format!("|{}\n|{}\n{}", "a|".repeat(1_000), "-|".repeat(1_000), "|\n".repeat(300_000)),
    ]);
    texts
}

/// What grows with its square takes minutes here; what grows with its length a fraction of a second.
#[test]
fn a_megabyte_of_anything_is_read_in_seconds() {
    let mut slow = Vec::new();
    for text in &megabytes() {
        let start = Instant::now();
        check(text, 1_000, &parse(text, "stem", Bound::default()));
        let took = start.elapsed();
        let shown: String = text.chars().take(24).collect();
        if took > Duration::from_millis(300) {
            println!("{shown:?}: {took:?}");
        }
        if took > Duration::from_secs(20) {
            slow.push(format!("{shown:?}: {took:?}"));
        }
    }
    assert_eq!(slow, [""; 0]);
}
