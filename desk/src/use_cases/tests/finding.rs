//! Recalling, fetching, listing.

use tessera_engine::domain::{Filters, RecallRequest, TokenProfile};
use tessera_engine::pack::JsonRows;

use super::{World, id, model_in, person, scope};
use crate::Caller;
use crate::use_cases::{Fetch, Form, Get, List, Recall, Remember};

fn ask(query: &str) -> RecallRequest {
    RecallRequest::new(query)
}

/// The same words stored for two projects.
fn told_twice(world: &mut World) {
    for (content, project) in [
        ("The nightly batch of the ledger runs at three", "ledger"),
        ("The nightly batch of the payroll runs at three", "payroll"),
    ] {
        let said = Remember { content: content.into(), scope: Some(scope(project)), ..Remember::default() };
        world.perform(&person(), said).unwrap();
    }
}

#[test]
fn the_callers_project_comes_first_unless_the_request_names_another() {
    let mut world = World::new();
    told_twice(&mut world);
    let mut caller = model_in(&world.path("plain"));
    let first = |world: &mut World, caller: &Caller, project: Option<&str>| {
        let request = RecallRequest { scope: project.map(scope), ..ask("when does the nightly batch run?") };
        let answer = world.perform(caller, Recall { request, form: Form::Text }).unwrap();
        answer.reply.details[0].memory.short_id.get()
    };
    for (project, short_id) in [("ledger", 1), ("payroll", 2)] {
        caller.project.as_mut().unwrap().scope = scope(project);
        assert_eq!(first(&mut world, &caller, None), short_id);
        assert_eq!(first(&mut world, &caller, Some("ledger")), 1);
        assert_eq!(first(&mut world, &caller, Some("payroll")), 2);
    }
}

#[test]
fn tokens_are_counted_as_the_caller_counts() {
    let mut world = World::new();
    told_twice(&mut world);
    for profile in [TokenProfile::O200K, TokenProfile::CLAUDE] {
        let caller = Caller { profile, ..person() };
        let answer = world.perform(&caller, Recall { request: ask("nightly batch"), form: Form::Text }).unwrap();
        assert_eq!((answer.request.profile, answer.reply.profile), (profile, profile));
        let fetch = Fetch { ids: vec![id(1)], request: ask(""), form: Form::Json(JsonRows::default()) };
        assert_eq!(world.perform(&caller, fetch).unwrap().profile, profile);
    }
}

#[test]
fn scopes_that_hold_nothing_of_it_are_told_which_do() {
    let mut world = World::new();
    told_twice(&mut world);
    let mut near = |scopes: &[&str]| {
        let filters = Filters { scopes: scopes.iter().map(|name| scope(name)).collect(), ..Filters::default() };
        let request = RecallRequest { filters, ..ask("nightly batch of the ledger") };
        world.perform(&person(), Recall { request, form: Form::Text }).unwrap().near
    };
    let found = near(&["elsewhere"]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&(scope("ledger"), 1)), "{found:?}");
    assert!(near(&["ledger"]).is_empty() && near(&[]).is_empty());
}

#[test]
fn how_many_were_searched_is_told_to_whoever_asks_why() {
    let mut world = World::new();
    told_twice(&mut world);
    let mut searched = |explain| {
        let request = RecallRequest { explain, ..ask("nightly batch") };
        world.perform(&person(), Recall { request, form: Form::Text }).unwrap().searched
    };
    assert_eq!((searched(false), searched(true)), (None, Some(2)));
}

#[test]
fn a_list_goes_on_after_a_short_id_or_an_id() {
    let mut world = World::new();
    for number in 0..5 {
        world.says(&person(), &format!("fact number {number}"));
    }
    let page = |after| List { limit: 2, after, ..List::default() };
    let first = world.perform(&person(), page(None)).unwrap();
    assert_eq!((first.total_count, first.memories.len()), (5, 2));
    let last = &first.memories[1];
    let by_short_id = world.perform(&person(), page(Some(id(last.short_id.get())))).unwrap();
    let by_id = world.perform(&person(), page(Some(last.id.to_string().parse().unwrap()))).unwrap();
    assert_eq!(by_short_id.memories, by_id.memories);
    assert!(by_id.memories.iter().all(|memory| memory.short_id < last.short_id));
    assert!(world.perform(&person(), Get { ids: vec![id(1), id(99)] }).is_err(), "all or none");
}
