//! Stores that are damaged, foreign, newer, gone or read-only, and clocks that go back.

use std::fs;
use std::process::Command;

use crate::skip::left_out;
use crate::support::World;

fn database(world: &World) -> std::path::PathBuf {
    world.home().join("tessera.db")
}

fn fill(world: &World, notes: usize) {
    let lines: String =
        (0..notes).map(|n| format!("{{\"content\":\"note number {n} about subject {}\"}}\n", n % 7)).collect();
    assert_eq!(world.run_with_stdin(&["import", "-"], lines.as_bytes()).code, Some(0));
}

#[test]
fn foreign_files_are_refused_and_left_alone() {
    let sqlite =
        |path: &std::path::Path, sql: &str| rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
    type Make = Box<dyn Fn(&std::path::Path)>;
    let makers: [(&str, Make); 4] = [
        ("not an SQLite database", Box::new(|path| fs::write(path, "just some text, long enough to be read").unwrap())),
        ("another program's", Box::new(move |path| sqlite(path, "CREATE TABLE t (a); PRAGMA user_version = 3"))),
        ("another program's", Box::new(move |path| sqlite(path, "PRAGMA application_id = 7; CREATE TABLE t (a)"))),
        (
            "newer version",
            Box::new(move |path| {
                sqlite(path, "PRAGMA application_id = 0x54455353; PRAGMA user_version = 99; CREATE TABLE t (a)");
            }),
        ),
    ];
    for (words, make) in makers {
        let world = World::new();
        fs::create_dir(world.home()).unwrap();
        make(&database(&world));
        let before = fs::read(database(&world)).unwrap();
        for args in [vec!["remember", "x"], vec!["recall", "x"], vec!["doctor", "--repair"]] {
            let ran = world.run(&args);
            assert_eq!(ran.code, Some(3), "{args:?} {ran:?}");
            assert!(ran.stderr.contains(words), "{ran:?}");
        }
        assert_eq!(fs::read(database(&world)).unwrap(), before);
    }
}

#[test]
fn a_damaged_store_is_set_aside_and_salvaged() {
    // No damaged page contains a part of the schema, because no row can be read without the schema.
    for damage in [0..1, 4096 * 3..4096 * 4, 4096 * 39..4096 * 41] {
        let world = World::new();
        fill(&world, 400);
        assert_eq!(world.run(&["doctor", "--repair"]).code, Some(0));
        let wal = world.home().join("tessera.db-wal");
        assert!(fs::metadata(&wal).map_or(0, |m| m.len()) == 0, "checkpointed at the last close");
        let mut bytes = fs::read(database(&world)).unwrap();
        bytes[damage.clone()].fill(0xa5);
        fs::write(database(&world), &bytes).unwrap();
        assert_ne!(world.run(&["doctor"]).code, Some(0));
        // Without a terminal nobody can be asked.
        let ran = world.run(&["doctor", "--repair"]);
        assert!(ran.code == Some(1) && ran.stderr.contains("--yes"), "{ran:?}");
        assert_eq!(fs::read(database(&world)).unwrap(), bytes, "nothing was set aside");
        let ran = world.run(&["doctor", "--repair", "--yes", "--json"]);
        let report: serde_json::Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|problem| panic!("{problem}: {ran:?}"));
        let lost = report["salvage"]["lost"].as_u64();
        assert_eq!(ran.code, Some(i32::from(lost != Some(0))), "{damage:?} {ran:?}");
        if damage.start == 0 {
            // The header is gone: how many there were is not known, and no number is made up.
            assert_eq!((lost, &report["salvage"]["counted"]), (None, &serde_json::json!(400)), "{report}");
        }
        let aside = report["salvage"]["set_aside"].as_str().unwrap();
        assert_eq!(fs::read(std::path::Path::new(aside).join("tessera.db")).unwrap(), bytes, "kept as it was");
        let kept = report["salvage"]["kept"].as_u64().unwrap();
        assert_eq!(kept, world.contents().len() as u64);
        assert!(damage.start == 0 || kept > 200, "{damage:?}: {kept}");
        assert!(lost.is_none_or(|lost| kept + lost == 400), "{report}");
        world.assert_healthy();
        assert_eq!(world.run(&["remember", "and on it goes"]).code, Some(0));
    }
}

/// Also a store whose doctor never ran, and a file without content.
#[test]
fn a_store_of_one_memory_that_is_emptied_or_overwritten_is_no_new_store() {
    for content in ["", "a text that is longer than the header of a database, so that it is none", "short"] {
        let world = World::new();
        world.remember("The crane is yellow");
        for beside in ["tessera.db-wal", "tessera.db-shm"] {
            let _ = fs::remove_file(world.home().join(beside));
        }
        fs::write(database(&world), content).unwrap();
        for arguments in [&["remember", "x"][..], &["recall", "crane"], &["doctor"]] {
            let ran = world.run(arguments);
            assert!(ran.code != Some(0) && !ran.stdout.contains("Stored"), "{content:?} {arguments:?}: {ran:?}");
        }
        assert_eq!(fs::read_to_string(database(&world)).unwrap(), content, "it is left as it is");
        if content.len() > 100 {
            let ran = world.run(&["doctor", "--repair", "--yes", "--json"]);
            let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
            assert_eq!((&report["salvage"]["kept"], &report["salvage"]["counted"]), (&0.into(), &1.into()), "{ran:?}");
        }
    }
}

#[test]
fn a_vanished_store_is_not_replaced_by_an_empty_one() {
    let world = World::new();
    fill(&world, 3);
    world.run(&["doctor", "--repair"]);
    fs::remove_file(database(&world)).unwrap();
    let ran = world.run(&["remember", "x"]);
    assert!(ran.code == Some(3) && ran.stderr.contains("contained at least 3 memories"), "{ran:?}");
    assert!(!database(&world).exists());
}

#[test]
fn a_damaged_or_foreign_snapshot_is_never_believed() {
    let world = World::new();
    fill(&world, 60);
    world.run(&["doctor", "--repair"]);
    let snapshot = world.home().join("tessera.snapshot");
    let sound = fs::read(&snapshot).unwrap();
    let expected = world.json(&["recall", "note subject 3"]);
    let other = World::new();
    fill(&other, 20);
    other.run(&["doctor", "--repair"]);
    let mut damaged = vec![
        Vec::new(),
        b"TESSNAP\x01".to_vec(),
        sound[..sound.len() / 2].to_vec(),
        fs::read(other.home().join("tessera.snapshot")).unwrap(),
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..60 {
        let mut bytes = sound.clone();
        let at = random.usize(..bytes.len());
        bytes[at] ^= 1 << random.u8(..8);
        damaged.push(bytes);
    }
    for bytes in damaged {
        fs::write(&snapshot, bytes).unwrap();
        assert_eq!(world.json(&["recall", "note subject 3"]), expected);
    }
    fs::remove_file(&snapshot).unwrap();
    assert_eq!(world.json(&["recall", "note subject 3"]), expected);
}

#[test]
fn an_older_database_put_back_is_not_read_through_a_newer_snapshot() {
    let world = World::new();
    fill(&world, 30);
    let backup = world.path("old.db");
    world.json(&["backup", backup.to_str().unwrap()]);
    world.remember("a note about zebras that will be undone");
    world.run(&["doctor", "--repair"]);
    fs::copy(&backup, database(&world)).unwrap();
    world.remember("a note about giraffes");
    assert_eq!(world.found("zebras"), Vec::<u64>::new());
    assert_eq!(world.found("giraffes").len(), 1);
    world.assert_healthy();
}

#[test]
fn a_read_only_home_can_be_read_and_says_why_it_cannot_be_written() {
    let world = World::new();
    fill(&world, 5);
    let home = world.home().display().to_string();
    let script = format!("mount --bind '{home}' '{home}' && mount -o remount,ro,bind '{home}' && \"$0\" \"$@\"");
    let run = |args: &[&str]| {
        let mut command = world.command(std::path::Path::new("unshare"));
        command.args(["-m", "sh", "-c", &script]).arg(World::binary()).args(args).output().unwrap()
    };
    if !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success()) {
        left_out("Mounts", "they cannot be made here");
        return;
    }
    let read = run(&["recall", "note subject"]);
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    assert!(String::from_utf8_lossy(&read.stdout).contains("found"));
    let write = run(&["remember", "x"]);
    let stderr = String::from_utf8_lossy(&write.stderr).into_owned();
    assert_eq!(write.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("read-only"), "{stderr}");
}

#[test]
fn a_clock_moved_back_disturbs_nothing() {
    let world = World::new();
    world.remember("written in the present");
    let back = |args: &[&str]| {
        world.command(World::binary()).env("TESSERA_NOW", "1999-01-01T00:00:00Z").args(args).output().unwrap()
    };
    assert!(back(&["remember", "written in the past"]).status.success());
    let found = back(&["recall", "written"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("2 found"));
    assert_eq!(world.found("written").len(), 2);
    world.assert_healthy();
}

#[test]
fn nothing_expires_by_itself_and_a_clock_years_ahead_deletes_nothing() {
    let world = World::new();
    for text in ["a fleeting remark on parking", "another fleeting remark on lunch"] {
        world.json(&["remember", text, "--importance", "0.1", "--category", "facts"]);
    }
    let brief = r#"{"content":"a remark on the lift","key":"lift","expires_at":"2027-01-01T00:00:00Z"}"#;
    assert_eq!(world.run_with_stdin(&["import", "-"], brief.as_bytes()).code, Some(0));
    let at = |time: &str, args: &[&str]| {
        let output = world.command(World::binary()).env("TESSERA_NOW", time).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(at("2026-12-01", &["recall", "remark"]).contains("3 found"));
    at("2099-01-01", &["remember", "a write far in the future"]);
    at("2099-01-01", &["doctor", "--repair"]);
    assert!(at("2099-06-15", &["recall", "remark"]).contains("2 found"));
    assert!(at("2099-06-15", &["list", "--expired"]).contains("a remark on the lift"));
    assert!(at("2099-06-15", &["stats"]).contains("hidden"));
    // It is the clock of that machine alone that hides it.
    assert!(at("2026-12-02", &["recall", "remark"]).contains("3 found"));
    at("2099-06-15", &["restore", "3"]);
    assert!(at("2099-06-15", &["recall", "remark"]).contains("3 found"));
    assert_eq!(world.json(&["list", "--deleted"])["total_count"], 0);
}

#[cfg(unix)]
#[test]
fn files_that_others_can_read_are_noticed_and_tightened() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    fill(&world, 2);
    fs::set_permissions(database(&world), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(world.run(&["doctor"]).stdout.contains("other users can read"));
    world.run(&["doctor", "--repair"]);
    assert_eq!(database(&world).metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn homes_with_odd_names_and_broken_homes() {
    let world = World::new();
    for name in ["a b'c\"?#%", "ünï 🚀"] {
        let home = world.path(name);
        let run =
            |args: &[&str]| world.command(World::binary()).env("TESSERA_HOME", &home).args(args).output().unwrap();
        assert!(run(&["remember", "odd home"]).status.success(), "{name}");
        assert!(String::from_utf8_lossy(&run(&["recall", "odd home"]).stdout).contains("odd home"), "{name}");
    }
    let file = world.path("file");
    fs::write(&file, "x").unwrap();
    let ran = world.command(World::binary()).env("TESSERA_HOME", &file).args(["remember", "x"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(3), "{}", String::from_utf8_lossy(&ran.stderr));
}
