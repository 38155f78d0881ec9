//! What is taken out, what stays, and that looking twice changes nothing.

use std::convert::Infallible;

use proptest::prelude::*;

use super::*;
use crate::domain::{Draft, MemoryUuid, Patch, Tag};

/// Numbers what it is given, and keeps it in clear: only a test may.
#[derive(Default)]
struct Numbered(Vec<(String, String)>);

impl Keeper for Numbered {
    type Error = Infallible;

    fn keep(&mut self, _: MemoryUuid, kind: &str, value: &str) -> Result<Option<Secret>, Infallible> {
        let known = self.0.iter().position(|(_, kept)| kept == value);
        let at = known.unwrap_or(self.0.len());
        if known.is_none() {
            self.0.push((kind.to_owned(), value.to_owned()));
        }
        let name = Name::parse(&format!("s{at}")).expect("a letter and a number");
        Ok(Some(Secret { name, kind: kind.to_owned(), mark: Vec::new(), sealed: Vec::new() }))
    }
}

impl Numbered {
    fn looked<T: Texts>(&mut self, value: T) -> T {
        let Ok(screened) = screened(value, MemoryUuid::from_key("t"), self);
        screened.into_parts().0
    }

    fn values(&self) -> Vec<&str> {
        self.0.iter().map(|(_, value)| value.as_str()).collect()
    }
}

const PASSWORD: &str = "tr0ub4dor&3xQ";

fn text(password: &str) -> String {
    format!("The staging database password is {password}, ask Mara before you change it.")
}

#[test]
fn a_text_keeps_its_meaning_and_names_what_was_taken_out() {
    let mut keeper = Numbered::default();
    let draft = keeper.looked(Draft::new(text(PASSWORD)));
    assert_eq!(draft.content, text("[secret s0: password]"));
    assert_eq!(keeper.values(), [PASSWORD]);
}

#[test]
fn a_value_is_taken_out_of_tags_and_categories_which_have_no_capitals() {
    let draft = Draft {
        tags: Tag::list("Zebra Winter-Rain, staging").unwrap(),
        category: Some("Zebra Winter-Rain".parse().unwrap()),
        ..Draft::new("The staging password is \"Zebra Winter-Rain\".")
    };
    let draft = Numbered::default().looked(draft);
    assert_eq!(draft.content, "The staging password is \"[secret s0: password]\".");
    assert_eq!(draft.tags.iter().map(Tag::as_str).collect::<Vec<_>>(), ["secret-s0", "staging"]);
    assert_eq!(draft.category.unwrap().as_str(), "secret-s0");
}

#[test]
fn a_value_is_taken_out_wherever_it_stands_in_all_fields() {
    let mut keeper = Numbered::default();
    let draft = Draft {
        keywords: vec!["staging".into(), format!("password={PASSWORD}")],
        entities: vec![PASSWORD.to_owned(), "Mara".into()],
        session: Some(format!("typed {PASSWORD}")),
        ..Draft::new(text(PASSWORD) + &format!(" Then type {PASSWORD} again; {PASSWORD}x is another word."))
    };
    let clean = keeper.looked(draft);
    assert_eq!(keeper.values(), [PASSWORD]);
    assert!(clean.content.contains("Then type [secret s0: password] again"), "{}", clean.content);
    assert!(clean.content.contains(&format!("{PASSWORD}x is another word")), "{}", clean.content);
    assert_eq!(clean.keywords, ["staging", "password=[secret s0: password]"]);
    assert_eq!(clean.entities, ["[secret s0: password]", "Mara"]);
    assert_eq!(clean.session.as_deref(), Some("typed [secret s0: password]"));
}

#[test]
fn a_word_that_the_text_beside_it_calls_a_password_is_taken_out() {
    for text in ["The staging db password", "The staging db password.", "db password for staging, see the keywords"] {
        for value in ["xK9#mm2Lq", "Tr0ub4dor3x"] {
            let mut keeper = Numbered::default();
            let tag: Tag = value.parse().unwrap();
            let words = || vec!["staging".to_owned(), value.to_owned(), "postgres15".into(), "iso-27001".into()];
            let draft = Draft { keywords: words(), entities: words(), tags: vec![tag], ..Draft::new(text) };
            let clean = keeper.looked(draft);
            assert_eq!(clean.content, text);
            for kept in [&clean.keywords, &clean.entities] {
                assert_eq!(kept[1], "[secret s0: password]", "{text} {value}");
                assert_eq!((&*kept[0], &*kept[2], &*kept[3]), ("staging", "postgres15", "iso-27001"));
            }
            assert!(clean.tags.iter().all(|tag| tag.as_str().starts_with("secret-")), "{:?}", clean.tags);
        }
    }
    // What only speaks of passwords calls nothing one.
    for (text, word) in [
        ("The build uses feature flags and a password manager for the team.", "a1b2c3d4e5f6"),
        ("Users sign in by OAuth 2; no password is stored.", "OAuth2PKCE"),
        ("Password policy of the company.", "Argon2id19"),
        ("Password rotation happens every 90 days.", "SOC2-Type2"),
        ("Deploy token for CI was renewed by Ana.", "GitLabCI16"),
        ("Reduced token usage of the prompt by half.", "GitLabCI16"),
        ("API key rotation is done quarterly.", "commit-9f8e7d6c5b"),
    ] {
        let draft = Draft { keywords: vec![word.into()], entities: vec![word.into()], ..Draft::new(text) };
        let clean = Numbered::default().looked(draft.clone());
        assert_eq!((clean.keywords, clean.entities), (draft.keywords, draft.entities), "{text}");
    }
    let mut keeper = Numbered::default();
    let draft = Draft { keywords: vec!["xK9#mm2Lq".into()], ..Draft::new("The queue drops mails") };
    assert_eq!(keeper.looked(draft).keywords, ["xK9#mm2Lq"]);
    let draft = Draft {
        entities: vec!["Tr0ub4dor".into(), "Mara".into()],
        ..Draft::new("Reports go to postgres://reporter:Tr0ub4dor-and-3@db.harbour.example/reports")
    };
    let once = keeper.looked(draft);
    assert_eq!(once.entities, ["[secret dropped: connection password]", "Mara"]);
    assert_eq!(keeper.looked(once.clone()), once);
}

#[test]
fn a_short_value_is_not_looked_for_elsewhere_and_a_tag_becomes_one_that_names_it() {
    let mut keeper = Numbered::default();
    let token = format!("glpat-{}", "x7k2m9q4w8e3r5t6y1u0");
    let tag: Tag = token.parse().expect("letters and digits");
    let patch = Patch {
        content: Some("The door PIN is 4711, on floor 4711".into()),
        tags: Some(vec![tag]),
        ..Patch::default()
    };
    let clean = keeper.looked(patch);
    let tags: Vec<String> = clean.tags.expect("there").iter().map(ToString::to_string).collect();
    let content = clean.content.expect("there");
    assert!(content.ends_with("on floor 4711"), "{content}");
    assert_eq!(tags, [format!("secret-s{}", keeper.0.len() - 1)]);
}

#[test]
fn a_text_that_somebody_calls_sensitive_is_one_secret() {
    let mut keeper = Numbered::default();
    let whole = "Mara is leaving in June; nobody knows";
    let draft = Draft { sensitive: Some("A note on staffing".into()), ..Draft::new(whole) };
    let clean = keeper.looked(draft);
    assert_eq!(clean.content, "A note on staffing: [secret s0: text]");
    assert_eq!(keeper.values(), [whole]);
}

proptest! {
    #[test]
    fn looking_twice_changes_nothing_and_what_was_not_found_stays(
        before in "[ -~äß密\\n]{0,40}", after in "[ -~äß密\\n]{0,40}",
        value in "[A-Za-z0-9!&%#]{8,20}", noun in prop::sample::select(vec!["password: ", "the password is ", "TOKEN=", "pwd = "]),
    ) {
        let whole = format!("{before} {noun}{value} {after}");
        let found = findings(&whole);
        let mut keeper = Numbered::default();
        let once = keeper.looked(Draft { ..Draft::new(whole.clone()) }).content;
        // Put back, it is the text that it was: nothing else of it was touched.
        let mut back = once.clone();
        for (span, place) in places(&once).into_iter().rev() {
            let at: usize = place.name.as_ref().and_then(|name| name.as_str()[1..].parse().ok()).unwrap_or(usize::MAX);
            // A place that somebody typed is no place of ours.
            if let Some((_, value)) = keeper.0.get(at) {
                back.replace_range(span, value);
            }
        }
        prop_assert_eq!(&back, &whole);
        prop_assert_eq!(found.is_empty(), once == whole);
        let kept = keeper.0.len();
        let twice = keeper.looked(Draft::new(once.clone())).content;
        prop_assert_eq!((twice, keeper.0.len()), (once, kept));
    }
}

#[test]
fn a_text_that_is_full_keeps_no_credential_and_a_project_is_not_called_by_one() {
    let said = format!("The password is {PASSWORD}. ");
    let full = said.clone() + &"ü".repeat((crate::domain::MAX_CONTENT_BYTES - said.len()) / 2);
    let content = crate::domain::Content::try_from(full).unwrap();
    let edit = crate::sync::Edit { content: Some(content), ..crate::sync::Edit::default() };
    let mut keeper = Numbered::default();
    let edit = keeper.looked(edit);
    let text = edit.content.unwrap();
    assert!(text.as_str().starts_with("The password is [secret s0: password]. ü") && !text.as_str().contains(PASSWORD));
    let scope = format!("the project whose password is {PASSWORD}").parse().unwrap();
    let draft = keeper.looked(Draft { scope, ..Draft::new("Plain") });
    assert!(!draft.scope.as_str().contains(PASSWORD), "{}", draft.scope);
}
