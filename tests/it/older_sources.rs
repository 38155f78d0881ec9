//! Sources of older systems as life makes them: two of one name, pipes, links, files that nobody may read, rows that are
//! half broken, processes that were killed. None costs another, and what is left out is told.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::hooks::{event, hook};
use crate::support::older::{v_database, v_stores, w_database, w_stores};
use crate::support::{Ran, World};

/// A credential that was made up.
const KEY: &str = "qX7pL2vN9dRtW4mZ8kBy";
/// Another.
const OTHER: &str = "Zm4WtRd9Nv2Lp7Xq1aCe";

fn import(world: &World, args: &[&str]) -> Value {
    let ran = world.run(&[&["import"], args, &["--yes", "--json"]].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {args:?} {ran:?}"))
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn sorted(world: &World) -> Vec<String> {
    let mut contents = world.contents();
    contents.sort();
    contents
}

/// What a command says that must come to its end by itself.
fn ended(mut command: Command) -> Ran {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() && began.elapsed() < Duration::from_mins(1) {
        std::thread::yield_now();
    }
    let _ = child.kill();
    child.wait_with_output().unwrap().into()
}

fn run(world: &World, args: &[&str], variables: &[(&str, &Path)]) -> Ran {
    let mut command = world.command(World::binary());
    command.args(args).envs(variables.iter().copied());
    ended(command)
}

#[test]
fn rows_without_a_name_of_two_sources_are_not_taken_for_one_another() {
    let world = World::new();
    let (one, other) = (world.path("one.json"), world.path("other.json"));
    let row = |value: &str| json!({ "content": format!("api_key={value} opens birch"), "expanded_keywords": "birch" });
    fs::write(&one, json!([row(KEY), row(OTHER)]).to_string()).unwrap();
    fs::write(&other, json!([row(OTHER)]).to_string()).unwrap();
    assert_eq!(import(&world, &["claude-memory-mcp", path(&one)])["statuses"], json!({ "new": 2 }));
    assert_eq!(import(&world, &["claude-memory-mcp", path(&other)])["statuses"], json!({ "new": 1 }));
    assert_eq!(sorted(&world).len(), 3);
    // One that stands elsewhere by now is no other one.
    let before = json!({ "content": "A new row before them", "expanded_keywords": "" });
    fs::write(&one, json!([before, row(KEY), row(OTHER)]).to_string()).unwrap();
    assert_eq!(import(&world, &["claude-memory-mcp", path(&one)])["statuses"], json!({ "new": 1, "there": 2 }));
}

#[test]
fn folders_of_notes_of_one_name_are_two() {
    let world = World::new();
    for dir in ["a/notes", "b/notes"] {
        fs::create_dir_all(world.path(dir)).unwrap();
        fs::write(world.path(dir).join("deploy.md"), "Deploys are on Tuesday.\n").unwrap();
    }
    let (a, b) = (world.path("a/notes"), world.path("b/notes"));
    assert_eq!(import(&world, &["basic-memory", path(&a)])["statuses"], json!({ "new": 1 }));
    assert_eq!(import(&world, &["basic-memory", path(&b)])["statuses"], json!({ "new": 1 }));
    assert_eq!(import(&world, &["basic-memory", path(&a)])["statuses"], json!({ "there": 1 }));
    // By the settings that name both of them, and one of them twice, they are the same.
    let settings = world.path("settings");
    fs::create_dir_all(&settings).unwrap();
    let config = json!({ "projects": { "a": { "path": a }, "b": path(&b), "all": world.path("a"), "again": a } });
    fs::write(settings.join("config.json"), config.to_string()).unwrap();
    let all = import(&world, &["basic-memory", path(&settings)]);
    assert_eq!((&all["statuses"], &all["skipped"]), (&json!({ "there": 2 }), &json!([])), "{all}");
}

#[test]
fn rows_of_two_servers_with_one_number_are_two_and_a_source_that_was_moved_is_one() {
    let world = World::new();
    let (one, other) = (world.path("one.db"), world.path("other.db"));
    let (first, second) = (v_database(&one), v_database(&other));
    for (v, minute, text) in [(&first, 5, "The shop listens on port 5433"), (&second, 9, "Deploys are on Tuesday")] {
        v_stores(v, minute, text);
        v.execute_batch("UPDATE memories SET server_id = 7; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    }
    assert_eq!(import(&world, &["claude-memory-mcp", path(&one)])["statuses"], json!({ "new": 1 }));
    assert_eq!(import(&world, &["claude-memory-mcp", path(&other)])["statuses"], json!({ "new": 1 }));
    assert_eq!(sorted(&world), ["Deploys are on Tuesday", "The shop listens on port 5433"]);
    let moved = world.path("moved.db");
    fs::copy(&one, &moved).unwrap();
    assert_eq!(import(&world, &["claude-memory-mcp", path(&moved)])["statuses"], json!({ "there": 1 }));
    // What was changed on the one server is that row, and no other.
    first.execute_batch("UPDATE memories SET content = 'The shop listens on port 6000'").unwrap();
    assert_eq!(import(&world, &["claude-memory-mcp", path(&one)])["statuses"], json!({ "changed": 1 }));
    assert_eq!(sorted(&world), ["Deploys are on Tuesday", "The shop listens on port 6000"]);
}

#[test]
fn a_row_that_is_there_twice_is_taken_once_and_that_is_told() {
    let world = World::new();
    let file = world.path("rows.json");
    let row = |text: &str| json!({ "id": 3, "content": text, "is_sensitive": false, "created_at": "2026-11-01T00:05:38+00:00" });
    fs::write(&file, json!([row("First"), row("First"), row("Second")]).to_string()).unwrap();
    let preview = world.run(&["import", "claude-memory-mcp", path(&file), "--dry-run", "--json"]);
    let done = import(&world, &["claude-memory-mcp", path(&file)]);
    assert_eq!((&done["statuses"], &done["rows"]), (&json!({ "new": 1 }), &json!(1)), "{done}");
    assert_eq!(done["remarks"][0]["remark"], "occurs twice and is imported once");
    assert!(done["skipped"][0]["problem"].as_str().unwrap().starts_with("has the same ID as an earlier row"), "{done}");
    let looked: Value = serde_json::from_str(&preview.stdout).unwrap();
    assert_eq!((preview.code, &looked["statuses"], &looked["skipped"]), (Some(1), &done["statuses"], &done["skipped"]));
    let again = world.run(&["import", "claude-memory-mcp", path(&file), "--yes", "--json"]);
    assert!(again.code == Some(1) && again.stdout.contains("\"there\":1"), "{again:?}");
    assert_eq!(sorted(&world), ["First"]);
}

#[test]
fn what_a_killed_import_left_in_clear_is_swept_by_the_next() {
    let world = World::new();
    let (temporary, small, large) = (world.path("tmp"), world.path("small.db"), world.path("large.db"));
    fs::create_dir_all(&temporary).unwrap();
    v_stores(&v_database(&small), 5, "The shop listens on port 5433");
    let head = fs::read(&small).unwrap();
    let file = fs::File::create(&large).unwrap();
    (&file).write_all(&head).unwrap();
    file.set_len(400 << 20).unwrap();
    let copies = || -> Vec<PathBuf> {
        let entries = fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.to_str().unwrap().contains("tessera-copy-")).collect()
    };
    let mut left = Vec::new();
    for _ in 0..20 {
        let mut command = world.command(World::binary());
        command.args(["import", "claude-memory-mcp", path(&large), "--yes"]).env("TMPDIR", &temporary);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_begun = || copies().iter().any(|dir| dir.join("copy.db").exists());
        while !is_begun() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        left = copies();
        if left.iter().any(|dir| dir.join("copy.db").exists()) {
            break;
        }
    }
    assert!(left.iter().any(|dir| dir.join("copy.db").exists()), "it was killed amid its copy: {left:?}");
    let ran = run(&world, &["import", "claude-memory-mcp", path(&small), "--yes"], &[("TMPDIR", &temporary)]);
    assert_eq!((ran.code, copies()), (Some(0), Vec::new()), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_read_and_links_are_told() {
    let world = World::new();
    let fifo = |at: &Path| assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
    let (pipe, database) = (world.path("pipe"), world.path("memory.db"));
    fifo(&pipe);
    drop(v_database(&database));
    let _ = fs::remove_file(world.path("memory.db-wal"));
    fifo(&world.path("memory.db-wal"));
    let circle = world.path("circle");
    std::os::unix::fs::symlink(&circle, &circle).unwrap();
    let odd = world.path("odd");
    fs::create_dir_all(&odd).unwrap();
    fifo(&odd.join("config.json"));
    let junk = world.path("junk");
    fs::File::create(&junk).unwrap().set_len(3 << 30).unwrap();
    for (args, problem) in [
        (["claude-memory-mcp", path(&pipe)], "is a pipe or a device"),
        (["claude-memory-mcp", "/dev/zero"], "is a pipe or a device"),
        (["claude-memory-mcp", path(&database)], "belongs to a database, but is not a regular file"),
        (["memory-mcp", path(&circle)], "circle"),
        (["basic-memory", path(&odd)], "contains no notes"),
        (["claude-memory-mcp", path(&junk)], "is neither an SQLite database nor JSON"),
    ] {
        let ran = run(&world, &["import", args[0], args[1], "--yes"], &[]);
        assert!(ran.code.is_some_and(|code| code != 0) && ran.stderr.contains(problem), "{args:?}: {ran:?}");
        assert!(!ran.stderr.contains("does not exist"), "{args:?}: {ran:?}");
    }
    let vault = world.path("vault");
    fs::create_dir_all(vault.join("deep")).unwrap();
    fs::write(vault.join("a.md"), "Deploys are on Tuesday.\n").unwrap();
    fs::create_dir_all(world.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(world.path("elsewhere"), vault.join("linked")).unwrap();
    fifo(&vault.join("b.md"));
    let done = import(&world, &["basic-memory", path(&vault)]);
    let skipped: Vec<&str> =
        done["skipped"].as_array().unwrap().iter().map(|one| one["at"].as_str().unwrap()).collect();
    assert_eq!((skipped, &done["rows"]), (vec!["vault/b.md", "vault/linked"], &json!(1)), "{done}");
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_read_is_told_and_one_with_an_odd_name_shown() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let circle = world.path("circle.db");
    std::os::unix::fs::symlink(&circle, &circle).unwrap();
    let ran = run(&world, &["import", "--detect"], &[("MEMORY_DB", &circle)]);
    assert!(ran.code == Some(0) && ran.stderr.contains("circle.db: ") && !ran.stderr.contains("nothing of"), "{ran:?}");
    let ran = run(&world, &["import", "claude-memory-mcp", "--yes"], &[("MEMORY_DB", &circle)]);
    assert!(ran.code != Some(0) && !ran.stderr.contains("nothing of it"), "{ran:?}");
    let odd = world.path("x").join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    v_stores(&v_database(&odd.join("memory/memory.db")), 5, "The shop listens on port 5433");
    let ran = run(&world, &["import", "--detect", "--json"], &[("MEMORY_HOME", &odd)]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(found["found"][0]["path"].as_str().unwrap().contains("odd\u{fffd}"), "{found}");
}

#[test]
fn a_project_in_the_home_directory_is_found_by_its_sign() {
    let world = World::new();
    let settings = world.path("user/.basic-memory");
    fs::create_dir_all(&settings).unwrap();
    fs::create_dir_all(world.path("user/notes")).unwrap();
    fs::write(world.path("user/notes/a.md"), "Deploys are on Tuesday.\n").unwrap();
    fs::write(settings.join("config.json"), json!({ "projects": { "main": "~/notes" } }).to_string()).unwrap();
    let detected = || world.run(&["import", "--detect"]).stdout;
    assert!(detected().contains("1 memories of basic-memory") && !detected().contains("imported before"));
    // The folder that the settings name came over by itself: that is all of it.
    assert_eq!(import(&world, &["basic-memory", path(&world.path("user/notes"))])["statuses"], json!({ "new": 1 }));
    assert!(detected().contains("imported before"), "{}", detected());
    let done = import(&world, &["basic-memory"]);
    assert_eq!((&done["statuses"], &done["skipped"]), (&json!({ "there": 1 }), &json!([])));
}

#[test]
fn a_second_store_is_offered_after_the_first_and_an_empty_one_never() {
    let world = World::new();
    let (one, other, empty) =
        (world.path("one.db"), world.path("x/memory/memory.db"), world.path("y/memory/memory.db"));
    v_stores(&v_database(&one), 5, "The shop listens on port 5433");
    v_stores(&v_database(&other), 6, "Deploys are on Tuesday");
    drop(v_database(&empty));
    import(&world, &["claude-memory-mcp", path(&one)]);
    let start = event(&world, "SessionStart", "s1", json!({ "source": "startup" })).to_string();
    let told = |home: &Path| {
        let ran = hook(&world, start.as_bytes(), &[("MEMORY_HOME", path(home))]);
        let reply: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
        reply["systemMessage"].as_str().map(str::to_owned)
    };
    let stats = |home: &Path| run(&world, &["stats"], &[("MEMORY_HOME", home)]).stdout;
    assert!(!stats(&world.path("y")).contains("tessera import claude-memory-mcp"));
    assert_eq!(told(&world.path("y")), None);
    assert!(stats(&world.path("x")).contains("tessera import claude-memory-mcp"));
    assert!(told(&world.path("x")).unwrap().contains("tessera import --detect"));
    assert_eq!(told(&world.path("x")), None, "once");
}

#[test]
fn what_cannot_be_read_beside_a_row_is_left_out_and_the_row_is_taken() {
    let world = World::new();
    let file = world.path("memory.db");
    let w = w_database(&file);
    for id in ["a", "b", "c", "d"] {
        w_stores(&w, &format!("mem_{id}"), &format!("Row {id} of theirs"), 5.0);
    }
    w.execute_batch(
        "INSERT INTO provenance VALUES ('p1', 'mem_a', 'update', 1793700000000, 'user', x'00ff', NULL, NULL);
         INSERT INTO provenance VALUES ('p2', 'mem_a', 'update', 1793800000000, 'user', 'said again', NULL, NULL);
         UPDATE memories SET created_at = 4102444800000 WHERE id = 'mem_a';
         UPDATE memories SET metadata = '[1' WHERE id = 'mem_b'; UPDATE memories SET last_accessed = 'x' WHERE id = 'mem_c';
         UPDATE memories SET created_at = -500000000000, expires_at = 4000000000000 WHERE id = 'mem_d'",
    )
    .unwrap();
    let done = import(&world, &["memory-mcp", path(&file)]);
    assert_eq!((&done["statuses"], &done["skipped"]), (&json!({ "new": 4 }), &json!([])), "{done}");
    let remarks: Vec<String> = done["remarks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{}: {}", one["at"].as_str().unwrap(), one["remark"].as_str().unwrap()))
        .collect();
    for wanted in [
        "mem_a: provenance: 1 of 3 cannot be read and were skipped",
        "mem_a: created: 2100-01-01T00:00:00Z is in the future, by this machine's clock; it is imported unchanged",
        "mem_b: skipped: metadata: is not a JSON object",
        "mem_c: skipped: last_accessed: is not a valid time",
        "mem_d: created: 1954-02-26T23:06:40Z is not valid here; 1970-01-01T00:00:00Z is used instead",
    ] {
        assert!(remarks.iter().any(|remark| remark == wanted), "{wanted}: {remarks:?}");
    }
    assert!(world.run(&["export"]).stdout.contains("said again"));
}

#[test]
fn a_look_counts_what_is_set_aside_as_the_import_does() {
    let world = World::new();
    let file = world.path("rows.json");
    let row = |id: u32, text: &str, words: &str| {
        json!({ "id": id, "content": text, "is_sensitive": id == 4, "tags": "ops", "expanded_keywords": words,
            "category": "facts", "created_at": "2026-11-01T00:05:38+00:00" })
    };
    let twice = format!("api_key={KEY} and again api_key={KEY}");
    let told = |rows: &[Value]| {
        fs::write(&file, json!(rows).to_string()).unwrap();
        let preview: Value = serde_json::from_str(
            &world.run(&["import", "claude-memory-mcp", path(&file), "--dry-run", "--json"]).stdout,
        )
        .unwrap();
        let done = import(&world, &["claude-memory-mcp", path(&file)]);
        assert_eq!((&preview["set_aside"], &preview["statuses"]), (&done["set_aside"], &done["statuses"]));
        done["set_aside"].as_u64().unwrap()
    };
    let token = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    let mut rows = vec![
        row(1, &twice, ""),
        row(2, "Nothing of it in here", &token),
        row(3, &format!("api_key={KEY}"), &token),
        row(4, "all of it", ""),
    ];
    assert_eq!(told(&rows), 5);
    rows[0] = row(1, &format!("{twice} beside api_key={OTHER}"), "");
    rows[1] = row(2, "Nothing of it in here by now", &token);
    assert_eq!(told(&rows), 3, "those of the rows that changed");
}

#[test]
fn what_is_left_out_fails_a_look_too_and_a_project_that_is_not_taken_is_told() {
    let world = World::new();
    let file = world.path("memory.db");
    let v = v_database(&file);
    v_stores(&v, 5, "The shop listens on port 5433");
    let scoped =
        |args: &[&str]| world.run(&[&["import", "claude-memory-mcp", path(&file), "--scope", "shop"], args].concat());
    assert!(!scoped(&["--yes"]).stderr.contains("--scope"), "they are new");
    let again = scoped(&["--yes"]);
    assert!(again.code == Some(0) && again.stderr.contains("--scope applies to new memories only"), "{again:?}");
    v.execute_batch("INSERT INTO memories (content, created_at, updated_at) VALUES ('  ', '2026-11-01', '2026-11-01')")
        .unwrap();
    for args in [["--dry-run"], ["--yes"]] {
        assert_eq!(scoped(&args).code, Some(1), "{args:?}");
    }
    assert!(world.run(&["import", "claude-memory-mcp", "--help"]).stdout.contains("exits with code 1"));
}

#[test]
fn an_import_is_not_undone_while_one_runs() {
    let world = World::new();
    let file = world.path("memory.db");
    v_stores(&v_database(&file), 5, "The shop listens on port 5433");
    import(&world, &["claude-memory-mcp", path(&file)]);
    // As an import holds it that waits for its lines.
    let mut running = world.command(World::binary());
    running.args(["import", "-"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut running = running.spawn().unwrap();
    let mut lines = running.stdin.take().unwrap();
    lines.write_all(b"{\"content\":\"One line\"}\n").unwrap();
    let lock =
        fs::OpenOptions::new().write(true).create(true).truncate(false).open(world.home().join("import.lock")).unwrap();
    let began = Instant::now();
    while lock.try_lock().is_ok() {
        assert!(began.elapsed() < Duration::from_mins(1), "it holds nothing");
        lock.unlock().unwrap();
        std::thread::yield_now();
    }
    let ran = world.run(&["import", "--undo", "1", "--yes"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("import is still running"), "{ran:?}");
    drop(lines);
    assert!(running.wait().unwrap().success());
    assert_eq!(world.run(&["import", "--undo", "1", "--yes"]).code, Some(0));
}

#[test]
fn a_credential_in_a_path_is_shown_and_kept_nowhere() {
    let world = World::new();
    let home = world.path(&format!("password={KEY}"));
    let file = home.join("memory/memory.db");
    v_stores(&v_database(&file), 5, "The shop listens on port 5433");
    let start = event(&world, "SessionStart", "s1", json!({ "source": "startup" })).to_string();
    world.remember("Something of my own");
    let mut said = vec![hook(&world, start.as_bytes(), &[("MEMORY_HOME", path(&home))])];
    for args in [
        &["import", "--detect"][..],
        &["import", "--detect", "--json"],
        &["stats"],
        &["doctor"],
        &["import", "claude-memory-mcp", path(&file), "--dry-run"],
        &["import", "claude-memory-mcp", path(&file), "--yes"],
        &["import", "claude-memory-mcp", path(&file), "--yes", "--json"],
        &["import", "list"],
        &["import", "list", "--json"],
        &["import", "memory-mcp", path(&file), "--yes"],
    ] {
        said.push(run(&world, args, &[("MEMORY_HOME", &home)]));
    }
    assert!(said.iter().any(|ran| ran.stdout.contains("came over") || ran.stdout.contains("stored")), "{said:?}");
    for ran in said {
        assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "{ran:?}");
    }
    assert!(!run(&world, &["stats"], &[("MEMORY_HOME", &home)]).stdout.contains("not taken over"), "it is known");
}
