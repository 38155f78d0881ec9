//! What older systems kept comes over whole, once, as whose it is said to be, and nothing of theirs is touched.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use rusqlite::params;
use serde_json::{Value, json};

use crate::skip::left_out;
use crate::support::hooks::{asked, context_of, event, hook};
use crate::support::older::{states, v_alone, v_database, v_stores, vault, w_database, w_stores};
use crate::support::terminal::start_on_terminal;
use crate::support::{Ran, World};

/// A credential that was made up.
const KEY: &str = "qX7pL2vN9dRtW4mZ8kBy";

fn import(world: &World, args: &[&str]) -> Value {
    let ran = imported(world, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn imported(world: &World, args: &[&str]) -> Ran {
    world.run(&[&["import"], args, &["--yes", "--json"]].concat())
}

fn rows(world: &World) -> Vec<Value> {
    let ran = world.run(&["export"]);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The one row whose text holds some words.
fn row(world: &World, words: &str) -> Value {
    let found: Vec<Value> =
        rows(world).into_iter().filter(|row| row["content"].as_str().unwrap().contains(words)).collect();
    assert_eq!(found.len(), 1, "{words}: {found:?}");
    found[0].clone()
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn rows_of_v_come_over_from_its_log_alone_and_its_files_stay_as_they_are() {
    let world = World::new();
    let file = world.path("theirs/memory.db");
    let v = v_database(&file);
    let id = v_stores(&v, 5, "The staging database of the shop runs on port 5433");
    v_stores(&v, 6, "We decided on Svelte for the shop");
    let before = states(&file);
    assert!(before[0].1.len() < before[1].1.len(), "its rows are in the log alone");
    let done = import(&world, &["claude-memory-mcp", path(&file)]);
    assert_eq!((&done["rows"], &done["statuses"]["new"], &done["applied"]), (&json!(2), &json!(2), &json!(true)));
    assert_eq!(states(&file), before, "bytes, times and names");
    let kept = row(&world, "5433");
    assert_eq!(kept["tags"], json!(["ops", "shop"]));
    assert_eq!(kept["keywords"], json!(["port", "shop", "staging"]));
    assert_eq!((&kept["importance"], &kept["created"]), (&json!(0.8), &json!("2026-11-01T00:05:38.553482Z")));
    assert_eq!((&kept["updated"], &kept["trust"]), (&json!("2026-11-01T00:05:38.553482Z"), &json!("foreign")));
    let history = world.json(&["history", "1"]);
    assert_eq!(
        (&history[0]["origin"], &history[0]["client"]),
        (&json!("import"), &json!(format!("claude-memory-mcp {id}")))
    );
    let again = import(&world, &["claude-memory-mcp", path(&file)]);
    assert_eq!((&again["statuses"], &again["applied"]), (&json!({ "there": 2 }), &json!(false)), "twice is once");
    assert_eq!(world.json(&["import", "list"])["imports"].as_array().unwrap().len(), 1);
    world.assert_healthy();
}

#[test]
fn a_database_of_v_from_before_it_knew_a_server_comes_over_and_is_the_same_after() {
    let world = World::new();
    let file = world.path("theirs/memory.db");
    let v = v_alone(&file);
    v_stores(&v, 5, "The shop listens on port 5433");
    assert_eq!(import(&world, &["claude-memory-mcp", path(&file)])["statuses"], json!({ "new": 1 }));
    // It is sent to a server, and gets a number there.
    v.execute_batch("ALTER TABLE memories ADD COLUMN server_id INTEGER; UPDATE memories SET server_id = 412").unwrap();
    assert_eq!(import(&world, &["claude-memory-mcp", path(&file)])["statuses"], json!({ "there": 1 }));
    // What the server gives of it is known by that number, and by nothing else: its time there is another one.
    let rest = world.path("rest.json");
    let said = json!({ "memories": [{ "id": 412, "content": "The shop listens on port 5433", "category": "facts",
        "tags": "ops,Shop", "expanded_keywords": "port shop staging", "importance": 0.8, "is_sensitive": false,
        "created_at": "2026-11-01T00:09:00+00:00", "updated_at": "2026-11-01T00:09:00+00:00", "deleted_at": null }] });
    fs::write(&rest, said.to_string()).unwrap();
    assert_eq!(import(&world, &["claude-memory-mcp", path(&rest)])["statuses"], json!({ "there": 1 }));
    assert_eq!(
        world.json(&["import", "list"])["imports"].as_array().unwrap().len(),
        1,
        "to learn a number is no import"
    );
}

#[test]
fn what_waits_for_a_server_of_v_comes_over_too() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    let sent = v_stores(&v, 5, "The shop listens on port 5433");
    v.execute("UPDATE memories SET server_id = 7 WHERE id = ?1", [sent]).unwrap();
    assert_eq!(import(&world, &["claude-memory-mcp", path(&file)])["statuses"], json!({ "new": 1 }));
    let mine = v_stores(&v, 6, "Deploys happen on Tuesday");
    let queue = |kind: &str, payload: Value| {
        let sql = "INSERT INTO pending_ops (op_type, payload, created_at) VALUES (?1, ?2, '2026-11-01T01:00:00+00:00')";
        v.execute(sql, params![kind, payload.to_string()]).unwrap();
    };
    queue("store", json!({ "local_id": mine, "content": "Deploys happen on Tuesday", "category": "facts" }));
    queue(
        "store",
        json!({ "local_id": 99, "content": "Only the queue knows birch", "category": "facts", "tags": "q",
        "expanded_keywords": "tree", "importance": 0.4, "force_sensitive": false }),
    );
    queue("update", json!({ "local_id": mine, "content": "Deploys happen on Thursday" }));
    queue("delete", json!({ "server_id": 7 }));
    queue("melt", json!({}));
    v.execute("DELETE FROM memories WHERE id = ?1", [sent]).unwrap();
    let ran = imported(&world, &["claude-memory-mcp", path(&file)]);
    assert_eq!(ran.code, Some(1), "one is left out: {ran:?}");
    let done: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(done["statuses"], json!({ "new": 2, "deleted": 1 }), "{done}");
    assert_eq!(done["skipped"][0]["problem"], "op_type: melt is unknown");
    let mut said = world.contents();
    said.sort();
    assert_eq!(said, ["Deploys happen on Thursday", "Only the queue knows birch"]);
    assert_eq!(row(&world, "birch")["created"], "2026-11-01T01:00:00Z");
}

#[test]
fn a_secret_of_v_is_sealed_whole_and_stands_nowhere_in_clear() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    let id = v_stores(&v, 5, &format!("box birch opens with {KEY}"));
    v.execute("UPDATE memories SET is_sensitive = 1 WHERE id = ?1", [id]).unwrap();
    v_stores(&v, 6, &format!("deploy with api_key={KEY} to birch"));
    let redacted = v_stores(&v, 7, "The password is [REDACTED:password] on oak");
    v.execute("UPDATE memories SET is_sensitive = 1 WHERE id = ?1", [redacted]).unwrap();
    let preview = world.run(&["import", "claude-memory-mcp", path(&file), "--dry-run"]);
    assert!(preview.stdout.contains("2 credentials") && !preview.stdout.contains(KEY), "{preview:?}");
    let done = import(&world, &["claude-memory-mcp", path(&file), "--mine"]);
    assert_eq!((&done["set_aside"], &done["remarks"][0]["at"]), (&json!(2), &json!(redacted.to_string())));
    assert!(!done.to_string().contains(KEY));
    assert_eq!(import(&world, &["claude-memory-mcp", path(&file), "--mine"])["statuses"], json!({ "there": 3 }));
    let sealed = row(&world, "Sensitive note");
    assert_eq!(sealed["sensitive"], true);
    let shown = world.run(&["secret", "show", "1"]).stdout;
    assert!(shown.trim_end().ends_with(&format!("box birch opens with {KEY}")), "{shown}");
    row(&world, "on oak");
    for entry in fs::read_dir(world.home()).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap_or_default();
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{}", path.display());
    }
}

#[test]
fn rows_that_do_not_fit_cost_themselves_alone_and_are_told() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    v_stores(&v, 1, "The good one");
    let odd = |set: &str| {
        let id = v_stores(&v, 2, "An odd one");
        v.execute_batch(&format!("UPDATE memories SET {set} WHERE id = {id}")).unwrap();
        id.to_string()
    };
    v.execute_batch("DROP TRIGGER memories_ai").unwrap();
    let wanted = [
        (odd("importance = 'high'"), "importance: is a text, not a number"),
        (odd("content = x'00ff00'"), "content: contains bytes that are not text"),
        (odd("content = CAST(x'61ff62' AS TEXT)"), "content: contains bytes that are not text"),
        (odd("content = 'a' || char(0) || 'b'"), "content: contains a NUL character"),
        (odd("content = '  '"), "content: is empty; pass the text to remember"),
        (odd("created_at = 'soon'"), "created_at: is not a valid time"),
        (odd("content = printf('%.*c', 40000, 'x')"), "content: is 40000 bytes long, more than 32768; split it"),
    ];
    let wide = odd("tags = printf('%.*c', 90, 'x') || ',ok', category = 'a \"b\"', content = 'Tags too wide 用户 🦀'");
    let ran = imported(&world, &["claude-memory-mcp", path(&file)]);
    let done: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &done["rows"]), (Some(1), &json!(2)), "{done}");
    let told: Vec<(&str, &str)> = done["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["at"].as_str().unwrap().trim_start_matches("row "), one["problem"].as_str().unwrap()))
        .collect();
    for (at, problem) in &wanted {
        let found = told.iter().find(|(told, _)| told == at);
        assert!(found.is_some_and(|(_, told)| told.starts_with(problem)), "{at} {problem}: {told:?}");
    }
    assert_eq!(told.len(), wanted.len());
    assert!(done["remarks"].as_array().unwrap().iter().all(|remark| remark["at"] == wide.as_str()), "{done}");
    assert_eq!(row(&world, "too wide")["tags"], json!(["ok"]));
}

#[test]
fn what_is_no_database_of_theirs_is_refused_in_words() {
    let world = World::new();
    let at = |name: &str, bytes: &[u8]| {
        fs::write(world.path(name), bytes).unwrap();
        path(&world.path(name)).to_owned()
    };
    let foreign = world.path("foreign.db");
    rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE memories (a)").unwrap();
    let w = world.path("w.db");
    drop(w_database(&w));
    let cut = {
        let v = world.path("whole.db");
        let connection = v_database(&v);
        for minute in 0..200 {
            v_stores(&connection, minute, &"A long row of words ".repeat(30));
        }
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(connection);
        let mut bytes = fs::read(&v).unwrap();
        bytes.truncate(bytes.len() / 2);
        at("cut.db", &bytes)
    };
    // A view may never end: only tables are read.
    let endless = world.path("endless.db");
    let view = "CREATE VIEW memories AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                SELECT i id, 'row ' || i content, 'facts' category, '' tags, '' expanded_keywords, 0 is_sensitive,
                    '2026-01-01' created_at FROM n";
    rusqlite::Connection::open(&endless).unwrap().execute_batch(view).unwrap();
    for (file, problem) in [
        (path(&endless).to_owned(), "does not have that system"),
        (at("empty.db", b""), "is empty"),
        (at("text", b"hello"), "is neither an SQLite database nor JSON"),
        (at("list", b"[{\"a\":1}]"), "no row has a field `content`"),
        (path(&foreign).to_owned(), "is a database, but not one from claude-memory-mcp"),
        (path(&w).to_owned(), "use `tessera import memory-mcp`"),
        (cut, "is damaged, and nothing was imported"),
        ("/nowhere/memory.db".to_owned(), "does not exist"),
        (path(&world.path("user")).to_owned(), "is a directory"),
    ] {
        let ran = world.run(&["import", "claude-memory-mcp", &file, "--yes"]);
        assert_eq!(ran.code, Some(1), "{file}: {ran:?}");
        assert!(ran.stderr.contains(problem), "{file}: {}", ran.stderr);
    }
    assert!(!world.home().exists(), "a look makes no store");
}

#[test]
fn rows_of_w_come_over_with_what_stood_beside_them() {
    let world = World::new();
    let file = world.path("memory.db");
    let w = w_database(&file);
    w_stores(&w, "mem_a", "The shop listens on port 5433", 9.0);
    w_stores(&w, "mem_b", "Deploys happen on Tuesday", 5.0);
    w_stores(&w, "mem_c", "Thrown away", 2.0);
    let month = 1_793_500_000_000_i64 + 30 * 86_400_000;
    // By its rule one of 9 ends after 365 · 1.63 + 6.3 days, rounded as it rounds.
    let ruled = 1_793_500_000_000_i64 + 595 * 86_400_000 + 544_320_000;
    w.execute_batch(&format!(
        "UPDATE memories SET expires_at = {ruled} WHERE id = 'mem_a'; UPDATE memories SET expires_at = {month} WHERE id = 'mem_b';
         UPDATE memories SET is_deleted = 1 WHERE id = 'mem_c';
         INSERT INTO provenance VALUES ('p1', 'mem_c', 'delete', 1793700000000, 'user', 'outdated', 'ada', NULL);
         INSERT INTO provenance VALUES ('p2', 'mem_a', 'access', 1793800000000, 'user', NULL, NULL, NULL);
         INSERT INTO entities VALUES ('e1', 'Shop', 'other', '{{}}', 1), ('e2', 'Birch', 'other', '{{}}', 1);
         INSERT INTO memory_entities VALUES ('mem_a', 'e2', 1), ('mem_a', 'e1', 1);"
    ))
    .unwrap();
    let done = import(&world, &["memory-mcp", path(&file), "--mine"]);
    assert_eq!(done["statuses"], json!({ "new": 2, "new_deleted": 1 }), "{done}");
    let (port, deploys) = (row(&world, "5433"), row(&world, "Tuesday"));
    assert_eq!((&port["importance"], &port["type"], &port["tags"]), (&json!(0.9), &json!("fact"), &json!(["ops"])));
    assert_eq!(port["entities"], json!(["Birch", "Shop"]));
    assert_eq!((&port["access_count"], &port["last_accessed"]), (&json!(3), &json!("2026-11-02T06:13:20Z")));
    assert_eq!(port["expires_at"], Value::Null, "nobody asked for that end");
    assert_eq!((&deploys["expires_at"], &deploys["trust"]), (&json!("2026-12-01T02:26:40Z"), &json!("user")));
    let gone = world.json(&["list", "--deleted"]);
    assert!(gone.to_string().contains("Thrown away"), "{gone}");
    let why = world.json(&["why", "1"]).to_string();
    assert!(why.contains("memory-mcp mem_a"), "{why}");
}

#[test]
fn notes_of_basic_memory_come_over_as_memories_with_their_links() {
    let world = World::new();
    let dir = vault(&world);
    let settings = world.path("user/.basic-memory");
    fs::create_dir_all(&settings).unwrap();
    fs::write(settings.join("config.json"), json!({ "projects": { "main": { "path": dir } } }).to_string()).unwrap();
    fs::write(dir.join("broken.md"), b"\xff\xfe").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hostname", dir.join("link.md")).unwrap();
    let ran = imported(&world, &["basic-memory"]);
    let done: Value = serde_json::from_str(&ran.stdout).unwrap();
    let skipped: Vec<&str> =
        done["skipped"].as_array().unwrap().iter().map(|one| one["at"].as_str().unwrap()).collect();
    assert_eq!((ran.code, &done["rows"]), (Some(1), &json!(3)), "{done}");
    assert_eq!(skipped, if cfg!(unix) { vec!["vault/broken.md", "vault/link.md"] } else { vec!["vault/broken.md"] });
    let port = row(&world, "5433");
    assert_eq!(port["content"], "Staging database: runs PostgreSQL 15 on port 5433 #staging (seen in compose)");
    assert_eq!((&port["tags"], &port["category"]), (&json!(["postgres", "staging"]), &json!("facts")));
    assert_eq!(port["links"], json!([{ "type": "used_by", "to": row(&world, "Svelte")["uuid"] }]));
    assert!(port["keywords"].to_string().contains("Network Plan"), "what is not written yet is named: {port}");
    let direct = import_skipping(&world, &["basic-memory", path(&dir)]);
    assert_eq!(direct["statuses"], json!({ "there": 3 }), "by the folder they are the same");
}

fn import_skipping(world: &World, args: &[&str]) -> Value {
    serde_json::from_str(&imported(world, args).stdout).unwrap()
}

#[test]
fn rows_of_theirs_as_lines_are_named_and_taken_by_their_own_door() {
    let world = World::new();
    let v = json!({ "id": 3, "content": "The shop listens on port 5433", "tags": "ops,shop", "category": "facts",
        "expanded_keywords": "port", "importance": 0.8, "is_sensitive": 0, "created_at": "2026-11-01T00:05:38+00:00" });
    let w = json!({ "id": "mem_x1", "content": "Deploys happen on Tuesday", "type": "fact", "importance": 8,
        "entities": [{ "name": "Birch" }], "created_at": "2026-11-01T00:05:38Z", "access_count": 2,
        "last_accessed": 1_793_600_000_000_i64, "expires_at": null });
    for (system, row, form) in
        [("claude-memory-mcp", &v, 0), ("claude-memory-mcp", &v, 1), ("memory-mcp", &w, 0), ("memory-mcp", &w, 2)]
    {
        let file = world.path("rows");
        let text = match form {
            0 => format!("{row}\n"),
            1 => json!([row]).to_string(),
            _ => json!({ "memories": [row], "total": 1 }).to_string(),
        };
        fs::write(&file, &text).unwrap();
        let hinted = world.run(&["import", path(&file)]);
        assert_eq!(hinted.code, Some(1), "{hinted:?}");
        assert!(hinted.stderr.contains(&format!("`tessera import {system} ")), "{}", hinted.stderr);
        if form != 1 {
            let piped = world.run_with_stdin(&["import", "-"], text.as_bytes());
            assert!(piped.stderr.contains(&format!("`tessera import {system} FILE`")), "{}", piped.stderr);
        }
        import(&world, &[system, path(&file)]);
    }
    let database = world.path("memory.db");
    drop(v_database(&database));
    let hinted = world.run(&["import", path(&database)]);
    assert!(hinted.stderr.contains("`tessera import claude-memory-mcp "), "{}", hinted.stderr);
    assert_eq!(rows(&world).len(), 2);
    assert_eq!(
        (&row(&world, "Tuesday")["importance"], &row(&world, "Tuesday")["entities"]),
        (&json!(0.8), &json!(["Birch"]))
    );
    assert_eq!(row(&world, "5433")["tags"], json!(["ops", "shop"]));
}

#[test]
fn own_notes_are_given_unasked_and_others_only_when_asked() {
    let world = World::new();
    let (mine, theirs) = (world.path("mine.db"), world.path("theirs.db"));
    v_stores(&v_database(&mine), 5, "The ledger service listens on port 9417");
    v_stores(&v_database(&theirs), 6, "The garden hose hangs behind shed 2020");
    import(&world, &["claude-memory-mcp", path(&mine), "--mine"]);
    import(&world, &["claude-memory-mcp", path(&theirs)]);
    assert!(asked(&world, "s1", "which port does the ledger service listen on?").unwrap().contains("9417"));
    assert_eq!(asked(&world, "s2", "where does the garden hose hang?"), None);
    assert_eq!(world.found("where does the garden hose hang?").len(), 1, "asked, it is given");
    import(&world, &["claude-memory-mcp", path(&theirs), "--mine"]);
    assert!(asked(&world, "s3", "where does the garden hose hang?").unwrap().contains("2020"));
}

#[test]
fn an_older_memory_is_offered_until_it_came_over() {
    let world = World::new();
    let file = world.path("older/memory/memory.db");
    v_stores(&v_database(&file), 5, "The ledger service listens on port 9417");
    let variables = [("MEMORY_HOME", path(&world.path("older")).to_owned())];
    let run = |args: &[&str]| -> Ran {
        let mut command = world.command(World::binary());
        command.args(args).envs(variables.iter().map(|(name, value)| (name, value.as_str()))).output().unwrap().into()
    };
    world.remember("Something of my own");
    let command = format!("`tessera import claude-memory-mcp {}`", file.display());
    for args in [vec!["stats"], vec!["doctor"], vec!["import", "--detect"]] {
        let ran = run(&args);
        assert!(ran.code == Some(0) && ran.stdout.contains(&command), "{args:?}: {ran:?}");
    }
    let start = event(&world, "SessionStart", "s1", json!({ "source": "startup" })).to_string();
    let told = |start: &str| {
        let ran = hook(&world, start.as_bytes(), &[("MEMORY_HOME", &variables[0].1)]);
        assert_eq!(ran.code, Some(0));
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        reply["systemMessage"].as_str().map(str::to_owned)
    };
    let notice = told(&start).unwrap();
    assert!(notice.contains("tessera import --detect") && notice.contains(path(&file)), "{notice}");
    assert_eq!(told(&start), None, "once");
    run(&["import", "claude-memory-mcp", "--yes", "--mine"]);
    assert_eq!(world.contents().len(), 2, "the path is known");
    assert!(!run(&["stats"]).stdout.contains("not taken over"));
    assert!(run(&["import", "--detect"]).stdout.contains("imported before"));
    assert_eq!(context_of(&hook(&world, b"{}", &[])), None);
}

#[test]
fn each_variable_that_names_a_store_and_each_usual_place_is_looked_at() {
    for (variable, place, system) in [
        (Some("MEMORY_DB"), "named/v.db", "claude-memory-mcp"),
        (Some("MEMORY_DB_PATH"), "named/w.db", "memory-mcp"),
        (None, "user/.claude/claude-memory/memory/memory.db", "claude-memory-mcp"),
        (None, "user/.local/share/claude-memories/memory.db", "memory-mcp"),
    ] {
        let world = World::new();
        let file = world.path(place);
        if system == "claude-memory-mcp" {
            v_stores(&v_database(&file), 5, "The ledger service listens on port 9417");
        } else {
            w_stores(&w_database(&file), "mem_a", "The ledger service listens on port 9417", 8.0);
        }
        let mut command = world.command(World::binary());
        command.args(["import", "--detect", "--json"]);
        command.envs(variable.map(|name| (name, &file)));
        let found: Value = serde_json::from_str(&Ran::from(command.output().unwrap()).stdout).unwrap();
        let row = &found["found"][0];
        assert_eq!((&row["system"], &row["rows"], &row["path"]), (&json!(system), &json!(1), &json!(file)), "{found}");
    }
}

#[test]
fn whose_they_are_is_asked_once_on_a_terminal() {
    let world = World::new();
    let file = world.path("memory.db");
    v_stores(&v_database(&file), 5, "The ledger service listens on port 9417");
    let answered = |answers: &[u8]| {
        let (mut child, mut terminal) = start_on_terminal(&world, &["import", "claude-memory-mcp", path(&file)]);
        terminal.write_all(answers).unwrap();
        let mut said = Vec::new();
        // The end of a terminal that nobody holds any more is an error.
        let _ = terminal.read_to_end(&mut said);
        (child.wait().unwrap().success(), String::from_utf8_lossy(&said).into_owned())
    };
    let (is_done, said) = answered(b"n\nn\n");
    assert!(is_done && said.contains("own notes?") && said.contains("Import these memories?"), "{said}");
    assert!(!world.home().exists(), "no is no");
    let (is_done, said) = answered(b"y\ny\n");
    assert!(is_done, "{said}");
    assert_eq!(row(&world, "9417")["trust"], "user");
}

#[test]
fn what_another_shared_there_becomes_nobodys_own_and_a_text_nobody_vouches_for_takes_no_trust() {
    let world = World::new();
    let rest = world.path("rest.json");
    let said = |text: &str, at: &str| {
        let own = json!({ "id": 1, "content": text, "is_sensitive": false, "created_at": "2026-11-01T00:09:00+00:00",
            "updated_at": at });
        let theirs = json!({ "id": 2, "content": "Bob shared this with me", "is_sensitive": false, "shared_by": "bob",
            "created_at": "2026-11-01T00:09:00+00:00", "share_permission": "read" });
        fs::write(&rest, json!({ "memories": [own, theirs] }).to_string()).unwrap();
    };
    said("The ledger listens on 9417", "2026-11-01T00:09:00+00:00");
    (0..2).for_each(|_| assert_eq!(import(&world, &["claude-memory-mcp", path(&rest), "--mine"])["trust"], "user"));
    assert_eq!(row(&world, "Bob")["trust"], "foreign");
    assert_eq!(row(&world, "ledger")["trust"], "user");
    said("The ledger listens on 1111, says somebody", "2026-11-02T00:09:00+00:00");
    assert_eq!(import(&world, &["claude-memory-mcp", path(&rest)])["statuses"], json!({ "both": 1, "there": 1 }));
    assert_eq!((&row(&world, "9417")["trust"], &row(&world, "1111")["trust"]), (&json!("user"), &json!("foreign")));
    assert_eq!(import(&world, &["claude-memory-mcp", path(&rest)])["applied"], false, "once");
    // Said as the person's own it takes the place of theirs.
    assert_eq!(
        import(&world, &["claude-memory-mcp", path(&rest), "--mine"])["statuses"],
        json!({ "changed": 1, "there": 1 })
    );
    assert_eq!(row(&world, "1111")["trust"], "user");
}

#[test]
fn what_the_systems_wrote_themselves_comes_over() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/import-samples");
    if !samples.is_dir() {
        left_out("Samples of older systems", "there are none");
        return;
    }
    let world = World::new();
    for (system, file, statuses) in [
        ("claude-memory-mcp", "viktorbarzin-sqlite/memory.db", json!({ "new": 3 })),
        ("memory-mcp", "whenmoon-v2.5.0/memory.db", json!({ "new": 2, "new_deleted": 1 })),
        ("basic-memory", "basic-memory/vault", json!({ "new": 5 })),
    ] {
        let file = samples.join(file);
        let looked = if system == "basic-memory" { file.join("x") } else { file.clone() };
        let before = states(&looked);
        let done = import(&world, &[system, path(&file), "--mine"]);
        assert_eq!((&done["statuses"], &done["skipped"]), (&statuses, &json!([])), "{system}");
        assert_eq!(states(&looked), before, "{system}");
        assert_eq!(import(&world, &[system, path(&file), "--mine"])["applied"], false);
    }
    assert!(!world.run(&["export"]).stdout.contains("abcd1234efgh5678ijkl"));
    for n in 1..=3 {
        assert_eq!(world.run(&["import", "--undo", &n.to_string(), "--yes"]).code, Some(0));
    }
    assert_eq!(world.run(&["export"]).stdout, "");
}
