//! Measures a team server with 100 users, a million memories and 16 clients, which send four recalls per write.
//! Compares it with an HTTP server over GIN and `ts_rank`, and with the bare SQL query of that server, on the same texts
//! in the same PostgreSQL. `TESSERA_LOAD_PEER` names the address of one more server with the same routes, whose keys are
//! `user0`, `user1` and so on, and whose users have the same memories.
//! `TESSERA_LOAD_NOTES` names a file to which the memories of one user are written, one on each line.
//!
//! Needs `cargo build --release --locked -p tessera-api` first, and PostgreSQL. `TESSERA_LOAD_USERS` and
//! `TESSERA_LOAD_EACH` reduce the size, and `TESSERA_LOAD_SECONDS` reduces the duration. `TESSERA_RECALL_SEMANTIC=off`
//! disables semantic search. The server answers a write only after it is durable. PostgreSQL, server and clients run on
//! the same machine.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "printing the table is the purpose of a benchmark")]
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark may panic if anything unexpected happens"
)]

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::PgPool;
use sqlx::postgres::PgRow;
use tessera_benches::{Corpus, Server};
use tessera_engine::embedding::Encoder;

#[path = "../../../api/tests/server/cluster.rs"]
#[expect(dead_code, reason = "what tests use of it is more")]
mod cluster;
mod fill;
mod plain;
#[path = "../../../fixtures/skip.rs"]
mod skip;
mod ticks;

use cluster::Cluster;
use fill::{Row, add_embeddings, fill};
use ticks::Ticks;

const CLIENTS: usize = 16;
/// There are more questions than a run needs, so no answer is cached.
const QUESTIONS: usize = 200_000;

fn text(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "benchmarks have no configuration of their own")]
    std::env::var(name).ok()
}

fn number(name: &str, default: usize) -> usize {
    text(name).map_or(default, |text| text.parse().unwrap())
}

#[derive(Default)]
struct Latencies(Vec<Duration>);

impl Latencies {
    fn row(&mut self, name: &str, wall: Duration) {
        self.0.sort();
        let at = |share: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
            let index = ((self.0.len() as f64 - 1.0) * share) as usize;
            self.0.get(index).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
        };
        let rate = self.0.len() as f64 / wall.as_secs_f64();
        println!("{name:<44} {rate:8.0}/s   p50 {:8.2} ms   p99 {:8.2} ms   n {}", at(0.5), at(0.99), self.0.len());
    }
}

struct Load {
    keys: Vec<String>,
    queries: Vec<String>,
    client: reqwest::Client,
    address: String,
}

impl Load {
    /// The same load for another server.
    fn at(&self, server: &Server) -> Self {
        self.with_keys(self.keys.clone(), server)
    }

    /// The same load for a server that knows other keys.
    fn with_keys(&self, keys: Vec<String>, server: &Server) -> Self {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { keys, queries: self.queries.clone(), client, address: server.address.clone() }
    }

    async fn recall(&self, random: &mut fastrand::Rng) -> Duration {
        let (key, query) = (random.choice(&self.keys).unwrap(), random.choice(&self.queries).unwrap());
        self.asked(key, query).await
    }

    async fn asked(&self, key: &str, query: &str) -> Duration {
        let started = Instant::now();
        let request = self.client.post(format!("http://{}/api/memories/recall", self.address)).bearer_auth(key);
        let response = request.json(&json!({ "context": query, "max_tokens": 1000 })).send().await.unwrap();
        assert!(response.status().is_success(), "{}", response.text().await.unwrap());
        response.bytes().await.unwrap();
        started.elapsed()
    }

    /// Downloads all memories of a user, as a new machine does. Returns their number.
    async fn download(&self, key: &str) -> usize {
        let (mut rows, mut after) = (0, String::new());
        loop {
            let request = self.client.get(format!("http://{}/v1/sync/snapshot{after}", self.address)).bearer_auth(key);
            let response = request.send().await.unwrap().error_for_status().unwrap();
            let page: serde_json::Value = response.json().await.unwrap();
            rows += page["rows"].as_array().unwrap().len();
            let Some(next) = page["next"].as_str() else { return rows };
            after = format!("?after={next}");
        }
    }

    async fn write(&self, random: &mut fastrand::Rng) -> Duration {
        let (key, text) = (random.choice(&self.keys).unwrap(), random.choice(&self.queries).unwrap());
        let started = Instant::now();
        let request = self.client.post(format!("http://{}/api/memories", self.address)).bearer_auth(key);
        let body = json!({ "content": format!("{text} {}", random.u16(..)) });
        let response = request.json(&body).send().await.unwrap();
        assert!(response.status().is_success(), "{}", response.text().await.unwrap());
        response.bytes().await.unwrap();
        started.elapsed()
    }
}

/// Runs clients that recall and write. One in `one_in` requests is a write; with 1, all requests are writes.
async fn mixed(load: &Arc<Load>, name: &str, server: &Server, postmaster: u32, one_in: u8) {
    let before = Ticks::now(server, postmaster);
    let (started, seconds) = (Instant::now(), number("TESSERA_LOAD_SECONDS", 20) as u64);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let load = Arc::clone(load);
            tokio::spawn(async move {
                let mut random = fastrand::Rng::with_seed(client as u64);
                let (mut recalls, mut writes) = (Vec::new(), Vec::new());
                while started.elapsed() < Duration::from_secs(seconds) {
                    if random.u8(..one_in) == 0 {
                        writes.push(load.write(&mut random).await);
                    } else {
                        recalls.push(load.recall(&mut random).await);
                    }
                }
                (recalls, writes)
            })
        })
        .collect();
    let (mut recalls, mut writes) = (Latencies::default(), Latencies::default());
    for client in clients {
        let (some_recalls, some_writes) = client.await.unwrap();
        recalls.0.extend(some_recalls);
        writes.0.extend(some_writes);
    }
    let wall = started.elapsed();
    if one_in > 1 {
        recalls.row(&format!("{name}: recall"), wall);
    }
    writes.row(&format!("{name}: write"), wall);
    Ticks::now(server, postmaster).row(name, &before, recalls.0.len() + writes.0.len());
    println!("{:<44} {} MB resident", format!("{name}: server"), server.resident());
}

/// Measures two clients while a new machine of another user downloads everything, again and again.
async fn during_first_sync(load: &Arc<Load>) {
    let (user, others) = load.keys.split_first().unwrap();
    for is_syncing in [false, true] {
        let machine = is_syncing.then(|| {
            let (load, key) = (Arc::clone(load), user.clone());
            tokio::spawn(async move {
                loop {
                    load.download(&key).await;
                }
            })
        });
        let (started, seconds) = (Instant::now(), number("TESSERA_LOAD_SECONDS", 20) as u64);
        let clients: Vec<_> = (0..2)
            .map(|client| {
                let (load, others) = (Arc::clone(load), others.to_vec());
                tokio::spawn(async move {
                    let mut random = fastrand::Rng::with_seed(client);
                    let mut took = Vec::new();
                    while started.elapsed() < Duration::from_secs(seconds) {
                        let (key, query) = (random.choice(&others).unwrap(), random.choice(&load.queries).unwrap());
                        took.push(load.asked(key, query).await);
                    }
                    took
                })
            })
            .collect();
        let mut all = Latencies::default();
        for client in clients {
            all.0.extend(client.await.unwrap());
        }
        let name = if is_syncing { "2 clients, another user's first sync" } else { "2 clients" };
        all.row(&format!("{name}: recall"), started.elapsed());
        machine.inspect(tokio::task::JoinHandle::abort);
    }
    let started = Instant::now();
    let rows = load.download(user).await;
    println!("{:<44} {rows} memories in {:.1?}", "a first sync alone", started.elapsed());
}

/// PostgreSQL's own search: the best rows that contain any word of the question, ranked by `ts_rank`.
async fn search(pool: &PgPool, user: &str, question: &str, rows: i64) -> Result<Vec<PgRow>, sqlx::Error> {
    let any = question.split_whitespace().collect::<Vec<_>>().join(" | ");
    let sql = "SELECT id, content, ts_rank(words, query) AS rank FROM plain, to_tsquery('english', $2) query
               WHERE whose = $1 AND words @@ query ORDER BY rank DESC LIMIT $3";
    sqlx::query(sql).bind(user).bind(any).bind(rows).fetch_all(pool).await
}

/// Measures that search without a server.
async fn gin(pool: &PgPool, users: usize, queries: &Arc<Vec<String>>) {
    let (started, seconds) = (Instant::now(), number("TESSERA_LOAD_SECONDS", 20) as u64);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (pool, queries) = (pool.clone(), Arc::clone(queries));
            tokio::spawn(async move {
                let mut random = fastrand::Rng::with_seed(client as u64);
                let mut took = Vec::new();
                while started.elapsed() < Duration::from_secs(seconds) {
                    let (user, question) = (format!("user{}", random.usize(..users)), random.choice(queries.iter()));
                    let one = Instant::now();
                    drop(search(&pool, &user, question.unwrap(), plain::ROWS).await.unwrap());
                    took.push(one.elapsed());
                }
                took
            })
        })
        .collect();
    let mut all = Latencies::default();
    for client in clients {
        all.0.extend(client.await.unwrap());
    }
    all.row("GIN + ts_rank, without concurrent writes: query", started.elapsed());
}

/// Measures the time to encode a question, on one thread and on an otherwise idle machine.
fn encoding(queries: &[String]) {
    let mut took = Latencies::default();
    let started = Instant::now();
    for query in queries.iter().take(500) {
        let one = Instant::now();
        std::hint::black_box(Encoder::shared().question(query));
        took.0.push(one.elapsed());
    }
    took.row("encoding a question", started.elapsed());
}

fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [argument, url] if argument == plain::ARGUMENT => runtime.block_on(plain::serve(url)),
        _ => runtime.block_on(run()),
    }
}

async fn run() {
    let (users, each) = (number("TESSERA_LOAD_USERS", 100), number("TESSERA_LOAD_EACH", 10_000));
    let Some(cluster) = Cluster::durable() else { return };
    let url = cluster.url("server");
    let host = |args: &[&str]| {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/tessera-server");
        let done = Command::new(program).env("DATABASE_URL", &url).args(args).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    host(&["migrate"]);
    let mut keys = Vec::new();
    for user in 0..users {
        host(&["user", "add", &format!("user{user}")]);
        keys.push(host(&["key", "new", &format!("user{user}")]));
    }
    let admin = PgPool::connect(&cluster.url("admin")).await.unwrap();
    let mut corpus = Corpus::new(7);
    let notes = corpus.notes(each);
    if let Some(path) = text("TESSERA_LOAD_NOTES") {
        std::fs::write(path, notes.iter().map(|note| format!("{}\n", note.text)).collect::<String>()).unwrap();
    }
    let mut rows: Vec<Row> = notes.iter().map(Row::of).collect();
    add_embeddings(&mut rows);
    let queries = corpus.queries(QUESTIONS);
    let started = Instant::now();
    fill(&admin, users, &rows).await;
    eprintln!("{users} users with {each} memories each, filled in {:.0?}", started.elapsed());

    let (server, postmaster) = (server_with(&url, 4_096), cluster.pid());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let load = Arc::new(Load { keys, queries, client, address: server.address.clone() });
    println!("{:<44} {} MB resident", "before the first question: server", server.resident());
    let (mut cold, mut warm) = (Latencies::default(), Latencies::default());
    let started = Instant::now();
    let before = Ticks::now(&server, postmaster);
    for key in &load.keys {
        cold.0.push(load.asked(key, &load.queries[0]).await);
    }
    cold.row("first question of each user, one at a time", started.elapsed());
    Ticks::now(&server, postmaster).row("first question", &before, cold.0.len());
    let held = server.resident();
    println!("{:<44} {held} MB resident", "with every index: server");
    let before = Ticks::now(&server, postmaster);
    let started = Instant::now();
    for (key, query) in load.keys.iter().cycle().zip(&load.queries).take(4_000) {
        warm.0.push(load.asked(key, query).await);
    }
    warm.row("warm, one client: recall", started.elapsed());
    Ticks::now(&server, postmaster).row("warm, one client", &before, warm.0.len());
    mixed(&load, "16 clients", &server, postmaster, 5).await;
    mixed(&load, "16 clients, writes alone", &server, postmaster, 1).await;
    during_first_sync(&load).await;
    drop(server);

    // The next server loads the indexes that the first one stored.
    let server = server_with(&url, 4_096);
    let next = load.at(&server);
    let mut taken = Latencies::default();
    let (before, started) = (Ticks::now(&server, postmaster), Instant::now());
    for key in &next.keys {
        taken.0.push(next.asked(key, &next.queries[0]).await);
    }
    taken.row("first query of each user, on a newly started server", started.elapsed());
    Ticks::now(&server, postmaster).row("to another server", &before, taken.0.len());
    drop(server);

    // Room for the indexes of a tenth of the users.
    let server = server_with(&url, usize::try_from(held / 10).unwrap().max(1));
    let small = Arc::new(load.at(&server));
    mixed(&small, "16 clients, room for a tenth", &server, postmaster, 5).await;
    drop(server);

    compare(&load, &cluster, &admin).await;
}

/// Tessera's server, with this room for its indexes.
fn server_with(url: &str, index_mb: usize) -> Server {
    Server::start(url, &[], &["--index-mb", &index_mb.to_string()])
}

/// The server to compare with.
fn plain_server(url: &str) -> Server {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([plain::ARGUMENT, url]);
    Server::run(command)
}

/// Measures the peers with the same load.
async fn compare(load: &Load, cluster: &Cluster, admin: &PgPool) {
    let url = cluster.url("server");
    let sql = "INSERT INTO plain_keys SELECT sha256(key::bytea), 'user' || n - 1 FROM unnest($1::text[])
               WITH ORDINALITY AS keys (key, n)";
    sqlx::query(sql).bind(&load.keys).execute(admin).await.unwrap();
    let server = plain_server(&url);
    mixed(&Arc::new(load.at(&server)), "server over GIN, 16 clients", &server, cluster.pid(), 5).await;
    drop(server);
    let users = load.keys.len();
    gin(&PgPool::connect(&url).await.unwrap(), users, &Arc::new(load.queries.clone())).await;
    encoding(&load.queries);

    if let Some(address) = text("TESSERA_LOAD_PEER") {
        let server = Server::at(address);
        let keys = (0..users).map(|user| format!("user{user}")).collect();
        mixed(&Arc::new(load.with_keys(keys, &server)), "peer, 16 clients", &server, 0, 5).await;
    }
}
