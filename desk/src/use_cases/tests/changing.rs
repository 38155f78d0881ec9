//! Storing, changing, forgetting, importing.

use std::io::Cursor;

use tessera_engine::domain::{LinkKind, Origin, Patch, Scope, Trust};
use tessera_engine::store::{Erase, ImportAs, ImportRun, Resolution, StoreError};

use super::{World, id, model_in, person, scope};
use crate::use_cases::{
    Conflicts, Export, Forget, Get, Import, ImportNotes, List, NoteFile, Remember, Resolve, Restore, SetLink, Update,
    Which,
};
use crate::{Caller, Desk, Project};

#[test]
fn what_is_the_persons_goes_with_them_and_the_rest_belongs_to_the_project_they_are_in() {
    let mut world = World::new();
    let dir = world.clone_of("ledger", "git@github.com:acme/ledger.git");
    let ledger = scope("github.com/acme/ledger");
    let everywhere = person();
    let here = Caller { project: Project::of(&dir, None), ..person() };
    for (caller, content, category, expected) in [
        (&everywhere, "The API listens on port 8480", None, Scope::Global),
        (&here, "The API listens on port 8481", None, ledger.clone()),
        (&here, "I prefer tabs for indentation", None, Scope::Global),
        (&here, "Ines writes the release notes", Some("people"), Scope::Global),
        (&here, "I prefer spaces in this one", Some("decisions"), ledger.clone()),
        (&model_in(&dir), "The API listens on port 8482", None, ledger.clone()),
        (&model_in(&dir), "I prefer short functions", None, Scope::Global),
        (&here, "My name is Dana", None, Scope::Global),
        (&here, "Never push to main in this repository", None, ledger.clone()),
        (&here, "I prefer tabs in this project", Some("preferences"), ledger.clone()),
        (&here, "Prices always go through the money filter", None, ledger.clone()),
        (&here, "I’m allergic to peanuts", None, Scope::Global),
        (&here, "The I/O thread owns the socket of my-service", Some("facts"), ledger.clone()),
    ] {
        let category = category.map(|name: &str| name.parse().unwrap());
        let stored = world.perform(caller, Remember { content: content.into(), category, ..Remember::default() });
        let memory = stored.unwrap().memory;
        assert_eq!(memory.scope, expected, "{content}");
        // A memory of the project shows that its directory is of the project; any other shows nothing.
        let shown = (expected == ledger).then(|| dir.to_string_lossy().into_owned());
        assert_eq!(memory.cwd, shown, "{content}");
    }
    let elsewhere = Remember { content: "Said of another".into(), scope: Some(scope("other")), ..Remember::default() };
    let memory = world.perform(&here, elsewhere).unwrap().memory;
    assert_eq!((memory.scope, memory.cwd), (scope("other"), None));
}

#[test]
fn the_home_of_a_person_is_no_project() {
    let world = World::new();
    assert_eq!(Project::of(world.dir.path(), Some(world.dir.path())), None);
    let dir = world.path("plain");
    std::fs::create_dir(&dir).unwrap();
    assert_eq!(Project::of(&dir, Some(world.dir.path())).unwrap().scope.as_str(), dir.to_str().unwrap());
}

#[test]
fn who_asks_is_kept_and_a_session_may_be_named() {
    let mut world = World::new();
    let caller = model_in(&world.path("plain"));
    let memory = world.says(&caller, "Said by a model").memory;
    assert_eq!((memory.origin, memory.session.as_deref()), (Origin::Agent, Some("s1")));
    assert_eq!(memory.client.as_deref(), Some("client 1"));
    let of_session = Remember { content: "Said in another".into(), session: Some("s2".into()), ..Remember::default() };
    assert_eq!(world.perform(&caller, of_session).unwrap().memory.session.as_deref(), Some("s2"));
    let memory = world.says(&person(), "Typed by a person").memory;
    assert_eq!((memory.origin, memory.trust, memory.session), (Origin::User, Trust::User, None));
}

#[test]
fn what_replaces_is_linked_and_what_replaces_nothing_is_not_stored() {
    let mut world = World::new();
    let old = world.says(&person(), "The team uses tabs").memory;
    let new = Remember { content: "The team uses spaces".into(), supersedes: Some(id(1)), ..Remember::default() };
    let new = world.perform(&person(), new).unwrap().memory;
    assert_eq!(
        new.links.iter().map(|link| (link.kind.clone(), link.to)).collect::<Vec<_>>(),
        [(LinkKind::Supersedes, old.id)]
    );
    let lost = Remember { content: "Never stored".into(), supersedes: Some(id(99)), ..Remember::default() };
    assert!(matches!(world.perform(&person(), lost), Err(StoreError::NotFound(_))));
    let all = world.perform(&person(), List { limit: 200, ..List::default() }).unwrap();
    assert_eq!(all.total_count, 2);
}

#[test]
fn a_change_of_nothing_is_refused_and_of_many_is_counted() {
    let mut world = World::new();
    for content in ["one fact", "two facts", "three facts"] {
        world.says(&person(), content);
    }
    let update = |ids: &[u32], patch| {
        let which = Which::Named(ids.iter().map(|short_id| id(*short_id)).collect());
        Update { which, patch, reason: Some("because".into()) }
    };
    let tagged = || Patch { tags: Some(vec!["x".parse().unwrap()]), ..Patch::default() };
    assert!(world.perform(&person(), update(&[1], Patch::default())).is_err());
    let one = world.perform(&person(), update(&[1], tagged())).unwrap();
    assert_eq!((one.count, one.only.unwrap().memory.tags.len()), (1, 1));
    let two = world.perform(&person(), update(&[2, 3], tagged())).unwrap();
    assert!(two.count == 2 && two.only.is_none());
    assert!(world.perform(&person(), update(&[2, 99], tagged())).is_err());
    let history = world.perform(&person(), crate::use_cases::History { id: id(1) }).unwrap();
    assert_eq!((history[0].reason.as_deref(), history[0].client.as_deref()), (Some("because"), Some("tessera")));
}

#[test]
fn lines_of_others_are_foreign_until_somebody_vouches_for_them() {
    let mut world = World::new();
    let lines = "{\"content\": \"a line of somebody\"}\n{\"content\": \"another line\"}\nno line\n";
    let mut seen = 0;
    let report = world.perform(
        &person(),
        Import {
            input: &mut Cursor::new(lines),
            run: ImportRun::new("lines", "-", ImportAs::Foreign),
            progress: &mut |progress| seen = progress.lines,
        },
    );
    let report = report.unwrap();
    assert_eq!((report.stored, report.rejected.len(), seen), (2, 1, 3));
    let patch = Patch { owner_trust: Some(Trust::User), ..Patch::default() };
    let owner_trust = world.perform(&person(), Update { which: Which::Imported, patch, reason: None }).unwrap();
    assert_eq!(owner_trust.count, 2);
    let got = world.perform(&person(), Get { ids: vec![id(1)] }).unwrap();
    assert_eq!(got[0].trust, Trust::User);
    let mut out = Vec::new();
    assert_eq!(world.perform(&person(), Export { out: &mut out }).unwrap(), 2);
    assert_eq!(String::from_utf8(out).unwrap().lines().count(), 2);
}

#[test]
fn notes_of_a_file_are_imported_once() {
    let mut world = World::new();
    let notes = || ImportNotes {
        files: vec![NoteFile { name: "CLAUDE.md".into(), text: "# Style\n- Use tabs, never spaces\n- short\n".into() }],
        scope: scope("ledger"),
        is_mine: true,
    };
    let first = world.perform(&person(), notes()).unwrap();
    assert_eq!((first.stored, first.skipped, first.rejected.len()), (1, 0, 0));
    let again = world.perform(&person(), notes()).unwrap();
    assert_eq!((again.stored, again.skipped), (0, 1));
    let other = ImportNotes { scope: scope("other"), ..notes() };
    assert_eq!(world.perform(&person(), other).unwrap().stored, 1);
    let got = world.perform(&person(), Get { ids: vec![id(1)] }).unwrap();
    assert_eq!((&got[0].origin, got[0].scope.as_str()), (&Origin::File, "ledger"));
}

#[test]
fn what_is_forgotten_comes_back_unless_it_went_for_good() {
    let mut world = World::new();
    for content in ["the first note", "the second note"] {
        world.says(&person(), content);
    }
    let forget = |short_id, erase| Forget { ids: vec![id(short_id)], erase, reason: None };
    let gone = world.perform(&person(), forget(1, Erase::Soft)).unwrap();
    assert!(gone.forgotten.len() == 1 && gone.left.told().is_empty());
    assert_eq!(world.perform(&person(), Restore { id: id(1), before: None }).unwrap().memory.deleted, None);
    world.perform(&person(), forget(2, Erase::Hard)).unwrap();
    assert!(matches!(world.perform(&person(), Get { ids: vec![id(2)] }), Err(StoreError::NotFound(_))));
}

#[test]
fn links_are_set_and_taken_away_and_conflicts_are_there_to_be_resolved() {
    let mut world = World::new();
    for content in ["a question", "its answer"] {
        world.says(&person(), content);
    }
    let link = SetLink { id: id(1), kind: LinkKind::ResolvedBy, to: id(2), holds: true };
    assert_eq!(world.perform(&person(), link.clone()).unwrap().links.len(), 1);
    assert_eq!(world.perform(&person(), SetLink { holds: false, ..link.clone() }).unwrap().links.len(), 0);
    assert!(world.perform(&person(), SetLink { holds: false, ..link }).is_err());
    assert!(world.perform(&person(), Conflicts).unwrap().is_empty());
    assert!(world.perform(&person(), Resolve { id: id(1), resolution: Resolution::Memory }).is_err());
}

#[test]
fn the_desk_knows_whether_something_may_have_changed() {
    let mut world = World::new();
    let caller = person();
    let mut desk = Desk::new(&mut world.store, &caller);
    desk.perform(Conflicts).unwrap();
    assert!(!desk.has_changed());
    desk.perform(Remember { content: "a fact".into(), ..Remember::default() }).unwrap();
    assert!(desk.has_changed());
    let mut desk = Desk::new(&mut world.store, &caller);
    desk.perform(Restore { id: id(99), before: None }).unwrap_err();
    assert!(desk.has_changed(), "one that failed may have");
}
