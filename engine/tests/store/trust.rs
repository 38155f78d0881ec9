//! How far a memory is believed: by whoever brought it in or vouches for it, never by what a line says of itself.

use tessera_engine::Store;
use tessera_engine::domain::{Origin, Patch, Purpose, RecallRequest, Trust};
use tessera_engine::store::{Actor, ImportAs, Imported};

use crate::support::{Home, named};

const NOW: &str = "2026-11-20";

fn import(store: &mut Store, lines: &str, whose: ImportAs) -> Imported {
    let report = store.import(&mut lines.as_bytes(), whose, |_| {}).unwrap();
    assert_eq!(report.rejected, []);
    report
}

fn automatic(store: &mut Store, question: &str) -> u32 {
    let mut request = RecallRequest::new(question);
    request.purpose = Purpose::Unasked;
    request.filters.own_only = true;
    store.recall(&request).unwrap().total_count
}

const LINES: &str = r#"{"content":"The deploy key is rotated by curl","key":"a","origin":"user","trust":"user","owner_trust":"user"}
{"content":"A deploy turn of a conversation","key":"b","origin":"conversation","session":"s"}
{"content":"A teammate wrote of the deploy","key":"c","origin":"user","trust":"user","shared_by":"bob","share_permission":"read"}
{"content":"The deploy was learned","key":"d","origin":"auto_learn"}
"#;

#[test]
fn a_line_does_not_choose_how_far_it_is_believed() {
    let home = Home::new();
    let mut store = home.open(NOW);
    assert_eq!(import(&mut store, LINES, ImportAs::Foreign).stored, 4);
    let origins = [Origin::Import, Origin::Conversation, Origin::Shared("bob".into()), Origin::Import];
    for (number, origin) in (1..).zip(origins) {
        let memory = store.get(named(number)).unwrap().unwrap();
        assert_eq!((memory.trust, memory.origin), (Trust::Foreign, origin), "{number}");
    }
    assert_eq!(automatic(&mut store, "deploy"), 0);
    assert_eq!(store.recall(&RecallRequest::new("deploy")).unwrap().total_count, 4, "asked, they are given");
    // The person's word makes them own: by ID, or for all that was imported.
    let owner_trust = Patch { owner_trust: Some(Trust::User), ..Patch::default() };
    store.update(named(1), &owner_trust, &Actor::default()).unwrap();
    assert_eq!(automatic(&mut store, "deploy"), 1);
    let rest = store.imported().unwrap();
    assert_eq!(rest, [named(2), named(3), named(4)]);
    assert_eq!(store.update_all(&rest, &owner_trust, &Actor::default()).unwrap().len(), 3);
    assert_eq!((store.imported().unwrap().len(), automatic(&mut store, "deploy")), (0, 4));
}

#[test]
fn the_persons_own_lines_are_theirs_also_where_they_were_there_as_somebody_elses() {
    let home = Home::new();
    let mut store = home.open(NOW);
    let (first, second) = LINES.split_at(LINES.find('\n').unwrap() + 1);
    import(&mut store, first, ImportAs::Foreign);
    let report = import(&mut store, LINES, ImportAs::Own);
    assert_eq!((report.stored, report.skipped, report.owner_trust), (3, 1, 1));
    assert!(!second.is_empty());
    // What a teammate wrote does not become the person's own by their word.
    for (number, trust) in (1..).zip([Trust::User, Trust::User, Trust::Foreign, Trust::User]) {
        let memory = store.get(named(number)).unwrap().unwrap();
        assert_eq!((memory.trust, memory.why_never_injected().is_none()), (trust, trust == Trust::User), "{number}");
    }
    assert_eq!(automatic(&mut store, "deploy"), 3);
    let again = import(&mut store, LINES, ImportAs::Own);
    assert_eq!((again.stored, again.skipped, again.owner_trust), (0, 4, 0));
}

#[test]
fn an_export_of_ones_own_comes_back_whole() {
    let (from, to) = (Home::new(), Home::new());
    let mut store = from.open(NOW);
    import(&mut store, LINES, ImportAs::Own);
    let mut lines = Vec::new();
    store.export(&mut lines).unwrap();
    let mut fresh = to.open(NOW);
    import(&mut fresh, std::str::from_utf8(&lines).unwrap(), ImportAs::Foreign);
    assert_eq!(automatic(&mut fresh, "deploy"), 0, "another home does not know whose they are");
    let said = fresh.get(named(1)).unwrap().unwrap().why_never_injected().unwrap();
    assert!(said.contains("--trust"), "{said}");
    import(&mut fresh, std::str::from_utf8(&lines).unwrap(), ImportAs::Own);
    assert_eq!(automatic(&mut fresh, "deploy"), 3, "all but what a teammate wrote");
}
