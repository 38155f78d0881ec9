//! Every command that changes more than one thing, killed at its system calls, then looked at, then run again.
//!
//! A command is ended by SIGKILL at the n-th call that writes, syncs, renames, links or removes. Afterwards nothing acknowledged is
//! missing, nothing is there twice, and `doctor` tells the truth. The same command, run again, reaches the same end as one that
//! nobody stopped. CI takes points that are spread over the whole run.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{World, has};

pub(crate) const CALLS: &str = "write,pwrite64,pwritev,fdatasync,fsync,ftruncate,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat";
/// Points of one command: the more, the longer it takes.
const POINTS: usize = 24;
/// A credential, as detection knows it.
const PASSWORD: &str = "the password of birch is hunter5!X9q";

/// A command that is killed.
struct Case {
    prepare: fn(&World),
    args: &'static [&'static str],
    /// What stands in for the store's texts: those that must be there whenever the store can be read.
    kept: fn(&World) -> BTreeSet<String>,
    /// True where the store is damaged before the command, and `doctor` must say so until it is mended.
    is_damaged: bool,
    /// True where what was prepared names the directory that it is in, so that a copy of it elsewhere would be another thing.
    names_paths: bool,
}

impl Case {
    fn command(&self, world: &World) -> Vec<String> {
        self.args.iter().map(|arg| arg.replace("{}", world.path("user").to_str().unwrap())).collect()
    }
}

pub(crate) fn traced(world: &World, options: &[&str], args: &[String]) -> Output {
    let mut command = world.command(Path::new("strace"));
    command.args(["-f", "-e", &format!("trace={CALLS}")]).args(options).arg(World::binary()).args(args);
    command.output().unwrap()
}

/// A copy of a world, for one death.
pub(crate) fn copied(from: &World) -> World {
    let to = World::new();
    let target = to.path(".");
    let status = Command::new("cp").arg("-a").arg(from.path(".")).arg(target).status().unwrap();
    assert!(status.success());
    to
}

/// What a person would see of the store: the texts with their links, what was forgotten, and the secrets.
fn state(world: &World) -> (BTreeSet<String>, Vec<u64>) {
    let ran = world.run(&["export"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let mut rows = BTreeSet::new();
    for line in ran.stdout.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = row["content"].as_str().unwrap();
        let links = row["links"].as_array().map_or(0, Vec::len);
        assert!(rows.insert(format!("{} ({links} links)", without_names(text))), "twice: {text}");
    }
    let stats = world.json(&["stats"]);
    let secrets = world.json(&["secret", "list"]).as_array().map_or(0, |rows| rows.len() as u64);
    (rows, vec![stats["memories"].as_u64().unwrap(), secrets])
}

/// Names of secrets are made anew by each run.
fn without_names(text: &str) -> String {
    text.split(' ').map(|word| if word.contains("secret:") { "[secret]" } else { word }).collect::<Vec<_>>().join(" ")
}

fn texts(world: &World) -> BTreeSet<String> {
    world.contents().into_iter().collect()
}

/// Kills the command at points of its run, and gives at how many.
fn kill_anywhere(case: &Case) -> usize {
    let template = World::new();
    (case.prepare)(&template);
    let prepared = || {
        if case.names_paths {
            let world = World::new();
            (case.prepare)(&world);
            return world;
        }
        copied(&template)
    };
    let whole = prepared();
    let log = whole.path("calls");
    let done = traced(&whole, &["-o", log.to_str().unwrap()], &case.command(&whole));
    assert!(done.status.success(), "{done:?}");
    let calls = fs::read_to_string(&log).unwrap().lines().filter(|line| line.contains('(')).count();
    let end = state(&whole);
    let step = calls.div_ceil(POINTS);
    let points: Vec<usize> = (1..=calls).step_by(step).collect();
    for n in &points {
        let world = prepared();
        let inject = format!("inject={CALLS}:signal=SIGKILL:when={n}");
        let output = traced(&world, &["-o", "/dev/null", "-e", &inject], &case.command(&world));
        let doctor = store_check(&world);
        if case.is_damaged && doctor.is_some() {
            assert!(!output.status.success(), "call {n}: it says that it mended the store: {doctor:?}");
        } else {
            assert_eq!(doctor, None, "call {n}");
            let there = texts(&world);
            for text in (case.kept)(&whole) {
                assert!(there.contains(&text), "lost at call {n}: {text}");
            }
            state(&world);
        }
        let command = case.command(&world);
        let again = world.run(&command.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(again.code, Some(0), "call {n}: {again:?}");
        assert_eq!(state(&world), end, "call {n}");
        world.assert_healthy();
        nothing_is_left(&world, *n);
    }
    points.len()
}

/// What `doctor` finds bad about the store; what it says of clients is about another thing.
fn store_check(world: &World) -> Option<String> {
    let ran = world.run(&["doctor", "--json"]);
    let Ok(told) = serde_json::from_str::<Value>(&ran.stdout) else { return Some(format!("{ran:?}")) };
    let bad = told["checks"].as_array().unwrap().iter().find(|check| check["verdict"] == "bad");
    bad.map(Value::to_string)
}

fn nothing_is_left(world: &World, n: usize) {
    for entry in fs::read_dir(world.home()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        // A file that was being written is removed after an hour: until then another process may be writing it.
        let is_copy = name.starts_with(".tessera-") && entry.path().is_dir();
        assert!(!is_copy && name != "replacement", "call {n} left {name}");
    }
}

fn killed(case: &Case) {
    if has("strace") {
        let points = kill_anywhere(case);
        assert!(points >= 4, "{points}");
    }
}

fn import(world: &World, lines: &str) {
    let ran = world.run_with_stdin(&["import", "-"], lines.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// So many notes, each of which links to the one before.
fn linked(count: u32) -> String {
    let id = |n: u32| format!("00000000-0000-7000-8000-{n:012}");
    let line = |n: u32| {
        let links = if n == 1 { String::new() } else { format!(r#"{{"type":"see_also","to":"{}"}}"#, id(n - 1)) };
        format!(r#"{{"id":"{}","content":"note number {n} of the harbour","links":[{links}]}}"#, id(n)) + "\n"
    };
    (1..=count).map(line).collect()
}

fn filled(world: &World) {
    import(world, &linked(40));
}

fn damaged(world: &World) {
    filled(world);
    damage(world);
}

/// Makes a page of an index unreadable: the tables are whole, the database is not.
pub(crate) fn damage(world: &World) {
    let path = world.home().join("tessera.db");
    let page: u64 = {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'memories_rev'";
        file.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start((page - 1) * 4096)).unwrap();
    file.write_all(&[0x5a; 4096]).unwrap();
}

#[test]
fn an_import() {
    fn prepare(world: &World) {
        import(world, "{\"content\":\"said before\"}\n");
        fs::write(world.path("user/notes.jsonl"), linked(40)).unwrap();
    }
    let kept = |_: &World| BTreeSet::from(["said before".to_owned()]);
    killed(&Case { prepare, args: &["import", "{}/notes.jsonl"], kept, is_damaged: false, names_paths: false });
}

#[test]
fn a_repair_of_a_damaged_store() {
    killed(&Case {
        prepare: damaged,
        args: &["doctor", "--repair", "--yes"],
        kept: texts,
        is_damaged: true,
        names_paths: false,
    });
}

#[test]
fn a_repair_keeps_folders_and_what_is_known_of_their_files() {
    let world = World::new();
    filled(&world);
    let dir = world.path("user/notes");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("a.md"), "# Quay\n\nThe crane of the quay is green.\n").unwrap();
    assert_eq!(world.run(&["files", "add", dir.to_str().unwrap()]).code, Some(0));
    damage(&world);
    assert_eq!(world.run(&["doctor", "--repair", "--yes"]).code, Some(0));
    assert!(world.run(&["files", "list"]).stdout.contains("notes"));
    assert!(world.run(&["recall", "which colour is the crane of the quay?"]).stdout.contains("green"));
    fs::write(dir.join("a.md"), "# Quay\n\nThe crane of the quay is yellow now.\n").unwrap();
    assert_eq!(world.run(&["files", "scan"]).code, Some(0));
    let recall = world.run(&["recall", "which colour is the crane of the quay?"]).stdout;
    assert!(recall.contains("yellow") && !recall.contains("green"), "{recall}");
    world.assert_healthy();
}

#[test]
fn an_index_that_is_damaged_is_made_anew_and_nothing_is_set_aside() {
    let world = World::new();
    filled(&world);
    let open = || rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    // The index is not there while its column changes.
    open()
        .execute_batch(
            "PRAGMA writable_schema = ON;
             CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'memories_rev';
             DELETE FROM sqlite_schema WHERE name = 'memories_rev';",
        )
        .unwrap();
    open()
        .execute_batch(
            "UPDATE memories SET rev = rev + 1000; UPDATE meta SET value = value + 1000 WHERE key = 'rev';
             PRAGMA writable_schema = ON; INSERT INTO sqlite_schema SELECT * FROM kept; DROP TABLE kept;",
        )
        .unwrap();
    let told = world.run(&["doctor"]);
    assert!(told.code == Some(1) && told.stdout.contains("missing from index"), "{told:?}");
    let mended = world.run(&["doctor", "--repair"]);
    assert!(mended.code == Some(0) && mended.stdout.contains("the indexes were rebuilt"), "{mended:?}");
    world.assert_healthy();
    let aside = fs::read_dir(world.home()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!aside.into_iter().any(|name| name.starts_with("corrupt-")));
}

#[test]
fn a_restored_backup() {
    fn prepare(world: &World) {
        filled(world);
        assert_eq!(world.run(&["backup", world.path("user/b.db").to_str().unwrap()]).code, Some(0));
        world.remember("said after the backup");
    }
    let kept = |world: &World| texts(world).into_iter().filter(|text| text.starts_with("note")).collect();
    killed(&Case {
        prepare,
        args: &["restore-backup", "{}/b.db", "--yes"],
        kept,
        is_damaged: false,
        names_paths: false,
    });
}

#[test]
fn a_backup_that_replaces_a_damaged_store() {
    fn prepare(world: &World) {
        filled(world);
        assert_eq!(world.run(&["backup", world.path("user/b.db").to_str().unwrap()]).code, Some(0));
        damaged(world);
    }
    killed(&Case {
        prepare,
        args: &["restore-backup", "{}/b.db", "--yes"],
        kept: texts,
        is_damaged: true,
        names_paths: false,
    });
}

#[test]
fn a_backup() {
    killed(&Case { prepare: filled, args: &["backup"], kept: texts, is_damaged: false, names_paths: false });
}

#[test]
fn another_key() {
    fn prepare(world: &World) {
        import(world, "{\"content\":\"said before\"}\n");
        world.remember(PASSWORD);
    }
    killed(&Case { prepare, args: &["secret", "rotate-key"], kept: texts, is_damaged: false, names_paths: false });
}

#[test]
fn permanent_deletion_of_several() {
    let args = &["forget", "--hard", "--yes", "2", "3", "4"];
    fn prepare(world: &World) {
        filled(world);
        assert_eq!(world.run(&["backup"]).code, Some(0));
    }
    // Run again, those that are gone are not found: what is left to do is done by any command.
    if !has("strace") {
        return;
    }
    let template = World::new();
    prepare(&template);
    let before = texts(&template);
    for n in (1..1_500).step_by(32) {
        let world = copied(&template);
        let inject = format!("inject={CALLS}:signal=SIGKILL:when={n}");
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        let done = traced(&world, &["-o", "/dev/null", "-e", &inject], &args).status.success();
        let gone: Vec<String> = before.difference(&texts(&world)).cloned().collect();
        assert!(gone.is_empty() || gone.len() == 3, "all or none, call {n}: {gone:?}");
        assert!(!done || gone.len() == 3);
        assert_eq!(world.run(&["doctor", "--repair"]).code, Some(0));
        let places = [world.home().join("tessera.db"), world.home().join("tessera.db-wal")];
        let backups = fs::read_dir(world.home().join("backups")).unwrap().map(|entry| entry.unwrap().path());
        for path in places.into_iter().chain(backups).filter(|path| path.exists()) {
            let bytes = fs::read(&path).unwrap();
            for text in &gone {
                let is_there = bytes.windows(text.len()).any(|window| window == text.as_bytes());
                assert!(!is_there, "call {n}: {text} is in {}", path.display());
            }
        }
        if done {
            return;
        }
    }
    panic!("it never ran to its end");
}

#[test]
fn a_folder_of_files() {
    fn prepare(world: &World) {
        import(world, "{\"content\":\"said before\"}\n");
        let dir = world.path("user/notes");
        fs::create_dir_all(dir.join("deep")).unwrap();
        for n in 0..12 {
            let dir = if n % 2 == 0 { dir.clone() } else { dir.join("deep") };
            fs::write(dir.join(format!("{n}.md")), format!("# Note {n}\n\nThe crane of quay {n} is green.\n")).unwrap();
        }
    }
    let kept = |_: &World| BTreeSet::from(["said before".to_owned()]);
    killed(&Case { prepare, args: &["files", "scan"], kept, is_damaged: false, names_paths: true });
    killed(&Case { prepare, args: &["files", "add", "{}/notes"], kept, is_damaged: false, names_paths: true });
}

#[test]
fn an_import_that_is_taken_back() {
    fn prepare(world: &World) {
        import(world, "{\"content\":\"said before\"}\n");
        import(world, &linked(30));
    }
    let kept = |_: &World| BTreeSet::from(["said before".to_owned()]);
    killed(&Case { prepare, args: &["import", "--undo", "2", "--yes"], kept, is_damaged: false, names_paths: false });
}

const SETTINGS: &str = "{\n  // my own\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": []}\n}\n";

fn with_settings(world: &World) {
    import(world, "{\"content\":\"said before\"}\n");
    fs::create_dir_all(world.path("user/.claude")).unwrap();
    fs::write(world.path("user/.claude/settings.json"), SETTINGS).unwrap();
}

#[test]
fn a_client_that_is_connected() {
    killed(&Case {
        prepare: with_settings,
        args: &["setup", "claude-code", "--yes"],
        kept: texts,
        is_damaged: false,
        names_paths: true,
    });
}

#[test]
fn a_client_that_is_disconnected() {
    fn prepare(world: &World) {
        with_settings(world);
        assert_eq!(world.run(&["setup", "claude-code", "--yes"]).code, Some(0));
    }
    let kept = |world: &World| {
        assert_eq!(fs::read_to_string(world.path("user/.claude/settings.json")).unwrap(), SETTINGS);
        texts(world)
    };
    killed(&Case { prepare, args: &["uninstall", "--yes"], kept, is_damaged: false, names_paths: true });
}
