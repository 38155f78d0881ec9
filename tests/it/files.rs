//! Folders of files, by the real program: what disks refuse, what a death leaves, what must never be shown.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::planted::{Search, planted};
use crate::skip::left_out;
use crate::support::hooks::{event, hook};
use crate::support::{Client, World};

/// A world with a folder of some files that is known.
fn noted(files: &[(&str, &str)]) -> World {
    let world = World::new();
    for (name, text) in files {
        write(&world, name, text);
    }
    add(&world);
    world
}

fn add(world: &World) {
    fs::create_dir_all(world.path("notes")).unwrap();
    let ran = world.run(&["files", "add", world.path("notes").to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

fn write(world: &World, name: &str, text: &str) {
    let path = world.path("notes").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Rows that a query counts, without a command of ours, which would look at the files first.
fn count(world: &World, sql: &str) -> u64 {
    let database = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

const LIVE: &str = "SELECT COUNT(*) FROM memories WHERE is_file = 0 AND deleted IS NULL";

#[test]
fn no_credential_of_a_file_is_in_a_row_or_an_answer_and_the_file_stays_as_it_is() {
    let secrets = planted(24, 77);
    let world = World::new();
    for secret in &secrets {
        let said = secret.sentence();
        let text = format!(
            "---\ntitle: Note {0}\nremark: {1}\n---\n# Note {0}\n\n- [fact] here is the {0}th lamp, {2}\n- relates_to [[Lamp]]\n\n{said}\n",
            secret.number,
            serde_json::to_string(&said).unwrap(),
            if said.contains('\n') { "over there" } else { &said },
        );
        write(&world, &format!("n{}.md", secret.number), &text);
    }
    let before: Vec<Vec<u8>> = files_of(&world.path("notes")).iter().map(|path| fs::read(path).unwrap()).collect();
    add(&world);
    let scan = world.run(&["secret", "scan", "--json"]);
    assert_eq!(scan.code, Some(1), "{scan:?}");
    let found: serde_json::Value = serde_json::from_str(&scan.stdout).unwrap();
    let told: Vec<&str> =
        found["in_files"].as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
    for secret in &secrets {
        assert!(told.contains(&&*format!("/notes/n{}.md", secret.number)), "{secret}: {told:?}");
    }
    let mut shown = scan.stdout + &world.run(&["secret", "scan", "--fix", "--yes"]).stdout;
    for args in [
        ["export"].as_slice(),
        &["list", "--json", "--limit", "200"],
        &["recall", "lamp password token key", "--max-tokens", "8000"],
        &["recall", "lamp", "--json", "--max-tokens", "8000"],
        &["doctor", "--json"],
        &["files", "list"],
    ] {
        shown += &world.run(args).stdout;
    }
    for short_id in 1..=count(&world, "SELECT MAX(short_id) FROM memories") {
        shown += &world.run(&["get", &short_id.to_string(), "--json"]).stdout;
    }
    let search = Search::of(&secrets);
    let said = search.found_in(shown.as_bytes());
    assert!(said.is_empty(), "shown: {}", said[0]);
    for path in files_of(&world.home()) {
        let kept = search.found_in(&fs::read(&path).unwrap());
        assert!(kept.is_empty(), "{}: {}", path.display(), kept[0]);
    }
    let after: Vec<Vec<u8>> = files_of(&world.path("notes")).iter().map(|path| fs::read(path).unwrap()).collect();
    assert_eq!(after, before, "files are never changed");
}

fn files_of(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files_of(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_not_forgotten() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let world = World::new();
    for (name, text) in [("a.md", "- [fact] the kettle is blue"), ("sub/b.md", "- [fact] the lamp is green")] {
        write(&world, name, text);
    }
    let is_root = world.path("notes").metadata().unwrap().uid() == 0;
    let run = |args: &[&str]| {
        let mut command = world.command(World::binary());
        // As root one may read everything: somebody else asks.
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        command.args(args).output().unwrap()
    };
    if is_root {
        fs::create_dir(world.home()).unwrap();
        let own = |path: &Path| std::os::unix::fs::chown(path, Some(65_534), Some(65_534)).unwrap();
        [world.path(""), world.path("user"), world.home(), world.path("notes"), world.path("notes/sub")]
            .iter()
            .for_each(|path| own(path));
        files_of(&world.path("notes")).iter().for_each(|path| own(path));
    }
    let added = run(&["files", "add", world.path("notes").to_str().unwrap()]);
    assert!(added.status.success(), "{added:?}");
    let known = || (count(&world, LIVE), String::from_utf8(run(&["recall", "kettle lamp"]).stdout).unwrap());
    for closed in ["notes", "notes/sub", "notes/a.md"] {
        let path = world.path(closed);
        let mode = path.metadata().unwrap().permissions();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).unwrap();
        if closed == "notes/a.md" {
            // It seems to have changed, and what it says now nobody may know.
            let later = path.metadata().unwrap().modified().unwrap() + Duration::from_secs(5);
            fs::File::options().append(true).open(&path).unwrap().set_modified(later).unwrap();
        }
        for _ in 0..2 {
            let (rows, told) = known();
            assert!(rows == 2 && told.contains("kettle is blue") && told.contains("lamp is green"), "{closed}: {told}");
        }
        fs::set_permissions(&path, mode).unwrap();
    }
    fs::write(world.path("notes/a.md"), "- [fact] the kettle is red").unwrap();
    assert!(known().1.contains("kettle is red"));
}

#[test]
fn a_first_index_that_is_killed_goes_on_where_it_was() {
    let world = World::new();
    for n in 0..1_500 {
        write(
            &world,
            &format!("d{}/n{n}.md", n % 9),
            &format!("# N{n}\n\n- [fact] the number is {n}\n\nAnd {n} again.\n"),
        );
    }
    let mut command = world.command(World::binary());
    let notes = world.path("notes");
    command.args(["files", "add", notes.to_str().unwrap()]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let begun = Instant::now();
    let is_begun = || {
        let database = world.home().join("tessera.db");
        database.exists()
            && rusqlite::Connection::open(database)
                .and_then(|database| database.query_row("SELECT COUNT(*) FROM files", [], |row| row.get::<_, u64>(0)))
                .is_ok_and(|count| count > 0)
    };
    while !is_begun() && child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = world.run(&["files", "scan"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!((count(&world, "SELECT COUNT(*) FROM files"), count(&world, LIVE)), (1_500, 3_000));
    world.assert_healthy();
}

#[test]
fn a_read_only_home_answers_from_what_it_holds() {
    let world = noted(&[("a.md", "- [fact] the kettle is blue\n")]);
    write(&world, "b.md", "- [fact] the lamp is green\n");
    let home = world.home().display().to_string();
    let script = format!("mount --bind '{home}' '{home}' && mount -o remount,ro,bind '{home}' && \"$0\" \"$@\"");
    let mut command = world.command(Path::new("unshare"));
    let ran =
        command.args(["-m", "sh", "-c", &script]).arg(World::binary()).args(["recall", "kettle"]).output().unwrap();
    if String::from_utf8_lossy(&ran.stderr).contains("unshare") {
        left_out("Mounts", "they cannot be made here");
        return;
    }
    assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains("kettle is blue"), "{ran:?}");
    assert!(world.run(&["recall", "lamp"]).stdout.contains("lamp is green"), "and takes it when it can");
}

#[test]
fn the_doctor_compares_files_with_what_is_known_and_reads_again_what_differs() {
    let world =
        noted(&[("a.md", "# A\n\n- [fact] the kettle is blue\n- [fact] the lamp is green\n"), ("b.md", "text\n")]);
    let check = |args: &[&str]| {
        let told: serde_json::Value = serde_json::from_str(&world.run(&[args, &["--json"]].concat()).stdout).unwrap();
        let checks = told["checks"].as_array().unwrap().clone();
        checks.into_iter().find(|check| check["name"] == "files").unwrap()
    };
    assert_eq!(check(&["doctor"])["verdict"], "ok");
    let database = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    for harm in [
        "UPDATE parts SET begins = begins + 3, ends = ends + 3",
        "UPDATE files SET hash = hash + 1",
        "DELETE FROM parts WHERE n = 1",
        "UPDATE memories SET content = 'the kettle is loud' WHERE content = 'the kettle is blue'",
    ] {
        database.execute(harm, []).unwrap();
        assert_eq!(check(&["doctor"])["verdict"], "bad", "{harm}");
        assert_eq!(check(&["doctor", "--repair"])["verdict"], "ok", "{harm}");
        assert!(world.run(&["recall", "kettle lamp"]).stdout.contains("kettle is blue"), "{harm}");
    }
}

#[test]
fn a_session_that_starts_has_what_changed_taken_by_a_process_of_its_own() {
    let world = noted(&[("a.md", "- [fact] the kettle is blue\n")]);
    write(&world, "b.md", "- [fact] the lamp is green\n");
    let ran =
        hook(&world, event(&world, "SessionStart", "s1", json!({ "source": "startup" })).to_string().as_bytes(), &[]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let begun = Instant::now();
    while count(&world, LIVE) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_running_server_knows_a_change_by_itself_and_what_was_changed_before_its_first_call_at_once() {
    let world = noted(&[("a.md", "- [fact] the kettle is blue\n")]);
    write(&world, "b.md", "- [fact] the lamp is green\n");
    let mut client = Client::start(&world);
    let mut recall = |question: &str| client.ok("memory_recall", json!({ "query": question }));
    assert!(recall("lamp").contains("lamp is green"), "what changed while none ran");
    // It watches soon after its first call.
    std::thread::sleep(Duration::from_millis(500));
    for n in 0..5 {
        write(&world, "sub/c.md", &format!("- [fact] the clock strikes number{n}\n"));
        let begun = Instant::now();
        while !recall("clock").contains(&format!("number{n}")) {
            assert!(begun.elapsed() < Duration::from_secs(30), "round {n}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Has the memory tool make a file.
fn made(world: &World, path: &str, text: &str) {
    let command = json!({ "command": "create", "path": path, "file_text": text }).to_string();
    let ran = world.run_with_stdin(&["memory-tool"], command.as_bytes());
    assert!(ran.stdout.starts_with("File created successfully"), "{ran:?}");
}

#[test]
fn what_was_made_and_removed_between_two_looks_is_not_recalled() {
    let world = World::new();
    made(&world, "/memories/a.md", "- [fact] the gate is on birch\n");
    made(&world, "/memories/deep/er/b.md", "- [fact] the well is by the oak\n");
    fs::remove_file(world.home().join("memories/a.md")).unwrap();
    assert!(world.found("gate").is_empty(), "the directory looks as it did before");
    fs::remove_dir_all(world.home().join("memories/deep")).unwrap();
    assert!(world.found("well").is_empty(), "the directory is gone");
    // A home that is moved takes its files with it.
    made(&world, "/memories/c.md", "- [fact] the mill is on elm\n");
    let moved = world.path("moved");
    fs::rename(world.home(), &moved).unwrap();
    fs::write(moved.join("memories/c.md"), "- [fact] the mill is on ash\n").unwrap();
    let recall = world.run(&["--home", moved.to_str().unwrap(), "recall", "mill"]);
    assert!(recall.stdout.contains("on ash"), "{recall:?}");
}
