//! What is written is read again, whatever its texts hold.
#![expect(clippy::unwrap_used, reason = "tests may")]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::Value;
use tessera_markdown::write::{Link, Observation, Written, note};
use tessera_markdown::{Bound, PartKind, Target, parse};

/// What means something in Markdown, in YAML or in the grammar of notes.
const PIECES: [&str; 86] = [
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    " ",
    "    ",
    "- ",
    "- [a] ",
    "- [ ] ",
    "* ",
    "1. ",
    "> ",
    "# ",
    "#tag ",
    "#",
    "---\n",
    "---",
    "===\n",
    "```\n",
    "~~~\n",
    "~~~memory\n",
    "~~~~~",
    "[[",
    "]]",
    "[",
    "]",
    "[[X]]",
    "![[X]]",
    "|",
    "::",
    "(",
    ")",
    "(a)",
    "%%",
    "<!--",
    "-->",
    "<div>\n",
    "<script>",
    "<?",
    "`",
    "\\",
    "!",
    "[a]: b\n",
    "[^1]: c\n",
    "|a|b|\n|-|-|\n",
    "\"",
    "'",
    ": ",
    "{",
    "}",
    "&a ",
    "*a ",
    "? ",
    "@",
    "%",
    "<<",
    "=",
    "null",
    "true",
    "yes",
    "1",
    "1.0",
    "0x1f",
    "1_000",
    "2026-11-01",
    "~",
    ".inf",
    "用户喜欢",
    "深色。",
    "مرحبا",
    "\u{202e}",
    "e\u{301}",
    "\u{a0}",
    "\u{2028}",
    "\u{85}",
    "\u{feff}",
    "\u{7f}",
    "🙂",
    "a word",
    "Some text.",
    ",",
    "\\n",
    "$x$",
    "&amp;",
    "http://a.example/#b",
];

/// Texts of such pieces and of ordinary ones.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned), "[a-z ]{0,8}", "\\PC{0,3}",];
    prop::collection::vec(piece, 0..10).prop_map(|pieces| pieces.concat())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text on one line that is something and has no white space around it.
fn line() -> impl Strategy<Value = String> {
    hostile().prop_map(|text| one_line(&text)).prop_filter("is empty", |text| !text.is_empty())
}

/// A word as tags are.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z][a-z0-9_/-]{0,8}", "[\\PC&&[^#\\s]]{1,6}"]
        .prop_filter("is no word", |word| !word.contains(char::is_whitespace))
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e300_f64..1e300).prop_map(Value::from),
        hostile().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(hostile(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn distinct(list: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    list.into_iter().filter(|one| seen.insert(one.clone())).collect()
}

fn observation() -> impl Strategy<Value = Observation> {
    let category = hostile()
        .prop_map(|text| one_line(&text.replace(['[', ']'], "")))
        .prop_filter("is empty", |text| !text.is_empty());
    let text = hostile().prop_filter("is empty", |text| !text.is_empty());
    let tags = prop::collection::vec(word(), 0..3).prop_map(distinct);
    (category, text, tags, prop::option::of(line())).prop_map(|(category, text, tags, context)| Observation {
        category,
        text,
        tags,
        context,
    })
}

fn link() -> impl Strategy<Value = Link> {
    let name = "[A-Za-z深][A-Za-z0-9 '(),./-]{0,12}[a-z]";
    let plain = "[A-Za-z][A-Za-z ]{0,6}[a-z]";
    (
        plain,
        name,
        prop::option::of("[a-z]{1,5}"),
        prop::option::of(plain),
        prop::option::of(name),
        prop::option::of(plain),
    )
        .prop_map(|(kind, name, project, alias, heading, context)| Link {
            kind,
            target: Target { name, project, alias, heading },
            context,
        })
}

fn written() -> impl Strategy<Value = Written> {
    let names = || {
        prop::collection::vec(line().prop_filter("begins with #", |tag| !tag.starts_with('#')), 0..4).prop_map(distinct)
    };
    let time =
        || prop::option::of((0_i64..4_000_000_000).prop_map(|second| jiff::Timestamp::from_second(second).unwrap()));
    let fields = prop::collection::btree_map(
        hostile().prop_filter("has a place of its own", |key| key != "title" && key != "type"),
        json(),
        0..4,
    );
    let texts = prop::collection::vec(hostile().prop_filter("is empty", |text| !text.is_empty()), 0..4);
    let said = (texts, prop::collection::vec(observation(), 0..4), prop::collection::vec(link(), 0..3));
    ((line(), "[a-z]{1,5}(_[a-z]{1,5})?", prop::option::of(line())), (names(), names(), time(), time(), fields), said)
        .prop_map(
            |(
                (title, kind, permalink),
                (tags, aliases, created, modified, fields),
                (paragraphs, observations, relations),
            )| Written {
                title,
                kind,
                permalink,
                tags,
                aliases,
                created,
                modified,
                fields,
                paragraphs,
                observations,
                relations,
            },
        )
}

/// What a text says, in the form in which it was given to be written.
fn read(text: &str, edges: &BTreeSet<(String, Option<String>, String)>) -> Written {
    let read = parse(text, "", Bound::default());
    assert_eq!(read.problem, None, "{text}");
    let mut back = Written {
        title: read.title.clone(),
        kind: read.kind.clone(),
        permalink: read.permalink.clone(),
        tags: read.tags.clone(),
        aliases: read.aliases.clone(),
        created: read.created,
        modified: read.modified,
        fields: read.fields.clone(),
        ..Written::default()
    };
    for part in &read.parts {
        let said = text.get(part.bare.clone()).unwrap().to_owned();
        match part.kind {
            PartKind::Text => back.paragraphs.push(said),
            PartKind::Observation => back.observations.push(Observation {
                category: part.category.clone().unwrap(),
                text: said,
                tags: part.tags.clone(),
                context: part.context.clone(),
            }),
        }
    }
    for relation in read.relations {
        let edge = (relation.kind.clone(), relation.target.project.clone(), relation.target.name.clone());
        assert!(relation.part.is_none() || edges.contains(&edge), "{relation:?} is not what the note says\n{text}");
        if relation.part.is_none() {
            back.relations.push(Link { kind: relation.kind, target: relation.target, context: relation.context });
        }
    }
    back
}

fn check(given: &Written) {
    let edge = |link: &Link| (link.kind.clone(), link.target.project.clone(), link.target.name.clone());
    let edges: BTreeSet<_> = given.relations.iter().map(edge).collect();
    let text = note(given);
    let mut wanted = given.clone();
    let mut seen = BTreeSet::new();
    wanted.relations.retain(|link| seen.insert(edge(link)));
    assert_eq!(read(&text, &edges), wanted, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_note_that_is_written_is_read_again(given in written()) {
        check(&given);
    }

    #[test]
    fn a_text_that_is_written_is_read_again(text in any::<String>(), tag in word()) {
        prop_assume!(!text.is_empty());
        let said = Observation { category: "fact".to_owned(), text: text.clone(), tags: vec![tag], context: None };
        check(&Written { title: "T".to_owned(), kind: "note".to_owned(), paragraphs: vec![text], observations: vec![said], ..Written::default() });
    }

    #[test]
    fn a_relation_keeps_what_a_link_can_hold(kind in hostile(), name in hostile(), context in hostile()) {
        let link = Link { kind, target: Target::named(name.clone()), context: Some(context) };
        let text = note(&Written { relations: vec![link], ..Written::default() });
        let read = parse(&text, "", Bound::default());
        prop_assert!(read.relations.len() <= 1 && read.parts.is_empty() && read.tags.is_empty(), "{}", text);
        let says_something = name.chars().any(|letter| letter.is_ascii_alphabetic());
        prop_assert!(!says_something || read.relations.len() == 1, "{name:?} is lost");
    }
}

#[test]
fn what_can_be_an_item_or_a_paragraph_is_one() {
    let fact = |text: &str| Observation {
        category: "fact".to_owned(),
        text: text.to_owned(),
        tags: vec!["a".to_owned()],
        context: Some("b".to_owned()),
    };
    let given = Written {
        title: "House Rules".to_owned(),
        kind: "memory".to_owned(),
        tags: vec!["house".to_owned(), "rules".to_owned()],
        fields: BTreeMap::from([("confidence".to_owned(), serde_json::json!({"by": ["Ann", "a: b"], "is": 0.5}))]),
        paragraphs: vec!["Shoes off.\n\n- always".to_owned(), "No smoking.".to_owned(), "# loud".to_owned()],
        observations: vec![fact("tea at five"), fact("two\nlines"), fact("more")],
        relations: vec![Link {
            kind: "part of".to_owned(),
            target: Target::named("House"),
            context: Some("all of it".to_owned()),
        }],
        ..Written::default()
    };
    let wanted = "---\ntitle: House Rules\ntype: memory\ntags: [house, rules]\nconfidence: {by: [Ann, \"a: b\"], is: 0.5}\n---\n\n# House Rules\n\nShoes off.\n\n- always\n\n<!-- part -->\n\nNo smoking.\n\n~~~memory\n# loud\n~~~\n\n## Observations\n\n- [fact] tea at five #a (b)\n\n~~~memory [fact] #a (b)\ntwo\nlines\n~~~\n\n- [fact] more #a (b)\n\n## Relations\n\n- \"part of\" [[House]] (all of it)\n";
    assert_eq!(note(&given), wanted);
    assert_eq!(note(&Written::default()), "");
    check(&given);
}
