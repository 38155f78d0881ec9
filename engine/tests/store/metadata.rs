//! Metadata are kept, restored and exported.

use tessera_engine::domain::{Draft, Metadata, Patch};
use tessera_engine::store::{Actor, ImportAs};

use crate::support::{Home, named, recalled};

/// After the end of 4.
const THEN: &str = "2026-11-22T09:00:00Z";

fn kept(json: &str) -> Metadata {
    json.parse().unwrap()
}

#[test]
fn metadata_are_kept_screened_restored_and_exported() {
    let home = Home::with("every-kind.db");
    let mut store = home.open(THEN);
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let given = Some(kept(&format!(r#"{{"ticket":"A-1","deep":[{{"{token}":"{token}"}}]}}"#)));
    let patch = Patch { metadata: given, ..Patch::default() };
    let actor = Actor::default();
    let stored = store.update(named(1), &patch, &actor).unwrap().memory;
    let told = stored.metadata.as_ref().unwrap().to_string();
    assert!(told.contains("A-1") && told.contains("[secret ") && !told.contains(&token), "{told}");
    // What it says and costs is as it was: metadata are found by nobody.
    assert!(recalled(&mut store, "A-1 ticket").is_empty());
    let other = Patch { metadata: Some(kept("{}")), ..Patch::default() };
    let emptied = store.update(named(1), &other, &actor).unwrap().memory;
    assert!(emptied.metadata.as_ref().is_some_and(Metadata::is_empty));
    let rev = store.history(named(1)).unwrap()[0].rev;
    let back = store.restore(named(1), Some(rev), &actor).unwrap().memory;
    assert_eq!(back.metadata, stored.metadata);
    // That there were none before is said, for silence takes nothing away on another machine.
    let given = store.history(named(1)).unwrap()[2].rev;
    let before = store.restore(named(1), Some(given), &actor).unwrap().memory;
    assert!(before.metadata.is_some_and(|kept| kept.is_empty()));
    let again =
        Draft { metadata: Some(kept(r#"{"n":2}"#)), ..Draft::new("Metadata come with a text that is said again") };
    store.remember(Draft::new("Metadata come with a text that is said again")).unwrap();
    let again = store.remember(again).unwrap();
    assert!(again.existed && again.memory.metadata == Some(kept(r#"{"n":2}"#)));

    let mut lines = Vec::new();
    store.export(&mut lines).unwrap();
    let to = Home::new();
    let mut other = to.open(THEN);
    other.import(&mut lines.as_slice(), ImportAs::Own, |_| {}).unwrap();
    let same = other.get(tessera_engine::domain::MemoryRef::Id(again.memory.id)).unwrap().unwrap();
    assert_eq!(same.metadata, again.memory.metadata);
}
