//! Measures a team server with 100 users, a million memories and 16 clients, which send four recalls per write.
//! Compares it with GIN and `ts_rank` on the same texts in the same PostgreSQL.
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

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool};
use tessera_benches::{Corpus, Note};
use tessera_engine::Timestamp;
use tessera_engine::compose::{Beside, carried, memory_of};
use tessera_engine::domain::{Importance, MemoryUuid};
use tessera_engine::embedding::{Encoder, embeddings};
use tessera_engine::pack::Passage;
use tessera_engine::text::O200k;

#[path = "../../api/tests/server/cluster.rs"]
#[expect(dead_code, reason = "what tests use of it is more")]
mod cluster;
#[path = "../../fixtures/skip.rs"]
mod skip;

use cluster::Cluster;

const CLIENTS: usize = 16;
/// There are more questions than a run needs, so no answer is cached.
const QUESTIONS: usize = 200_000;

fn number(name: &str, default: usize) -> usize {
    #[expect(clippy::disallowed_methods, reason = "benchmarks have no configuration of their own")]
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A server process that is killed when the benchmark ends.
struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(url: &str, index_mb: usize) -> Self {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/release/tessera-server");
        let mut command = Command::new(program);
        command.env("DATABASE_URL", url).args(["--listen", "127.0.0.1:0"]);
        command.args(["--key-rate", "1000000", "--address-rate", "1000000", "--index-mb", &index_mb.to_string()]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.next().unwrap().unwrap();
        assert!(line.starts_with("serving"), "{line}");
        // Reads its output, so it never blocks; passes errors on.
        std::thread::spawn(move || {
            lines.map_while(Result::ok).filter(|line| !line.contains("\"INFO\"")).for_each(|line| eprintln!("{line}"));
        });
        let address = line.rsplit("http://").next().unwrap().to_owned();
        Self { child, address }
    }

    /// Resident megabytes.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }
}

/// Processor time in ticks: server, PostgreSQL with all processes, clients.
struct Ticks([u64; 3]);

impl Ticks {
    fn now(server: &Server, postmaster: u32) -> Self {
        // Fields after the name: the second is the parent, times begin at the twelfth, and times of ended children come
        // last.
        let stat = |pid: u32| -> Option<Vec<u64>> {
            let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let fields = text.rsplit_once(')')?.1.split_whitespace();
            Some(fields.map(|field| field.parse().unwrap_or(0)).collect())
        };
        let own = |pid: u32| stat(pid).map_or(0, |fields| fields[11] + fields[12]);
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let database = pids.filter_map(stat).filter(|fields| fields[1] == u64::from(postmaster));
        let living: u64 = database.map(|fields| fields[11] + fields[12]).sum();
        let ended = stat(postmaster).map_or(0, |fields| fields[11..15].iter().sum());
        Self([own(server.child.id()), living + ended, own(std::process::id())])
    }

    fn row(&self, name: &str, before: &Self, requests: usize) {
        // A tick is a hundredth of a second on every Linux.
        let each = |n: usize| (self.0[n] - before.0[n]) as f64 * 10_000.0 / requests.max(1) as f64;
        let used = format!("{:.0} µs server, {:.0} PostgreSQL, {:.0} clients", each(0), each(1), each(2));
        println!("{:<44} {used} a request", format!("{name}: processor"));
    }
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

/// The columns of a note that recall needs, as the server writes them.
struct Row {
    text: String,
    importance: i16,
    summary: String,
    length: i32,
    signature: i64,
    forward: Vec<u8>,
    costs: Vec<i32>,
    passages: Vec<u8>,
    embedding: Vec<u8>,
}

fn row(note: &Note) -> Row {
    let document = tessera_engine::sync::Document {
        content: note.text.clone().try_into().unwrap(),
        tags: [].into(),
        links: [].into(),
        details: tessera_engine::sync::Details {
            category: "facts".to_owned().try_into().unwrap(),
            kind: tessera_engine::domain::MemoryType::Fact,
            importance: Importance::from_percent(note.importance),
            keywords: Vec::new(),
            entities: Vec::new(),
            scope: tessera_engine::domain::Scope::Global,
            created: Timestamp::from_micros(1_790_000_000_000_000),
            expires: None,
            owner_trust: None,
            origin: tessera_engine::domain::Origin::Agent,
            session: None,
            conflict_of: None,
            metadata: None,
            file: None,
        },
    };
    let composed = carried(memory_of(&document, Beside::of(MemoryUuid::from_key(&note.text))), &O200k);
    Row {
        importance: i16::from(note.importance),
        summary: composed.memory().summary.clone(),
        length: i32::from(composed.length()),
        signature: composed.signature().cast_signed(),
        forward: composed.forward().to_vec(),
        costs: composed.costs().kept().map(u32::cast_signed).to_vec(),
        passages: Passage::encode_all(&composed.costs().passages),
        text: note.text.clone(),
        embedding: Vec::new(),
    }
}

/// Adds embeddings in the form in which the server stores them. All users have the same notes, so each is encoded once.
fn add_embeddings(rows: &mut [Row]) {
    let half = rows.len().div_ceil(2).max(1);
    std::thread::scope(|scope| {
        for some in rows.chunks_mut(half) {
            scope.spawn(|| {
                for batch in some.chunks_mut(16) {
                    let texts: Vec<&str> = batch.iter().map(|row| row.text.as_str()).collect();
                    let made: Vec<_> = embeddings(Encoder::shared(), &texts, || true);
                    batch.iter_mut().zip(made).for_each(|(row, embedding)| row.embedding = embedding.into_bytes());
                }
            });
        }
    });
}

/// Every user gets the same notes with different UUIDs, because results depend only on the user's own rows.
async fn fill(admin: &PgPool, users: usize, rows: &[Row]) {
    sqlx::query(
        "CREATE TABLE notes (n int PRIMARY KEY, content text, importance smallint, summary text, length int,
         signature bigint, forward bytea, costs int[], passages bytea, embedding bytea)",
    )
    .execute(admin)
    .await
    .unwrap();
    for (n, row) in rows.iter().enumerate() {
        sqlx::query("INSERT INTO notes VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)")
            .bind(i32::try_from(n).unwrap() + 1)
            .bind(&row.text)
            .bind(row.importance)
            .bind(&row.summary)
            .bind(row.length)
            .bind(row.signature)
            .bind(&row.forward)
            .bind(&row.costs)
            .bind(&row.passages)
            .bind(&row.embedding)
            .execute(admin)
            .await
            .unwrap();
    }
    for user in 0..users {
        let name = format!("user{user}");
        sqlx::query(
            "INSERT INTO memories (owner, id, rev, content_rev, details_at, state, content, tags, category, type, importance,
                 keywords, entities, links, scope, created, origin, updated, summary, is_instruction, length, signature, forward,
                 costs, passages, embedding, embedding_rev)
             SELECT $1, md5($1 || n)::uuid, 1, 1, 0, 'live', content, '{}', 'facts', 'fact', importance,
                 '{}', '{}', '{}', 'global', 1790000000000000, 'agent', 1790000000000000, summary, false, length, signature,
                 forward, costs, passages, embedding, 1 FROM notes",
        )
        .bind(&name)
        .execute(admin)
        .await
        .unwrap();
        sqlx::query(
            "INSERT INTO feed (user_id, memory, owner, seq, short_id) SELECT $1, md5($1 || n)::uuid, $1, n, n FROM \
            notes",
        )
        .bind(&name)
        .execute(admin)
        .await
        .unwrap();
        sqlx::query("INSERT INTO user_seq SELECT $1, max(n) FROM notes").bind(&name).execute(admin).await.unwrap();
        sqlx::query("INSERT INTO checkpoints SELECT $1, max(n) FROM notes").bind(&name).execute(admin).await.unwrap();
    }
    for statement in [
        "CREATE TABLE plain AS SELECT owner AS whose, id, content, to_tsvector('english', content) AS words FROM \
        memories",
        "CREATE INDEX plain_words ON plain USING gin (words)",
        "CREATE INDEX plain_owner ON plain (whose)",
        "GRANT SELECT ON plain TO server",
        "VACUUM ANALYZE memories",
        "VACUUM ANALYZE feed",
        "VACUUM ANALYZE plain",
    ] {
        sqlx::query(AssertSqlSafe(statement)).execute(admin).await.unwrap();
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
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { keys: self.keys.clone(), queries: self.queries.clone(), client, address: server.address.clone() }
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

    async fn write(&self, random: &mut fastrand::Rng) -> Duration {
        let (key, text) = (random.choice(&self.keys).unwrap(), random.choice(&self.queries).unwrap());
        let started = Instant::now();
        let request = self.client.post(format!("http://{}/api/memories", self.address)).bearer_auth(key);
        let body = json!({ "content": format!("{text} {}", random.u64(..)) });
        let response = request.json(&body).send().await.unwrap();
        assert!(response.status().is_success());
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

/// Measures PostgreSQL's own search: the best 20 rows that contain any word of the question, ranked by `ts_rank`.
async fn gin(pool: &PgPool, users: usize, queries: &Arc<Vec<String>>) {
    let (started, seconds) = (Instant::now(), number("TESSERA_LOAD_SECONDS", 20) as u64);
    let clients: Vec<_> = (0..CLIENTS)
        .map(|client| {
            let (pool, queries) = (pool.clone(), Arc::clone(queries));
            tokio::spawn(async move {
                let mut random = fastrand::Rng::with_seed(client as u64);
                let mut took = Vec::new();
                while started.elapsed() < Duration::from_secs(seconds) {
                    let any = random.choice(queries.iter()).unwrap().split_whitespace().collect::<Vec<_>>().join(" | ");
                    let one = Instant::now();
                    let found = sqlx::query(
                        "SELECT id, content, ts_rank(words, query) AS rank FROM plain, to_tsquery('english', $2) query
                         WHERE whose = $1 AND words @@ query ORDER BY rank DESC LIMIT 20",
                    )
                    .bind(format!("user{}", random.usize(..users)))
                    .bind(any)
                    .fetch_all(&pool)
                    .await
                    .unwrap();
                    drop(found);
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

fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run());
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
    let mut rows: Vec<Row> = corpus.notes(each).iter().map(row).collect();
    add_embeddings(&mut rows);
    let queries = corpus.queries(QUESTIONS);
    let started = Instant::now();
    fill(&admin, users, &rows).await;
    eprintln!("{users} users with {each} memories each, filled in {:.0?}", started.elapsed());

    let (server, postmaster) = (Server::start(&url, 4_096), cluster.pid());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let load = Arc::new(Load { keys, queries: queries.clone(), client, address: server.address.clone() });
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
    drop(server);

    // The next server loads the indexes that the first one stored.
    let server = Server::start(&url, 4_096);
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
    let server = Server::start(&url, usize::try_from(held / 10).unwrap().max(1));
    let small = Arc::new(load.at(&server));
    mixed(&small, "16 clients, room for a tenth", &server, postmaster, 5).await;
    drop(server);
    gin(&PgPool::connect(&url).await.unwrap(), users, &Arc::new(queries)).await;
}
