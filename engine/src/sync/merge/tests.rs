//! What is put together, and what is not.

use proptest::prelude::*;

use super::*;

fn merge(base: &str, one: &str, other: &str) -> Option<String> {
    let merged = merged_text(true, base, one, other);
    assert_eq!(merged, merged_text(true, base, other, one), "whoever comes first");
    merged
}

const BASE: &str = "# Staging\n\n- [port] 5433\n- [host] birch\n- [owner] Ada\n\nA paragraph\nof two lines.\n";

#[test]
fn observations_that_were_changed_apart_are_both_as_they_were_changed() {
    let one = BASE.replace("5433", "6000");
    let other = BASE.replace("birch", "oak");
    assert_eq!(
        merge(BASE, &one, &other).unwrap(),
        BASE.replace("5433", "6000").replace("birch", "oak"),
        "side by side"
    );
    let gone = BASE.replace("- [owner] Ada\n", "");
    assert_eq!(merge(BASE, &one, &gone).unwrap(), gone.replace("5433", "6000"));
    let titled = BASE.replace("# Staging", "# Staging and production");
    assert_eq!(merge(BASE, &titled, &other).unwrap(), titled.replace("birch", "oak"));
}

#[test]
fn what_both_add_in_one_place_stays_in_one_order() {
    let base = "- [a] one\n";
    let merged = merge(base, "- [a] one\n- [b] mine\n", "- [a] one\n- [b] also\n").unwrap();
    assert_eq!(merged, "- [a] one\n- [b] also\n- [b] mine\n");
    assert_eq!(merge(base, "- [a] one\n- [b] same\n", "- [a] one\n- [b] same\n").unwrap(), "- [a] one\n- [b] same\n");
    let more = "- [a] one\n- [b] x\n- [c] y\n";
    assert_eq!(merge(base, "- [a] one\n- [b] x\n", more).unwrap(), more, "one holds the other");
    assert_eq!(merge("", "- a\n", "- b\n").unwrap(), "- a\n- b\n");
    let (one, other) = ("- [a] one\n\n## A\n\n- x\n", "- [a] one\n\n## B\n\n- y\n");
    assert_eq!(merge(base, one, other).unwrap(), "- [a] one\n\n## A\n\n- x\n\n## B\n\n- y\n", "sections stay whole");
    let (one, other) = ("- [a] one\n## N\n- x\n", "- [a] one\n## N\n- y\n");
    assert_eq!(merge(base, one, other).unwrap(), "- [a] one\n## N\n- x\n- y\n", "under one heading");
}

#[test]
fn what_both_changed_is_not_put_together() {
    assert_eq!(merge(BASE, &BASE.replace("5433", "1"), &BASE.replace("5433", "2")), None);
    let (one, other) = (BASE.replace("A para", "One para"), BASE.replace("two lines", "2 lines"));
    assert_eq!(merge(BASE, &one, &other), None, "one paragraph");
    assert_eq!(merge(BASE, &BASE.replace("- [host] birch\n", ""), &BASE.replace("birch", "oak")), None);
    let code = "```\na\nb\nc\nd\n```\n";
    assert_eq!(merge(code, &code.replace('a', "x"), &code.replace('d', "y")), None, "one fence");
    let nested = "- one\n  more of it\n- two\n";
    assert_eq!(merge(nested, &nested.replace("one", "1"), &nested.replace("more", "less")), None, "one item");
    assert_eq!(
        merge(nested, &nested.replace("one", "1"), &nested.replace("two", "2")).unwrap(),
        "- 1\n  more of it\n- 2\n"
    );
}

#[test]
fn a_text_that_is_no_note_is_put_together_by_lines_with_one_between() {
    let base = "a\nb\nc\nd\n";
    let merge = |one: &str, other: &str| merged_text(false, base, one, other);
    assert_eq!(merge("x\nb\nc\nd\n", "a\nb\ny\nd\n").unwrap(), "x\nb\ny\nd\n");
    assert_eq!(merge("x\nb\nc\nd\n", "a\ny\nc\nd\n"), None);
    assert_eq!(merge("a\nb\nc\nd\ne\n", "a\nb\nc\nd\nf\n").unwrap(), "a\nb\nc\nd\ne\nf\n");
}

#[test]
fn lines_of_the_front_matter_stand_each_for_itself_and_the_last_newline_is_kept_or_not() {
    let base = "---\ntitle: A\ntags: x\n---\n\ntext";
    let merged = merge(base, &base.replace("title: A", "title: B"), &base.replace("tags: x", "tags: y")).unwrap();
    assert_eq!(merged, "---\ntitle: B\ntags: y\n---\n\ntext");
    assert_eq!(merge(base, &format!("{base}\n"), &base.replace('A', "B")).unwrap(), base.replace('A', "B") + "\n");
    assert_eq!(merge("a\r\nb\r\n", "a\r\nb\r\n- c\r\n", "- 0\r\na\r\nb\r\n").unwrap(), "- 0\r\na\r\nb\r\n- c\r\n");
}

#[test]
fn what_is_written_below_a_heading_that_the_other_removed_is_put_under_no_other() {
    let base = "## Ports\n\n- 5432\n\n## Hosts\n\n- birch\n";
    let added = base.replace("- birch", "- birch\n- alder");
    for removed in [base.replace("## Hosts\n\n", ""), base.replace("## Hosts\n", "")] {
        assert_eq!(merge(base, &added, &removed), None, "{removed}");
    }
    let moved = base.replace("- 5432", "- 5433");
    assert!(merge(base, &moved, &base.replace("## Hosts\n\n- birch\n", "")).is_some(), "above it both stand");
}

#[test]
fn units_are_the_text() {
    for text in
        ["", "a", "a\n\nb", "- a\n  b\n- c", "```\n- x\n```\n- y", "---\na: 1\n---\n\n# T", "\n\n", "1. a\n2) b"]
    {
        assert_eq!(units(text).join("\n"), text, "{text:?}");
    }
    assert_eq!(units("- a\n  b\nlazy\n- c\n\np\nq"), ["- a\n  b\nlazy", "- c", "", "p\nq"]);
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof!["- [a-e]", Just(String::new()), "[f-h]", Just("## t".to_owned()), Just("```".to_owned())];
    prop::collection::vec(line, 0..9).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn a_merge_loses_nothing_that_was_added_and_leaves_what_nobody_changed(base in text(), one in text(), other in text()) {
        prop_assert_eq!(merged_text(true, &base, &one, &base), Some(one.clone()));
        prop_assert_eq!(merged_text(true, &base, &one, &one), Some(one.clone()));
        let merged = merged_text(true, &base, &one, &other);
        prop_assert_eq!(&merged, &merged_text(true, &base, &other, &one));
        if let Some(merged) = merged {
            for side in [&one, &other] {
                for line in side.lines().filter(|line| !line.trim().is_empty() && !base.lines().any(|old| old == *line)) {
                    prop_assert!(merged.lines().any(|there| there == line), "{line:?} is lost in {merged:?}");
                }
            }
        }
    }
}
