//! What plugins may cost and see: how long a command tells them, what waits for them, what of a text they are shown.

use std::fs;

use serde_json::json;

use crate::plugin_kit::{answers, module};
use crate::support::hooks::asked;
use crate::support::{Client, Ran, World};

const COUNTS: &str = "echo called >> seen; echo '{}'";

/// How often a program was called.
fn calls(world: &World, name: &str) -> usize {
    let seen = world.home().join("plugins/data").join(name).join("seen");
    fs::read_to_string(seen).unwrap_or_default().lines().count()
}

fn spooled(world: &World) -> usize {
    fs::read_dir(world.home().join("plugins/spool")).unwrap().count()
}

#[test]
fn a_command_does_not_go_on_telling_plugins_and_the_next_tells_the_rest_alone() {
    let world = World::new();
    for name in ["first", "second"] {
        world.add_program(name, "events = ['store.after']", &format!("sleep 3; {COUNTS}"));
    }
    world.remember("The crane is yellow");
    assert_eq!((calls(&world, "first"), calls(&world, "second"), spooled(&world)), (1, 0, 1));
    assert!(world.run(&["doctor"]).stdout.contains("1 events are waiting for plugins"));
    world.run(&["list"]);
    assert_eq!((calls(&world, "first"), calls(&world, "second"), spooled(&world)), (1, 1, 0));
}

#[test]
fn nobody_tells_plugins_inside_a_plugin() {
    let world = World::new();
    world.add_program("tally", "events = ['store.after', 'recall.after']", COUNTS);
    world.remember("The ledger service listens on port 9417");
    assert!(asked(&world, "s1", "which port does the ledger service listen on?").is_some());
    assert_eq!((calls(&world, "tally"), spooled(&world)), (1, 1));
    for args in [&["list"][..], &["learn"], &["remember", "The crane is yellow"]] {
        let mut command = world.command(World::binary());
        assert!(command.args(args).env("TESSERA_IN_PLUGIN", "1").output().unwrap().status.success(), "{args:?}");
    }
    let mut client = Client::start_with(&world, &[("TESSERA_IN_PLUGIN", "1")]);
    client.ok("memory_store", json!({ "content": "The pier is long" }));
    client.ok("memory_list", json!({}));
    client.close();
    assert_eq!((calls(&world, "tally"), spooled(&world)), (1, 1));
    world.run(&["list"]);
    assert_eq!((calls(&world, "tally"), spooled(&world)), (2, 0));
}

#[test]
fn what_is_no_entry_of_the_spool_stops_nobody_and_the_doctor_names_it() {
    let world = World::new();
    world.add_program("tally", "events = ['store.after']", COUNTS);
    let spool = world.home().join("plugins/spool");
    fs::create_dir_all(spool.join("0.json/inside")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", spool.join("1.json")).unwrap();
    fs::write(spool.join("2.json"), "x".repeat(3 << 20)).unwrap();
    fs::write(spool.join("3.json"), b"\xff\x00{").unwrap();
    world.remember("The crane is yellow");
    world.remember("The pier is long");
    assert_eq!((calls(&world, "tally"), spooled(&world)), (2, 2));
    let doctor = world.run(&["doctor"]).stdout;
    assert!(doctor.contains("0.json is not a waiting event"), "{doctor}");
}

#[test]
fn what_waits_for_plugins_is_bounded_and_the_log_and_the_doctor_say_so() {
    let world = World::new();
    world.add_program("tally", "events = ['store.after']", COUNTS);
    world.remember("The crane is yellow");
    let spool = world.home().join("plugins/spool");
    (0..999).for_each(|number| fs::write(spool.join(format!("{number}.json")), "{}").unwrap());
    let turn = fs::File::options().write(true).open(world.home().join("plugins/spool.lock")).unwrap();
    turn.lock().unwrap();
    for text in ["The pier is long", "The quay is wet", "The tide is low"] {
        world.remember(text);
        assert_eq!(spooled(&world), 1_000);
    }
    let log = fs::read_to_string(world.home().join("plugins/plugins.log")).unwrap();
    assert_eq!(log.matches("plugins receive no new events").count(), 1, "{log}");
    let doctor = world.run(&["doctor"]);
    assert!(doctor.code == Some(1) && doctor.stdout.contains("1000 events are waiting for plugins"), "{doctor:?}");
    drop(turn);
    world.run(&["list"]);
    assert_eq!((calls(&world, "tally"), spooled(&world)), (2, 0));
}

#[test]
fn a_refusal_stays_within_the_tokens_that_were_asked_for() {
    let tokens = |text: &str| tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len();
    let world = World::new();
    world.remember("The crane is yellow");
    let mut client = Client::start(&world);
    for reason in
        ["🪆🧿🪬".repeat(200), "絶対に駄目です龘靐齉".repeat(60), "no ".repeat(200), "x\u{301}\u{200d}".repeat(150)]
    {
        let manifest = "events = ['recall.before']\nrefuse = true";
        world.add_module("guard", manifest, &module(&answers(json!({ "refuse": reason }).to_string().as_bytes())));
        for most in [10, 20, 60, 200, 1000] {
            let arguments = json!({ "query": "which crane?", "max_tokens": most });
            let (said, is_error) = client.call("memory_recall", arguments);
            assert!(is_error && said.starts_with("the plugin guard refused this"), "{said}");
            assert!(tokens(&said) <= most, "{} of {most}: {said}", tokens(&said));
        }
    }
}

#[test]
fn a_plugin_sees_no_credential_in_the_words_of_a_row_either() {
    let world = World::new();
    world.add_program("sees", "events = ['update.before', 'update.after']", "cat >> seen; echo '{}'");
    world.remember("The crane is yellow");
    let value = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    // As rows of before credentials were looked for may have it.
    let database = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    let words = json!([value]).to_string();
    let changed = database.execute("UPDATE memories SET keywords = ?1, entities = ?1", [&words]).unwrap();
    assert_eq!(changed, 1);
    drop(database);
    assert_eq!(world.run(&["update", "1", "--tags", "harbour"]).code, Some(0));
    let seen = fs::read_to_string(world.home().join("plugins/data/sees/seen")).unwrap();
    assert!(seen.contains("yellow") && !seen.contains(&value), "{seen}");
}

#[test]
fn a_credential_is_no_argument_of_a_plugin() {
    let world = World::new();
    let value = format!("ghp_{}", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    let add = |arguments: &[&str]| {
        let fixed = ["plugin", "add", "--name", "x", "--event", "store.after", "--yes", "--command", "sh"];
        world.run(&[&fixed[..], arguments].concat())
    };
    for arguments in [&["-c", &format!("curl -H 'X-Token: {value}' host")][..], &["run", &value], &[&value]] {
        let ran = add(arguments);
        assert!(ran.code == Some(1) && ran.stderr.contains("command: contains a GitHub token"), "{ran:?}");
        assert!(ran.stderr.contains("plugins/data/x") && !ran.stderr.contains(&value), "{ran:?}");
    }
    let ran = add(&["run", "--password", "hunter2-X9kQ"]);
    assert!(ran.code == Some(1) && !ran.stderr.contains("hunter2"), "{ran:?}");
    assert!(!world.home().join("plugins/registry.json").exists());
    assert_eq!(add(&["-c", "cat key"]).code, Some(0));
}

#[test]
fn the_module_of_a_plugin_goes_when_a_program_takes_its_place() {
    let world = World::new();
    world.add_module("guard", "events = ['store.before']", &module(&answers(b"{}")));
    assert!(world.home().join("plugins/guard.wasm").exists());
    world.add_program("guard", "events = ['store.after']", COUNTS);
    assert!(!world.home().join("plugins/guard.wasm").exists());
}

#[test]
fn that_a_plugin_is_switched_off_is_logged_once_though_many_fail_at_once() {
    let world = World::new();
    // All of them begin before the first of them has failed.
    let waits = "echo x >> ../../../begun; while [ $(wc -l < ../../../begun) -lt 8 ]; do sleep 0.01; done; exit 1";
    world.add_program("exits", "events = ['store.before']", waits);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let world = &world;
            scope.spawn(move || world.remember(&format!("session {number} says something of its own")));
        }
    });
    assert_eq!(world.plugin("exits")["failures"], 8, "{}", world.plugin_log("exits"));
    assert_eq!(world.plugin_log("exits").matches("is disabled").count(), 1, "{}", world.plugin_log("exits"));
}

#[test]
fn what_cannot_be_written_is_named() {
    for named in ["registry.lock", "x.wasm", "registry.json"] {
        let world = World::new();
        world.remember("The crane is yellow");
        let path = world.home().join("plugins").join(named);
        fs::create_dir_all(&path).unwrap();
        let ran = add_empty(&world);
        assert!(ran.code != Some(0) && ran.stderr.contains(path.to_str().unwrap()), "{ran:?}");
        fs::remove_dir(&path).unwrap();
        assert_eq!(add_empty(&world).code, Some(0));
    }
}

fn add_empty(world: &World) -> Ran {
    let file = world.path("x.wasm");
    fs::write(&file, module(&answers(b"{}"))).unwrap();
    fs::write(world.path("x.toml"), "name = 'x'\nevents = ['store.before']").unwrap();
    world.run(&["plugin", "add", file.to_str().unwrap(), "--yes"])
}
