//! The two examples of ours and the templates of `plugin new`, by the real program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::skip::left_out;
use crate::support::World;

const TARGET: &str = "wasm32-unknown-unknown";

/// True where Rust can build for WebAssembly here.
fn builds_wasm() -> bool {
    let ran = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let is_there = ran.is_ok_and(|ran| Path::new(String::from_utf8_lossy(&ran.stdout).trim()).is_dir());
    if !is_there {
        left_out("Plugins in Rust", &format!("`rustup target add {TARGET}` installs what they are built with"));
    }
    is_there
}

/// Builds a package for WebAssembly, and gives the directory of its modules.
fn built(dir: &Path, target_dir: &Path, arguments: &[&str]) -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--release", "--offline", "--target", TARGET]).args(arguments).current_dir(dir);
    let ran = cargo.env("CARGO_TARGET_DIR", target_dir).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    target_dir.join(TARGET).join("release")
}

#[test]
fn the_example_in_rust_tags_tickets_and_takes_numbers_of_customers_out() {
    if !builds_wasm() {
        return;
    }
    let world = World::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let module = built(root, &world.path("target"), &["--locked", "-p", "team-tags"]).join("team_tags.wasm");
    let ran = world.run(&["plugin", "add", module.to_str().unwrap(), "--yes"]);
    assert!(ran.code == Some(0) && ran.stderr.contains("may change content, tags"), "{ran:?}");
    world.remember("CUST-20417 waits for LDG-4019");
    assert_eq!(world.json(&["get", "1"])["tags"], json!(["ticket", "ldg"]));
    assert_eq!(world.contents(), ["CUST-… waits for LDG-4019"]);
    assert_eq!(world.run(&["update", "1", "--content", "CUST-30000 has it"]).code, Some(0));
    assert_eq!(world.contents(), ["CUST-… has it"]);
    let history = world.run(&["history", "1"]).stdout;
    assert!(history.contains("plugin team-tags") && history.contains("changed content, tags"), "{history}");
    assert_eq!(world.plugin("team-tags")["failures"], 0);
    assert!(!fs::read_to_string(world.home().join("plugins/registry.json")).unwrap().contains("CUST"));
}

#[test]
fn the_example_for_the_shell_keeps_a_journal_and_refuses_words() {
    let world = World::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("desk/plugins/examples/journal");
    world.add(&example.join("plugin.toml"), &example.join("journal.sh"));
    world.remember("The crane is yellow");
    let data = world.home().join("plugins/data/journal");
    let journal = || fs::read_to_string(data.join("journal.jsonl")).unwrap();
    assert!(journal().lines().count() == 1 && journal().contains("The crane is yellow"), "{}", journal());
    fs::write(data.join("forbidden.txt"), "Bluebird\nNightjar\n").unwrap();
    let ran = world.run(&["remember", "Nightjar ships in May"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.stderr.contains("the plugin journal refused this: it holds a word that forbidden.txt names"),
        "{ran:?}"
    );
    world.run(&["forget", "1"]);
    assert!(journal().lines().count() == 2 && journal().contains("\"event\":\"forget\""), "{}", journal());
    assert!(world.contents().is_empty());
}

#[test]
fn what_plugin_new_writes_works_as_it_is() {
    let world = World::new();
    for (language, name, program) in [("sh", "by-shell", "plugin.sh"), ("python", "by-python", "plugin.py")] {
        assert_eq!(world.run(&["plugin", "new", name, "--language", language]).code, Some(0));
        assert_eq!(world.run(&["plugin", "new", name, "--language", language]).code, Some(1), "it is there");
        let dir = world.path("user").join(name);
        assert_eq!(dir.join(program).metadata().unwrap().permissions().mode() & 0o111, 0o111);
        if language == "python" && !Path::new("/usr/bin/python3").exists() {
            left_out("Plugins in Python", "python3 is not installed");
            continue;
        }
        world.add(&dir.join("plugin.toml"), &dir.join(program));
        let tested = world.json(&["plugin", "test", name]);
        let tags = tested[0]["answer"]["change"]["tags"].as_array().unwrap().clone();
        assert!(tags.contains(&json!("ticket")), "{tested}");
        world.run(&["plugin", "remove", name]);
    }
    if !builds_wasm() {
        return;
    }
    assert_eq!(world.run(&["plugin", "new", "by-rust"]).code, Some(0));
    let dir = world.path("user/by-rust");
    let module = built(&dir, &world.path("target"), &[]).join("by_rust.wasm");
    let tested = world.json(&["plugin", "test", module.to_str().unwrap()]);
    assert_eq!(tested[0]["answer"]["change"]["tags"], json!(["ledger", "ticket"]), "{tested}");
    assert_eq!(world.run(&["plugin", "add", module.to_str().unwrap(), "--yes"]).code, Some(0));
    world.remember("see LDG-4019");
    assert_eq!(world.json(&["get", "1"])["tags"], json!(["ticket"]));
}

/// Answers with a sum of what it kept in two lists that grow by turns, after it let go of a megabyte as often as is said.
const MEMORY: &str = r#"
use tessera_plugin::{Message, Reply};
tessera_plugin::export!("../plugin.toml", handle);
fn handle(message: &Message) -> Reply {
    let (mut words, mut numbers, mut text) = (Vec::new(), Vec::new(), String::new());
    for number in 0..2_000_u64 {
        words.push(number.to_string());
        numbers.push(number);
        text.push_str(&words[words.len() / 2]);
        words[number as usize / 3].shrink_to_fit();
    }
    let often: usize = message.text("content").and_then(|text| text.parse().ok()).unwrap_or_default();
    for _ in 0..often {
        let (first, second) = (vec![0_u8; 1 << 19], vec![0_u8; 1 << 19]);
        assert!(first.iter().chain(&second).step_by(9_999).all(|byte| *byte == 0));
        drop(first);
        drop(second);
    }
    let words: u64 = words.iter().map(|word| word.parse::<u64>().unwrap()).sum();
    Reply::nothing().and_note(format!("{words} {} {}", numbers.iter().sum::<u64>(), text.len()))
}
"#;

#[test]
fn a_plugin_in_rust_has_the_memory_that_it_wants_given_back_or_not() {
    if !builds_wasm() {
        return;
    }
    let world = World::new();
    assert_eq!(world.run(&["plugin", "new", "memory"]).code, Some(0));
    let dir = world.path("user/memory");
    fs::write(dir.join("src/lib.rs"), MEMORY).unwrap();
    let said = |often: u32, world: &World| {
        let module = built(&dir, &world.path("target"), &[]).join("memory.wasm");
        let message = world.path("message.json");
        let fields = json!({ "content": often.to_string(), "tags": [], "keywords": [], "entities": [] });
        let text = json!({ "abi": 1, "event": "store", "when": "before", "fields": fields, "memories": [] });
        fs::write(&message, text.to_string()).unwrap();
        let ran = world.run(&["plugin", "test", module.to_str().unwrap(), "--message", message.to_str().unwrap()]);
        format!("{}{}", ran.stdout, ran.stderr)
    };
    let sums = format!(
        "1999000 1999000 {}",
        (0..2_000_usize).map(|number| (number.div_ceil(2)).to_string().len()).sum::<usize>()
    );
    assert!(said(5, &world).contains(&sums), "{sums}: {}", said(5, &world));
    assert!(said(100, &world).contains("it panicked"), "{}", said(100, &world));
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
    let frees = r#"path = "tessera-plugin", features = ["frees"]"#;
    fs::write(dir.join("Cargo.toml"), manifest.replace(r#"path = "tessera-plugin""#, frees)).unwrap();
    assert!(said(100, &world).contains(&sums), "{sums}: {}", said(100, &world));
}
