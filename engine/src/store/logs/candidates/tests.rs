//! Tests of the review queue.

use super::*;
use crate::domain::Draft;
use crate::store::Erase;
use crate::store::base::config::Actor;
use crate::store::open::in_memory::{InMemory, named};

fn line(content: &str) -> Candidate {
    Candidate::new(content, Scope::Global, "2026-11-20".parse().unwrap())
}

fn texts(store: &InMemory) -> Vec<String> {
    store.candidates().unwrap().into_iter().map(|line| line.candidate.content).collect()
}

#[test]
fn a_line_waits_once_until_a_memory_accepts_it() {
    let mut store = InMemory::new();
    let id = store.propose(&line("We deploy on Fridays")).unwrap().unwrap();
    assert_eq!(store.propose(&line("we  deploy on Fridays.")).unwrap(), None);
    let elsewhere = Candidate { scope: Scope::Project("a/one".into()), ..line("We deploy on Fridays") };
    assert_ne!(store.propose(&elsewhere).unwrap(), Some(id.clone()), "each project has its own lines");
    assert_eq!(store.candidate(&id).unwrap(), line("We deploy on Fridays"));
    assert_eq!(store.count_candidates().unwrap(), 2);
    let draft = || Draft { accepts: Some(id.clone()), ..Draft::new("We deploy on Mondays") };
    store.remember(draft()).unwrap();
    let problem = store.remember(draft()).unwrap_err().to_string();
    assert!(problem.contains("tessera review"), "{problem}");
    assert_eq!(store.one::<u32>("SELECT count(*) FROM memories"), 1, "nothing is stored for a line that is gone");
    assert_eq!(store.count_candidates().unwrap(), 1);
}

#[test]
fn a_dropped_line_leaves_only_a_digest_and_is_not_proposed_again() {
    let mut store = InMemory::new();
    let id = store.propose(&line("The intern is slow")).unwrap().unwrap();
    store.drop_candidate(&id).unwrap();
    assert!(store.drop_candidate(&id).is_err());
    assert_eq!(store.propose(&line("the intern is SLOW!")).unwrap(), None);
    assert_eq!(store.count_candidates().unwrap(), 0);
    assert!(store.was_dropped(&Scope::Global, "The intern is slow").unwrap());
    assert_eq!(store.one::<Vec<u8>>("SELECT digest FROM reviewed").len(), 16);
    assert!(store.propose(&line("The intern is fast")).unwrap().is_some());
    store.allow_candidate(&Scope::Global, "the intern is slow").unwrap();
    assert!(store.propose(&line("The intern is slow")).unwrap().is_some());
}

#[test]
fn a_line_is_dropped_by_its_id_even_if_its_text_was_redacted() {
    let mut store = InMemory::new();
    let id = store.propose(&line("The intern is slow")).unwrap().unwrap();
    store.run("UPDATE candidates SET candidate = replace(candidate, 'intern', '[secret]')");
    store.drop_candidate(&id).unwrap();
    assert_eq!(store.one::<u32>("SELECT count(*) FROM candidates"), 0);
    assert_eq!(store.propose(&line("The intern is slow")).unwrap(), None);
}

#[test]
fn decisions_about_memories_do_not_depend_on_their_order() {
    let mut store = InMemory::new();
    let [one, other] = ["a", "b"].map(MemoryUuid::from_key);
    store.decline(Declined::Pair(one, other)).unwrap();
    assert!(store.is_declined(Declined::Pair(other, one)).unwrap());
    assert!(!store.is_declined(Declined::Unused(one)).unwrap());
}

#[test]
fn a_secret_never_waits() {
    let mut store = InMemory::new();
    let token = format!("use ghp_{}", "a1B2".repeat(9));
    for secret in ["the password for staging is hunter2!X9", &token] {
        assert_eq!(store.propose(&line(secret)).unwrap(), None, "{secret}");
    }
    let keywords = vec!["deploy".to_owned(), token];
    store.propose(&Candidate { keywords, ..line("We deploy on Fridays") }).unwrap();
    assert_eq!(store.candidates().unwrap()[0].candidate.keywords, ["deploy"]);
}

#[test]
fn old_and_expired_lines_and_the_oldest_of_too_many_are_deleted() {
    let mut store = InMemory::new();
    store.propose(&line("An old rule")).unwrap();
    let expires = Some(store.now().plus_days(30));
    store.propose(&Candidate { expires, ..line("I am in Oslo") }).unwrap();
    store.pass_days(30);
    assert_eq!(texts(&store), ["An old rule"]);
    let again = store.propose(&line("I am in Oslo")).unwrap();
    assert!(again.is_some(), "an expired line does not hide a new one");
    store.retract(|line| line.content.contains("Oslo")).unwrap();
    store.pass_days(DAYS_WAITING - 30);
    assert_eq!(texts(&store), [""; 0]);
    store.propose(&line("A new rule")).unwrap();
    assert_eq!(store.one::<u32>("SELECT count(*) FROM candidates"), 1);
    store.run(
        "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)
         INSERT INTO candidates (digest, at, candidate, embedding)
         SELECT randomblob(16), (SELECT at FROM candidates) + i, '{\"unknown\":1}', x'' FROM n",
    );
    store.pass_days(1);
    store.propose(&line("The newest rule")).unwrap();
    assert_eq!(store.one::<u32>("SELECT count(*) FROM candidates"), MOST_WAITING);
    assert_eq!(texts(&store), ["The newest rule"], "unreadable lines are skipped");
    store.pass_days(DAYS_WAITING);
    store.said("Any write deletes them");
    assert_eq!(store.one::<u32>("SELECT count(*) FROM candidates"), 0);
}

#[test]
fn retracted_and_stored_lines_leave_the_queue() {
    let mut store = InMemory::new();
    for text in ["One rule", "Another rule", "A third rule"] {
        store.propose(&line(text)).unwrap();
    }
    store.retract(|line| line.content.starts_with("One")).unwrap();
    for text in ["another rule", "an unknown rule"] {
        let memory = store.said(text);
        store.remove_candidate_of(&memory).unwrap();
    }
    assert_eq!(texts(&store), ["A third rule"]);
}

#[test]
fn hidden_and_permanently_deleted_texts_leave_the_queue() {
    let mut store = InMemory::new();
    let memory = store.said("The vault is behind the mill");
    let replaces = Candidate { supersedes: Some(memory.id), ..line("It moved to the tower") };
    for line in [replaces, line("No: the vault is behind the mill!"), line("The code is 8431 for all doors")] {
        store.propose(&line).unwrap();
    }
    store.write(|change| Ok(forget_those_saying(change.tx, "8431")?)).unwrap();
    store.forget(&[named(&memory)], Erase::Hard, &Actor::default()).unwrap();
    assert_eq!(texts(&store), [""; 0]);
}
