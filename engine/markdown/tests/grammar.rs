//! The grammar of notes, rule by rule: each line of section 6 of the specification has a test here, named after it.
#![expect(clippy::unwrap_used, reason = "tests may")]

use tessera_markdown::{Bound, Note, PartKind, parse};

fn read(text: &str) -> Note {
    parse(text, "stem", Bound::default())
}

/// Category, text, tags and context of every observation.
fn observed(text: &str) -> Vec<(String, String, String, Option<String>)> {
    let note = read(text);
    let found = note.parts.into_iter().filter(|part| part.kind == PartKind::Observation);
    found.map(|part| (part.category.unwrap(), text[part.text].to_owned(), part.tags.join(" "), part.context)).collect()
}

#[track_caller]
fn one(text: &str, category: &str, said: &str, tags: &str, context: Option<&str>) {
    let wanted = (category.to_owned(), said.to_owned(), tags.to_owned(), context.map(str::to_owned));
    assert_eq!(observed(text), [wanted], "{text}");
}

/// The texts of all parts that are no observations.
fn texts(text: &str) -> Vec<String> {
    let note = read(text);
    let found = note.parts.into_iter().filter(|part| part.kind == PartKind::Text);
    found.map(|part| text[part.text].to_owned()).collect()
}

/// Type and name of every relation.
fn related(text: &str) -> Vec<String> {
    let relations = read(text).relations;
    relations.iter().map(|relation| format!("{} {}", relation.kind, relation.target.name)).collect()
}

#[test]
fn s6_1_front_matter_is_yaml_between_lines_at_the_very_top() {
    let note = read("---\ntitle: Coffee\n---\nbody\n");
    assert_eq!((note.title.as_str(), note.body), ("Coffee", 22));
    let note = read("\n---\ntitle: Coffee\n---\nbody\n");
    assert_eq!((note.title.as_str(), note.body, note.problem), ("stem", 0, None));
    let note = read("---\r\ntitle: Coffee\r\ntags: a, b\r\n---\r\nbody\r\n");
    assert_eq!((note.title.as_str(), note.tags.join(" ")), ("Coffee", "a b".to_owned()));
    assert_eq!(note.parts[0].lines, (5, 5));
    assert_eq!(read("---\n---\nbody\n").problem, None);
}

#[test]
fn s6_1_a_byte_order_mark_is_stripped() {
    let text = "\u{feff}---\ntitle: Coffee\n---\n- [fact] black\n";
    let note = read(text);
    assert_eq!(note.title, "Coffee");
    assert_eq!(&text[note.parts[0].text.clone()], "black");
    let text = "\u{feff}black coffee";
    assert_eq!(&text[read(text).parts[0].text.clone()], "black coffee");
}

#[test]
fn s6_1_malformed_front_matter_is_body() {
    for yaml in ["title: [open", "title: a: b", "- a\n- b", "just words", "title: {{title}}", "a: *nowhere"] {
        let text = format!("---\n{yaml}\n---\n# Head\n\n- [fact] still read\n");
        let note = read(&text);
        assert_eq!((note.title.as_str(), note.body), ("stem", 0), "{yaml}");
        assert!(note.problem.as_deref().is_some_and(|problem| problem.starts_with("front matter: ")), "{yaml}");
        assert_eq!(
            text[note.parts[0].text.clone()],
            format!("---\n{yaml}\n---"),
            "what was meant as front matter is found"
        );
        assert_eq!(&text[note.parts[1].text.clone()], "still read");
        assert_eq!(note.parts[1].headings.to_vec(), ["Head"]);
    }
    assert!(read("---\ntitle: never closed\n\nbody").problem.is_some());
    assert!(read("---\n\nA line across the page.\n").problem.is_none());
    assert!(
        !read("---\nsecret: [hunter2\n---\n").problem.unwrap().contains("hunter2"),
        "a message holds nothing of a note"
    );
}

#[test]
fn s6_2_title_is_the_stem_where_none_is_said() {
    for said in ["", "title:\n", "title: None\n", "title: '  '\n", "title: null\n", "title: ~\n"] {
        assert_eq!(read(&format!("---\nx: y\n{said}---\n")).title, "stem", "{said}");
    }
    assert_eq!(read("---\ntitle: 2026-11-01\n---\n").title, "2026-11-01");
    assert_eq!(read("---\ntitle: 42\n---\n").title, "42");
    assert_eq!(read("---\ntitle: [a, b]\n---\n").title, "a, b");
}

#[test]
fn s6_2_type_is_snake_case_and_note_by_default() {
    assert_eq!(read("text").kind, "note");
    assert_eq!(read("---\ntype: memory\n---\n").kind, "memory");
    assert_eq!(read("---\ntype: Meeting Note\n---\n").kind, "meeting_note");
    assert_eq!(read("---\ntype: MeetingNote\n---\n").kind, "meeting_note");
}

#[test]
fn s6_2_permalink_is_kept_as_said() {
    assert_eq!(
        read("---\npermalink: memories/user/preferences\n---\n").permalink.unwrap(),
        "memories/user/preferences"
    );
    assert_eq!(read("---\npermalink:\n---\n").permalink, None);
}

#[test]
fn s6_2_tags_are_a_list_or_text_with_commas_or_json() {
    for said in
        ["[style, '#user', style]", "'style, #user'", "'[\"style\", \"#user\", null]'", "\n- style\n- '#user'\n- \n"]
    {
        assert_eq!(read(&format!("---\ntags: {said}\n---\n")).tags, ["style", "user"], "{said}");
    }
    assert_eq!(read("---\ntags: [1, true, 2026-11-01]\n---\n").tags, ["1", "true", "2026-11-01"]);
    assert_eq!(read("---\naliases: [Prefs]\nalias: Likes, Prefs\n---\n").aliases, ["Prefs", "Likes"]);
}

#[test]
fn s6_2_every_other_key_is_kept() {
    let yaml = "memory_type: preferences\ncreated_by: model\ndue: 2026-11-01\nnested:\n  deep: [1, {x: null}]\nanswer: yes\n7: seven\nnot: .nan\n";
    let note = read(&format!("---\n{yaml}title: T\n---\n"));
    let fields = serde_json::to_value(&note.fields).unwrap();
    let wanted = serde_json::json!({
        "memory_type": "preferences", "created_by": "model", "due": "2026-11-01",
        "nested": {"deep": [1, {"x": null}]}, "answer": "yes", "7": "seven", "not": ".nan",
    });
    assert_eq!(fields, wanted);
}

#[test]
fn times_are_iso_and_utc_where_they_say_no_offset() {
    let note = read("---\ncreated: 2026-11-01\nmodified: 2026-11-02T10:00:00+02:00\n---\n");
    assert_eq!(note.created.unwrap().to_string(), "2026-11-01T00:00:00Z");
    assert_eq!(note.modified.unwrap().to_string(), "2026-11-02T08:00:00Z");
    let note = read("---\ncreated: some day\nupdated_at: 2026-11-02 10:00\n---\n");
    assert_eq!((note.created, note.modified.unwrap().to_string()), (None, "2026-11-02T10:00:00Z".to_owned()));
    assert_eq!(note.fields["created"], "some day");
}

#[test]
fn s6_3_an_observation_has_category_text_tags_and_context() {
    let said = "Tea before noon #drinks #habits (since the spring)";
    one(&format!("- [preference] {said}\n"), "preference", said, "drinks habits", Some("since the spring"));
    one("* [fact] one\n", "fact", "one", "", None);
    one("1. [fact] numbered\n", "fact", "numbered", "", None);
    one("10) [fact] numbered\n", "fact", "numbered", "", None);
    one("- outer\n  - [fact] nested\n", "fact", "nested", "", None);
    one("- [two words] a #b#c, d\n", "two words", "a #b#c, d", "b c", None);
    one("- [决定] 使用深色模式 #主题\n", "决定", "使用深色模式 #主题", "主题", None);
    one("- [fact] spans\n  two lines (here)\n", "fact", "spans\n  two lines (here)", "", Some("here"));
    one("- [fact] [[a `b` #c]] #d\n", "fact", "[[a `b` #c]] #d", "d", None);
    one("- [fact] #alone\n", "fact", "#alone", "alone", None);
    one("- [fact] `#define` is code #c\n", "fact", "`#define` is code #c", "c", None);
    one("- [fact] first\n\n- plain\n", "fact", "first", "", None);
}

#[test]
fn s6_3_context_is_the_last_parenthesis_at_the_end() {
    one("- [a] b (c) d (e)\n", "a", "b (c) d (e)", "", Some("e"));
    one("- [a] b (c (d))\n", "a", "b (c (d))", "", Some("c (d)"));
    one("- [a] b (c) #d\n", "a", "b (c) #d", "d", None);
    one("- [a] ends in f(x)\n", "a", "ends in f(x)", "", None);
    one("- [a] smile :)\n", "a", "smile :)", "", None);
}

#[test]
fn s6_4_tasks_links_times_quotes_and_code_are_no_observations() {
    for item in [
        "- [ ] task #later",
        "- [x] done",
        "- [X] done",
        "- [-] dropped",
        "- [>] moved",
        "- [ x ] done",
        "- [tea](https://tea.example/#a)",
        "- [[Tea]]",
        "- [00:11] she said #that",
        "- [1:02:03.5 - 1:02:09] they sang",
        "- [10:00–11:30] tea",
        "> - [fact] quoted",
        "> [!note]\n> - [fact] in a callout",
        "```\n- [fact] code\n```",
        "~~~text\n- [fact] code\n~~~",
        "    - [fact] indented code",
        "<!--\n- [fact] hidden\n-->",
        "<!--\n\n- [fact] hidden\n\n-->",
        "%%\n- [fact] hidden\n%%",
        "%%\n\n- [fact] hidden\n\n%%",
        "- \\[fact] escaped",
        "- [fact]glued",
        "- [fact]",
        "- [a[b]] c",
        "- [^1] footnote",
        "[fact] a paragraph",
        "- issue #12",
        "- derive with #[test] (or #\"this\")",
        "- [BUG #1305](https://tea.example/1305): fixed",
        "- [`tea`] is a crate\n\n[`tea`]: https://tea.example",
        "- [tea][1] is hot\n\n[1]: https://tea.example",
    ] {
        assert_eq!(observed(&format!("{item}\n")), [], "{item}");
    }
    assert_eq!(texts("- [ ] task #later\n- [x] done\n"), ["- [ ] task #later\n- [x] done"], "tasks are text");
}

#[test]
fn s6_5_a_tag_is_enough_and_the_category_is_note() {
    one("- tea is best #drinks (hot)\n", "note", "tea is best #drinks (hot)", "drinks", Some("hot"));
    one("- [fact]glued #tag\n", "note", "[fact]glued #tag", "tag", None);
}

#[test]
fn s6_6_an_empty_bracket_is_dropped() {
    one("- [] tea #drinks\n", "note", "tea #drinks", "drinks", None);
    one("- [] tea\n", "note", "tea", "", None);
}

#[test]
fn s6_7_relations_of_items_have_a_type() {
    let text = "- relates_to [[Tea]]\n- informs [[House Rules]] (since May (or June))\n- \"is part of\" [[Kitchen]]\n- 'grew out of' [[Garden]]\n- up:: [[Home]]\n";
    let note = read(text);
    assert_eq!(
        related(text),
        ["relates_to Tea", "informs House Rules", "is part of Kitchen", "grew out of Garden", "up Home"]
    );
    assert_eq!(note.relations[1].context.as_deref(), Some("since May (or June)"));
    assert_eq!((note.relations[1].line, note.relations[1].part), (2, None));
    assert_eq!(&text[note.relations[1].at.clone()], "- informs [[House Rules]] (since May (or June))");
    assert_eq!(note.parts, [], "an item that is a relation is no text");
}

#[test]
fn s6_7_bare_and_inline_links_are_links_to() {
    assert_eq!(related("- [[Tea]]\n- [[Pot]] (blue)\n"), ["links_to Tea", "links_to Pot"]);
    assert_eq!(related("We drink [[Tea]] from the [[Pot]].\n"), ["links_to Tea", "links_to Pot"]);
    for prose in
        ["- two words [[Tea]]", "- likes [[Tea]] a lot", "- a [[Tea]] (b) c", "- glued[[Tea]]", "- [ ] buy [[Tea]]"]
    {
        assert_eq!(related(prose), ["links_to Tea"], "{prose}");
        assert_eq!(texts(prose), [prose], "it stays text");
    }
    let note =
        read("# Above [[Top]]\n\n> quoted [[Tea]]\n\n- [fact] in the [[Pot]] #x\n\n| a |\n|---|\n| [[Cup\\|mug]] |\n");
    let found: Vec<_> = note.relations.iter().map(|found| (found.target.name.as_str(), found.part)).collect();
    assert_eq!(found, [("Top", None), ("Tea", Some(0)), ("Pot", Some(1)), ("Cup", Some(2))]);
    assert_eq!(
        related("`[[code]]` and \\[[not]] and [[no\nlink]] and ``` [[x]] ``` <a b='[[c]]'>\n\n    [[indented]]\n"),
        [""; 0]
    );
    assert_eq!(related("![[Plan]] and\n\n- ![[picture.png]]\n"), ["embeds Plan", "embeds picture.png"]);
}

#[test]
fn s6_8_aliases_projects_headings_and_nested_brackets() {
    let target = |text: &str| {
        let found = read(text).relations.remove(0).target;
        [Some(found.name), found.project, found.heading, found.alias].map(Option::unwrap_or_default)
    };
    assert_eq!(target("[[Tea|a cup]]"), ["Tea", "", "", "a cup"]);
    assert_eq!(target("[[kitchen::Tea]]"), ["Tea", "kitchen", "", ""]);
    assert_eq!(target("[[kitchen::Tea#How to|so]]"), ["Tea", "kitchen", "How to", "so"]);
    assert_eq!(target("[[Tea#^block-1]]"), ["Tea", "", "^block-1", ""]);
    assert_eq!(target("[[C# notes]]"), ["C# notes", "", "", ""]);
    assert_eq!(target("[[C#]]"), ["C#", "", "", ""]);
    assert_eq!(target("[[A [[B]] C]]"), ["A [[B]] C", "", "", ""]);
    assert_eq!(target("[[[Tea]]]"), ["Tea", "", "", ""]);
    assert_eq!(target("[[open [[Tea]]"), ["Tea", "", "", ""]);
    assert_eq!(target("[[[[Tea]]]]"), ["Tea", "", "", ""]);
    assert_eq!(related("[[file:tea][Org]]"), [""; 0]);
    assert_eq!(related("[[]] [[ ]] [[|x]] [[#here]]"), [""; 0]);
}

#[test]
fn s6_9_targets_are_names_that_need_not_exist() {
    assert_eq!(related("- precedes [[Not Written Yet]]\n"), ["precedes Not Written Yet"]);
}

#[test]
fn s6_10_the_same_relation_counts_once() {
    assert_eq!(related("- a [[X]]\n- a [[X]]\n- b [[X]]\n- a [[X]] (again)\n"), ["a X", "b X"]);
    assert_eq!(related("[[X]] and [[X]] and [[X#part]]\n"), ["links_to X"]);
    let note = read("[[X]]\n\n# Further\n\n[[X]]\n");
    let parts: Vec<_> = note.relations.iter().map(|relation| relation.part).collect();
    assert_eq!((parts, note.edges().len()), (vec![Some(0), Some(1)], 1));
}

#[test]
fn s6_13_a_memory_file_of_the_seed_s_shape() {
    let text = "---\ntitle: Reading Habits\npermalink: memories/user/reading-habits\ntype: memory\nmemory_type: preferences\ncreated_by: model\ntags: [user, habits, style]\n---\n\n# Reading Habits\n\n## Observations\n\n- [communication] Wants the answer first and the reasons after it #style\n- [tone] Likes plain words, no flattery #communication\n- [technical] Writes Rust with types spelled out #coding\n\n## Relations\n\n- relates_to [[Rust Notebook]]\n- informs [[How To Answer]]\n";
    let note = parse(text, "reading-habits", Bound::default());
    let found: Vec<(&str, &str)> =
        note.parts.iter().map(|part| (part.category.as_deref().unwrap(), part.tags[0].as_str())).collect();
    assert_eq!(found, [("communication", "style"), ("tone", "communication"), ("technical", "coding")]);
    assert_eq!(related(text), ["relates_to Rust Notebook", "informs How To Answer"]);
    assert_eq!((note.kind.as_str(), note.tags.len(), note.parts.len()), ("memory", 3, 3));
    assert_eq!(note.permalink.as_deref(), Some("memories/user/reading-habits"));
    assert_eq!(
        (note.fields["memory_type"].as_str(), note.fields["created_by"].as_str()),
        (Some("preferences"), Some("model"))
    );
    assert_eq!(note.parts[0].headings.to_vec(), ["Reading Habits", "Observations"]);
    assert_eq!((note.parts[0].lines, note.relations[1].line), ((14, 14), 21));
}

#[test]
fn s6_14_one_edit_changes_one_part() {
    let before = "# T\n\n- [a] one\n- [b] two\n- [c] three\n\nA paragraph.\n";
    let after = before.replace("two", "two, and more");
    let says = |text: &str| read(text).parts.into_iter().map(|part| text[part.text].to_owned()).collect::<Vec<_>>();
    let changed = says(before).into_iter().zip(says(&after)).filter(|(one, other)| one != other);
    assert_eq!(changed.collect::<Vec<_>>(), [("two".to_owned(), "two, and more".to_owned())]);
}
