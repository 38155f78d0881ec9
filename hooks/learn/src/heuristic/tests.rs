//! What the free judge takes for a lesson, and what it leaves.

use super::*;

fn learned(text: &str) -> Vec<(ExtractedKind, String)> {
    sentences(text).iter().filter_map(|sentence| lesson(sentence)).map(|lesson| (lesson.kind, lesson.content)).collect()
}

#[test]
fn lasting_statements_are_lessons() {
    use ExtractedKind::{Correction, Decision, Fact, Preference};
    for (said, kind, content) in [
        ("I prefer Svelte over React.", Preference, "I prefer Svelte over React."),
        ("btw, I really prefer tabs", Preference, "I really prefer tabs"),
        ("Please always run the tests before committing!", Preference, "Always run the tests before committing!"),
        ("never force-push to main", Preference, "Never force-push to main"),
        ("Don't use mocks in our tests", Preference, "Don't use mocks in our tests"),
        ("Use British spelling from now on", Preference, "Use British spelling from now on"),
        ("My preferred editor is Helix", Preference, "My preferred editor is Helix"),
        ("I'm a backend engineer", Preference, "I'm a backend engineer"),
        ("remember that I prefer dark themes", Preference, "I prefer dark themes"),
        ("Remember: the staging server is called heron", Fact, "The staging server is called heron"),
        ("We decided to store amounts in cents", Decision, "We decided to store amounts in cents"),
        ("let's go with PostgreSQL for the ledger", Decision, "Let's go with PostgreSQL for the ledger"),
        (
            "In this project we write commit messages in English",
            Decision,
            "In this project we write commit messages in English",
        ),
        (
            "No, the API listens on port 8490, it is not 8480",
            Correction,
            "No, the API listens on port 8490, it is not 8480",
        ),
        ("use pnpm, not npm", Correction, "Use pnpm, not npm"),
        (
            "The root cause was a missing index on ledger_id",
            Correction,
            "The root cause was a missing index on ledger_id",
        ),
        ("The issue was a stale lock file", Correction, "The issue was a stale lock file"),
        (
            "the problem was that the proxy strips the header",
            Correction,
            "The problem was that the proxy strips the header",
        ),
    ] {
        assert_eq!(learned(said), [(kind, content.to_owned())], "{said}");
    }
}

#[test]
fn tasks_questions_and_passing_remarks_are_not() {
    for said in [
        "I want to add a login page",
        "I'd like to see the diff",
        "Do you prefer tabs?",
        "Should we always run the tests?",
        "if I prefer tabs, what happens?",
        "I like it",
        "I love this!",
        "I like that approach a lot",
        "use port 9000 for now",
        "For this file always use tabs today",
        "Can you remember where we stopped?",
        "Actually, let me check",
        "no, try again",
        "that's wrong",
        "ok thanks, looks good",
        "The tests fail again",
        "The issue was closed this morning by the bot",
        "the problem was assigned to Dana",
        "We need to fix the login page",
        "Write a function that never returns null",
        "my password is hunter22 always use it",
    ] {
        assert_eq!(learned(said), [], "{said}");
    }
}

#[test]
fn few_remarks_are_passing() {
    let passing =
        |said: &str| sentences(said).iter().filter_map(|sentence| lesson(sentence)).any(|one| is_passing(&one));
    for said in [
        "Remember that I'm working from home today",
        "remember I am on call this week",
        "Keep in mind that my laptop is at the repair shop right now",
    ] {
        assert!(passing(said), "{said}");
    }
    for said in [
        "Remember that the staging server is called heron",
        "Remember that the release goes out tomorrow",
        "Remember that I prefer short answers today",
        "Remember: we decided this week to store amounts in cents",
        "remember that my laptop runs Debian",
        "remember that I always deploy this week's build by hand",
    ] {
        assert!(!passing(said), "{said}");
    }
}

#[test]
fn a_change_names_what_it_replaces() {
    let replaced = |said: &str| lesson(said).and_then(|lesson| lesson.replaces);
    assert_eq!(replaced("I prefer React now instead of Svelte").as_deref(), Some("Svelte"));
    assert_eq!(replaced("We switched from npm to pnpm").as_deref(), Some("npm to"));
    assert_eq!(replaced("Actually, the API now listens on port 8490").as_deref(), Some(""));
    assert_eq!(replaced("I prefer tabs"), None);
}

#[test]
fn what_is_taken_back_is_not_kept() {
    assert_eq!(taken_back("forget that"), Retraction::TheLast);
    assert_eq!(taken_back("hm, please forget what I just said."), Retraction::TheLast);
    assert_eq!(taken_back("forget what I said please"), Retraction::TheLast);
    assert_eq!(taken_back("Forget what I said.\nNow run the tests"), Retraction::TheLast);
    assert_eq!(taken_back("forget what I said about plotly, I want matplotlib again"), Retraction::Nothing);
    assert_eq!(taken_back("I prefer tabs. No, forget that."), Retraction::ThisTurn);
    assert_eq!(taken_back("I prefer tabs, but don't remember this"), Retraction::ThisTurn);
    assert_eq!(taken_back("don't forget that we deploy on Fridays"), Retraction::Nothing);
    assert_eq!(taken_back("how do I make git forget a file?"), Retraction::Nothing);
}
