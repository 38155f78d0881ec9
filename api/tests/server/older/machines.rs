//! Machines with clients of the older API on this server: what one says the other hears, and nothing is lost or doubled.

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{Failed, Machine};
use crate::site::{Site, with_site};

const ADA: &str = "older-key-of-ada-lovelace";
const BOB: &str = "older-key-of-bob-the-builder";

async fn team(site: &Site) -> Site {
    for (user, key) in [("ada", ADA), ("bob", BOB)] {
        site.db.import_key(&user.parse().unwrap(), key).await.unwrap();
    }
    site.encrypting().await
}

/// What the server has for a machine's user.
async fn on_server(machine: &Machine<'_>) -> Vec<String> {
    let page = machine.ask(Method::GET, "/api/memories?limit=10000", None).await.unwrap();
    let mut texts: Vec<String> =
        page["memories"].as_array().unwrap().iter().map(|row| row["content"].as_str().unwrap().to_owned()).collect();
    texts.sort_unstable();
    texts
}

#[test]
fn two_machines_of_the_older_client_agree() {
    with_site(|site| async move {
        let site = team(&site).await;
        let (mut laptop, mut desk) = (Machine::new(&site, ADA), Machine::new(&site, ADA));
        laptop.start().await;
        desk.start().await;
        for text in ["alpha", "beta", "gamma"] {
            laptop.store(text, "greek,letters").await;
        }
        desk.sync().await;
        assert_eq!(desk.texts(), ["alpha", "beta", "gamma"]);
        assert_eq!(desk.rows[&desk.of_text("beta")].tags, "greek,letters");
        // What one machine calls by a number the other does, too.
        assert_eq!(desk.server_id("beta"), laptop.server_id("beta"));
        // An edit and a deletion on one machine are the other's at the next pull.
        let path = format!("/api/memories/{}", desk.server_id("beta"));
        let change = json!({ "content": "beta two", "expanded_keywords": "second letter" });
        desk.ask(Method::PUT, &path, Some(change)).await.unwrap();
        desk.delete(desk.of_text("gamma")).await;
        laptop.pull().await.unwrap();
        assert_eq!(laptop.texts(), ["alpha", "beta two"]);
        assert_eq!(laptop.rows[&laptop.of_text("beta two")].keywords, "second letter");
        // Without a connection all goes on, and what was said is sent later: each once.
        laptop.is_online = false;
        laptop.store("delta", "").await;
        laptop.store("epsilon", "greek").await;
        laptop.delete(laptop.of_text("alpha")).await;
        assert_eq!((laptop.queued(), laptop.pull().await), (3, Err(Failed::Offline)));
        laptop.is_online = true;
        laptop.start().await;
        assert_eq!((laptop.queued(), laptop.texts()), (0, vec!["beta two", "delta", "epsilon"]));
        assert_eq!(on_server(&laptop).await, ["beta two", "delta", "epsilon"]);
        desk.resync().await.unwrap();
        assert_eq!(desk.texts(), laptop.texts());
        // What was removed for good elsewhere leaves the caches as well.
        let uuid = desk.ask(Method::GET, &format!("/api/memories/{}", desk.server_id("delta")), None).await.unwrap();
        purge(&site, uuid["uuid"].as_str().unwrap()).await;
        desk.pull().await.unwrap();
        laptop.pull().await.unwrap();
        assert_eq!((desk.texts(), laptop.texts()), (vec!["beta two", "epsilon"], vec!["beta two", "epsilon"]));
    });
}

/// As a machine with a client of ours removes a memory for good.
async fn purge(site: &Site, memory: &str) {
    let mut op = crate::sync::create("x");
    op["memory"] = json!(memory);
    op["base_rev"] = json!(1);
    op["action"] = json!("purge");
    let pushed = Site::ok(site.post(ADA, "/v1/sync/push", &json!({ "epoch": 1, "ops": [op] })).await).await;
    assert_eq!(pushed["answers"][0]["refused"], Value::Null, "{pushed}");
}

#[test]
fn a_machine_that_was_alone_joins_with_what_it_has() {
    with_site(|site| async move {
        let site = team(&site).await;
        let mut first = Machine::new(&site, ADA);
        first.store("known to both", "").await;
        first.store("known to the first", "").await;
        // A machine that never had a server: rows without its numbers, one of them said elsewhere as well.
        let mut second = Machine::new(&site, ADA);
        second.is_online = false;
        second.store("known to both", "").await;
        second.store("known to the second", "").await;
        second.is_online = true;
        second.start().await;
        let all = ["known to both", "known to the first", "known to the second"];
        assert_eq!((second.texts(), second.queued()), (all.to_vec(), 0));
        assert_eq!(on_server(&second).await, all);
        // An answer that got lost: the queue sends it once more, and nothing is doubled.
        let body = json!({ "local_id": 9, "content": "known to the second", "category": "facts", "tags": "",
            "expanded_keywords": "", "importance": 0.5, "force_sensitive": false });
        let again = second.ask(Method::POST, "/api/memories", Some(body)).await.unwrap();
        assert_eq!(
            (again["id"].as_i64(), &again["local_id"]),
            (Some(second.server_id("known to the second")), &json!(9))
        );
        assert_eq!(on_server(&second).await, all);
    });
}

#[test]
fn a_full_resync_is_whole_however_much_there_is() {
    with_site(|site| async move {
        let site = team(&site).await;
        let mut machine = Machine::new(&site, ADA);
        // More than a page of the database.
        for part in 0..2 {
            let rows: Vec<Value> =
                (0..550).map(|n| json!({ "content": format!("{part} {n}"), "tags": "many" })).collect();
            machine.ask(Method::POST, "/api/memories/import", Some(json!(rows))).await.unwrap();
        }
        for _ in 0..2 {
            machine.resync().await.unwrap();
            assert_eq!(machine.rows.len(), 1_100);
        }
        machine.pull().await.unwrap();
        assert_eq!((machine.rows.len(), on_server(&machine).await.len()), (1_100, 1_100));
        // A pull that has everything to tell tells everything.
        let mut late = Machine::new(&site, ADA);
        late.pull().await.unwrap();
        assert_eq!(late.rows.len(), 1_100);
    });
}

#[test]
fn a_key_that_ended_loses_nothing() {
    with_site(|site| async move {
        let site = team(&site).await;
        let mut machine = Machine::new(&site, "older-key-of-nobody-at-all");
        machine.store("kept here", "").await;
        machine.sync().await;
        assert!(machine.auth_failed && machine.queued() == 1);
        assert_eq!(machine.resync().await, Err(Failed::Status(401)));
        assert_eq!(machine.texts(), ["kept here"]);
    });
}

#[test]
fn users_of_the_older_client_share_and_keep_secrets() {
    with_site(|site| async move {
        let site = team(&site).await;
        let (mut ada, bob) = (Machine::new(&site, ADA), Machine::new(&site, BOB));
        ada.store("The crane is serviced in May", "port").await;
        ada.store("Of no concern to anybody", "").await;
        // Her numbers and his are each their own.
        let users = ada.ask(Method::GET, "/api/users", None).await.unwrap();
        assert_eq!(users, json!({ "users": ["bob"] }));
        let rule = json!({ "tag": "Port", "shared_with": "bob", "permission": "read" });
        ada.ask(Method::POST, "/api/memories/share-tag", Some(rule)).await.unwrap();
        let question = json!({ "context": "crane", "expanded_query": "harbour port service month date" });
        let found = bob.ask(Method::POST, "/api/memories/recall", Some(question.clone())).await.unwrap();
        assert_eq!((&found["memories"][0]["shared_by"], &found["memories"][0]["id"]), (&json!("ada"), &json!(1)));
        // A client of his that can answer takes it as answered.
        let mine = ada.ask(Method::GET, "/api/memories/my-shares", None).await.unwrap();
        assert_eq!(mine["tag_shares"][0]["status"], "accepted", "{mine}");
        let rule = json!({ "tag": "PORT", "shared_with": "bob" });
        ada.ask(Method::DELETE, "/api/memories/share-tag", Some(rule)).await.unwrap();
        let found = bob.ask(Method::POST, "/api/memories/recall", Some(question)).await.unwrap();
        assert_eq!(found["memories"], json!([]));
        // Somebody else's number is a number like any other.
        let path = format!("/api/memories/{}", ada.server_id("Of no concern to anybody"));
        assert_eq!(bob.ask(Method::GET, &path, None).await, Err(Failed::Status(404)));
        assert_eq!(bob.ask(Method::DELETE, &path, None).await.unwrap()["preview"], "[already deleted]");
        assert_eq!(on_server(&ada).await.len(), 2);
        ada.store("The staging database password is Tr7-kettle-Ombra-41", "").await;
        ada.pull().await.unwrap();
        let row = ada.rows.values().find(|row| row.is_sensitive).unwrap();
        assert!(!row.content.contains("Ombra"), "{row:?}");
        let path = format!("/api/memories/{}/secret", row.server_id.unwrap());
        let shown = ada.ask(Method::POST, &path, None).await.unwrap();
        assert_eq!(shown["content"], "The staging database password is Tr7-kettle-Ombra-41");
        assert_eq!(bob.ask(Method::POST, &path, None).await, Err(Failed::Status(404)));
    });
}
