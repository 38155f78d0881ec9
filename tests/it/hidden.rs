//! Secrets that no rule finds: a person hides them, allows them, or lets a scan find them.

use std::io::{Read as _, Write as _};

use serde_json::json;

use crate::support::terminal::{plain, start_asking, start_on_terminal};
use crate::support::{Client, World};

const SAID: &str = "The gate of the warehouse opens with purple lantern";
/// A sentence in which the classifiers find a secret, and no rule does.
const PROBABLE: &str = "the gate of the warehouse opens with pumpkin soup";

/// Writes to a terminal, and gives what the command wrote and its exit code.
fn answered((mut child, mut terminal): (std::process::Child, std::fs::File), answer: &str) -> (String, Option<i32>) {
    let mut seen = Vec::new();
    let mut piece = [0; 1024];
    // The command has asked when it has written something that ends with a space.
    while !seen.ends_with(b" ") {
        let count = terminal.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..count]);
    }
    terminal.write_all(answer.as_bytes()).unwrap();
    let _ = terminal.read_to_end(&mut seen);
    let code = child.wait().unwrap().code();
    (plain(&String::from_utf8(seen).unwrap().replace("\r\n", "\n")), code)
}

#[test]
fn a_text_is_hidden_by_a_prompt_that_does_not_show_it_or_by_stdin() {
    let world = World::new();
    world.remember(SAID);
    world.remember("The lamp of the shed is called purple lantern, too");
    let (told, code) = answered(start_asking(&world, &["secret", "hide", "1"]), "purple lantern\n");
    assert_eq!(code, Some(0), "{told}");
    let name = world.json(&["secret", "list"])["secrets"][0]["name"].as_str().unwrap().to_owned();
    assert!(told.contains(&format!("Hidden in #1 as {name}")) && !told.contains("lantern"), "{told}");
    assert!(told.contains("the same text is also in #2"), "{told}");
    let hidden = world.run_with_stdin(&["secret", "hide", "2", "--json"], b"purple lantern\n");
    assert_eq!(hidden.code, Some(0), "{hidden:?}");
    let told: serde_json::Value = serde_json::from_str(&hidden.stdout).unwrap();
    assert_eq!((&told["id"], &told["name"], &told["also_in"]), (&json!(2), &json!(name), &json!([])), "{told}");
    assert_eq!(world.run(&["secret", "show", "1"]).stdout, format!("{SAID}\n"));
    let empty = world.run_with_stdin(&["secret", "hide", "1"], b"");
    assert!(empty.code == Some(2) && empty.stderr.contains("too short"), "{empty:?}");
    let unknown = world.run_with_stdin(&["secret", "hide", "99"], b"purple lantern");
    assert!(unknown.code == Some(1) && unknown.stderr.contains("99"), "{unknown:?}");
    world.assert_healthy();
}

#[test]
fn a_reply_names_the_command_that_restores_a_text_that_is_no_secret() {
    let world = World::new();
    let stored = world.run(&["remember", PROBABLE]);
    let name = world.json(&["secret", "list"])["secrets"][0]["name"].as_str().unwrap().to_owned();
    assert!(stored.stdout.contains(&format!("`tessera secret allow {name}` restores the text")), "{stored:?}");
    let mut client = Client::start(&world);
    let told = client.ok("memory_store", json!({ "content": PROBABLE, "scope": "acme/ledger" }));
    assert!(told.contains(&format!("tessera secret allow {name}")), "{told}");
    assert!(client.close().success());
    let allowed = world.run(&["secret", "allow", &name]);
    assert!(allowed.code == Some(0) && allowed.stdout.starts_with("Restored in #1, #2: "), "{allowed:?}");
    assert_eq!(world.contents(), [PROBABLE, PROBABLE]);
    let listed = world.json(&["secret", "list", "--allowed"]);
    assert_eq!(listed["allowed"].as_array().unwrap().len(), 1, "{listed}");
    let again = world.json(&["remember", &format!("In May, {PROBABLE}")]);
    assert_eq!(again["content"], format!("In May, {PROBABLE}"));
    let gone = world.run(&["secret", "allow", &name]);
    assert!(gone.code == Some(1) && gone.stderr.contains(&name), "{gone:?}");
    world.assert_healthy();
}

#[test]
fn a_scan_asks_before_it_changes_something() {
    let world = World::new();
    world.remember("The first note is about birch");
    let database = rusqlite::Connection::open(world.home().join("tessera.db")).unwrap();
    // As a program without classifiers stored it.
    database.execute("UPDATE memories SET content = ?1, summary = ?1", [PROBABLE]).unwrap();
    drop(database);
    let nobody = world.run(&["secret", "scan", "--fix"]);
    assert!(nobody.code == Some(1) && nobody.stderr.contains("pass --yes"), "{nobody:?}");
    assert!(nobody.stdout.contains("1 × probable secret"), "{nobody:?}");
    let (told, code) = answered(start_on_terminal(&world, &["secret", "scan", "--fix"]), "n\n");
    assert_eq!((code, world.contents()), (Some(1), vec![PROBABLE.to_owned()]), "{told}");
    let (told, code) = answered(start_on_terminal(&world, &["secret", "scan", "--fix"]), "y\n");
    assert_eq!(code, Some(0), "{told}");
    assert!(world.contents()[0].contains("probable secret"), "{:?}", world.contents());
    assert_eq!(world.run(&["secret", "show", "1"]).stdout, format!("{PROBABLE}\n"));
    assert_eq!(world.run(&["secret", "scan"]).code, Some(0));
    world.assert_healthy();
}
