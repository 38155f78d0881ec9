//! How what is no observation becomes parts: groups under a heading, within the bound, word for word.

use tessera_markdown::{Bound, Note, PartKind, parse, parse_plain};

fn read(text: &str) -> Note {
    parse(text, "stem", Bound::default())
}

fn says(text: &str, most_bytes: usize) -> Vec<&str> {
    parse(text, "stem", Bound { most_bytes }).parts.into_iter().map(|part| &text[part.text]).collect()
}

#[test]
fn paragraphs_and_items_under_a_heading_are_one_group_within_the_bound() {
    let text = "Before.\n\n# One\n\nFirst.\n\n- item\n- other\n\n---\n\nSecond.\n\n## Two\n\nThird.\n";
    assert_eq!(says(text, 1_000), ["Before.", "First.\n\n- item\n- other\n\n---\n\nSecond.", "Third."]);
    assert_eq!(says(text, 20), ["Before.", "First.\n\n- item", "- other", "Second.", "Third."]);
    let headings: Vec<_> = read(text).parts.iter().map(|part| part.headings.join("/")).collect();
    assert_eq!(headings, ["", "One", "One/Two"]);
}

#[test]
fn an_observation_parts_the_text_around_it() {
    assert_eq!(says("One.\n\n- [a] b\n- c\n\nTwo.\n", 1_000), ["One.", "b", "- c\n\nTwo."]);
    assert_eq!(says("- a\n- rel [[X]]\n- b\n", 1_000), ["- a", "- b"]);
    assert_eq!(says("- outer\n  - [a] inner\n  - prose\n", 1_000), ["- outer", "inner", "- prose"]);
}

#[test]
fn headings_alone_and_comments_make_no_part() {
    assert_eq!(says("# One\n\n## Two\n\n<!-- a comment -->\n\n%% another %%\n\n---\n", 1_000), [""; 0]);
    assert_eq!(
        says("One.\n\n<!-- parts -->\n\nTwo.\n\n%%\nparts\n\ntoo\n%%\n\nThree %%inside%% it.\n", 1_000),
        ["One.", "Two.", "Three %%inside%% it."]
    );
    assert_eq!(says("%%time is 100%%\n", 1_000), [""; 0]);
    assert_eq!(says("    %%a\n\n```\n%%time\nx = 1\n%%\n```\n", 1_000).len(), 1, "code holds no comments");
    let note = read("%% [[Hidden]] #hidden %% [[Shown]] #shown\n");
    assert_eq!((note.relations.len(), note.tags.join(" ")), (1, "shown".to_owned()));
}

#[test]
fn a_long_block_is_cut_at_sentences_or_lines() {
    let prose = "A sentence of some words, that is. ".repeat(100);
    for piece in says(&prose, 200) {
        assert!(piece.len() <= 200 && piece.ends_with("is."), "{piece}");
    }
    let code = format!("```\n{}```\n", "let a = 1; let b = 2. And;\n".repeat(100));
    for piece in says(&code, 200) {
        assert!(piece.len() <= 200 && (piece.ends_with(';') || piece.ends_with("```")), "{piece}");
    }
    let wide = "深色模式更好。".repeat(300);
    assert!(says(&wide, 100).iter().all(|piece| piece.len() <= 100 && piece.ends_with('。')));
    assert!(says(&"x".repeat(10_000), 100).iter().all(|piece| piece.len() <= 400));
    assert_eq!(says("深色", 0), ["深", "色"], "a bound below a letter is a letter");
}

#[test]
fn tags_of_running_text_are_the_note_s() {
    let note = read(
        "---\ntags: [a]\n---\nOn #tea and #tea/green, #12, c#, `#no`, [x](#no), [[X#no]], (#no) #deutsch's #ende.\n\n- [o] not #mine\n",
    );
    assert_eq!(note.tags, ["a", "tea", "tea/green", "deutsch", "ende"]);
}

#[test]
fn what_links_refer_to_and_footnotes_stay_text() {
    assert_eq!(
        says("See [it][1].\n\n[1]: https://tea.example \"Tea\"\n", 1_000),
        ["See [it][1].\n\n[1]: https://tea.example \"Tea\""]
    );
    assert_eq!(says("[1]: https://tea.example\n", 1_000), ["[1]: https://tea.example"]);
    let twice = "- b\n\n[1]: https://a.example\n[1]: https://b.example\n\n# C\n\n[1]: https://c.example";
    assert_eq!(says(twice, 1_000), ["- b\n\n[1]: https://a.example\n[1]: https://b.example", "[1]: https://c.example"]);
    assert_eq!(says("So.[^1]\n\n[^1]: Said she.\n", 1_000), ["So.[^1]\n\n[^1]: Said she."]);
    assert_eq!(says("Kept whole. ^block-id\n", 1_000), ["Kept whole. ^block-id"]);
}

#[test]
fn a_block_of_memory_is_one_part_word_for_word() {
    let text = "# T\n\n~~~memory [decision] #a #b (why (not))\n# no heading\n\n- [x] no item [[no link]]\n\n~~~\n\n```memory\nbare\n```\n";
    let note = read(text);
    let first = &note.parts[0];
    assert_eq!(&text[first.text.clone()], "# no heading\n\n- [x] no item [[no link]]\n");
    assert_eq!(
        (first.kind, first.category.as_deref(), first.tags.join(" ")),
        (PartKind::Observation, Some("decision"), "a b".to_owned())
    );
    assert_eq!((first.context.as_deref(), first.lines), (Some("why (not)"), (3, 8)));
    assert_eq!(
        (&text[note.parts[1].text.clone()], note.parts[1].kind, note.relations.len()),
        ("bare", PartKind::Text, 0)
    );
}

#[test]
fn a_text_that_is_no_markdown_is_paragraphs() {
    let text = "---\ntitle: x\n---\n- [a] b [[c]] #d\n\n# e\n";
    let note = parse_plain(text, "stem", Bound::default());
    assert_eq!((note.title.as_str(), note.relations.len(), note.tags.len(), note.parts.len()), ("stem", 0, 0, 1));
    assert_eq!(&text[note.parts[0].text.clone()], text.trim_end());
    let parts = parse_plain("one\ntwo\n\n \n  three\n", "stem", Bound { most_bytes: 9 }).parts;
    assert_eq!(parts.iter().map(|part| part.lines).collect::<Vec<_>>(), [(1, 2), (5, 5)]);
}

#[test]
fn bare_is_the_text_without_tags_and_context_at_its_end() {
    let bare = |text: &str| text[read(text).parts[0].bare.clone()].to_owned();
    assert_eq!(bare("- [a] tea #hot at noon #x #y (here)\n"), "tea #hot at noon");
    assert_eq!(bare("- [a] issue #12\n"), "issue #12");
    assert_eq!(bare("- [a] #only\n"), "#only");
    assert!(read("").parts.first().map(|part| part.bare.clone()).is_none());
    assert_eq!(read("x").parts.first().unwrap().bare, 0..1);
}
