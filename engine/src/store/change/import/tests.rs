//! Tests of the import of lines.

use super::*;
use crate::store::open::in_memory::{InMemory, named};

fn import(store: &mut InMemory, lines: &str, whose: ImportAs) -> Imported {
    store.import(&mut lines.as_bytes(), whose, |_| ()).unwrap()
}

#[test]
fn lines_are_taken_once_their_links_last_and_what_is_refused_is_named() {
    let mut store = InMemory::new();
    let lines = r#"{"content":"newer","key":"b","links":[{"type":"supersedes","to":"a"}]}
{"content":"older","key":"a"}
{"content":5}

{"content":"odd","key":"c","links":[{"type":"see_also","to":"nobody"}]}
"#;
    let report = import(&mut store, lines, ImportAs::Foreign);
    assert_eq!((report.stored, report.skipped), (3, 0));
    let refused: Vec<u64> = report.rejected.iter().map(|(line, _)| *line).collect();
    assert_eq!(refused, [3, 5], "{:?}", report.rejected);
    assert_eq!(store.one::<u32>("SELECT superseded_by FROM memories WHERE content = 'older'"), 1);
    let again = import(&mut store, lines, ImportAs::Foreign);
    assert_eq!((again.stored, again.skipped), (0, 3));
}

#[test]
fn a_line_does_not_speak_for_itself_and_the_owner_does() {
    let mut store = InMemory::new();
    let line = r#"{"content":"Indent with tabs","key":"a","origin":"user","trust":"user","owner_trust":"user"}"#;
    import(&mut store, line, ImportAs::Foreign);
    assert_eq!(store.one::<String>("SELECT trust FROM memories"), "foreign");
    let report = import(&mut store, line, ImportAs::Own);
    assert_eq!((report.skipped, report.owner_trust), (1, 1));
    assert_eq!(store.one::<String>("SELECT trust FROM memories"), "user");
}

#[test]
fn a_line_without_a_name_is_known_by_what_it_says() {
    let mut store = InMemory::new();
    let tabs = r#"{"content":"Indent with tabs"}"#;
    let lines = format!("{tabs}\n{tabs}\n{}\n", r#"{"content":"Indent with tabs","scope":"acme/ledger"}"#);
    let first = import(&mut store, &lines, ImportAs::Foreign);
    assert_eq!((first.stored, first.skipped), (2, 1));
    let again = import(&mut store, &lines, ImportAs::Foreign);
    assert_eq!((again.stored, again.skipped), (0, 3));
    let own = import(&mut store, &lines, ImportAs::Own);
    assert_eq!((own.stored, own.skipped, own.owner_trust), (0, 3, 2));
    let turns = r#"{"content":"yes","origin":"conversation","session":"s","created":"2026-11-20T10:00:00Z"}
{"content":"yes","origin":"conversation","session":"s","created":"2026-11-20T10:05:00Z"}
"#;
    assert_eq!(import(&mut store, turns, ImportAs::Own).stored, 2);
    assert_eq!(import(&mut store, turns, ImportAs::Own).skipped, 2);
}

#[test]
fn a_line_with_another_text_than_its_memory_and_one_of_a_removed_memory_are_told() {
    let mut store = InMemory::new();
    let lines = r#"{"content":"The port is 7070","key":"a"}
{"content":"The port is 7171","key":"a"}
{"content":"Removed soon","key":"b"}
"#;
    let first = import(&mut store, lines, ImportAs::Own);
    assert_eq!((first.stored, first.skipped, first.differing, first.purged), (2, 1, vec![2], 0));
    let erase = crate::store::change::erase::Erase::Hard;
    store.forget(&[MemoryRef::Id(MemoryUuid::from_key("b"))], erase, &Actor::default()).unwrap();
    let again = import(&mut store, lines, ImportAs::Own);
    assert_eq!((again.stored, again.skipped, again.differing, again.purged), (0, 3, vec![2], 1));
}

#[test]
fn what_others_wrote_stays_theirs_whoever_imports_it() {
    for line in [
        r#"{"content":"Run curl","origin":"shared:bob"}"#,
        r#"{"content":"Run curl","shared_by":"bob"}"#,
        r#"{"content":"Run curl","trust":"foreign","origin":"user"}"#,
    ] {
        let mut store = InMemory::new();
        for turn in 0..2 {
            let report = import(&mut store, line, ImportAs::Own);
            assert_eq!((report.stored, report.owner_trust, report.theirs), (1 - turn, 0, 1), "{line}");
            assert_eq!(store.one::<String>("SELECT trust FROM memories"), "foreign", "{line}");
        }
    }
}

#[test]
fn an_export_comes_back_as_it_was() {
    let mut store = InMemory::new();
    let (kept, gone) = (store.said("The cache lives on birch"), store.said("deleted"));
    store.note_uses([(kept.short_id, store.now())]);
    store.fold_accesses().unwrap();
    store.forget(&[named(&gone)], crate::store::change::erase::Erase::Soft, &Actor::default()).unwrap();
    let mut lines = Vec::new();
    assert_eq!(store.export(&mut lines).unwrap(), 1);
    let mut other = InMemory::new();
    let report = other.import(&mut lines.as_slice(), ImportAs::Own, |_| ()).unwrap();
    assert_eq!(report.stored, 1);
    let (was, is) = (store.now_of(&kept), other.get(MemoryRef::Id(kept.id)).unwrap().unwrap());
    assert_eq!((is.content, is.created, is.access_count), (was.content, was.created, 1));
    assert_eq!(is.last_accessed, was.last_accessed);
}
