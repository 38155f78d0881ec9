//! An import that is read again, undone, cut short, or met by changes on both sides: nothing is doubled, and nothing lost.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::older::{v_database, v_stores, w_database, w_stores};
use crate::support::{Ran, World};

fn import(world: &World, args: &[&str]) -> Value {
    let ran = world.run(&[&["import"], args, &["--yes", "--json"]].concat());
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn export(world: &World) -> String {
    let ran = world.run(&["export"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran.stdout
}

fn rows(world: &World) -> Vec<Value> {
    export(world).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn sorted(world: &World) -> Vec<String> {
    let mut contents = world.contents();
    contents.sort();
    contents
}

fn undo(world: &World, n: u32) -> Value {
    let ran = world.run(&["import", "--undo", &n.to_string(), "--yes", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn an_import_that_is_undone_was_never_there_and_comes_back_when_it_is_asked_for_again() {
    let world = World::new();
    world.remember("What I had before");
    let file = world.path("memory.db");
    let v = v_database(&file);
    (0..5).for_each(|minute| {
        v_stores(&v, minute, &format!("Row {minute} of the older memory"));
    });
    let path = file.to_str().unwrap();
    let before = export(&world);
    import(&world, &["claude-memory-mcp", path, "--mine"]);
    let all = sorted(&world);
    assert_eq!(all.len(), 6);
    let asked = world.run(&["import", "--undo", "1"]);
    assert!(asked.code == Some(1) && asked.stdout.contains("5 memories would be deleted"), "{asked:?}");
    let dry = world.run(&["import", "--undo", "1", "--dry-run"]);
    assert_eq!((dry.code, world.contents().len()), (Some(0), 6), "{dry:?}");
    let undone = undo(&world, 1);
    assert_eq!((&undone["undone"]["forgotten"], &undone["applied"]), (&json!(5), &json!(true)));
    assert_eq!(export(&world), before, "to the byte");
    let history = world.json(&["history", "2"]);
    assert_eq!((&history[0]["operation"], &history[0]["reason"]), (&json!("delete"), &json!("import 1 was undone")));
    assert_eq!(undo(&world, 1)["applied"], false, "twice is once");
    assert_eq!(world.run(&["import", "--undo", "9", "--yes"]).code, Some(1));
    let again = import(&world, &["claude-memory-mcp", path, "--mine"]);
    assert_eq!(again["statuses"], json!({ "back": 5 }));
    assert_eq!(sorted(&world), all);
    world.run(&["forget", "2"]);
    assert_eq!(
        import(&world, &["claude-memory-mcp", path])["statuses"],
        json!({ "there": 4, "forgotten": 1 }),
        "what I forgot stays so"
    );
    assert_eq!(undo(&world, 2)["undone"]["forgotten"], 4);
    assert_eq!(export(&world), before);
    world.assert_healthy();
}

#[test]
fn lines_are_an_import_that_can_be_undone_too() {
    let world = World::new();
    let file = world.path("lines");
    fs::write(&file, "{\"content\":\"One line\",\"key\":\"a\"}\n{\"content\":\"Another\",\"key\":\"b\"}\n").unwrap();
    let path = file.to_str().unwrap();
    let lines = |args: &[&str]| world.json(&[&["import", path], args].concat());
    assert_eq!(lines(&[])["stored"], 2);
    let foreign = export(&world);
    assert_eq!(lines(&["--mine"])["owner_trust"], 2);
    assert_eq!(undo(&world, 2)["undone"]["as_before"], 2);
    let without_rev = |text: &str| -> Vec<Value> {
        let row = |line: &str| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            row.as_object_mut().unwrap().remove("rev");
            row
        };
        text.lines().map(row).collect()
    };
    assert_eq!(without_rev(&export(&world)), without_rev(&foreign), "what it vouched for is foreign again");
    assert_eq!(undo(&world, 1)["undone"]["forgotten"], 2);
    assert_eq!(export(&world), "");
    assert_eq!(lines(&[])["stored"], 2, "they come back");
    assert_eq!(without_rev(&export(&world)).len(), 2);
    assert_eq!(lines(&[])["skipped"], 2);
    assert_eq!(
        world.json(&["import", "list"])["imports"].as_array().unwrap().len(),
        3,
        "what did nothing is not listed"
    );
}

#[test]
fn what_was_changed_since_stays_when_its_import_is_undone() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    (0..3).for_each(|minute| {
        v_stores(&v, minute, &format!("Row {minute} of the older memory"));
    });
    import(&world, &["claude-memory-mcp", file.to_str().unwrap()]);
    world.json(&["update", "2", "--content", "My own words now"]);
    world.json(&["recall", "row of the older memory"]);
    world.json(&["update", "3", "--trust", "user"]);
    let undone = undo(&world, 1);
    assert_eq!(undone["undone"], json!({ "forgotten": 1, "as_before": 0, "kept": [3, 2] }));
    assert_eq!(sorted(&world), ["My own words now", "Row 2 of the older memory"]);
}

#[test]
fn a_row_that_changes_there_changes_here_and_where_both_did_both_texts_stay() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    (0..4).for_each(|minute| {
        v_stores(&v, minute, &format!("Row {minute} of the older memory"));
    });
    let path = file.to_str().unwrap();
    import(&world, &["claude-memory-mcp", path]);
    v.execute_batch(
        "DROP TRIGGER IF EXISTS memories_au;
         UPDATE memories SET content = 'Row 0 by now', tags = 'new' WHERE id = 1;
         UPDATE memories SET content = 'Theirs of row 1' WHERE id = 2;
         UPDATE memories SET importance = 0.1 WHERE id = 3;
         DELETE FROM memories WHERE id = 4",
    )
    .unwrap();
    world.json(&["update", "2", "--content", "Mine of row 1"]);
    let preview = world.json(&["import", "claude-memory-mcp", path, "--dry-run"]);
    let done = import(&world, &["claude-memory-mcp", path]);
    assert_eq!(done["statuses"], json!({ "changed": 2, "both": 1 }));
    assert_eq!((&preview["statuses"], &done["gone_there"]), (&done["statuses"], &json!(1)), "absence deletes nothing");
    let both =
        ["Mine of row 1", "Row 0 by now", "Row 2 of the older memory", "Row 3 of the older memory", "Theirs of row 1"];
    assert_eq!(sorted(&world), both);
    let first: Value = serde_json::from_str(export(&world).lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["tags"], &first["created"]),
        (&json!(["new"]), &json!("2026-11-01T00:00:38.553482Z")),
        "{first}"
    );
    assert_eq!(import(&world, &["claude-memory-mcp", path])["statuses"], json!({ "there": 3 }), "once");
    assert_eq!(undo(&world, 2)["undone"], json!({ "forgotten": 1, "as_before": 2, "kept": [] }));
    assert_eq!(
        sorted(&world),
        ["Mine of row 1", "Row 0 of the older memory", "Row 2 of the older memory", "Row 3 of the older memory"]
    );
}

#[test]
fn what_is_deleted_there_is_forgotten_here_unless_it_was_changed_here() {
    let world = World::new();
    let file = world.path("memory.db");
    let w = w_database(&file);
    ["a", "b", "c"].iter().for_each(|id| w_stores(&w, &format!("mem_{id}"), &format!("Row {id} of theirs"), 5.0));
    let path = file.to_str().unwrap();
    import(&world, &["memory-mcp", path]);
    world.json(&["update", "2", "--content", "Row b is mine"]);
    w.execute_batch("UPDATE memories SET is_deleted = 1 WHERE id IN ('mem_a', 'mem_b')").unwrap();
    assert_eq!(import(&world, &["memory-mcp", path])["statuses"], json!({ "there": 1, "deleted": 1, "kept": 1 }));
    assert_eq!(sorted(&world), ["Row b is mine", "Row c of theirs"]);
    // Brought back there, it is back here; brought back here, it stays.
    w.execute_batch("UPDATE memories SET is_deleted = 0 WHERE id = 'mem_a'").unwrap();
    assert_eq!(import(&world, &["memory-mcp", path])["statuses"]["back"], 1);
    assert_eq!(sorted(&world).len(), 3);
    w.execute_batch("UPDATE memories SET is_deleted = 1 WHERE id = 'mem_a'").unwrap();
    import(&world, &["memory-mcp", path]);
    world.json(&["restore", "1"]);
    import(&world, &["memory-mcp", path]);
    assert_eq!(sorted(&world).len(), 3, "what I restored stays");
}

#[test]
fn an_import_that_is_killed_goes_on_and_doubles_nothing() {
    const ROWS: usize = 4_000;
    let world = World::new();
    let file = world.path("memory.db");
    let mut v = v_database(&file);
    let transaction = v.transaction().unwrap();
    for n in 0..ROWS {
        v_stores(&transaction, u32::try_from(n % 1440).unwrap(), &format!("Row number {n} of many"));
    }
    transaction.commit().unwrap();
    let path = file.to_str().unwrap();
    let mut command = world.command(World::binary());
    command.args(["import", "claude-memory-mcp", path, "--yes", "--mine"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let database = world.home().join("tessera.db");
    let stored = || -> usize {
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let count = |connection: rusqlite::Connection| {
            connection.query_row("SELECT count(*) FROM imported", [], |row| row.get(0))
        };
        rusqlite::Connection::open_with_flags(&database, flags).and_then(count).unwrap_or(0)
    };
    let began = Instant::now();
    while stored() == 0 && began.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let cut = stored();
    assert!(cut >= 500 && cut % 500 == 0, "{cut}");
    if cut < ROWS {
        let listed = world.json(&["import", "list"]);
        assert_eq!(listed["imports"][0]["ended"], Value::Null, "{listed}");
    }
    let rest = import(&world, &["claude-memory-mcp", path, "--mine"]);
    assert_eq!(rest["statuses"]["new"].as_u64().unwrap_or(0), (ROWS - cut) as u64, "{rest}");
    assert_eq!(rest["import"], if cut < ROWS { json!(1) } else { Value::Null }, "it is the same import");
    assert_eq!(world.json(&["stats"])["memories"], json!(ROWS));
    assert_eq!(undo(&world, 1)["undone"]["forgotten"], json!(ROWS));
    assert_eq!(export(&world), "");
}

#[test]
fn imports_of_one_source_at_once_store_each_row_once() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    for n in 0..600 {
        v_stores(&v, n, &format!("Row number {n} of many"));
    }
    let start = || {
        let mut command = world.command(World::binary());
        command
            .args(["import", "claude-memory-mcp", file.to_str().unwrap(), "--yes"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let running = [start(), start(), start()];
    for child in running {
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    assert_eq!(world.json(&["stats"])["memories"], 600);
    world.assert_healthy();
}

/// The files of the store in which some words stand in clear.
fn holding(world: &World, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(world.home()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap_or_default();
        if bytes.windows(words.len()).any(|window| window == words.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_row_that_becomes_a_secret_there_is_sealed_here_with_all_that_it_said_before() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    for (minute, text) in
        ["Box birch opens with maple", "Door oak opens with acorn", "Gate elm opens with cedar"].into_iter().enumerate()
    {
        v_stores(&v, u32::try_from(minute).unwrap(), text);
    }
    let path = file.to_str().unwrap();
    import(&world, &["claude-memory-mcp", path, "--mine"]);
    // One that was only tagged here, and one whose text was changed there before.
    world.json(&["update", "2", "--tags", "doors"]);
    v.execute_batch("UPDATE memories SET content = 'Gate elm opens with cedar now' WHERE id = 3").unwrap();
    import(&world, &["claude-memory-mcp", path, "--mine"]);
    assert!(!holding(&world, "acorn").is_empty(), "it is in clear before");
    v.execute_batch("UPDATE memories SET is_sensitive = 1").unwrap();
    let preview = world.json(&["import", "claude-memory-mcp", path, "--dry-run"]);
    let done = import(&world, &["claude-memory-mcp", path]);
    assert_eq!(done["statuses"], json!({ "changed": 3 }));
    assert_eq!((&preview["statuses"], &preview["set_aside"]), (&done["statuses"], &done["set_aside"]));
    for words in ["maple", "acorn", "cedar"] {
        assert_eq!(holding(&world, words), Vec::<String>::new(), "{words}");
        assert!(!world.json(&["history", "3"]).to_string().contains(words) && !export(&world).contains(words));
    }
    for (n, words) in [("1", "maple"), ("2", "acorn"), ("3", "cedar now")] {
        let shown = world.run(&["secret", "show", n]).stdout;
        assert!(shown.contains(words), "{shown}");
    }
    assert_eq!(import(&world, &["claude-memory-mcp", path])["statuses"], json!({ "there": 3 }));
    let kept = undo(&world, 3)["undone"].clone();
    assert_eq!((&kept["as_before"], kept["kept"].as_array().map(Vec::len)), (&json!(0), Some(3)), "{kept}");
    world.assert_healthy();
}

#[test]
fn a_row_that_is_deleted_there_as_a_secret_is_none_in_clear_among_the_forgotten() {
    let world = World::new();
    let file = world.path("rest.json");
    let said = |is_sensitive: bool, deleted: Value| {
        let row = json!({ "id": 1, "content": "Box birch opens with maple", "is_sensitive": is_sensitive,
            "created_at": "2026-11-01T00:09:00+00:00", "deleted_at": deleted });
        fs::write(&file, json!({ "memories": [row] }).to_string()).unwrap();
    };
    said(false, Value::Null);
    import(&world, &["claude-memory-mcp", file.to_str().unwrap(), "--mine"]);
    assert!(!holding(&world, "maple").is_empty());
    said(true, json!("2026-11-02T00:09:00+00:00"));
    assert_eq!(
        import(&world, &["claude-memory-mcp", file.to_str().unwrap(), "--mine"])["statuses"],
        json!({ "deleted": 1 })
    );
    assert_eq!(holding(&world, "maple"), Vec::<String>::new());
    world.json(&["restore", "1"]);
    assert!(world.run(&["secret", "show", "1"]).stdout.contains("maple"));
}

#[test]
fn what_nobody_vouches_for_changes_and_deletes_nothing_of_the_persons_own() {
    let world = World::new();
    let (mine, theirs) = (world.path("mine.db"), world.path("theirs.db"));
    let (own, other) = (w_database(&mine), w_database(&theirs));
    for (id, text) in [("a", "Ledger listens on 9417"), ("b", "Deploys are on Tuesday"), ("c", "Backups run at two")] {
        w_stores(&own, &format!("mem_{id}"), text, 5.0);
        w_stores(&other, &format!("mem_{id}"), text, 5.0);
    }
    import(&world, &["memory-mcp", mine.to_str().unwrap(), "--mine"]);
    other
        .execute_batch(
            "UPDATE memories SET content = 'Ledger listens on 1111' WHERE id = 'mem_a';
             UPDATE memories SET is_deleted = 1 WHERE id = 'mem_b'; UPDATE memories SET importance = 1 WHERE id = 'mem_c'",
        )
        .unwrap();
    let path = theirs.to_str().unwrap();
    let before = world.json(&["get", "3"]);
    let preview = world.json(&["import", "memory-mcp", path, "--dry-run"]);
    let done = import(&world, &["memory-mcp", path, "--foreign"]);
    assert_eq!(done["statuses"], json!({ "both": 1, "kept": 1, "there": 1 }));
    assert_eq!(preview["statuses"], done["statuses"]);
    assert_eq!(world.json(&["get", "3"]), before);
    let all = rows(&world);
    let trust = |text: &str| all.iter().find(|row| row["content"] == text).map(|row| row["trust"].clone());
    assert_eq!(trust("Ledger listens on 9417"), Some(json!("user")));
    assert_eq!(trust("Deploys are on Tuesday"), Some(json!("user")));
    assert_eq!(trust("Ledger listens on 1111"), Some(json!("foreign")));
    // The same said as the person's own does.
    other.execute_batch("UPDATE memories SET importance = 2 WHERE id = 'mem_c'").unwrap();
    assert_eq!(import(&world, &["memory-mcp", path, "--mine"])["statuses"]["changed"], 2);
    assert_eq!(sorted(&world), ["Backups run at two", "Ledger listens on 1111"], "once");
    undo(&world, 3);
    assert_eq!(sorted(&world).len(), 4);
    assert_eq!(import(&world, &["memory-mcp", path, "--mine"])["statuses"]["changed"], 2);
}

#[test]
fn a_text_that_nobody_vouches_for_does_not_come_back_as_the_persons_own() {
    let world = World::new();
    let file = world.path("memory.db");
    let w = w_database(&file);
    w_stores(&w, "mem_a", "Ledger listens on 9417", 5.0);
    let path = file.to_str().unwrap();
    import(&world, &["memory-mcp", path, "--mine"]);
    w.execute_batch("UPDATE memories SET is_deleted = 1").unwrap();
    assert_eq!(import(&world, &["memory-mcp", path, "--mine"])["statuses"], json!({ "deleted": 1 }));
    w.execute_batch("UPDATE memories SET is_deleted = 0, content = 'Ledger listens on 1111'").unwrap();
    assert_eq!(import(&world, &["memory-mcp", path, "--foreign"])["statuses"], json!({ "back": 1 }));
    assert_eq!(rows(&world)[0]["trust"], "foreign");
}

#[test]
fn after_an_undo_a_later_import_does_all_of_it_again() {
    let world = World::new();
    let file = world.path("memory.db");
    let w = w_database(&file);
    ["a", "b", "c", "d"].iter().for_each(|id| w_stores(&w, &format!("mem_{id}"), &format!("Row {id} of theirs"), 5.0));
    let path = file.to_str().unwrap();
    import(&world, &["memory-mcp", path]);
    world.json(&["update", "3", "--content", "Row c is mine"]);
    world.json(&["update", "4", "--content", "Row d is mine"]);
    w.execute_batch(
        "UPDATE memories SET content = 'Row a by now' WHERE id = 'mem_a'; UPDATE memories SET content = 'Theirs of c' WHERE id = 'mem_c';
         UPDATE memories SET is_deleted = 1 WHERE id IN ('mem_b', 'mem_d')",
    )
    .unwrap();
    let wanted = json!({ "changed": 1, "both": 1, "deleted": 1, "kept": 1 });
    let before = sorted(&world);
    for n in 2..5 {
        assert_eq!(import(&world, &["memory-mcp", path])["statuses"], wanted, "{n}");
        assert_eq!(sorted(&world), ["Row a by now", "Row c is mine", "Row d is mine", "Theirs of c"]);
        assert_eq!(import(&world, &["memory-mcp", path])["applied"], false, "once");
        undo(&world, n);
        assert_eq!(sorted(&world), before, "{n}");
    }
    // A later import that stands keeps what it noted.
    import(&world, &["memory-mcp", path]);
    w.execute_batch("UPDATE memories SET content = 'Row a at last' WHERE id = 'mem_a'").unwrap();
    import(&world, &["memory-mcp", path]);
    assert_eq!(undo(&world, 5)["undone"]["kept"], json!([1]));
    assert_eq!(import(&world, &["memory-mcp", path])["statuses"]["there"], json!(1));
}

#[test]
fn what_the_person_forgot_does_not_come_back_by_an_undo() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    (0..3).for_each(|minute| {
        v_stores(&v, minute, &format!("Row {minute} of the older memory"));
    });
    let path = file.to_str().unwrap();
    import(&world, &["claude-memory-mcp", path]);
    world.json(&["forget", "2"]);
    assert_eq!(sorted(&world).len(), 2);
    assert_eq!(undo(&world, 1)["undone"]["forgotten"], 2);
    assert_eq!(import(&world, &["claude-memory-mcp", path])["statuses"], json!({ "back": 2, "forgotten": 1 }));
    assert_eq!(sorted(&world), ["Row 0 of the older memory", "Row 2 of the older memory"]);
}
