//! Measures two servers on one database with 32 clients: the throughput compared with one server, stale reads, and
//! requests while one server is killed.
//!
//! Needs `cargo build --release --locked -p tessera-api` first, and PostgreSQL. `TESSERA_REPLICAS_EACH` is the number
//! of memories of each of 16 users. PostgreSQL, servers and clients share the machine.

#![expect(clippy::print_stdout, reason = "printing the table is the purpose of a benchmark")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark may panic if anything unexpected happens"
)]

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use tessera_benches::{Corpus, Server};

#[path = "../../api/tests/server/cluster.rs"]
#[expect(dead_code, reason = "what tests use of it is more")]
mod cluster;
#[path = "../../fixtures/skip.rs"]
mod skip;

use cluster::Cluster;

const CLIENTS: usize = 32;
const USERS: usize = 16;
const SECONDS: u64 = 15;

fn row(name: &str, took: &mut [Duration], wall: Duration) {
    took.sort();
    let at = |share: usize| took.get((took.len().max(1) - 1) * share / 100).map_or(0.0, |one| one.as_secs_f64() * 1e3);
    let rate = took.len() as f64 / wall.as_secs_f64();
    println!("{name:<44} {rate:8.0}/s   p50 {:8.2} ms   p99 {:8.2} ms   n {}", at(50), at(99), took.len());
}

struct Load {
    keys: Vec<String>,
    queries: Vec<String>,
    client: Client,
}

/// The JSON of a successful answer; `None` if the server cannot be reached or rejects the request.
async fn answered(request: RequestBuilder) -> Option<Value> {
    let answer = request.send().await.ok()?;
    if answer.status().is_success() { answer.json().await.ok() } else { None }
}

impl Load {
    fn post(&self, url: &str, path: &str, client: usize, body: &Value) -> RequestBuilder {
        self.client.post(format!("{url}{path}")).bearer_auth(&self.keys[client % USERS]).json(body)
    }

    fn get(&self, url: &str, path: &str, client: usize) -> RequestBuilder {
        self.client.get(format!("{url}{path}")).bearer_auth(&self.keys[client % USERS])
    }
}

/// Runs a number of clients, numbered from 0.
async fn all<F: Future<Output = ()> + Send + 'static>(clients: usize, run: impl Fn(usize) -> F) {
    let running: Vec<_> = (0..clients).map(|number| tokio::spawn(run(number))).collect();
    for one in running {
        one.await.unwrap();
    }
}

fn server_of(database: &str) -> Server {
    Server::start(database, &[("TESSERA_RECALL_SEMANTIC", "off")], &[])
}

/// Each client sends four recalls per write, and alternates between the two servers.
async fn mixed(load: &Arc<Load>, name: &str, urls: &[String]) {
    let (recalls, writes) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let started = Instant::now();
    all(CLIENTS, |number| {
        let (load, urls, recalls, writes) =
            (Arc::clone(load), urls.to_vec(), Arc::clone(&recalls), Arc::clone(&writes));
        async move {
            let mut random = fastrand::Rng::with_seed(number as u64);
            for url in urls.iter().cycle().skip(number) {
                if started.elapsed() > Duration::from_secs(SECONDS) {
                    return;
                }
                let (query, one) = (random.choice(&load.queries).unwrap(), Instant::now());
                let (path, body, to) = if random.u8(..5) == 0 {
                    ("/api/memories", json!({ "content": format!("{query} {}", random.u64(..)) }), &writes)
                } else {
                    ("/api/memories/recall", json!({ "context": query, "max_tokens": 1000 }), &recalls)
                };
                answered(load.post(url, path, number, &body)).await.expect("an answer");
                to.lock().unwrap().push(one.elapsed());
            }
        }
    })
    .await;
    row(&format!("{name}: recall"), &mut recalls.lock().unwrap(), started.elapsed());
    row(&format!("{name}: write"), &mut writes.lock().unwrap(), started.elapsed());
}

/// Writes through one server, and reads through the other by UUID and recall.
async fn fresh(load: &Arc<Load>, urls: &[String]) {
    let (stale, looked) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let started = Instant::now();
    all(CLIENTS, |number| {
        let (load, urls, stale, looked) = (Arc::clone(load), urls.to_vec(), Arc::clone(&stale), Arc::clone(&looked));
        async move {
            for round in 0.. {
                if started.elapsed() > Duration::from_secs(SECONDS) {
                    return;
                }
                let (to, from) = (&urls[round % 2], &urls[(round + 1) % 2]);
                let word = format!("zq{number}x{round}");
                let text = format!("{word} was said by a client");
                let made = answered(load.post(to, "/api/memories", number, &json!({ "content": text }))).await.unwrap();
                let path = format!("/api/memories/{}", made["uuid"].as_str().unwrap());
                let shown = answered(load.get(from, &path, number)).await;
                let recall = load.post(from, "/api/memories/recall", number, &json!({ "context": word }));
                let found = answered(recall).await;
                let is_there = |answer: Option<Value>| answer.is_some_and(|answer| answer.to_string().contains(&text));
                stale.fetch_add(u32::from(!is_there(shown)) + u32::from(!is_there(found)), Ordering::Relaxed);
                looked.fetch_add(2, Ordering::Relaxed);
            }
        }
    })
    .await;
    println!(
        "{:<44} {} of {}",
        "read through the other: stale",
        stale.load(Ordering::Relaxed),
        looked.load(Ordering::Relaxed)
    );
}

/// Kills the first of two servers during writes with idempotency keys, and repeats unanswered requests on the second.
async fn failover(load: &Arc<Load>, first: Server, second: &Server) {
    let urls = [first.url(), second.url()];
    let acknowledged = Arc::new(Mutex::new(BTreeMap::new()));
    let repeated = Arc::new(AtomicU32::new(0));
    let longest = Arc::new(Mutex::new(Duration::ZERO));
    let started = Instant::now();
    let writers = all(CLIENTS, |number| {
        let (load, urls) = (Arc::clone(load), urls.clone());
        let (acknowledged, repeated, longest) =
            (Arc::clone(&acknowledged), Arc::clone(&repeated), Arc::clone(&longest));
        async move {
            for round in 0.. {
                if started.elapsed() > Duration::from_secs(6) {
                    return;
                }
                let (name, text) = (format!("c{number}-{round}"), format!("failover {number} {round}"));
                let one = Instant::now();
                let mut attempt = 0;
                let made = loop {
                    let to = &urls[usize::from(attempt > 0)];
                    let request = load.post(to, "/api/memories", number, &json!({ "content": text }));
                    if let Some(made) = answered(request.header("idempotency-key", &name)).await {
                        break made;
                    }
                    attempt += 1;
                    repeated.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                };
                let mut most = longest.lock().unwrap();
                *most = most.max(one.elapsed());
                drop(most);
                let id = made["uuid"].as_str().unwrap().to_owned();
                acknowledged.lock().unwrap().insert((number % USERS, text), id);
            }
        }
    });
    let kill = tokio::spawn(async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        drop(first);
    });
    writers.await;
    kill.await.unwrap();
    let acknowledged = std::mem::take(&mut *acknowledged.lock().unwrap());
    let (mut lost, mut doubled) = (0, 0);
    for user in 0..USERS {
        let export = load.get(&second.url(), "/api/memories/export", user).send().await.unwrap();
        let text = export.text().await.unwrap();
        for (_, said) in acknowledged.keys().filter(|(of, _)| *of == user) {
            match text.matches(&format!("\"content\":\"{said}\"")).count() {
                0 => lost += 1,
                1 => {}
                _ => doubled += 1,
            }
        }
    }
    println!(
        "{:<44} {} acknowledged, {} repeated, lost {lost}, doubled {doubled}, longest wait {:.0?}",
        "one killed amid writes",
        acknowledged.len(),
        repeated.load(Ordering::Relaxed),
        longest.lock().unwrap()
    );
}

fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
}

async fn run() {
    #[expect(clippy::disallowed_methods, reason = "benchmarks have no configuration of their own")]
    let each = std::env::var("TESSERA_REPLICAS_EACH").map_or(500, |text| text.parse().unwrap());
    let Some(cluster) = Cluster::start() else { return };
    let database = cluster.url("server");
    let host = |args: &[&str]| {
        let done = Command::new(Server::PROGRAM).env("DATABASE_URL", &database).args(args).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    host(&["migrate"]);
    let user = |number: usize| {
        host(&["user", "add", &format!("user{number}")]);
        host(&["key", "new", &format!("user{number}")])
    };
    let keys = (0..USERS).map(user).collect();
    let mut corpus = Corpus::new(7);
    let notes: Arc<Vec<String>> = Arc::new(corpus.notes(each).into_iter().map(|note| note.text).collect());
    let client = Client::builder().no_proxy().build().unwrap();
    let load = Arc::new(Load { keys, queries: corpus.queries(2_000), client });
    let first = server_of(&database);
    let started = Instant::now();
    all(USERS, |number| {
        let (load, notes, url) = (Arc::clone(&load), Arc::clone(&notes), first.url());
        async move {
            for text in notes.iter() {
                answered(load.post(&url, "/api/memories", number, &json!({ "content": text }))).await.unwrap();
            }
        }
    })
    .await;
    println!("{USERS} users with {each} memories each, written in {:.0?}", started.elapsed());
    mixed(&load, "one server", &[first.url()]).await;
    let second = server_of(&database);
    let urls = [first.url(), second.url()];
    mixed(&load, "two servers", &urls).await;
    fresh(&load, &urls).await;
    failover(&load, first, &second).await;
}
