//! Which memory replaces another: never one that nobody vouched for, one that is over, or one that was forgotten.

use tessera_engine::Store;
use tessera_engine::domain::{Draft, Link, LinkKind, Memory, Patch, RecallRequest, Trust};
use tessera_engine::store::{Actor, Erase, ImportAs};

use crate::support::{Home, at, named, recalled, store};

const NOW: &str = "2026-11-20";
const QUESTION: &str = "which city is the office in?";

/// Stores a text, in place of an earlier one where one is given.
fn say(store: &mut Store, text: &str, old: Option<&Memory>, expires: Option<&str>) -> Memory {
    let links = old.map(|old| Link { kind: LinkKind::Supersedes, to: old.id }).into_iter().collect();
    store.remember(Draft { links, expires: expires.map(at), ..Draft::new(text) }).unwrap().memory
}

fn session_summary(store: &mut Store) -> Vec<String> {
    let told = store.session_summary(&RecallRequest::new("")).unwrap();
    told.into_iter().flat_map(|recall| recall.details).map(|detail| detail.memory.content).collect()
}

fn import(store: &mut Store, key: &str, text: &str, old: &Memory, whose: ImportAs) {
    let line = format!(r#"{{"content":"{text}","key":"{key}","links":[{{"type":"supersedes","to":"{}"}}]}}"#, old.id);
    let report = store.import(&mut line.as_bytes(), whose, |_| {}).unwrap();
    assert_eq!(report.rejected, []);
}

#[test]
fn what_nobody_vouched_for_replaces_only_its_like() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let own = store(&mut opened, "The office is in the city of Paris");
    import(&mut opened, "a", "The office is in the city of Rome", &own, ImportAs::Foreign);
    assert!(opened.is_current(own.short_id).unwrap());
    let said = recalled(&mut opened, QUESTION);
    assert!(said.contains(&own.content) && said.len() == 2, "{said:?}");
    let foreign = opened.get(named(2)).unwrap().unwrap();
    assert_eq!(foreign.links.len(), 1, "the link is kept");
    import(&mut opened, "b", "The office is in the city of Oslo", &foreign, ImportAs::Foreign);
    let mut said = recalled(&mut opened, QUESTION);
    said.sort();
    assert_eq!(said, ["The office is in the city of Oslo", "The office is in the city of Paris"]);
}

#[test]
fn what_the_person_vouches_for_replaces_from_then_on() {
    let vouch = |opened: &mut Store, trust: Trust| {
        let patch = Patch { owner_trust: Some(trust), ..Patch::default() };
        opened.update(named(2), &patch, &Actor::default()).unwrap();
    };
    let home = Home::new();
    let mut opened = home.open(NOW);
    let own = store(&mut opened, "The office is in the city of Paris");
    import(&mut opened, "a", "The office is in the city of Rome", &own, ImportAs::Foreign);
    vouch(&mut opened, Trust::User);
    assert_eq!(recalled(&mut opened, QUESTION), ["The office is in the city of Rome"]);
    vouch(&mut opened, Trust::Foreign);
    assert!(opened.is_current(own.short_id).unwrap(), "the word is taken back");
    import(&mut opened, "a", "The office is in the city of Rome", &own, ImportAs::Own);
    assert_eq!(recalled(&mut opened, QUESTION), ["The office is in the city of Rome"]);
}

#[test]
fn what_is_over_replaces_nothing() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let paris = say(&mut opened, "User prefers the office in the city of Paris", None, None);
    let rome = say(&mut opened, "User prefers the office in the city of Rome", Some(&paris), Some("2026-11-22"));
    assert_eq!(recalled(&mut opened, QUESTION), [rome.content.as_str()]);
    assert_eq!(session_summary(&mut opened), [rome.content.as_str()]);
    // The clock of this machine ends it, and nothing is written.
    let mut later = home.open("2026-12-01");
    assert_eq!(recalled(&mut later, QUESTION), [paris.content.as_str()]);
    assert_eq!(session_summary(&mut later), [paris.content.as_str()]);
    assert!(later.is_current(paris.short_id).unwrap() && !later.is_current(rome.short_id).unwrap());
    // What a filter leaves out is there all the same, and replaces.
    let mut request = RecallRequest::new(QUESTION);
    request.exclude = [rome.short_id].into();
    assert_eq!(opened.recall(&request).unwrap().total_count, 0);
}

#[test]
fn a_chain_is_followed_to_the_last_that_is_not_over() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let paris = say(&mut opened, "User prefers the office in the city of Paris", None, None);
    let rome = say(&mut opened, "User prefers the office in the city of Rome", Some(&paris), Some("2026-11-22"));
    let oslo = say(&mut opened, "User prefers the office in the city of Oslo", Some(&rome), Some("2026-12-24"));
    for (now, text) in [("2026-11-21", &oslo), ("2026-12-01", &oslo), ("2027-01-01", &paris)] {
        let mut then = home.open(now);
        assert_eq!(recalled(&mut then, QUESTION), [text.content.as_str()], "{now}");
        assert_eq!(session_summary(&mut then), [text.content.as_str()], "{now}");
    }
    let bonn = say(&mut opened, "User prefers the office in the city of Bonn", Some(&paris), None);
    let kiel = say(&mut opened, "User prefers the office in the city of Kiel", Some(&bonn), Some("2026-11-22"));
    assert_eq!(recalled(&mut opened, QUESTION), [kiel.content.as_str(), oslo.content.as_str()]);
    let mut later = home.open("2027-01-01");
    assert_eq!(recalled(&mut later, QUESTION), [bonn.content.as_str()], "once, for all that lead to it");
}

#[test]
fn when_the_newest_of_several_is_forgotten_another_replaces() {
    let home = Home::new();
    let mut opened = home.open(NOW);
    let paris = store(&mut opened, "The office is in the city of Paris");
    let rome = say(&mut opened, "The office is in the city of Rome", Some(&paris), None);
    say(&mut opened, "The office is in the city of Oslo", Some(&paris), None);
    let actor = Actor::default();
    opened.forget(&[named(3)], Erase::Soft, &actor).unwrap();
    assert_eq!(recalled(&mut opened, QUESTION), [rome.content.as_str()]);
    assert!(!opened.is_current(paris.short_id).unwrap());
    opened.forget(&[named(2)], Erase::Soft, &actor).unwrap();
    assert_eq!(recalled(&mut opened, QUESTION), [paris.content.as_str()]);
    assert!(opened.is_current(paris.short_id).unwrap());
    opened.restore(named(2), None, &actor).unwrap();
    assert_eq!(recalled(&mut opened, QUESTION), [rome.content.as_str()]);
    assert!(!opened.is_current(paris.short_id).unwrap());
}
