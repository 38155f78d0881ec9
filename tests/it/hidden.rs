//! Secrets that no rule finds: a person hides them, allows them, or lets a scan find them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use crate::support::terminal::{plain, start_asking, start_on_terminal, wait_until_hidden};
use crate::support::{Client, World};

const SAID: &str = "The gate of the warehouse opens with purple lantern";
/// A sentence in which the classifiers find a secret, and no rule does.
const PROBABLE: &str = "the gate of the warehouse opens with pumpkin soup";

/// Writes to a terminal, and gives what the command wrote and its exit code.
fn answered(
    (mut child, mut terminal): (std::process::Child, fs::File),
    answer: &str,
    is_hidden: bool,
) -> (String, Option<i32>) {
    let mut seen = Vec::new();
    let mut piece = [0; 1024];
    // The command has asked when it has written something that ends with a space.
    while !seen.ends_with(b" ") {
        let count = terminal.read(&mut piece).unwrap();
        seen.extend_from_slice(&piece[..count]);
    }
    if is_hidden {
        wait_until_hidden(&terminal);
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
    let (told, code) = answered(start_asking(&world, &["secret", "hide", "1"]), "purple lantern\n", true);
    assert_eq!(code, Some(0), "{told}");
    let name = world.json(&["secret", "list"])["secrets"][0]["name"].as_str().unwrap().to_owned();
    assert!(told.contains(&format!("Hidden in #1 as {name}")) && !told.contains("lantern"), "{told}");
    assert!(told.contains("the same text is also in #2"), "{told}");
    let hidden = world.run_with_stdin(&["secret", "hide", "2", "--json"], b"purple lantern\n");
    assert_eq!(hidden.code, Some(0), "{hidden:?}");
    let told: Value = serde_json::from_str(&hidden.stdout).unwrap();
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
    assert!(nobody.code == Some(1) && nobody.stderr.contains("add --yes"), "{nobody:?}");
    assert!(nobody.stdout.contains("1 × probable secret"), "{nobody:?}");
    let (told, code) = answered(start_on_terminal(&world, &["secret", "scan", "--fix"]), "n\n", false);
    assert_eq!((code, world.contents()), (Some(1), vec![PROBABLE.to_owned()]), "{told}");
    let (told, code) = answered(start_on_terminal(&world, &["secret", "scan", "--fix"]), "y\n", false);
    assert_eq!(code, Some(0), "{told}");
    assert!(world.contents()[0].contains("probable secret"), "{:?}", world.contents());
    assert_eq!(world.run(&["secret", "show", "1"]).stdout, format!("{PROBABLE}\n"));
    assert_eq!(world.run(&["secret", "scan"]).code, Some(0));
    world.assert_healthy();
}

/// Sentences of the test authors with their secrets. Each secret is in one sentence.
fn phrases(most: usize) -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/phrases/t1.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let all = lines.map(|line| (line["text"].as_str().unwrap().to_owned(), strings(&line["secrets"])));
    let is_apart = |(_, secrets): &(String, Vec<String>)| !secrets.is_empty() && secrets[0].len() >= 6;
    all.filter(is_apart).take(most).collect()
}

/// The numbers of the sentences of which a file of the home contains a secret.
fn in_clear(world: &World, phrases: &[(String, Vec<String>)]) -> BTreeSet<usize> {
    let mut dirs = vec![world.home()];
    let mut found = BTreeSet::new();
    while let Some(dir) = dirs.pop() {
        for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            let bytes = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            let holds = |secrets: &[String]| secrets.iter().any(|secret| bytes.contains(secret));
            found.extend(phrases.iter().enumerate().filter(|(_, (_, secrets))| holds(secrets)).map(|(at, _)| at));
        }
    }
    found
}

#[test]
fn every_way_in_redacts_what_remember_redacts() {
    let phrases = phrases(60);
    let world = World::new();
    phrases.iter().for_each(|(text, _)| drop(world.remember(text)));
    let of_remember = in_clear(&world, &phrases);
    assert!(of_remember.len() < 15, "{} of 60", of_remember.len());

    let tools = World::new();
    let mut client = Client::start(&tools);
    client.ok("memory_store", json!({ "content": "The lighthouse keeper is on duty in May" }));
    for (text, _) in &phrases {
        client.ok("memory_store", json!({ "content": text }));
        client.ok("memory_update", json!({ "id": 1, "content": text }));
    }
    assert!(client.close().success());
    assert_eq!(in_clear(&tools, &phrases), of_remember, "tools");

    // Lines that are known already are not read again; the secrets of the others stay theirs.
    let known = json!({ "uuid": "01890a5d-ac96-774b-bcce-b302099a8057", "content": "Lunch is at noon" });
    let imported = World::new();
    assert_eq!(imported.run_with_stdin(&["import", "-", "--mine"], known.to_string().as_bytes()).code, Some(0));
    let lines: String = phrases.iter().map(|(text, _)| format!("{known}\n{}\n", json!({ "content": text }))).collect();
    assert_eq!(imported.run_with_stdin(&["import", "-", "--mine"], lines.as_bytes()).code, Some(0));
    assert_eq!(in_clear(&imported, &phrases), of_remember, "import");

    let files = World::new();
    for (at, (text, _)) in phrases.iter().enumerate() {
        let command = json!({ "command": "create", "path": format!("/memories/{at}.md"), "file_text": text });
        assert_eq!(files.run_with_stdin(&["memory-tool"], command.to_string().as_bytes()).code, Some(0));
    }
    assert_eq!(in_clear(&files, &phrases), of_remember, "the memory tool");
}
