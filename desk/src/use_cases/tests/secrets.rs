//! Secrets at the desk: noted with who asked, read again from a file, refused where the person says so.

use tessera_engine::domain::Origin;
use tessera_engine::store::{SecretMode, SecretRef, SecretRules, StoreConfig, StoreError, Usage};
use tessera_engine::{Store, score::Weights};

use super::{World, id, model_in, person};
use crate::Desk;
use crate::use_cases::{ForgetSecret, ImportNotes, ListSecrets, NoteFile, Remember, Reveal, SecretUses, described};

const SAID: &str = "the staging password is hunter2!X9";

#[test]
fn who_asked_is_noted_with_session_and_client() {
    let mut world = World::new();
    let stored = world.says(&person(), SAID);
    let name = stored.aside[0].name.as_ref().unwrap().to_string();
    let model = model_in(&world.path("nowhere"));
    for which in [SecretRef::Name(name.clone()), SecretRef::Memory(id(1))] {
        let revealed = world.perform(&model, Reveal { which }).unwrap();
        assert_eq!(revealed.content.as_str(), SAID);
    }
    let uses = world.perform(&person(), SecretUses { name: Some(name.clone()) }).unwrap();
    let who = (Origin::Agent.to_string(), Some("s1".to_owned()), Some("client 1".to_owned()));
    assert!(
        uses.len() == 2 && uses.iter().all(|one| (one.origin.clone(), one.session.clone(), one.client.clone()) == who)
    );
    let listed = world.perform(&person(), ListSecrets { of: Some(id(1)) }).unwrap();
    assert!(listed.secrets.len() == 1 && listed.key.is_some());
    assert_eq!(world.perform(&person(), ForgetSecret { which: SecretRef::Name(name) }).unwrap().len(), 1);
    assert!(world.perform(&person(), ListSecrets { of: None }).unwrap().secrets.is_empty());
    let gone = world.perform(&model, Reveal { which: SecretRef::Memory(id(1)) });
    assert!(matches!(gone, Err(StoreError::ValueElsewhere { .. })), "{gone:?}");
}

#[test]
fn a_file_that_is_read_again_is_known_by_its_credentials_too() {
    let mut world = World::new();
    let text = format!("- {SAID}\n- Deploys run on Tuesdays\n");
    let import = ImportNotes {
        files: vec![NoteFile { name: "CLAUDE.md".into(), text }],
        scope: "acme/ledger".parse().unwrap(),
        is_mine: true,
    };
    let first = world.perform(&person(), import.clone()).unwrap();
    assert_eq!((first.stored, first.skipped, first.aside), (2, 0, 1));
    let again = world.perform(&person(), import).unwrap();
    assert_eq!((again.stored, again.skipped, again.rejected.len()), (0, 2, 0));
}

#[test]
fn an_unconfirmed_file_with_a_credential_is_stored_once_and_can_be_confirmed_later() {
    let mut world = World::new();
    let text = format!("- {SAID}\n- Deploys run on Tuesdays\n");
    let import = |is_mine| ImportNotes {
        files: vec![NoteFile { name: "CLAUDE.md".into(), text: text.clone() }],
        scope: "acme/ledger".parse().unwrap(),
        is_mine,
    };
    assert_eq!(world.perform(&person(), import(false)).unwrap().stored, 2);
    let again = world.perform(&person(), import(false)).unwrap();
    assert_eq!((again.stored, again.skipped, again.owner_trust), (0, 2, 0));
    let confirmed = world.perform(&person(), import(true)).unwrap();
    assert_eq!((confirmed.stored, confirmed.skipped, confirmed.owner_trust), (0, 2, 2));
    let again = world.perform(&person(), import(true)).unwrap();
    assert_eq!((again.stored, again.skipped, again.owner_trust), (0, 2, 0));
}

#[test]
fn a_person_who_wants_none_kept_is_told_which_note_was_refused() {
    let dir = tempfile::tempdir().unwrap();
    let secrets = SecretRules { mode: SecretMode::Refuse, ..SecretRules::default() };
    let clock = std::sync::Arc::new(tessera_engine::domain::FixedClock(super::NOW.parse().unwrap()));
    let (home, weights) = (dir.path().join("home").into(), Weights::default());
    let config = StoreConfig { home, clock, weights, usage: Usage::Write, embedding: false, secrets };
    let mut store = Store::open(config).unwrap();
    let person = person();
    let mut desk = Desk::new(&mut store, &person);
    let text = format!("- {SAID}\n- Deploys run on Tuesdays\n");
    let done = desk
        .perform(ImportNotes {
            files: vec![NoteFile { name: "CLAUDE.md".into(), text }],
            scope: "acme/ledger".parse().unwrap(),
            is_mine: true,
        })
        .unwrap();
    assert_eq!((done.stored, done.rejected.len()), (1, 1));
    assert!(!done.rejected[0].contains("hunter2") && done.rejected[0].contains("refuse"), "{:?}", done.rejected);
    let sensitive = Some(described(Some(" Door code ".into()), None));
    assert_eq!(sensitive.as_deref(), Some("Door code"));
    let refused = desk.perform(Remember { content: "4411".into(), sensitive, ..Remember::default() });
    assert!(matches!(refused, Err(StoreError::Credential { .. })), "{refused:?}");
}
