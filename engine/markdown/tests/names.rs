//! Names of notes: how permalinks are made, which note a name means, and what an address reaches.

use tessera_markdown::resolve::{Asked, Candidate, Names, Purpose, Resolution};
use tessera_markdown::url::{NoteUrl, UrlError};
use tessera_markdown::{key, permalink};

#[test]
fn s6_11_permalinks_are_made_of_paths() {
    for (path, wanted) in [
        ("user/preferences.md", "user/preferences"),
        ("/User/Coding Style.md", "user/coding-style"),
        ("notes/CamelCaseName.md", "notes/camel-case-name"),
        ("snake_case_name.md", "snake-case-name"),
        ("It's Ann’s.md", "its-anns"),
        ("v1.2 notes.md", "v1.2-notes"),
        ("v1.2", "v1.2"),
        ("a & b -- c!.md", "a-b-c"),
        ("café/Straße.md", "cafe/strasse"),
        ("cafe\u{301}.md", "cafe"),
        ("用户/深色模式.md", "用户/深色模式"),
        ("深色Mode设置.md", "深色-mode-设置"),
        ("深色，模式（新）.md", "深色模式新"),
        ("東京タワー note.md", "東京タワー-note"),
        ("한국어 메모.md", "한국어-메모"),
        ("заметки/Привет.md", "zametki/privet"),
        ("../..//.md", ".md"),
        ("", "note"),
        ("!!!.md", "note"),
        ("paper.PDF", "paper"),
    ] {
        assert_eq!(permalink::of_path(path), wanted, "{path}");
    }
}

#[test]
fn s6_11_a_taken_permalink_gets_a_number() {
    let taken = ["a", "a-1"];
    assert_eq!(permalink::free("a", |name| taken.contains(&name)), "a-2");
    assert_eq!(permalink::free("b", |name| taken.contains(&name)), "b");
}

#[test]
fn folded_names_differ_in_no_case_or_joiner() {
    for name in ["Staging Database", "staging_database", "STAGING-DATABASE", " staging   database "] {
        assert_eq!(key::folded(name), "staging database");
    }
    assert_eq!(key::folded("Cafe\u{301}"), key::folded("CAFÉ"));
}

fn candidate(id: &str, permalink: &str, title: &str, aliases: &[&str], path: &str) -> Candidate {
    Candidate {
        id: id.to_owned(),
        permalink: Some(permalink.to_owned()),
        title: title.to_owned(),
        aliases: aliases.iter().map(|alias| (*alias).to_owned()).collect(),
        path: path.to_owned(),
    }
}

fn names() -> Names {
    Names::of([
        candidate("id-1", "memories/user/tea", "Tea", &["Cha"], "/memories/user/tea.md"),
        candidate("id-2", "infra/staging", "Staging Database", &[], "/memories/infra/staging.md"),
        candidate("id-3", "a/plan", "Plan", &[], "/memories/a/plan.md"),
        candidate("id-4", "b/plan", "Plan", &[], "/memories/b/plan.md"),
        candidate("id-5", "work/plan", "Plan", &[], "/work/plan.md"),
        candidate("id-6", "title", "infra/staging", &["id-1"], "/memories/odd.md"),
    ])
}

fn meant(name: &str, from: Option<&str>, purpose: Purpose) -> Resolution {
    names().resolve(Asked { name, project: None, from, purpose })
}

fn exact(id: &str) -> Resolution {
    Resolution::Exact(id.to_owned())
}

#[test]
fn s6_12_the_steps_are_tried_in_their_order() {
    for (name, id) in [
        ("id-1", "id-1"),
        ("ID-2", "id-2"),
        ("memories/user/tea", "id-1"),
        ("user/tea", "id-1"),
        ("memories/infra/staging", "id-2"),
        ("infra/staging", "id-2"),
        ("Staging Database", "id-2"),
        ("[[Staging Database]]", "id-2"),
        ("Cha", "id-1"),
        ("/memories/user/tea.md", "id-1"),
        ("user/tea.md", "id-1"),
        ("memories/odd", "id-6"),
    ] {
        assert_eq!(meant(name, None, Purpose::Change), exact(id), "{name}");
    }
    for name in ["staging_database", "STAGING DATABASE", "User/Tea", "cha", "Staging"] {
        assert!(matches!(meant(name, None, Purpose::Change), Resolution::Loose(_)), "{name}");
    }
    assert_eq!(meant("Nowhere", None, Purpose::Read), Resolution::Unknown);
    assert_eq!(meant(" ", None, Purpose::Read), Resolution::Unknown);
}

#[test]
fn s6_12_of_several_the_nearest_is_read_and_none_is_changed() {
    assert_eq!(meant("Plan", Some("/memories/a/x.md"), Purpose::Read), exact("id-3"));
    assert_eq!(meant("Plan", Some("/memories/b/deep/x.md"), Purpose::Read), exact("id-4"));
    assert_eq!(meant("Plan", Some("/work/x.md"), Purpose::Read), exact("id-5"));
    assert_eq!(meant("Plan", Some("/memories/x.md"), Purpose::Read), exact("id-3"), "a tie goes to the first path");
    assert_eq!(meant("Plan", None, Purpose::Read), exact("id-5"), "with nobody asking, to the shortest");
    let all = Resolution::Ambiguous(["id-3", "id-4", "id-5"].map(str::to_owned).to_vec());
    assert_eq!(meant("Plan", Some("/memories/a/x.md"), Purpose::Change), all);
    let asked = Asked { name: "Plan", project: Some("Work"), from: None, purpose: Purpose::Change };
    assert_eq!(names().resolve(asked), exact("id-5"));
}

#[test]
fn s6_12_a_path_is_looked_for_from_the_asking_note() {
    assert_eq!(meant("plan.md", Some("/memories/b/x.md"), Purpose::Change), exact("id-4"));
    assert_eq!(meant("../infra/staging.md", Some("/memories/b/x.md"), Purpose::Change), exact("id-2"));
    assert_eq!(meant("../../../../etc/passwd", Some("/memories/b/x.md"), Purpose::Read), Resolution::Unknown);
}

#[test]
fn addresses_name_notes_and_patterns_of_them() {
    let reaches = |url: &str, permalink: &str, path: &str| NoteUrl::parse(url).unwrap().matches(Some(permalink), path);
    for url in [
        "memory://user/preferences",
        "user/preferences",
        "memory://memories/user/preferences",
        "memory://user/*",
        "memory://*/pref*",
        "memory://user/*ences",
        "memory://**",
        "memory://**/preferences",
        "memory://memories/**",
        "User/Preferences.md",
        "MEMORY://user/p*f*s",
    ] {
        assert!(reaches(url, "user/preferences", "/memories/user/preferences.md"), "{url}");
        assert!(reaches(url, "memories/user/preferences", "/memories/user/preferences.md"), "{url}");
    }
    for url in [
        "memory://user",
        "memory://*",
        "memory://preferences",
        "memory://user/pref",
        "memory://work/user/preferences",
        "memory://user/*/x",
    ] {
        assert!(!reaches(url, "user/preferences", "/memories/user/preferences.md"), "{url}");
    }
    assert!(NoteUrl::parse("memory://kept/here").unwrap().matches(Some("kept/here"), "/memories/elsewhere.md"));
    assert!(NoteUrl::parse("a/*").unwrap().is_pattern() && !NoteUrl::parse("a").unwrap().is_pattern());
    assert_eq!(NoteUrl::parse("user/preferences").unwrap().to_string(), "memory://user/preferences");
}

#[test]
fn a_wrong_address_says_what_to_do() {
    let long = "x".repeat(2_029);
    for (url, wanted) in [
        ("", UrlError::Empty),
        ("memory://", UrlError::Empty),
        ("memory:///", UrlError::Empty),
        ("https://a.example/b", UrlError::Scheme),
        ("memory://a//b", UrlError::Slashes),
        ("a<b", UrlError::Character('<')),
        ("a?b", UrlError::Character('?')),
        ("a|b", UrlError::Character('|')),
        ("a\"b", UrlError::Character('"')),
        ("a\0b", UrlError::Character('\0')),
        ("memory://a/../b", UrlError::Dots("..")),
        (long.as_str(), UrlError::Long),
    ] {
        let error = NoteUrl::parse(url).unwrap_err();
        assert_eq!(error, wanted, "{url}");
        assert!(
            error.to_string().starts_with("url: ") && error.to_string().contains(';') || error == UrlError::Scheme,
            "{error}"
        );
    }
    assert!(NoteUrl::parse(&"x".repeat(2_028)).is_ok());
}
