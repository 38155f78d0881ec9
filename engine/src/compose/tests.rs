//! What follows from what: by hand where a rule is meant, and by random edits that a composed memory is the same
//! whatever was taken over.

use std::cell::Cell;

use proptest::prelude::*;

use super::*;
use crate::domain::{
    Draft, Importance, Memory, MemoryType, Origin, Patch, Permission, Scope, Share, ShortId, Tag, Timestamp, Trust,
};
use crate::index::ForwardDoc;
use crate::pack::LineCosts;
use crate::screen::{Screened, Texts};
use crate::sync::Document;
use crate::text::{O200k, TokenCounter};

/// Counts bytes, and how often it was asked.
#[derive(Default)]
struct Asked(Cell<u32>);

impl TokenCounter for Asked {
    fn count(&self, text: &str) -> u32 {
        self.0.set(self.0.get() + 1);
        u32::try_from(text.len()).unwrap()
    }
}

fn clean<T: Texts + Clone>(said: &T) -> Screened<T> {
    Screened::clean(said.clone()).expect("nothing is found in it")
}

fn now() -> Timestamp {
    "2026-11-20T12:00:00Z".parse().unwrap()
}

fn known(composed: &Composed) -> Known {
    Known {
        memory: composed.memory().clone(),
        is_instruction: composed.is_instruction(),
        length: composed.length(),
        signature: composed.signature(),
        forward: composed.forward().to_vec(),
        embedding: composed.embedding().to_vec(),
        costs: Some(composed.costs().clone()),
    }
}

fn stored(text: &str) -> Known {
    known(&created(&clean(&Draft::new(text)), None, now(), &Asked::default()).unwrap())
}

fn with_text(text: &str) -> Patch {
    Patch { content: Some(text.into()), ..Patch::default() }
}

#[test]
fn what_a_draft_leaves_out_follows_from_its_text_and_what_it_gives_stays() {
    let derived = stored("We decided that Mara owns the Billing service").memory;
    assert_eq!((derived.category.as_str(), derived.kind), ("decisions", MemoryType::Relationship));
    assert_eq!((derived.entities, derived.trust), (vec!["Mara".to_owned(), "Billing".into()], Trust::User));
    let given = Draft {
        category: Some("facts".parse().unwrap()),
        kind: Some(MemoryType::Entity),
        importance: Some(Importance::from_percent(7)),
        entities: vec!["Harbour".into()],
        origin: Origin::Import,
        owner_trust: Some(Trust::Model),
        ..Draft::new("We decided that Mara owns the Billing service")
    };
    let kept = created(&clean(&given), None, now(), &Asked::default()).unwrap().memory().clone();
    assert_eq!((kept.category.as_str(), kept.kind, kept.importance.percent()), ("facts", MemoryType::Entity, 7));
    assert_eq!((kept.entities, kept.trust), (vec!["Harbour".to_owned()], Trust::Model));
}

#[test]
fn every_field_that_cannot_be_stored_is_named_with_what_to_do() {
    let long = "x".repeat(201);
    let tags: Vec<Tag> = (0..33).map(|n| format!("t{n}").parse().unwrap()).collect();
    for (field, draft) in [
        ("content", Draft::new(" ")),
        ("keywords", Draft { keywords: vec![long.clone()], ..Draft::new("x") }),
        ("entities", Draft { entities: vec!["a\0b".into()], ..Draft::new("x") }),
        ("session", Draft { session: Some(long.clone()), ..Draft::new("x") }),
        ("tags", Draft { tags, ..Draft::new("x") }),
    ] {
        let here = created(&clean(&draft), None, now(), &Asked::default()).unwrap_err().to_string();
        assert!(here.starts_with(&format!("{field}: ")) && here.contains("; "), "{here}");
        assert_eq!(document(&clean(&draft), now()).unwrap_err().to_string(), here);
    }
}

#[test]
fn what_was_derived_follows_a_new_text_and_what_was_set_stays() {
    let before = stored("The exporter of Falcon listens on port 8080");
    let after =
        edited(&before, &clean(&with_text("I prefer the Heron exporter, always")), now(), &Asked::default()).unwrap();
    let memory = after.memory();
    assert_eq!((&*memory.entities, memory.kind), (&["Heron".to_owned()][..], MemoryType::Fact));
    assert!(memory.importance > before.memory.importance && memory.summary.starts_with("I prefer"));
    assert!(after.is_instruction() && !before.is_instruction);
    // The kind of knowledge and its type are what it was filed under.
    assert_eq!(memory.category, before.memory.category);
    let set = Patch {
        entities: Some(vec!["Crane".into()]),
        kind: Some(MemoryType::Entity),
        importance: Some(Importance::from_percent(33)),
        ..Patch::default()
    };
    let set = known(&edited(&before, &clean(&set), now(), &Asked::default()).unwrap());
    let kept =
        edited(&set, &clean(&with_text("I prefer the Heron exporter, always")), now(), &Asked::default()).unwrap();
    let kept = kept.memory();
    assert_eq!(
        (&*kept.entities, kept.kind, kept.importance.percent()),
        (&["Crane".to_owned()][..], MemoryType::Entity, 33)
    );
}

#[test]
fn the_last_author_of_a_text_decides_how_far_it_is_believed() {
    let mut before = stored("The crane is serviced in May");
    (before.memory.edited_by, before.memory.trust) = (Some("jon".into()), Trust::Foreign);
    let own = edited(&before, &clean(&with_text("The crane is serviced in June")), now(), &Asked::default()).unwrap();
    assert_eq!((own.memory().edited_by.as_deref(), own.memory().trust), (None, Trust::User));
    let doubt = Patch { owner_trust: Some(Trust::Foreign), ..Patch::default() };
    let doubted = known(&edited(&before, &clean(&doubt), now(), &Asked::default()).unwrap());
    assert_eq!(doubted.memory.trust, Trust::Foreign);
    let again =
        edited(&doubted, &clean(&with_text("The crane is serviced in July")), now(), &Asked::default()).unwrap();
    assert_eq!((again.memory().owner_trust, again.memory().trust), (None, Trust::User));
}

#[test]
fn of_another_users_memory_the_text_alone_changes_here_and_by_a_request() {
    let before = stored("The exporter of Falcon listens on port 8080");
    let text = with_text("I prefer the Heron exporter, always");
    let share = Some(Share { by: "mara".into(), permission: Permission::Write });
    let theirs = Known { memory: Memory { share, ..before.memory.clone() }, ..before.clone() };
    let memory = edited(&theirs, &clean(&text), now(), &Asked::default()).unwrap().memory().clone();
    assert_eq!((&memory.entities, memory.kind), (&before.memory.entities, before.memory.kind));
    let base = Document::of(&before.memory).unwrap();
    let (own, shared) = (edit(&base, None, &clean(&text)).unwrap(), edit(&base, Some("mara"), &clean(&text)).unwrap());
    assert!(own.details.is_some_and(|details| details.entities == ["Heron"]) && shared.details.is_none());
    assert_eq!(own.content, shared.content);
}

#[test]
fn nothing_is_analysed_or_counted_again_that_did_not_change() {
    let counter = Asked::default();
    let before = known(&created(&clean(&Draft::new("The crane is serviced in May")), None, now(), &counter).unwrap());
    counter.0.set(0);
    // A blob as only the store can make it: with the words around a captured turn.
    let mut doc = ForwardDoc::decode(&before.forward).unwrap();
    doc.terms.entry("harbour".into()).or_default().context = 9;
    let before = Known { forward: doc.encode(), ..before };
    let lasting = Patch { expires: Some(Some(now().plus_days(3))), ..Patch::default() };
    let edited_once = edited(&before, &clean(&lasting), now(), &counter).unwrap();
    assert_eq!((edited_once.forward(), edited_once.costs()), (&*before.forward, before.costs.as_ref().unwrap()));
    let gone = deleted(&before, now(), &counter);
    assert!(gone.forward().is_empty() && gone.signature() == before.signature);
    let back = restored(&known(&gone), None, now(), &counter);
    assert!(!back.forward().is_empty() && back.memory().deleted.is_none());
    assert_eq!(counter.0.get(), 0, "no line of it has changed");
    let filed = Patch { scope: Some(Scope::Project("ledger".into())), ..Patch::default() };
    assert_ne!(edited(&before, &clean(&filed), now(), &counter).unwrap().forward(), &*before.forward);
    assert_eq!(counter.0.get(), 0, "a scope stands in no line");
    edited(&before, &clean(&with_text("The crane is serviced in June")), now(), &counter).unwrap();
    assert!(counter.0.get() > 0);
}

#[test]
fn what_another_analyzer_made_is_made_anew_and_keeps_what_else_is_in_its_blob() {
    let before = stored("The crane is serviced in May");
    let stale = Known { forward: vec![0, 1, 2], length: 9, signature: 9, ..before.clone() };
    let lasting = Patch { expires: Some(None), ..Patch::default() };
    for again in
        [reanalysed(&stale, &Asked::default()), edited(&stale, &clean(&lasting), now(), &Asked::default()).unwrap()]
    {
        assert_eq!(
            (again.forward(), again.length(), again.signature()),
            (&*before.forward, before.length, before.signature)
        );
        assert_eq!(Some(again.costs()), before.costs.as_ref());
    }
}

#[test]
fn what_is_removed_for_good_leaves_its_identity() {
    let draft = Draft { session: Some("s".into()), tags: vec!["harbour".parse().unwrap()], ..Draft::new("The crane") };
    let before = created(&clean(&draft), None, now(), &Asked::default()).unwrap();
    let gone = purged(before.memory(), now());
    assert_eq!((gone.memory().id, gone.forward().len(), gone.costs()), (before.memory().id, 0, &LineCosts::default()));
    let text = serde_json::to_string(gone.memory()).unwrap();
    assert!(!text.contains("crane") && !text.contains("harbour"), "{text}");
    assert_eq!(carried(gone.memory().clone(), &Asked::default()).costs(), gone.costs());
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z ]{1,40}",
        "(The|I prefer|We decided that) [A-Z][a-z]{2,8} (owns|is a) [A-Z][a-z]{2,8}",
        "\\PC{1,60}",
    ]
    .prop_filter("not blank", |text| !text.trim().is_empty())
    .prop_filter("no credential", |text| Screened::clean(Draft::new(text.clone())).is_some())
}

fn patches() -> impl Strategy<Value = Patch> {
    let words = prop::collection::vec("[A-Za-z]{1,9}", 0..3);
    let given =
        (prop::option::of(texts()), prop::option::of(words.clone()), prop::option::of(words), 0..8_u8, 0..=100_u8);
    given.prop_map(|(content, keywords, entities, which, percent)| Patch {
        content,
        keywords,
        entities,
        kind: (which == 1).then_some(MemoryType::Person),
        importance: (which == 2).then_some(Importance::from_percent(percent)),
        tags: (which == 3).then(|| vec!["port".parse().unwrap()]),
        scope: (which == 4).then(|| Scope::Project("ledger".into())),
        category: (which == 5).then(|| "preferences".parse().unwrap()),
        owner_trust: (which == 6).then_some(Trust::Foreign),
        expires: (which == 7).then_some(None),
        sensitive: None,
        metadata: (which == 2).then(|| r#"{"a":1}"#.parse().unwrap()),
    })
}

proptest! {
    #[test]
    fn a_composed_memory_is_the_same_whatever_was_taken_over(
        text in texts(), edits in prop::collection::vec((patches(), 0..4_u8), 1..5),
    ) {
        let counter = Asked::default();
        let mut at = known(&created(&clean(&Draft::new(text)), None, now(), &counter).unwrap());
        for (patch, then) in edits {
            if then == 0 {
                at = known(&deleted(&at, now(), &counter));
            }
            let next = match then {
                0 => restored(&at, None, now(), &counter),
                1 => reanalysed(&at, &counter),
                _ => edited(&at, &clean(&patch), now(), &counter).unwrap(),
            };
            prop_assert_eq!(known(&next), known(&carried(next.memory().clone(), &counter)));
            let is_same = (next.forward(), next.signature(), next.length(), next.is_instruction())
                == (&*at.forward, at.signature, at.length, at.is_instruction);
            prop_assert_eq!(next.has_new_terms(), !is_same);
            prop_assert_eq!(next.has_new_costs(), Some(next.costs()) != at.costs.as_ref());
            prop_assert_eq!(next.memory().trust, next.memory().earned_trust());
            at = known(&next);
        }
        let by_request = Document::of(&at.memory).unwrap();
        let here = arrived(
            Arrived { id: at.memory.id, document: &clean(&by_request), share: None, edited_by: None, is_deleted: false },
            Some(&at), now(), &counter,
        );
        prop_assert_eq!(here.forward(), &*at.forward);
    }
}

#[test]
fn lines_that_name_the_short_id_cost_what_it_costs() {
    let counter = O200k;
    let composed =
        created(&clean(&Draft::new("The crane is serviced in May, says Mara")), None, now(), &counter).unwrap();
    let costs = composed.costs();
    let kept = [costs.detail, costs.index, costs.json_detail, costs.json_index, LineCosts::FORM];
    for short_id in [1, 9, 10, 999, 1_000, 123_456, 1_234_567] {
        let placed = composed.placed(ShortId::try_from(short_id).unwrap(), 7);
        let counted = LineCosts::measure(placed.memory(), &counter);
        assert_eq!(placed.costs(), &counted, "#{short_id}");
        assert_eq!(LineCosts::read(&kept, &[], placed.memory()), Some(counted), "#{short_id}, as a server keeps it");
    }
    let theirs = Memory { edited_by: Some("jon".into()), ..composed.memory().clone() };
    assert_eq!(LineCosts::read(&kept, &[], &theirs), None, "its lines say who wrote it");
}
