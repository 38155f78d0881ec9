//! Plugins that loop, allocate, panic, write rubbish, sleep and fork: nothing is lost, nobody is held up, and each is
//! switched off when it failed often.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::plugin_kit::{answers, module};
use crate::support::hooks::{asked, no_process, until};
use crate::support::{Client, World};

const BEFORE: &str = "events = ['store.before', 'recall.before']\nchange = ['tags']\nfast = true";

/// Modules that do harm, each with a word of what the log says of it.
fn modules() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let handle = |body: &str| module(&format!(r#"(func (export "handle") (param i32 i32) (result i64) {body})"#));
    let deep = r#"(func $deep (param i32) (result i64) (call $deep (local.get 0)))
                  (func (export "handle") (param i32 i32) (result i64) (call $deep (local.get 0)))"#;
    let grow = "(loop (br_if 0 (i32.ne (memory.grow (i32.const 64)) (i32.const -1)))) (unreachable)";
    vec![
        ("loop", handle("(loop (br 0)) (unreachable)"), "exceeded"),
        ("grow", handle(grow), "it panicked"),
        ("panic", handle("(unreachable)"), "it panicked"),
        ("deep", module(deep), "too deep"),
        ("outside", handle("(i64.const -1)"), "the maximum is 1048576"),
        ("beyond", handle(&format!("(i64.const {})", (0xffff_0000_u64 << 32) | 16)), "outside the memory"),
        ("rubbish", module(&answers(b"{{{{ \x07")), "is invalid"),
        ("bytes", module(&answers(b"\xff\xfe\x00")), "not UTF-8"),
        ("more", module(&answers(br#"{"change": {"content": "owned"}}"#)), "may not change"),
        ("trust", module(&answers(br#"{"change": {"trust": "user"}}"#)), "may not change"),
        ("refuses", module(&answers(br#"{"refuse": "never"}"#)), "may not refuse"),
        ("unknown", module(&answers(br#"{"grant": "all"}"#)), "unknown field"),
        ("wrong", module(&answers(br#"{"change": {"tags": [1]}}"#)), "tags"),
        ("long", module(&answers(format!("{{\"change\": {{\"tags\": [{:?}]}}}}", "x".repeat(400)).as_bytes())), "tags"),
    ]
}

#[test]
fn modules_that_do_harm_harm_nothing_and_are_switched_off() {
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    for (name, module, _) in modules() {
        world.add_module(name, BEFORE, &module);
    }
    let given = asked(&world, "s1", "which port does the ledger service listen on?").unwrap();
    assert!(given.contains("9417"), "{given}");
    let mut kept = vec!["The ledger service listens on port 9417".to_owned()];
    for number in 0..5 {
        let text = format!("Note number {number} of the harbour");
        world.remember(&text);
        assert_eq!(world.json(&["get", &(number + 2).to_string()])["tags"], serde_json::json!([]));
        kept.push(text);
    }
    let mut contents = world.contents();
    contents.sort();
    kept.sort();
    assert_eq!(contents, kept);
    for (name, _, said) in modules() {
        let log = world.plugin_log(name);
        assert!(log.contains(said), "{name}: {said}: {log}");
        let plugin = world.plugin(name);
        assert_eq!(plugin["state"], "off", "{plugin}");
        assert!(log.lines().filter(|line| line.contains("is disabled")).count() == 1, "{log}");
    }
    let doctor = world.run(&["doctor"]);
    assert!(doctor.code == Some(1) && doctor.stdout.contains("loop is disabled"), "{doctor:?}");
    let failures = world.plugin("loop")["failures"].clone();
    world.remember("The last note");
    assert_eq!(world.plugin("loop")["failures"], failures, "one that is off is called no more");
    world.add_module("panic", BEFORE, &module(&answers(b"{}")));
    let plugin = world.plugin("panic");
    assert_eq!((&plugin["state"], &plugin["failures"]), (&"on".into(), &0.into()), "added again: {plugin}");
    let history = world.run(&["history", "1"]).stdout;
    assert!(!history.contains("plugin"), "nothing was changed: {history}");
}

/// Programs that do harm.
const PROGRAMS: [(&str, &str, &str); 9] = [
    ("sleeps", "sleep 1000", "exceeded"),
    ("forks", "[ \"$1\" = on ] && exec sleep 1000\nfor n in 1 2 3 4 5 6 7 8; do sh \"$0\" on & done\nwait", "exceeded"),
    ("leaves", "[ \"$1\" = on ] && { sleep 1000; exit; }\nsh \"$0\" on &\nexit 3", "exit status: 3"),
    ("exits", "exit 1", "exit status: 1"),
    ("half", "printf '{\"refuse\": '", "is invalid"),
    ("rubbish", "head -c 1000 /dev/urandom | tr -d '\\n'; echo", "is invalid"),
    ("floods", "yes | tr -d '\\n'", "longer than"),
    ("silent", "exec >&-; sleep 1000", "exceeded"),
    ("killed", "kill -9 $$", "signal: 9"),
];

#[test]
fn programs_that_do_harm_harm_nothing_leave_nothing_running_and_are_switched_off() {
    let world = World::new();
    world.remember("The ledger service listens on port 9417");
    for (name, script, _) in PROGRAMS {
        world.add_program(name, BEFORE, script);
    }
    let given = asked(&world, "s1", "which port does the ledger service listen on?").unwrap();
    assert!(given.contains("9417"), "{given}");
    // A message that does not fit into a pipe is not read by them.
    let long = format!("The long note {}", "harbour ".repeat(3000));
    for number in 0..5 {
        world.remember(&format!("{long} {number}"));
    }
    assert_eq!(world.contents().len(), 6);
    for (name, _, said) in PROGRAMS {
        let log = world.plugin_log(name);
        assert!(log.contains(said), "{name}: {said}: {log}");
        assert_eq!(world.plugin(name)["state"], "off", "{log}");
    }
    no_process(&world);
    world.add_program("gone", BEFORE, "echo '{}'");
    std::fs::remove_file(world.home().join("programs/gone.sh")).unwrap();
    world.remember("one more");
    assert!(world.plugin_log("gone").contains("changed since"), "{}", world.plugin_log("gone"));
    assert_eq!(world.contents().len(), 7);
}

#[test]
fn sixteen_sessions_at_once_keep_every_memory_and_count_what_failed() {
    let world = World::new();
    world.add_module("panic", BEFORE, &modules()[2].1);
    world.add_program("exits", "events = ['store.before', 'store.after']", "exit 1");
    std::thread::scope(|scope| {
        for number in 0..16 {
            let world = &world;
            scope.spawn(move || world.remember(&format!("session {number} says something of its own")));
        }
    });
    assert_eq!(world.contents().len(), 16);
    for name in ["panic", "exits"] {
        let plugin = world.plugin(name);
        assert_eq!(plugin["state"], "off", "{plugin}");
        let failures = plugin["failures"].as_u64().unwrap();
        let logged = world.plugin_log(name).lines().filter(|line| line.contains("failed: ")).count() as u64;
        assert_eq!(failures, logged, "{}", world.plugin_log(name));
    }
    for name in ["panic", "exits"] {
        assert_eq!(world.run(&["plugin", "remove", name]).code, Some(0));
    }
    world.assert_healthy();
}

/// Notes that it began, and sleeps beside a child of its own.
const SLEEPER: &str = "[ \"$1\" = on ] && { sleep 1000; exit; }\nsh \"$0\" on &\n: > began\nsleep 1000";

#[test]
fn no_program_of_a_plugin_outlives_what_called_it_however_that_ends() {
    let world = World::new();
    world.add_program("sleeps", "events = ['store.after']", SLEEPER);
    let mark = world.home().join("plugins/data/sleeps/began");
    let began = || {
        until(|| mark.exists(), || "no plugin was called".to_owned());
        std::fs::remove_file(&mark).unwrap();
    };
    // On a busy machine the command may end before the signal arrives. Then no process may be left either. Each attempt stores
    // another text, because the plugin is not called for a text that is stored already.
    let is_hit = |signal: &str, attempt: u32| {
        // A shell lets its background jobs ignore SIGINT, and a test run may be one.
        let mut command = world.command(Path::new("env"));
        command.arg("--default-signal=INT").arg(World::binary());
        let text = format!("The crane is yellow, {signal} {attempt}");
        let mut child = command.args(["remember", &text]).stdout(Stdio::null()).spawn().unwrap();
        began();
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        let ended = child.wait().unwrap();
        no_process(&world);
        sent.success() && !ended.success()
    };
    for signal in ["TERM", "INT", "KILL"] {
        assert!((0..10).any(|attempt| is_hit(signal, attempt)), "{signal} never came in time");
    }
    for end in [|client: Client| client.close(), |client: Client| client.signal("TERM")] {
        let mut client = Client::start(&world);
        client.ok("memory_store", serde_json::json!({ "content": "The pier is long" }));
        began();
        assert!(end(client).success());
        no_process(&world);
    }
    assert_eq!(world.plugin("sleeps")["failures"], 0, "what was ended with its caller did not fail");
    assert!(std::fs::read_dir(world.home().join("plugins/spool")).unwrap().count() > 0, "it is told again");
}
