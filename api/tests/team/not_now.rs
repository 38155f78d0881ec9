//! Failures of one change, of a proxy, or of the connection: the rest goes on, and nothing is rejected for good.

use serde_json::{Value, json};

use crate::front::{Front, response};
use crate::server::{TeamServer, exchange};
use crate::support::World;

fn texts(world: &World) -> Vec<String> {
    let mut texts = world.contents();
    texts.sort();
    texts
}

/// A machine that reaches the server through a proxy.
fn behind(front: &Front, key: &str) -> World {
    let world = World::new();
    let ran = world.run_with_stdin(&["sync", "join", &front.url], key.as_bytes());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    world
}

#[test]
fn one_change_on_which_the_server_fails_does_not_block_the_others() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let front = Front::start(&server.url());
    let (laptop, desktop) = (behind(&front, &key), server.machine(&key));
    for number in 0..9 {
        laptop.remember(&format!("note {number}"));
    }
    let problem = json!({ "status": 500, "code": "internal", "detail": "the server failed" }).to_string();
    front.answer(move |asked| {
        let fails = asked.line.contains("/v1/sync/push") && asked.body.contains("note 3");
        fails.then(|| response(500, &["content-type: application/problem+json"], &problem))
    });
    for _ in 0..2 {
        let ran = laptop.run(&["sync", "now"]);
        assert!(ran.code == Some(1) && ran.stderr.contains("the server failed"), "{ran:?}");
    }
    let status = laptop.json(&["sync", "status"]);
    assert_eq!((&status["waiting"], &status["failing"], &status["refused"]), (&json!(1), &json!(1), &json!(0)));
    assert_eq!(status["failing_changes"][0]["summary"], "note 3", "{status}");
    let shown = laptop.run(&["sync", "status"]).stdout;
    assert!(shown.contains("failing: #4") && shown.contains("the server failed"), "{shown}");
    exchange(&desktop);
    assert_eq!(texts(&desktop).len(), 8);
    // Changes made later are sent although the older one still fails.
    laptop.remember("note 10");
    laptop.run(&["sync", "now"]);
    front.answer(|_| None);
    exchange(&laptop);
    exchange(&desktop);
    assert_eq!(texts(&desktop), texts(&laptop));
    assert_eq!(laptop.json(&["sync", "status"])["failing"], 0);
}

#[test]
fn statuses_of_a_proxy_or_a_connection_reject_nothing() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let front = Front::start(&server.url());
    let laptop = behind(&front, &key);
    laptop.remember("kept until the way is free");
    let problem = |status: u16, code: &str| json!({ "status": status, "code": code, "detail": "x" }).to_string();
    let page = "<html><body>blocked by the proxy</body></html>".to_owned();
    let cases = [
        (408, problem(408, "incomplete")),
        (404, problem(404, "no_route")),
        (405, problem(405, "method_not_allowed")),
        (415, problem(415, "unsupported")),
        (404, page.clone()),
        (403, page.clone()),
        (200, page.clone()),
        (302, page.clone()),
        (400, page.clone()),
        (401, page.clone()),
        (413, page.clone()),
        (451, page.clone()),
        (502, page.clone()),
        (504, page),
    ];
    for (status, body) in cases {
        let answer = response(status, &["content-type: text/html"], &body);
        front.answer(move |asked| asked.line.contains("/v1/sync/push").then(|| answer.clone()));
        let ran = laptop.run(&["sync", "now"]);
        assert_eq!(ran.code, Some(1), "{status}: {ran:?}");
        let known = laptop.json(&["sync", "status"]);
        assert_eq!((&known["waiting"], &known["refused"]), (&json!(1), &json!(0)), "{status} {body}: {known}");
    }
    front.answer(|_| None);
    exchange(&laptop);
    assert_eq!(laptop.json(&["sync", "status"])["waiting"], 0);
}

#[test]
fn one_change_that_a_proxy_refuses_does_not_block_the_others() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let front = Front::start(&server.url());
    let (laptop, desktop) = (behind(&front, &key), server.machine(&key));
    for (round, status) in [403, 404, 406, 501].into_iter().enumerate() {
        let answer = response(status, &["content-type: text/html"], "<html><body>blocked</body></html>");
        // As a firewall for web applications does with a text that holds SQL.
        front.answer(move |asked| {
            let is_blocked = asked.line.contains("/v1/sync/push") && asked.body.contains("UNION SELECT");
            is_blocked.then(|| answer.clone())
        });
        laptop.remember(&format!("the test string of the firewall is ' UNION SELECT {round}"));
        for number in 0..6 {
            laptop.remember(&format!("harmless note {round} {number}"));
        }
        let ran = laptop.run(&["sync", "now"]);
        assert_eq!(ran.code, Some(1), "{status}: {ran:?}");
        let known = laptop.json(&["sync", "status"]);
        assert_eq!((&known["waiting"], &known["refused"]), (&json!(1), &json!(0)), "{status}: {known}");
        assert!(known["failing_changes"][0]["summary"].as_str().unwrap().contains("UNION"), "{status}: {known}");
        front.answer(|_| None);
        exchange(&laptop);
        exchange(&desktop);
        assert_eq!(texts(&desktop), texts(&laptop), "{status}");
    }
}

/// A change that always times out, at the front of many.
#[test]
fn one_change_that_times_out_does_not_block_the_others_for_ever() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let front = Front::start(&server.url());
    let laptop = behind(&front, &key);
    laptop.remember("the note that hangs");
    for number in 0..40 {
        laptop.remember(&format!("note {number}"));
    }
    let late = response(504, &["content-type: text/html"], "<html><body>gateway timeout</body></html>");
    front.answer(move |asked| {
        let hangs = asked.line.contains("/v1/sync/push") && asked.body.contains("the note that hangs");
        hangs.then(|| late.clone())
    });
    for _ in 0..4 {
        assert_eq!(laptop.run(&["sync", "now"]).code, Some(1));
    }
    let status = laptop.json(&["sync", "status"]);
    assert_eq!((&status["waiting"], &status["refused"]), (&json!(1), &json!(0)), "{status}");
    front.answer(|_| None);
    exchange(&laptop);
    assert_eq!(laptop.json(&["sync", "status"])["waiting"], 0);
}

/// One secret that the server fails to keep, or rejects, does not keep the others here.
#[test]
fn one_secret_on_which_the_server_fails_does_not_block_the_others() {
    let Some(server) = TeamServer::start_with(&[("TESSERA_SECRET_KEY", &"5e".repeat(32))]) else { return };
    let key = server.user("ada");
    let front = Front::start(&server.url());
    let laptop = behind(&front, &key);
    let values = ["ghp_Zk3vQ9xT7mWb2nRc5yLd8pHs4jKf6g1AoE0u", "Quartz-Heron-41-Lamp", "Basalt-Otter-52-Reed"];
    for (status, code, exit) in [(500, "internal", 1), (422, "invalid", 0)] {
        for value in values {
            laptop.remember(&format!("The password of host {status} is {value}{status}"));
        }
        let answer = response(
            status,
            &["content-type: application/problem+json"],
            &json!({ "status": status, "code": code, "detail": "the server failed" }).to_string(),
        );
        front.answer(move |asked| {
            let fails =
                asked.line.contains("/v1/sync/secrets") && asked.body.contains(&format!("Heron-41-Lamp{status}"));
            fails.then(|| answer.clone())
        });
        let kept = || server.cluster.ask("SELECT count(*) FROM memory_secrets").parse::<u32>().unwrap();
        let before = kept();
        assert_eq!(laptop.run(&["sync", "now"]).code, Some(exit), "{status}");
        assert_eq!(kept() - before, 2, "{status}: the two others arrived");
        front.answer(|_| None);
        exchange(&laptop);
        assert_eq!(kept() - before, 3, "{status}");
    }
}

#[test]
fn lists_that_do_not_end_are_given_up() {
    let Some(server) = TeamServer::start() else { return };
    let key = server.user("ada");
    let front = Front::start(&server.url());
    let laptop = behind(&front, &key);
    let page = json!({ "news": [], "next": 0, "more": true }).to_string();
    front.answer(move |asked| asked.line.contains("/changes").then(|| response(200, &[], &page)));
    let ran = laptop.run(&["sync", "now"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("announces more changes, but sends no new ones"), "{ran:?}");
    let fresh = World::new();
    let id = "01900000-0000-7000-8000-000000000001";
    let page = json!({ "epoch": 1, "restored_seq": 0, "head": 0, "rows": [], "next": id }).to_string();
    front.answer(move |asked| asked.line.contains("/snapshot").then(|| response(200, &[], &page)));
    let ran = fresh.run_with_stdin(&["sync", "join", &front.url], key.as_bytes());
    assert!(ran.code == Some(1) && ran.stderr.contains("its snapshot never ends"), "{ran:?}");
}

/// Adds a field that no reader knows to every object of a message.
fn with_unknown_fields(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Maps by id and the one name of a variant are no fields of a message.
            let is_map = fields.keys().any(|key| key.len() == 36 && key.matches('-').count() == 4)
                || fields.len() == 1 && fields.values().all(Value::is_object);
            fields.values_mut().for_each(with_unknown_fields);
            if !is_map {
                fields.insert("added_in_a_later_version".to_owned(), json!({ "x": [1, null] }));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(with_unknown_fields),
        _ => {}
    }
}

/// Both sides read messages to which a later version added fields.
#[test]
fn unknown_fields_on_the_wire_are_ignored_on_both_sides() {
    let Some(server) = TeamServer::start_with(&[("TESSERA_SECRET_KEY", &"5e".repeat(32))]) else { return };
    let key = server.user("ada");
    let (laptop, desktop) = (server.machine(&key), server.machine(&key));
    laptop.remember("The exporter listens on port 9417");
    laptop.remember("deploy key ghp_Zk3vQ9xT7mWb2nRc5yLd8pHs4jKf6g1AoE0u");
    let front = Front::start(&server.url());
    front.rewrite(with_unknown_fields);
    for world in [&laptop, &desktop] {
        world.run(&["sync", "leave"]);
        let ran = world.run_with_stdin(&["sync", "join", &front.url, "--upload", "all"], key.as_bytes());
        assert_eq!(ran.code, Some(0), "{ran:?}");
    }
    laptop.json(&["update", "1", "--content", "The exporter listens on port 9418"]);
    exchange(&laptop);
    exchange(&desktop);
    assert_eq!(laptop.json(&["sync", "status"])["refused"], 0);
    assert_eq!(texts(&desktop), texts(&laptop));
    assert!(texts(&desktop).iter().any(|text| text.contains("9418")));
    let seen = front.seen();
    for path in ["/v1/sync/push", "/v1/sync/changes", "/v1/sync/snapshot", "/v1/sync/secrets"] {
        assert!(seen.iter().any(|seen| seen.contains(path)), "{path} was not used: {seen:?}");
    }
}
