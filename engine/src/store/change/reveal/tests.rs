//! Who is given back what, and who is not.

use super::*;
use crate::domain::{Draft, Origin, Patch};
use crate::store::base::config::{SecretMode, SecretRules};
use crate::store::base::secrets::Secrets;
use crate::store::open::in_memory::{InMemory, named};
use zeroize::Zeroizing;

const SAID: &str = "the staging password is hunter2!X9";

fn asker() -> Actor {
    Actor { origin: Origin::Agent, session: Some("s1".into()), client: Some("client 1".into()), ..Actor::default() }
}

/// The name of the only place in a text.
fn name_in(memory: &Memory) -> String {
    places(&memory.content)[0].1.name.as_ref().unwrap().to_string()
}

fn shown(store: &mut InMemory, which: &str) -> Result<String, StoreError> {
    let revealed = store.reveal(&which.parse().unwrap(), &asker())?;
    let values = revealed.secrets.iter().map(|secret| secret.value.as_ref().map_or("-", |value| value.as_str()));
    Ok(values.collect::<Vec<_>>().join(" "))
}

fn with(rules: SecretRules) -> InMemory {
    let mut store = InMemory::new();
    let secrets = Secrets::of(rules, store.home());
    store.secrets = secrets;
    store
}

#[test]
fn a_value_is_given_back_by_name_by_its_beginning_and_by_memory_and_each_time_noted() {
    let mut store = InMemory::new();
    let stored = store.remember(Draft::new(SAID)).unwrap();
    let name = name_in(&stored.memory);
    assert_eq!(stored.aside.len(), 1);
    assert_eq!(stored.aside[0].name.as_ref().unwrap().as_str(), name);
    assert!(!stored.memory.content.contains("hunter2"));
    for which in [name.clone(), name[..3].to_owned(), stored.aside[0].to_string(), "1".into(), "#1".into()] {
        assert_eq!(shown(&mut store, &which).unwrap(), "hunter2!X9", "{which}");
    }
    let revealed = store.reveal(&"#1".parse().unwrap(), &asker()).unwrap();
    assert_eq!(revealed.content.as_str(), SAID);
    let uses = store.secret_uses(Some(&name)).unwrap();
    assert_eq!(uses.len(), 6);
    assert!(uses.iter().all(|used| used.what == "shown" && used.client.as_deref() == Some("client 1")));
    assert!(store.secret_uses(Some("sx!")).unwrap().is_empty());
}

#[test]
fn unknown_and_forbidden_look_the_same_and_neither_is_noted() {
    let mut store = InMemory::new();
    let theirs = store.said(SAID);
    let name = name_in(&theirs);
    store.run("UPDATE memories SET shared_by = 'bob', share_permission = 'read'");
    let told =
        |error: StoreError| error.to_string().replace(&name, "NAME").replace("s0000", "NAME").replace("#9", "#1");
    let forbidden = told(shown(&mut store, &name).unwrap_err());
    assert_eq!(forbidden, told(shown(&mut store, "s0000").unwrap_err()));
    assert_eq!(told(shown(&mut store, "1").unwrap_err()), told(shown(&mut store, "9").unwrap_err()));
    assert!(matches!(store.forget_secrets(&name.parse().unwrap(), &asker()), Err(StoreError::NoSecret { .. })));
    assert_eq!(store.one::<u32>("SELECT count(*) FROM secret_uses"), 0);
}

#[test]
fn what_cannot_be_noted_is_not_given() {
    let mut store = InMemory::new();
    let name = name_in(&store.said(SAID));
    store.run("DROP TABLE secret_uses; CREATE TABLE secret_uses (n INTEGER PRIMARY KEY) STRICT");
    assert!(shown(&mut store, &name).is_err());
    assert!(shown(&mut store, "1").is_err());
}

#[test]
fn a_deleted_memory_gives_back_a_purged_one_does_not_and_an_earlier_text_finds_its_own() {
    let mut store = InMemory::new();
    let memory = store.said(SAID);
    let name = name_in(&memory);
    let text = Patch { content: Some("The staging password is in the safe".into()), ..Patch::default() };
    store.update(named(&memory), &text, &asker()).unwrap();
    assert_eq!(shown(&mut store, "1").unwrap(), "hunter2!X9", "what only an earlier text names");
    let before = store.history(named(&memory)).unwrap()[0].rev;
    let restored = store.restore(named(&memory), Some(before), &asker()).unwrap();
    assert_eq!((restored.memory.content.clone(), restored.aside.len()), (memory.content.clone(), 1));
    store.forget(&[named(&memory)], Erase::Soft, &asker()).unwrap();
    assert_eq!(shown(&mut store, &name).unwrap(), "hunter2!X9");
    store.forget(&[named(&memory)], Erase::Hard, &asker()).unwrap();
    for which in [name.as_str(), "1"] {
        assert!(matches!(shown(&mut store, which), Err(StoreError::NoSecret { .. })), "{which}");
    }
    assert_eq!(store.one::<u32>("SELECT (SELECT count(*) FROM secrets) + (SELECT count(*) FROM secret_uses)"), 0);
}

#[test]
fn what_is_forgotten_is_gone_and_its_place_says_so() {
    let mut store = InMemory::new();
    let memory = store.said(SAID);
    let name = name_in(&memory);
    assert_eq!(store.forget_secrets(&name.parse().unwrap(), &asker()).unwrap().len(), 1);
    assert_eq!(store.now_of(&memory).content, memory.content);
    for which in [name.as_str(), "1"] {
        let told = shown(&mut store, which).unwrap_err().to_string();
        assert!(told.contains("deleted on 2026-11-20"), "{told}");
    }
    assert_eq!(store.secret_uses(None).unwrap()[0].what, "forgotten");
    let again = store.remember(Draft { scope: "a/b".parse().unwrap(), ..Draft::new(SAID) }).unwrap().memory;
    assert_ne!(name_in(&again), name);
}

#[test]
fn the_same_value_has_one_name_and_names_that_begin_alike_are_told_apart() {
    let mut store = InMemory::new();
    let first = store.said(SAID);
    assert!(store.remember(Draft::new(SAID)).unwrap().existed, "the same text is said again");
    let other = store.said("prod has it too: password is hunter2!X9");
    assert_eq!(name_in(&first), name_in(&other));
    assert_eq!(shown(&mut store, &name_in(&first)).unwrap(), "hunter2!X9");
    let third = store.said("the vpn password is Tr0ub4dor&3xy");
    let told = shown(&mut store, "s").unwrap_err().to_string();
    assert!(told.contains(&name_in(&third)) && told.contains(" of #3") && told.contains(" of #1"), "{told}");
    assert_eq!(shown(&mut store, &name_in(&third)).unwrap(), "Tr0ub4dor&3xy");
}

#[test]
fn a_place_whose_value_never_was_here_says_so() {
    let mut store = InMemory::new();
    store.said("The proxy wants [secret szzzzz: password] at login");
    for which in ["szzzzz", "szz", "1"] {
        let told = shown(&mut store, which).unwrap_err().to_string();
        assert!(told.contains("szzzzz") && told.contains("another device"), "{which}: {told}");
    }
    assert!("[secret dropped: password]".parse::<SecretRef>().is_err());
    assert!("hunter2!".parse::<SecretRef>().is_err());
}

#[test]
fn a_text_that_is_one_secret_is_kept_whole_and_nothing_of_it_is_read_off() {
    let mut store = InMemory::new();
    let draft =
        Draft { sensitive: Some("Door code of the lab".into()), ..Draft::new("Kestrel nine, then 4411 at Ravenna") };
    let stored = store.remember(draft).unwrap();
    let content = stored.memory.content.clone();
    assert!(content.starts_with("Door code of the lab: [secret s") && stored.aside.len() == 1, "{content}");
    assert_eq!(shown(&mut store, "1").unwrap(), "Kestrel nine, then 4411 at Ravenna");
    assert!(store.recalled("Kestrel at Ravenna").is_empty());
    assert_eq!(store.recalled("what is the door code of the lab?"), [content]);
    for column in ["content", "summary", "entities", "keywords", "forward"] {
        let of = |word: &str| word.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
        let found: Option<String> = store.one(&format!("SELECT hex({column}) FROM memories"));
        let found = found.unwrap_or_default();
        assert!(!found.contains(&of("ravenna")) && !found.contains(&of("Ravenna")), "{column}");
    }
    let patch = Patch { content: Some("Kestrel ten".into()), sensitive: Some("Door code".into()), ..Patch::default() };
    let changed = store.update(MemoryRef::Id(stored.memory.id), &patch, &asker()).unwrap();
    assert_eq!(changed.aside.len(), 1);
    assert!(shown(&mut store, &changed.aside[0].to_string()).unwrap() == "Kestrel ten");
}

#[test]
fn dropped_is_dropped_and_refused_is_refused() {
    let mut store = with(SecretRules { mode: SecretMode::Drop, ..SecretRules::default() });
    let stored = store.remember(Draft::new(SAID)).unwrap();
    assert_eq!(stored.memory.content, "the staging password is [secret dropped: password]");
    assert!(stored.aside[0].name.is_none() && matches!(shown(&mut store, "1"), Err(StoreError::NoSecret { .. })));
    assert!(!store.home().secret_key().exists(), "nothing was sealed: there is no key");
    let mut store = with(SecretRules { mode: SecretMode::Refuse, ..SecretRules::default() });
    let refused = store.remember(Draft::new(SAID)).unwrap_err();
    assert!(matches!(refused, StoreError::Credential { .. }) && !refused.to_string().contains("hunter2"), "{refused}");
    assert_eq!(store.one::<u32>("SELECT count(*) FROM memories"), 0);
}

#[test]
fn without_its_key_nothing_opens_and_the_error_says_which_is_missing() {
    let given = |text: &str| SecretRules { given: vec![Zeroizing::new(text.to_owned())], ..SecretRules::default() };
    let mut store = with(given("correct horse"));
    let name = name_in(&store.said(SAID));
    assert_eq!(shown(&mut store, &name).unwrap(), "hunter2!X9");
    assert!(!store.home().secret_key().exists(), "a key that is given is kept nowhere");
    let key = store.one::<String>("SELECT value FROM meta WHERE key = 'secret_key'");
    store.secrets = Secrets::of(SecretRules::default(), store.home());
    let told = shown(&mut store, &name).unwrap_err().to_string();
    assert!(told.contains(&key) && told.contains("secret.key") && !told.contains("hunter2"), "{told}");
    store.secrets = Secrets::of(given("another"), store.home());
    let told = shown(&mut store, &name).unwrap_err().to_string();
    assert!(told.contains(&key) && !told.contains("another "), "{told}");
    assert!(
        !store.said("the vpn password is Tr0ub4dor&3xy").content.contains("Tr0"),
        "what is new is sealed with the key at hand"
    );
    let both = ["another", "correct horse"].map(|text| Zeroizing::new(text.to_owned()));
    store.secrets = Secrets::of(SecretRules { given: both.into(), ..SecretRules::default() }, store.home());
    assert_eq!(
        (shown(&mut store, "1").unwrap(), shown(&mut store, "2").unwrap()),
        ("hunter2!X9".into(), "Tr0ub4dor&3xy".into())
    );
}
