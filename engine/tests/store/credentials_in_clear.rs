//! A store with credentials in clear, as it is when the program learns to find more of them: it answers as before, keeps what it
//! holds until the user asks for a scan, and accepts no further credential.

use tessera_engine::Store;
use tessera_engine::domain::{Draft, Origin, Patch, Trust};
use tessera_engine::store::{Actor, EmbeddingCounts, ListRequest, SecretRef, UnansweredQuestion};

use crate::support::{Home, listed, named, recalled, shown};

/// After the end of 5.
const THEN: &str = "2026-11-20T11:00:00Z";
/// 3 was replaced by 4, 6 forgotten, 7 removed for good; 8 and 9 are foreign, 11 and 12 were captured, 15 had another text.
const THERE: [u32; 15] = [1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18];

#[test]
fn every_kind_of_row_is_there() {
    let home = Home::with("clear-credentials.db");
    let store = home.open(THEN);
    assert_eq!(shown(&store), THERE);
    assert_eq!(listed(&store, ListRequest { expired: true, ..ListRequest::default() }), [5]);
    assert_eq!(listed(&store, ListRequest { deleted: true, ..ListRequest::default() }), [6]);
    assert_eq!(store.get(named(7)).unwrap(), None, "removed for good");
    let memory = |number| store.get(named(number)).unwrap().unwrap();
    assert_eq!((memory(9).origin, memory(9).trust), (Origin::Import, Trust::Foreign));
    assert_eq!((memory(10).trust, memory(12).origin), (Trust::User, Origin::Conversation));
    assert_eq!(memory(2).content, "The staging password is hunter2!X9", "what is there is left as it is");
    assert_eq!(
        (memory(16).links.len(), memory(16).entities.as_slice()),
        (1, ["Ines Castellano".to_owned()].as_slice())
    );
    // An older encoder computed them.
    assert_eq!(store.embeddings().unwrap(), EmbeddingCounts { waiting: 16, ..EmbeddingCounts::default() });
    assert_eq!(store.history(named(15)).unwrap()[0].reason.as_deref(), Some("was Br1sk-Heron-31 before"));
    let asked: Vec<UnansweredQuestion> = store.unanswered_questions(None).unwrap();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert!(store.secrets(None).unwrap().is_empty() && !home.dir.path().join("t/secret.key").exists());
}

fn answers_as_it_did(store: &mut Store) {
    let answers = [
        ("which port does the booking service listen on?", "Booking service listens on port 9000"),
        ("what is the dredger called?", "The dredger is called Astrid"),
        ("which firmware does the harbour crane run?", "The harbour crane runs firmware 4.2"),
    ];
    for (question, answer) in answers {
        let found = recalled(store, question);
        assert_eq!(found.first().map(String::as_str), Some(answer), "{question}: {found:?}");
    }
}

#[test]
fn it_answers_as_it_did_and_is_good() {
    let home = Home::with("clear-credentials.db");
    let mut store = home.open(THEN);
    answers_as_it_did(&mut store);
    drop(store);
    let health = Store::examine(home.config(THEN), false).unwrap();
    assert!(health.is_good(), "{health:?}");
    answers_as_it_did(&mut home.open(THEN));
}

#[test]
fn what_is_written_from_now_on_holds_no_credential_and_an_earlier_text_loses_its_own() {
    let home = Home::with("clear-credentials.db");
    let mut store = home.open(THEN);
    let said = store.remember(Draft::new("The staging password is hunter2!X9")).unwrap();
    assert!(!said.existed && said.memory.content.starts_with("The staging password is [secret s"), "{said:?}");
    let before = store.history(named(15)).unwrap()[0].rev;
    let restored = store.restore(named(15), Some(before), &Actor::default()).unwrap();
    assert!(restored.memory.content.starts_with("The gateway password is [secret s"), "{restored:?}");
    let back = store.restore(named(6), None, &Actor::default()).unwrap().memory;
    assert!(back.content.starts_with("Ferry line seven"), "{back:?}");
    let same = store.get(named(12)).unwrap().unwrap().content;
    let patch = Patch { content: Some(same), ..Patch::default() };
    let changed = store.update(named(12), &patch, &Actor::default()).unwrap();
    assert!(changed.memory.content.contains("[secret s") && changed.aside.len() == 1, "{changed:?}");
    for (number, value) in [(15, "Br1sk-Heron-31"), (12, "Qu1ncy&Moor7"), (19, "hunter2!X9")] {
        let which: SecretRef = number.to_string().parse().unwrap();
        let revealed = store.reveal(&which, &Actor::default()).unwrap();
        assert_eq!(revealed.secrets[0].value.as_ref().unwrap().as_str(), value);
    }
}
