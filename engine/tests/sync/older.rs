//! What a program that knows of no files sends and keeps, as JSON: a file stays one.

use serde_json::{Value, json};
use tessera_engine::domain::{MemoryUuid, Timestamp};
use tessera_engine::sync::{Action, Author, BaseVersion, Decision, Document, Local, Op, Rights, Row, State, decide};

fn document(content: &str, file: Option<&str>) -> Document {
    let mut details = json!({
        "category": "facts", "type": "fact", "importance": 0.5, "keywords": [], "entities": [], "scope": "global",
        "created": "2026-11-20T09:00:00Z", "origin": "agent", "session": null, "conflict_of": null
    });
    if let Some(file) = file {
        details["file"] = json!(file);
    }
    serde_json::from_value(json!({ "content": content, "tags": [], "links": [], "details": details })).unwrap()
}

fn row(document: Document) -> Row {
    Row {
        memory: MemoryUuid::from_key("a file"),
        rev: 1,
        people_rev: 1,
        content_rev: 1,
        details_at: Timestamp::from_micros(1),
        state: State::Live(document),
        edited_by: None,
    }
}

const OWNER: Author<'static> = Author { name: "ada", rights: Rights::Owner };

#[test]
fn details_of_a_program_of_before_leave_a_file_where_it_is() {
    let row = row(document("- one\n", Some("/memories/a.md")));
    // As it is sent: no `base`, and details without `file`.
    let mut edit = serde_json::to_value(Action::Edit(tessera_engine::sync::Edit::between(
        &document("- one\n", None),
        &document("- two\n", None),
    )))
    .unwrap();
    edit["edit"]["details"] = serde_json::to_value(document("x", None).details).unwrap();
    assert!(edit["edit"].get("base").is_none() && edit["edit"]["details"].get("file").is_none(), "{edit}");
    let action: Action = serde_json::from_value(edit).unwrap();
    let op = Op {
        op_id: MemoryUuid::from_key("op"),
        memory: row.memory,
        base_rev: 1,
        at: Timestamp::from_micros(2),
        action,
        told_again: false,
    };
    let Decision::Write { row: now, copy: None } = decide(Some(&row), &op, OWNER) else { panic!("it is written") };
    assert_eq!(now.state, State::Live(document("- two\n", Some("/memories/a.md"))));
}

#[test]
fn what_a_server_cleans_up_does_not_undo_a_deletion_and_what_somebody_changed_does() {
    let deletion = Op {
        op_id: MemoryUuid::from_key("op"),
        memory: MemoryUuid::from_key("a file"),
        base_rev: 3,
        at: Timestamp::from_micros(2),
        action: Action::Delete,
        told_again: false,
    };
    let row = |rev, people_rev| Row { rev, people_rev, ..row(document("- one\n", None)) };
    let decided = |row: &Row| decide(Some(row), &deletion, OWNER);
    let Decision::Write { row: deleted, .. } = decided(&row(5, 3)) else { panic!("it is deleted") };
    assert!(matches!(deleted.state, State::Deleted(_)) && deleted.rev == 6);
    assert_eq!(decided(&row(5, 4)), Decision::Keep);
}

#[test]
fn a_server_of_before_is_told_a_path_once_and_takes_none_away() {
    let mut local = Local::new(MemoryUuid::from_key("a file"), document("- one\n", Some("/memories/a.md")));
    let (mut number, mut fresh) = (0, || MemoryUuid::from_key("fresh"));
    let mut next = || {
        number += 1;
        MemoryUuid::from_key(&number.to_string())
    };
    let op = local.op(next(), Timestamp::from_micros(1)).unwrap();
    let base_version = BaseVersion { row: row(document("- one\n", None)), seq: 1, share: None };
    local.answer(op.op_id, None, Some(base_version.clone()), &mut fresh);
    assert_eq!(local.state, State::Live(document("- one\n", Some("/memories/a.md"))));
    // Told with details of their own, once: it may have learned of files.
    let again = local.op(next(), Timestamp::from_micros(2)).unwrap();
    let Action::Edit(edit) = &again.action else { panic!("{again:?}") };
    assert!(edit.content.is_none() && edit.details.as_ref().unwrap().file.is_some());
    local.answer(again.op_id, None, Some(BaseVersion { seq: 2, ..base_version.clone() }), &mut fresh);
    assert!(local.is_clean() && local.op(next(), Timestamp::from_micros(3)).is_none());
    // A database that was restored holds another history: what was told to the one that is lost is told again.
    local.restore(Some(BaseVersion { seq: 1, ..base_version }), 0, "ada", &mut fresh);
    assert!(!local.is_clean() && local.op(next(), Timestamp::from_micros(4)).is_some());
    // A trail that a program of before wrote is read.
    let mut sync_state: Value = serde_json::to_value(local.sync_state()).unwrap();
    sync_state.as_object_mut().unwrap().remove("path_told");
    assert!(serde_json::from_value::<tessera_engine::sync::SyncState>(sync_state).is_ok());
}
