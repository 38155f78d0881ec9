//! Two servers on one database: what was written through one is read through the other at once, and the end of one in the
//! middle of requests loses nothing and doubles nothing, where those are asked again under their names.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::server::program;
use crate::support::{Ran, Running, World};

const CLIENTS: usize = 32;
const USERS: usize = 8;

/// One of several servers; gone, as by kill -9, when it is dropped.
struct Replica {
    url: String,
    _running: Running,
}

/// A database, and users with keys.
struct Team {
    cluster: Cluster,
    world: World,
    keys: Vec<String>,
}

impl Team {
    fn start() -> Option<Self> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut team = Self { cluster: Cluster::start()?, world: World::new(), keys: Vec::new() };
        team.host(&["migrate"]);
        for number in 0..USERS {
            team.host(&["user", "add", &format!("user{number}")]);
            let key = team.host(&["key", "new", &format!("user{number}")]).stdout.trim().to_owned();
            team.keys.push(key);
        }
        Some(team)
    }

    fn host(&self, args: &[&str]) -> Ran {
        let mut command = self.world.command(program());
        let ran: Ran = command.env("DATABASE_URL", self.cluster.url("server")).args(args).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        ran
    }

    fn replica(&self) -> Replica {
        let mut command = self.world.command(program());
        command.env("DATABASE_URL", self.cluster.url("server")).env("TESSERA_RECALL_SEMANTIC", "off");
        command.args(["--listen", "127.0.0.1:0", "--key-rate", "100000", "--address-rate", "100000"]);
        let mut running = Running(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        let mut lines = BufReader::new(running.0.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Replica { url: format!("http://{}", line.rsplit("http://").next().unwrap()), _running: running }
    }

    fn key(&self, client: usize) -> String {
        self.keys[client % USERS].clone()
    }
}

fn client() -> Client {
    Client::builder().no_proxy().timeout(Duration::from_secs(30)).build().unwrap()
}

async fn json_of(request: reqwest::RequestBuilder) -> Value {
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let text = answer.text().await.unwrap();
    assert!(status.is_success(), "{status}: {text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_was_written_through_one_replica_is_read_through_the_other_at_once() {
    const ROUNDS: usize = 6;
    let Some(team) = Team::start() else { return };
    let replicas = [team.replica(), team.replica()];
    let urls: Arc<Vec<String>> = Arc::new(replicas.iter().map(|replica| replica.url.clone()).collect());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let looked = runtime.block_on(async {
        let reader = async |number: usize| {
            let (http, key, mut looked) = (client(), team.key(number), 0);
            for round in 0..ROUNDS {
                let (to, from) = (&urls[round % 2], &urls[(round + 1) % 2]);
                let text = format!("zq{number}x{round} is what client {number} said in round {round}");
                let memory = json!({ "content": text });
                let made = json_of(http.post(format!("{to}/api/memories")).bearer_auth(&key).json(&memory)).await;
                let at = format!("{from}/api/memories/{}", made["uuid"].as_str().unwrap());
                assert_eq!(json_of(http.get(&at).bearer_auth(&key)).await["content"], text, "read through the other");
                let question = json!({ "context": format!("zq{number}x{round}") });
                let recall = http.post(format!("{from}/api/memories/recall")).bearer_auth(&key).json(&question);
                let found = json_of(recall).await;
                assert!(found.to_string().contains("is what client"), "recalled through the other: {found}");
                let page = http.get(format!("{from}/v1/sync/changes?epoch=1&limit=1000")).bearer_auth(&key);
                assert!(json_of(page).await.to_string().contains(&text), "told by the other");
                looked += 3;
            }
            looked
        };
        futures_util::future::join_all((0..CLIENTS).map(reader)).await.into_iter().sum::<usize>()
    });
    assert_eq!(looked, CLIENTS * ROUNDS * 3);
}

/// Stores under a name, at the first of these that answers: at the next one where it cannot be known whether it was done.
async fn store(http: &Client, urls: &[String], key: &str, name: &str, text: &str, repeated: &AtomicU32) -> String {
    for attempt in 0..60 {
        let url = &urls[usize::from(attempt > 0)];
        let request = http.post(format!("{url}/api/memories")).bearer_auth(key).header("idempotency-key", name);
        let answered = match request.json(&json!({ "content": text })).send().await {
            Ok(answer) if answer.status().is_success() => answer.json::<Value>().await.ok(),
            _ => None,
        };
        if let Some(memory) = answered {
            return memory["uuid"].as_str().unwrap().to_owned();
        }
        repeated.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{name} was never answered");
}

#[test]
fn a_replica_killed_amid_requests_loses_nothing_and_doubles_nothing() {
    const EACH: usize = 12;
    let Some(team) = Team::start() else { return };
    let (first, second) = (team.replica(), team.replica());
    let urls = [first.url.clone(), second.url.clone()];
    let (repeated, done) = (AtomicU32::new(0), AtomicU32::new(0));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let writer = async |number: usize| {
            let (http, key) = (client(), team.key(number));
            let mut stored = Vec::new();
            for round in 0..EACH {
                let text = format!("client {number} said this in round {round}");
                let id = store(&http, &urls, &key, &format!("c{number}-r{round}"), &text, &repeated).await;
                done.fetch_add(1, Ordering::Relaxed);
                stored.push((number % USERS, id, text));
            }
            stored
        };
        // While all of them ask it: some requests are under way, and some were done and not answered.
        let kill = async {
            while done.load(Ordering::Relaxed) < 50 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            drop(first);
        };
        let (stored, ()) = tokio::join!(futures_util::future::join_all((0..CLIENTS).map(writer)), kill);
        assert!(repeated.load(Ordering::Relaxed) > 0, "nobody was asking when it was killed");
        let mut expected: Vec<BTreeMap<String, String>> = vec![BTreeMap::new(); USERS];
        for (user, id, text) in stored.into_iter().flatten() {
            assert_eq!(expected[user].insert(text, id), None);
        }
        for (user, expected) in expected.into_iter().enumerate() {
            let http = client();
            let page = http.get(format!("{}/v1/sync/snapshot", second.url)).bearer_auth(&team.keys[user]);
            let rows = json_of(page).await["rows"].as_array().unwrap().clone();
            assert_eq!(rows.len(), expected.len(), "nothing doubled, nothing lost");
            for (text, id) in expected {
                let shown = http.get(format!("{}/api/memories/{id}", second.url)).bearer_auth(&team.keys[user]);
                assert_eq!(json_of(shown).await["content"], text);
            }
        }
    });
}
