//! Vectors of memories, as somebody at the command line or a client meets them: after the answer, and none twice.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{Client, Ran, Running, World};

/// Memories with vectors, and those that wait for them.
fn counts(world: &World) -> (u64, u64) {
    let stats = world.json(&["stats"]);
    (stats["with_embedding"].as_u64().unwrap(), stats["awaiting_embedding"].as_u64().unwrap())
}

fn without(world: &World, args: &[&str]) -> Ran {
    let mut command = world.command(World::binary());
    command.env("TESSERA_RECALL_SEMANTIC", "off").args(args).output().unwrap().into()
}

fn lines(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().map(|text| format!("{}\n", json!({ "content": text, "key": text }))).collect()
}

/// Waits until nothing waits.
fn settled(world: &World) {
    let started = Instant::now();
    while counts(world).1 > 0 {
        assert!(started.elapsed() < Duration::from_mins(2), "{:?}", counts(world));
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_command_makes_the_vectors_of_what_it_wrote_and_tells_what_says_the_same() {
    let world = World::new();
    world.remember("The staging gateway listens on port 8490");
    assert_eq!(counts(&world), (1, 0));
    let told = world.run(&["remember", "The staging gateway listens on port 9000"]).stdout;
    let told: Vec<&str> = told.lines().collect();
    assert!(told[0].starts_with("Stored #2") && told[1].starts_with("#1 is now marked as older"), "{told:?}");
    assert_eq!(told[2..], ["  Undo: tessera link 2 updates 1 --remove"]);
    let again = world.remember("The staging gateway listens on port 9000!");
    assert_eq!((again["near"][0]["id"].as_u64(), again["near"][0]["likeness"].as_str()), (Some(2), Some("same")));
    assert_eq!(world.remember("Lunch is at noon").get("near"), None);
    world.json(&["update", "4", "--content", "Lunch is at one"]);
    world.json(&["forget", "3"]);
    world.json(&["restore", "3"]);
    assert_eq!(counts(&world), (4, 0));
    world.assert_healthy();
}

#[test]
fn switched_off_nothing_is_made_and_the_doctor_makes_it_later() {
    let world = World::new();
    world.run(&["settings", "set", "recall.semantic", "off"]);
    let lines = lines((0..20).map(|n| format!("Crane {n} of the harbour is serviced")));
    assert_eq!(world.run_with_stdin(&["import", "-"], lines.as_bytes()).code, Some(0));
    world.remember("Lunch is at noon");
    assert_eq!(counts(&world), (0, 21));
    assert!(world.run(&["stats"]).stdout.contains("off"));
    assert!(world.run(&["doctor"]).stdout.contains("semantic search is off"));
    world.json(&["doctor", "--repair"]);
    assert_eq!(counts(&world), (0, 21));
    let by_words = world.json(&["recall", "crane 7"]);
    world.run(&["settings", "unset", "recall.semantic"]);
    assert!(world.run(&["doctor"]).stdout.contains("21"));
    let repaired = world.run(&["doctor", "--repair"]).stdout;
    assert!(repaired.contains("ready for 21 memories"), "{repaired}");
    assert_eq!(counts(&world), (21, 0));
    let off: Value = serde_json::from_str(&without(&world, &["recall", "crane 7", "--json"]).stdout).unwrap();
    assert_eq!(off, by_words, "whatever is there, it is not used");
    let wrong = world.run(&["settings", "set", "recall.semantic", "perhaps"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("recall.semantic"), "{wrong:?}");
}

#[test]
fn an_import_answers_first_and_what_its_death_leaves_is_made_by_the_next() {
    let world = World::new();
    let file = world.path("in.jsonl");
    fs::write(&file, lines((0..700).map(|n| format!("Crane {n} of the harbour is serviced on day {n}")))).unwrap();
    let mut command = world.command(World::binary());
    command.args(["import", file.to_str().unwrap()]).stdout(std::process::Stdio::piped());
    let mut import = Running(command.spawn().unwrap());
    let mut answer = String::new();
    let stdout = import.0.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut answer).unwrap();
    assert_eq!(answer, "700 stored, 0 already there, 0 rejected\n");
    drop(import);
    let (made, waiting) = counts(&world);
    assert!(made + waiting == 700 && waiting > 0, "{made} {waiting}");
    assert_eq!(world.run(&["import", file.to_str().unwrap()]).code, Some(0));
    assert_eq!(counts(&world).0 + counts(&world).1, 700);
    world.run(&["doctor", "--repair"]);
    assert_eq!(counts(&world), (700, 0));
    world.assert_healthy();
}

#[test]
fn a_session_makes_them_in_the_background_and_two_sessions_share_the_work() {
    let world = World::new();
    for n in 0..3 {
        without(&world, &["remember", &format!("Berth {n} is reserved for pilots")]);
    }
    assert_eq!(counts(&world), (0, 3));
    let (mut one, mut two) = (Client::start(&world), Client::start(&world));
    one.ok("memory_store", json!({ "content": "The lighthouse is white" }));
    two.ok("memory_store", json!({ "content": "The crane is red" }));
    settled(&world);
    assert_eq!(counts(&world), (5, 0));
    let told = one.ok("memory_store", json!({ "content": "the lighthouse is white!" }));
    assert!(told.contains("\n#4 is nearly the same: The lighthouse is white"), "{told}");
    assert!(one.close().success() && two.close().success());
}

/// Statements about services, of which one answers the question.
const SERVICES: [&str; 8] = [
    "The billing service listens on port 7070",
    "The invoice archive is on the server heron",
    "The billing service is owned by Mara",
    "The service of the print shop starts at nine",
    "The billing service logs to Loki",
    "The search service uses Typesense",
    "The mail service sends through Postmark",
    "The billing service is written in Go",
];

#[test]
fn rows_far_from_the_best_one_are_left_out_and_the_explanation_lists_them() {
    let world = World::new();
    for text in SERVICES {
        world.remember(text);
    }
    let question = "which port does the billing service use?";
    let ids = |args: &[&str]| -> Vec<u64> {
        let reply = world.json(&[&["recall", question, "--max-tokens", "2000"], args].concat());
        let rows = |field: &str| reply[field].as_array().unwrap().clone();
        rows("details").iter().chain(&rows("index")).map(|row| row["id"].as_u64().unwrap()).collect()
    };
    let (usual, all) = (ids(&[]), ids(&["--weak"]));
    assert_eq!(usual[0], 1, "{usual:?}");
    assert!((1..=4).contains(&usual.len()) && all.len() > usual.len(), "{usual:?} {all:?}");
    let explained = world.run(&["recall", question, "--max-tokens", "2000", "--explain"]).stdout;
    let omitted = all.iter().find(|id| !usual.contains(id)).unwrap();
    assert!(explained.contains(&format!("#{omitted} ")), "{explained}");
}

#[test]
fn an_uncertain_reply_says_so_and_a_certain_one_does_not() {
    let world = World::new();
    for text in [
        "The staging database listens on port 5433.",
        "The design review is on Tuesdays at ten.",
        "Mara maintains the billing service.",
        "I prefer Svelte over React.",
        "Invoices are sent by the mailer at midnight.",
    ] {
        world.remember(text);
    }
    let certain = world.run(&["recall", "staging database port"]).stdout;
    assert!(certain.contains("5433") && !certain.contains("(~)"), "{certain}");
    assert_eq!(certain.lines().count(), 3, "only the memory that answers: {certain}");
    let question = "which port does the production cache use?";
    let uncertain = world.run(&["recall", question]).stdout;
    assert!(uncertain.contains("found, uncertain (~),") && uncertain.contains(" (~) The staging"), "{uncertain}");
    let reply = world.json(&["recall", question]);
    assert!(reply["details"].as_array().unwrap().iter().all(|row| row["weak"] == true), "{reply}");
    assert!(reply["total_count"].as_u64() > Some(0), "{reply}");
}
