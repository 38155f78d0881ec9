//! A hundred credentials through the doors of a team: none crosses the network between machines and server but by its own
//! route, none lies in the database or the log, and their owner has them back.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;

use fastrand::Rng;
use serde_json::{Value, json};
use tessera_engine::screen::findings;

use crate::server::{TeamServer, exchange};
use crate::support::World;

/// One way of a connection.
type Way = Arc<Mutex<Vec<u8>>>;

/// A port that leads to another, and what went through it: each way of each connection by itself.
struct Wire {
    address: String,
    ways: Arc<Mutex<Vec<Way>>>,
}

impl Wire {
    fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let wire = Self { address: listener.local_addr().unwrap().to_string(), ways: Arc::default() };
        let ways = Arc::clone(&wire.ways);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(&server).unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to, way) = (from.try_clone().unwrap(), to.try_clone().unwrap(), Arc::default());
                    ways.lock().unwrap().push(Arc::clone(&way));
                    thread::spawn(move || heard(from, to, &way));
                }
            }
        });
        wire
    }

    /// All that went through.
    fn heard(&self) -> Vec<u8> {
        self.ways.lock().unwrap().iter().flat_map(|way| way.lock().unwrap().clone()).collect()
    }

    /// The same without what was sent to the route of secrets.
    fn heard_beside(&self) -> Vec<u8> {
        self.ways.lock().unwrap().iter().flat_map(|way| without_secrets(&way.lock().unwrap())).collect()
    }
}

const ROUTE: &str = "PUT /v1/sync/secrets ";

fn heard(mut from: TcpStream, mut to: TcpStream, way: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        way.lock().unwrap().extend(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// The requests of a connection without the bodies of those to the route of secrets.
fn without_secrets(bytes: &[u8]) -> Vec<u8> {
    let (mut kept, mut rest) = (Vec::new(), bytes);
    while let Some(at) = find(rest, ROUTE.as_bytes()) {
        let head = at + find(&rest[at..], b"\r\n\r\n").unwrap() + 4;
        let words = String::from_utf8_lossy(&rest[at..head]).to_lowercase();
        let length = words.split("content-length: ").nth(1).unwrap().lines().next().unwrap().trim().parse::<usize>();
        kept.extend(&rest[..head]);
        rest = &rest[(head + length.unwrap()).min(rest.len())..];
    }
    kept.extend(rest);
    kept
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

/// A credential, and a text that holds it: every one is of a kind that is found.
fn planted() -> Vec<(String, String)> {
    let mut random = Rng::with_seed(11);
    let mut letters = |alphabet: &str, count: usize| -> String {
        (0..count).map(|_| char::from(alphabet.as_bytes()[random.usize(..alphabet.len())])).collect()
    };
    let word = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
    let planted = (0..100).map(|n| {
        let (head, tail) = (letters(word, 6), letters(word, 6));
        let value = match n % 5 {
            0 => format!("{head}!{tail}7"),
            1 => format!("ghp_{}", letters(word, 36)),
            2 => format!("{head}9-{tail}"),
            3 => letters("0123456789abcdef", 40),
            _ => format!("{}{}", letters(word, 24), letters(word, 16)),
        };
        let text = match n % 5 {
            0 => format!("Note {n}: the password of the harbour gate is {value}"),
            1 => format!("Note {n}: deploys use {value} since May"),
            2 => format!("Note {n}: reports go to postgres://reporter:{value}@db{n}.example.org/reports"),
            3 => format!("Note {n}: HARBOUR_API_KEY={value}"),
            _ => format!("Note {n}: AWS_SECRET_ACCESS_KEY={value}"),
        };
        (value, text)
    });
    let planted: Vec<_> = planted.collect();
    for (value, text) in &planted {
        let found = findings(text);
        assert!(found.iter().any(|finding| &text[finding.span.clone()] == value), "{text}: {found:?}");
    }
    planted
}

/// Every file below a folder, as bytes.
fn files(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { all.extend(files(&path)) } else { all.extend(fs::read(path).unwrap_or_default()) }
    }
    all
}

fn in_clear<'a>(bytes: &[u8], planted: &'a [(String, String)]) -> Vec<&'a str> {
    let text = String::from_utf8_lossy(bytes);
    planted.iter().filter(|(value, _)| text.contains(value.as_str())).map(|(_, text)| text.as_str()).collect()
}

/// What an older machine sends: an op with the text as it is.
fn op(text: &str) -> Value {
    let id = || uuid::Uuid::from_u128(fastrand::u128(..)).to_string();
    let details = json!({ "category": "facts", "type": "fact", "importance": 0.4, "keywords": [], "entities": [],
        "scope": "global", "created": "2026-11-20T12:00:00Z", "origin": "user", "session": null, "conflict_of": null });
    let document = json!({ "content": text, "tags": [], "links": [], "details": details });
    json!({ "op_id": id(), "memory": id(), "base_rev": 0, "at": "2026-11-20T12:00:00Z", "action": { "create": document } })
}

#[test]
fn of_a_hundred_credentials_none_is_seen_on_the_wire_in_the_database_or_in_the_log() {
    let Some(server) = TeamServer::start_with(&[("TESSERA_SECRET_KEY", "a passphrase of the tests")]) else { return };
    let planted = planted();
    let wire = Wire::to(server.url().trim_start_matches("http://").to_owned());
    let ada = server.user("ada");
    let (laptop, desktop) = (World::new(), World::new());
    for world in [&laptop, &desktop] {
        let joined = world.run_with_stdin(&["sync", "join", &format!("http://{}", wire.address)], ada.as_bytes());
        assert_eq!(joined.code, Some(0), "{joined:?}");
    }
    let (of_machine, of_server) = planted.split_at(40);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    // The searches below take long enough that the server closes an idle connection.
    let client = reqwest::Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
    let ask = |path: &str, body: Value| -> Value {
        let request = client.post(format!("{}{path}", server.url())).bearer_auth(&ada).json(&body);
        runtime.block_on(async {
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status(), 200, "{path}");
            answer.json().await.unwrap()
        })
    };
    // On a machine: one by one, in a file, as a tag, and by a change.
    let lines: String = of_machine[4..].iter().map(|(_, text)| json!({ "content": text }).to_string() + "\n").collect();
    fs::write(laptop.path("notes.jsonl"), lines).unwrap();
    laptop.json(&["import", laptop.path("notes.jsonl").to_str().unwrap()]);
    laptop.remember(&of_machine[0].1);
    laptop.json(&["remember", "The gate is painted", "--tags", &format!("gate,{}", of_machine[1].0)]);
    let plain = laptop.remember("The crane is green")["id"].clone();
    let plain = plain.as_str().map_or_else(|| plain.to_string(), str::to_owned);
    laptop.json(&["update", &plain, "--content", &of_machine[2].1]);
    laptop.remember(&of_machine[3].1);
    // On the server: by REST, by an import, and by an older machine.
    for (_, text) in &of_server[..20] {
        ask("/api/memories", json!({ "content": text, "keywords": [text] }));
    }
    let rows: Vec<Value> = of_server[20..40].iter().map(|(_, text)| json!({ "content": text })).collect();
    ask("/api/memories/import", json!(rows));
    let ops: Vec<Value> = of_server[40..].iter().map(|(_, text)| op(text)).collect();
    let pushed = ask("/v1/sync/push", json!({ "epoch": 1, "ops": ops }));
    assert!(pushed["answers"].as_array().unwrap().iter().all(|answer| answer["refused"].is_null()), "{pushed}");
    for world in [&laptop, &desktop, &laptop] {
        exchange(world);
    }
    assert_eq!(desktop.contents().len(), 100);
    let heard = wire.heard_beside();
    assert!(heard.len() > 50_000 && String::from_utf8_lossy(&heard).contains("Note 17: "), "it heard something");
    assert_eq!(in_clear(&heard, &planted), [""; 0], "on the wire");
    // What was looked for would have been found: by the route of secrets those of the machine went.
    assert_eq!(in_clear(&wire.heard(), &planted).len(), of_machine.len());
    assert_eq!(in_clear(server.cluster.dump().as_bytes(), &planted), [""; 0], "in the database");
    let log = server.log.lock().unwrap().clone();
    assert!(log.contains("/v1/sync/push"), "{log}");
    assert_eq!(in_clear(log.as_bytes(), &planted), [""; 0], "in the log");
    for world in [&laptop, &desktop] {
        assert_eq!(in_clear(&files(&world.home()), &planted), [""; 0], "in a file of a machine");
    }
    // Their owner has them back.
    let mut had = String::new();
    let listed = runtime.block_on(async {
        let request = client.get(format!("{}/api/memories?limit=1000", server.url())).bearer_auth(&ada);
        request.send().await.unwrap().json::<Value>().await.unwrap()
    });
    for memory in listed["memories"].as_array().unwrap() {
        had += &ask(&format!("/api/memories/{}/secret", memory["uuid"].as_str().unwrap()), Value::Null).to_string();
    }
    let had = in_clear(had.as_bytes(), &planted);
    let lost: Vec<_> = planted.iter().filter(|(_, text)| !had.contains(&text.as_str())).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let audit = server.host(&["audit", "--user", "ada"]).stdout;
    assert_eq!(audit.matches(" secret_shown ").count(), 100, "{audit}");
    assert_eq!(in_clear(audit.as_bytes(), &planted), [""; 0], "in the audit");
}
