//! The review queue: what waits, who sees it, and what becomes of it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::killed::{CALLS, copied, traced};
use crate::screen::OnTerminal;
use crate::support::hooks::{asked, event, hook, settled, stop, transcript};
use crate::support::terminal::{on_terminal, plain};
use crate::support::{Client, World, has};

const RULE: &str = "I prefer early returns in Go.";
const OTHER: &str = "We decided to use Postgres for the ledger.";
/// The classifier is not certain about it.
const UNCERTAIN: &str = "Bitte künftig keine Zusammenfassung mehr am Ende, ich lese ja den Diff.";
const ALL: &[(&str, &str)] = &[("TESSERA_LEARN_REVIEW", "all")];

/// Lets a session end, and waits until its turns were learned.
fn session(world: &World, name: &str, said: &[&str], variables: &[(&str, &str)]) {
    let path = world.path(&format!("logs/{name}.jsonl"));
    let turns: Vec<(&str, &str)> = said.iter().map(|said| (*said, "Noted.")).collect();
    transcript(&path, &turns);
    let ran = hook(world, stop(world, name, &path, "Noted.").to_string().as_bytes(), variables);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    settled(world);
}

fn with_review(review: &'static [(&str, &str)], said: &[&str]) -> World {
    let world = World::new();
    world.remember("x marks the spot");
    session(&world, "s", said, review);
    world
}

/// IDs and texts of the waiting lines.
fn lines(world: &World) -> Vec<(String, String)> {
    let proposals = world.json(&["review"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lines = proposals["proposals"].as_array().unwrap().iter().filter(|one| one["kind"] == "line");
    lines.map(|line| (text(&line["id"]), text(&line["line"]["content"]))).collect()
}

fn learned(world: &World) -> Vec<String> {
    let mut contents = world.contents();
    contents.retain(|text| text != "x marks the spot");
    contents
}

#[test]
fn an_uncertain_line_waits_is_shown_with_a_mark_and_is_never_injected() {
    let world = with_review(&[], &[UNCERTAIN, RULE]);
    assert_eq!(learned(&world), [RULE], "a certain line is stored");
    let [(id, text)] = <[_; 1]>::try_from(lines(&world)).unwrap();
    assert_eq!(text, UNCERTAIN);
    let question = "soll am Ende eine Zusammenfassung stehen?";
    let marked = format!("Unreviewed, may be wrong: {id} \"{UNCERTAIN}\"");
    assert!(world.run(&["recall", question]).stdout.contains(&marked));
    assert_eq!(world.json(&["recall", question])["unreviewed"], json!([{ "id": id, "content": UNCERTAIN }]));
    assert_eq!(asked(&world, "t", question), None);
    assert!(!world.run(&["export"]).stdout.contains("Zusammenfassung"));

    let accepted = world.json(&["review", "accept", &id]);
    assert_eq!(accepted["results"][0], json!({ "id": id, "done": "stored", "memory": 3 }));
    let memory = world.json(&["get", "3"]);
    assert_eq!((&memory["origin"], &memory["trust"]), (&json!("auto_learn"), &json!("user")), "{memory}");
    assert!(asked(&world, "u", question).is_some_and(|context| context.contains(UNCERTAIN)));
    assert_eq!(lines(&world), []);
    world.assert_healthy();
}

#[test]
fn with_all_everything_waits_and_with_off_nothing_does() {
    assert_eq!(learned(&with_review(&[("TESSERA_LEARN_REVIEW", "off")], &[UNCERTAIN, RULE])), [RULE]);
    let world = with_review(&[("TESSERA_LEARN_REVIEW", "off")], &[UNCERTAIN]);
    assert_eq!((learned(&world), lines(&world)), (Vec::new(), Vec::new()));
    let world = with_review(ALL, &[UNCERTAIN, RULE]);
    assert_eq!((learned(&world).len(), lines(&world).len()), (0, 2));
    let wrong = world.run(&["settings", "set", "learn.review", "sometimes"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("use off, ask or all"), "{wrong:?}");
}

#[test]
fn a_dropped_line_is_not_proposed_again_and_its_text_is_nowhere() {
    let world = with_review(ALL, &[RULE]);
    let (id, _) = lines(&world).remove(0);
    assert_eq!(world.run(&["review", "drop", &id]).code, Some(0));
    for name in ["tessera.db", "tessera.db-wal"] {
        let bytes = fs::read(world.home().join(name)).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("early returns"), "{name}");
    }
    session(&world, "t", &[RULE], ALL);
    session(&world, "u", &["i prefer early returns in go"], ALL);
    assert_eq!((lines(&world), learned(&world)), (Vec::new(), Vec::new()));
    session(&world, "v", &["Remember that I prefer early returns in Go."], &[]);
    assert_eq!(learned(&world), [RULE], "the person can still ask for it");
}

#[test]
fn a_line_that_was_retracted_or_stored_in_another_way_no_longer_waits() {
    let world = with_review(ALL, &[RULE, "forget that"]);
    assert_eq!(lines(&world), []);
    session(&world, "t", &["I prefer tabs for indentation."], ALL);
    assert_eq!(lines(&world).len(), 1);
    world.remember("I prefer tabs for indentation");
    assert_eq!(lines(&world), []);
}

#[test]
fn a_decision_that_fails_does_not_block_the_others() {
    let world = with_review(ALL, &[RULE, OTHER]);
    let ids: Vec<String> = lines(&world).into_iter().map(|(id, _)| id).collect();
    let ran = world.run(&["review", "accept", &ids[0], "bbbbbb", "99/98", "77", &ids[1], "--json"]);
    let results: Value = serde_json::from_str(&ran.stdout).unwrap();
    let done: Vec<&Value> = results["results"].as_array().unwrap().iter().map(|result| &result["done"]).collect();
    assert_eq!(done, [&json!("stored"), &Value::Null, &Value::Null, &Value::Null, &json!("stored")], "{results}");
    assert_eq!(ran.code, Some(1));
    assert!(results["results"][1]["error"].as_str().unwrap().contains("tessera review"), "{results}");
    for wrong in ["", "kdbfw1", "5/", "/5", "0", "-1", "99999999999", "../x", "🎉"] {
        let ran = world.run(&["review", "drop", "--", wrong]);
        assert_eq!(ran.code, Some(2), "{wrong}: {ran:?}");
    }
}

#[test]
fn an_edited_line_is_stored_as_edited_and_a_secret_in_it_is_redacted() {
    let world = with_review(ALL, &[RULE]);
    let (id, _) = lines(&world).remove(0);
    let two = world.run(&["review", "accept", &id, "bbbbbb", "--content", "x"]);
    assert!(two.code == Some(2) && two.stderr.contains("exactly one ID"), "{two:?}");
    let empty = world.run(&["review", "accept", &id, "--content", " "]);
    assert!(empty.code == Some(1) && empty.stderr.contains("content"), "{empty:?}");
    let edited = "The password for the ledger is hunter5!X9q";
    assert_eq!(world.run(&["review", "accept", &id, "--content", edited]).code, Some(0));
    assert!(learned(&world)[0].starts_with("The password for the ledger is [secret "), "{:?}", learned(&world));
    assert_eq!(lines(&world), []);
}

#[test]
fn an_accepted_line_replaces_the_memory_that_it_corrects() {
    let world = with_review(&[], &["I prefer tabs for indentation."]);
    session(&world, "t", &["Actually, I prefer spaces now instead of tabs for indentation."], ALL);
    assert_eq!(world.found("tabs or spaces for indentation?"), [2]);
    let (id, _) = lines(&world).remove(0);
    world.json(&["review", "accept", &id]);
    assert_eq!(world.found("tabs or spaces for indentation?"), [3]);
}

#[test]
fn pairs_and_unused_memories_are_decided_with_one_verdict() {
    let world = World::new();
    world.remember("The cache lives on birch");
    world.remember("the Cache lives on birch!!");
    let old = world.json(&["remember", "The printer needs blue paper", "--created", "2020-01-01"]);
    assert_eq!(old["id"], 3);
    assert!(world.run(&["review"]).stdout.contains("Delete #1? #2 says the same"));
    let kinds = |world: &World| -> Vec<String> {
        let proposals = world.json(&["review"]);
        let proposals = proposals["proposals"].as_array().unwrap();
        proposals
            .iter()
            .map(|one| format!("{} {}", one["id"].as_str().unwrap(), one["kind"].as_str().unwrap()))
            .collect()
    };
    assert_eq!(kinds(&world), ["2/1 duplicate"], "a memory that was stored today is not unused");
    let kept = copied(&world);
    assert_eq!(kept.json(&["review", "drop", "2/1"])["results"][0]["done"], "dropped");
    assert_eq!((kinds(&kept), kept.contents().len()), (Vec::new(), 3));
    assert_eq!(world.json(&["review", "accept", "2/1"])["results"][0]["done"], "deleted");
    assert_eq!((kinds(&world), world.contents().len()), (Vec::new(), 2));
    assert_eq!(world.run(&["undo", "1"]).code, Some(0));
    assert_eq!(kinds(&world), ["2/1 duplicate"]);
}

#[test]
fn a_contradiction_marks_the_older_memory_and_unused_memories_are_deleted() {
    let world = World::new();
    world.remember("The billing port is 8080");
    world.remember("billing listens on port 9090 since May");
    assert!(world.run(&["review"]).stdout.contains("Mark #1 as outdated? #2 may contradict it"));
    for wrong in ["1/2", "2/2", "2/9", "1"] {
        assert_eq!(world.run(&["review", "accept", wrong]).code, Some(1), "{wrong}");
    }
    assert_eq!(world.json(&["review", "accept", "2/1"])["results"][0]["done"], "outdated");
    assert_eq!(world.json(&["get", "1"])["older"], 2);
    assert_eq!(world.run(&["review", "accept", "2/1"]).code, Some(1), "nothing is proposed any more");
    let later = |args: &[&str]| {
        let output = world.command(World::binary()).args(args).env("TESSERA_NOW", "2027-11-20").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(later(&["review"]).contains("Delete #1? It was never used"));
    later(&["review", "drop", "1"]);
    later(&["review", "accept", "2"]);
    assert_eq!((later(&["review"]).as_str(), world.contents().len()), ("Nothing waits for review.\n", 1));
}

#[test]
fn accepting_and_dropping_one_line_at_once_has_one_winner() {
    for _ in 0..4 {
        let world = with_review(ALL, &[RULE]);
        let (id, _) = lines(&world).remove(0);
        let start = |arguments: &[&str]| world.command(World::binary()).args(arguments).spawn().unwrap();
        let children: Vec<_> = (0..6)
            .map(|n| match n % 3 {
                0 => start(&["review", "accept", &id]),
                1 => start(&["review", "drop", &id]),
                _ => start(&["review", "accept", &id, "--content", "I prefer late returns in Go."]),
            })
            .collect();
        let done: Vec<bool> = children.into_iter().map(|mut child| child.wait().unwrap().success()).collect();
        assert_eq!(done.iter().filter(|is_done| **is_done).count(), 1, "{done:?}");
        assert_eq!(learned(&world).len(), usize::from(!(done[1] || done[4])), "{done:?}");
        assert_eq!(lines(&world), []);
    }
}

#[test]
fn a_person_at_a_terminal_and_a_model_with_matches_elsewhere_see_the_line_too() {
    let world = with_review(ALL, &[RULE]);
    let (id, _) = lines(&world).remove(0);
    let shown = plain(&on_terminal(&world, &["recall", "early returns in Go"]));
    assert!(shown.contains(&id) && shown.contains("waits for `tessera review`, may be wrong"), "{shown}");
    world.json(&["remember", "Kafka needs three brokers", "--scope", "github.com/acme/pier"]);
    let mut client = Client::start(&world);
    let arguments = json!({ "query": "early returns in Go", "scope": "global" });
    assert!(client.ok("memory_recall", arguments).contains(&format!("Unreviewed, may be wrong: {id}")));
}

#[test]
fn a_hidden_secret_leaves_the_queue_and_the_backups() {
    let world = with_review(ALL, &[]);
    world.remember("The lamp of the shed is called purple lantern");
    session(&world, "t", &["We decided to use the purple lantern for the lab."], ALL);
    assert_eq!(lines(&world).len(), 1);
    assert_eq!(world.run(&["backup"]).code, Some(0));
    let hidden = world.run_with_stdin(&["secret", "hide", "2"], b"purple lantern");
    assert_eq!(hidden.code, Some(0), "{hidden:?}");
    assert_eq!(lines(&world), []);
    for entry in fs::read_dir(world.home().join("backups")).unwrap() {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("purple lantern"));
    }
}

#[test]
fn the_user_sees_once_what_was_learned_what_waits_and_what_was_deleted() {
    let world = with_review(&[], &[UNCERTAIN, RULE]);
    let notice = |session: &str, variables: &[(&str, &str)]| {
        let prompt = event(&world, "UserPromptSubmit", session, json!({ "prompt": "ok, go on please" }));
        let reply: Value =
            serde_json::from_str(&hook(&world, prompt.to_string().as_bytes(), variables).stdout).unwrap_or_default();
        reply["systemMessage"].as_str().map(str::to_owned)
    };
    assert_eq!(notice("s", &[("TESSERA_HOOKS_SHOW", "off")]), None);
    let shown = "Tessera: learned #2 I prefer early returns in Go. (`tessera undo 2` reverts this). 1 line waits for \
                 `tessera review`";
    assert_eq!(notice("other", &[]), None, "another session");
    assert_eq!(notice("s", &[]).as_deref(), Some(shown));
    assert_eq!(notice("s", &[]), None);
    let path = world.path("logs/s.jsonl");
    transcript(&path, &[(UNCERTAIN, "Noted."), (RULE, "Noted."), (OTHER, "Noted."), ("forget that", "Forgotten.")]);
    hook(&world, stop(&world, "s", &path, "Forgotten.").to_string().as_bytes(), &[]);
    settled(&world);
    assert_eq!(notice("s", &[]).as_deref(), Some("Tessera: deleted #3, as you asked"));
    let log = world.run(&["log"]).stdout;
    for part in ["learned s #2: I prefer early returns in Go.", "learned s #3\n", "retracted s #3", "waiting s "] {
        assert!(log.contains(part), "{part}: {log}");
    }
    session(&world, "t", &["I prefer tabs for indentation."], &[]);
    let start = |minutes: u64| {
        let start = event(&world, "SessionStart", "next", json!({ "source": "resume" }));
        let now = format!("2026-11-20T12:{minutes:02}:00Z");
        let ran = hook(&world, start.to_string().as_bytes(), &[("TESSERA_NOW", &now)]);
        ran.stdout.contains("learned #4 I prefer tabs for indentation.")
    };
    assert_eq!([start(5), start(15), start(25)], [false, true, false], "the next session shows it after ten minutes");
}

#[test]
fn the_user_sees_which_memories_were_added_if_they_want() {
    let world = World::new();
    world.remember("The nightly batch of the ledger runs at three");
    let prompt = json!({ "prompt": "when does the nightly batch of the ledger run?" });
    let shown = |session: &str, show: &str| {
        let event = event(&world, "UserPromptSubmit", session, prompt.clone());
        hook(&world, event.to_string().as_bytes(), &[("TESSERA_HOOKS_SHOW", show)]).stdout
    };
    assert!(!shown("a", "learned").contains("systemMessage"));
    let all: Value = serde_json::from_str(&shown("b", "all")).unwrap();
    let line = all["systemMessage"].as_str().unwrap();
    assert!(line.starts_with("Tessera: added #1 (") && line.ends_with(" tokens)"), "{line}");
    let status = |input: &str| world.run_with_stdin(&["statusline"], input.as_bytes());
    let ran = status(r#"{"session_id":"b","model":{"id":"x"}}"#);
    assert!(ran.stdout.starts_with("tessera: 1 memory added, ") && ran.stdout.ends_with(" tokens\n"), "{ran:?}");
    for odd in ["", "not json", "{}", r#"{"session_id":7}"#, "\u{0}"] {
        assert_eq!(status(odd).stdout, "tessera: 0 memories added, 0 tokens\n", "{odd}");
    }
    let empty = World::new().run(&["statusline"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (Some(0), "tessera: no memories yet\n"));
}

#[test]
fn the_whole_list_is_decided_in_the_editor_and_no_edited_text_is_lost() {
    let world = with_review(ALL, &[RULE, OTHER, UNCERTAIN]);
    let script = |commands: &str| format!("sh -c 'sed -i {commands} \"$0\"'");
    let with = |program: &str| {
        let mut command = world.command(World::binary());
        let output = command.args(["review", "edit"]).env("EDITOR", program).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, told) = with(&script("\"s/^wait/yes/\""));
    assert!(code == Some(1) && told.contains("begin the row with accept, drop or wait"), "{told}");
    let kept = told.split("your text is kept in ").nth(1).unwrap().split([':', '\n']).next().unwrap().trim();
    assert!(fs::read_to_string(Path::new(kept)).unwrap().contains("yes "), "{told}");
    assert_eq!(lines(&world).len(), 3);
    let (code, told) = with(&script("\"/early/s/^wait/accept/;/early/s/Go/Rust/;/ledger/s/^wait/drop/\""));
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(learned(&world), ["I prefer early returns in Rust."]);
    assert_eq!(lines(&world).len(), 1);
}

#[test]
fn a_person_decides_with_one_key_each() {
    let world = with_review(ALL, &[RULE, OTHER, UNCERTAIN]);
    let (_, first) = lines(&world).remove(0);
    let mut review = OnTerminal::start(&world, &[], &["review"]);
    review.until("[1/3] a stores it, e edits it, d drops it, s decides later, q leaves");
    review.press("a");
    review.until("is now stored as #2");
    review.until("[2/3]");
    review.press("d");
    review.until("it is not proposed again");
    review.until("[3/3]");
    review.press("s");
    assert_eq!(review.end(), Some(0));
    assert_eq!((learned(&world), lines(&world).len()), (vec![first], 1));
    let mut review = OnTerminal::start(&world, &[], &["review"]);
    review.until("[1/1]");
    let pid = review.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    assert_eq!(review.end(), Some(0));
    assert_eq!(lines(&world).len(), 1);
}

#[test]
fn an_accepted_line_survives_a_kill_at_any_call_and_is_stored_once() {
    if !has("strace") {
        return;
    }
    let template = with_review(ALL, &[RULE]);
    let (id, _) = lines(&template).remove(0);
    let args = ["review", "accept", &id].map(str::to_owned);
    for n in 1..40 {
        let world = copied(&template);
        let inject = format!("inject={CALLS}:signal=SIGKILL:when={n}");
        traced(&world, &["-o", "/dev/null", "-e", &inject], &args);
        let waits = !lines(&world).is_empty();
        assert!(waits || learned(&world) == [RULE], "call {n}: the line is lost");
        let again = world.run(&["review", "accept", &id]);
        assert_eq!(again.code, Some(i32::from(!waits)), "call {n}: {again:?}");
        assert_eq!((learned(&world), lines(&world)), (vec![RULE.to_owned()], Vec::new()), "call {n}");
        world.assert_healthy();
    }
}

#[test]
fn sixteen_decisions_at_once_store_each_line_once() {
    let world = with_review(ALL, &[RULE, OTHER]);
    let ids: Vec<String> = lines(&world).into_iter().map(|(id, _)| id).collect();
    let start = |n: usize| world.command(World::binary()).args(["review", "accept", &ids[n % 2]]).spawn().unwrap();
    let children: Vec<_> = (0..16).map(start).collect();
    for mut child in children {
        child.wait().unwrap();
    }
    let mut stored = learned(&world);
    stored.sort();
    assert_eq!(stored, [RULE, OTHER]);
    assert_eq!(lines(&world), []);
    world.assert_healthy();
}
