//! What nobody can take from the others: places, connections, memory, the answer to whoever watches the server.

use std::net::SocketAddr;
use std::time::Duration;

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tessera_api::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

use crate::site::{Site, with_limits};

/// Longer than anything here may take.
const LONG: Duration = Duration::from_secs(20);

fn many() -> Limits {
    Limits { key_per_second: 100_000, address_per_second: 100_000, ..Limits::default() }
}

/// A connection from an address of the loopback network.
async fn connect(to: SocketAddr, from: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
    socket.connect(to).await.unwrap()
}

/// All that comes until the other side closes; what was reset counts as closed.
async fn until_closed(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = timeout(LONG, stream.read_to_end(&mut bytes)).await.expect("the connection is closed");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The status of the next answer, which fits one read.
async fn status(stream: &mut TcpStream) -> u16 {
    let mut bytes = vec![0; 16 * 1024];
    let n = timeout(LONG, stream.read(&mut bytes)).await.expect("an answer").unwrap_or(0);
    String::from_utf8_lossy(&bytes[..n]).split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0)
}

/// A body that is begun and not ended.
async fn unfinished(site: &Site, key: &str) -> TcpStream {
    let mut stream = connect(site.address, "127.0.0.1").await;
    let head = format!(
        "POST /api/memories HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Length: 1000\r\n\r\n{{\"co"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

async fn problem(response: reqwest::Response, status: StatusCode, code: &str) {
    assert_eq!(response.status(), status);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    assert_eq!(response.json::<Value>().await.unwrap()["code"], code);
}

#[test]
fn whoever_watches_the_server_is_answered_whatever_else_is_asked() {
    let limits = Limits { address_per_second: 1, burst_seconds: 3, key_per_second: 100_000, ..Limits::default() };
    with_limits(limits, |site| async move {
        let key = site.user("ada").await;
        let mut refused = 0;
        for _ in 0..20 {
            refused += usize::from(site.get("", "/nothing").await.status() == StatusCode::TOO_MANY_REQUESTS);
        }
        assert!(refused >= 10, "{refused}");
        for _ in 0..10 {
            for path in ["/health", "/ready"] {
                assert_eq!(site.get("", path).await.status(), StatusCode::OK, "{path}");
            }
        }
        // What one address asked without a key is not counted against another.
        let other = Client::builder().no_proxy().local_address("127.0.0.2".parse::<std::net::IpAddr>().ok());
        let other = other.build().unwrap();
        let url = format!("http://{}/api/auth-check", site.address);
        assert_eq!(other.get(&url).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
        assert_eq!(other.get(&url).bearer_auth(&key).send().await.unwrap().status(), StatusCode::OK);
    });
}

#[test]
fn one_key_does_not_take_all_places() {
    let limits = Limits { at_once: 4, key_at_once: 2, key_waiting: 3, body_pause: LONG, ..many() };
    with_limits(limits, |site| async move {
        let (ada, mallory) = (site.user("ada").await, site.user("mallory").await);
        // Two are read, three wait; what is more is turned away, and says so.
        let mut streams = tokio::task::JoinSet::new();
        for _ in 0..8 {
            let mut stream = unfinished(&site, &mallory).await;
            streams.spawn(async move { status(&mut stream).await });
        }
        for _ in 0..3 {
            assert_eq!(streams.join_next().await.unwrap().unwrap(), 429);
        }
        for _ in 0..8 {
            assert_eq!(site.get(&ada, "/api/stats").await.status(), StatusCode::OK);
        }
        // With the requests go their places.
        streams.shutdown().await;
        timeout(LONG, async {
            while site.get(&mallory, "/api/stats").await.status() != StatusCode::OK {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    });
}

#[test]
fn heads_bodies_and_pauses_without_end_are_ended() {
    let short = Duration::from_millis(300);
    with_limits(Limits { header_timeout: short, body_pause: short, ..many() }, |site| async move {
        let key = site.user("ada").await;
        let mut silent = connect(site.address, "127.0.0.1").await;
        let mut slow = connect(site.address, "127.0.0.1").await;
        let mut idle = connect(site.address, "127.0.0.1").await;
        idle.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let mut body = unfinished(&site, &key).await;
        // A line now and then does not help.
        slow.write_all(b"GET /health HTTP/1.1\r\nHost: x\r\n").await.unwrap();
        let (mut reader, mut writer) = slow.split();
        let trickle = async {
            while writer.write_all(b"X-More: y\r\n").await.is_ok() {
                tokio::time::sleep(short / 6).await;
            }
        };
        let ended = async {
            let mut bytes = Vec::new();
            let _ = reader.read_to_end(&mut bytes).await;
        };
        timeout(LONG, async {
            tokio::select! { () = trickle => {}, () = ended => {} }
        })
        .await
        .expect("it is closed");
        assert_eq!(until_closed(&mut silent).await, "");
        assert!(until_closed(&mut idle).await.starts_with("HTTP/1.1 200"));
        let answer = until_closed(&mut body).await;
        assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("application/problem+json"), "{answer}");
    });
}

#[test]
fn an_address_has_only_so_many_connections() {
    with_limits(Limits { connections: 20, address_connections: 5, ..many() }, |site| async move {
        let ask = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
        let mut held = Vec::new();
        for _ in 0..5 {
            let mut stream = connect(site.address, "127.0.0.2").await;
            stream.write_all(ask).await.unwrap();
            assert_eq!(status(&mut stream).await, 200);
            held.push(stream);
        }
        for _ in 0..3 {
            assert_eq!(until_closed(&mut connect(site.address, "127.0.0.2").await).await, "");
        }
        let mut other = connect(site.address, "127.0.0.3").await;
        other.write_all(ask).await.unwrap();
        assert_eq!(status(&mut other).await, 200);
        drop(held);
        let again = async {
            loop {
                let mut stream = connect(site.address, "127.0.0.2").await;
                if stream.write_all(ask).await.is_ok() && status(&mut stream).await == 200 {
                    return;
                }
            }
        };
        timeout(LONG, again).await.expect("who left makes room");
    });
}

#[test]
fn an_answer_that_nobody_takes_is_given_up() {
    let limits = Limits { key_at_once: 1, write_timeout: Duration::from_millis(300), ..many() };
    with_limits(limits, |site| async move {
        let key = site.user("ada").await;
        let rows: Vec<Value> =
            (0..200).map(|n| json!({ "content": format!("{n} {}", "word ".repeat(6_000)) })).collect();
        for part in rows.chunks(20) {
            Site::ok(site.post(&key, "/api/memories/import", &json!(part)).await).await;
        }
        let mut stalled = connect(site.address, "127.0.0.1").await;
        let head = format!("GET /api/memories/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n");
        stalled.write_all(head.as_bytes()).await.unwrap();
        assert_eq!(status(&mut stalled).await, 200);
        // The key's one place is free once the reader is given up.
        let answer = timeout(LONG, site.get(&key, "/api/stats")).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK);
        // A reader gets all of it.
        let text = site.get(&key, "/api/memories/export").await.text().await.unwrap();
        assert_eq!(text.lines().count(), 200);
    });
}

#[test]
fn invented_methods_make_no_series() {
    with_limits(many(), |site| async move {
        for number in 0..50 {
            let mut stream = connect(site.address, "127.0.0.1").await;
            let request = format!("XINVENTED{number} /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            assert!(until_closed(&mut stream).await.starts_with("HTTP/1.1 405"));
        }
        let text = tessera_api::metrics_text();
        assert!(text.contains("method=\"other\"") && !text.contains("XINVENTED"), "{text}");
    });
}

#[test]
fn a_key_is_limited_however_it_is_spelt() {
    with_limits(Limits { key_per_second: 1, burst_seconds: 4, ..many() }, |site| async move {
        let (key, other) = (site.user("ada").await, site.user("bob").await);
        let mut passed = 0;
        for number in 0..24 {
            let scheme = ["Bearer", "bearer", "BEARER", "bEaReR"][number % 4];
            let request = site.client.get(format!("http://{}/api/auth-check", site.address));
            let request = request.header("authorization", format!("{scheme}{}{key}", " ".repeat(1 + number / 4)));
            passed += usize::from(request.send().await.unwrap().status() == StatusCode::OK);
        }
        assert!((4..12).contains(&passed), "{passed}");
        // Somebody who knows a key's id alone takes nothing from it.
        assert_eq!(site.get(&other, "/api/auth-check").await.status(), StatusCode::OK);
    });
}

async fn passed(site: &Site, forwarded: impl Fn(usize) -> String) -> usize {
    let mut passed = 0;
    for number in 0..30 {
        let request = site.client.get(format!("http://{}/nothing", site.address));
        let response = request.header("x-forwarded-for", forwarded(number)).send().await.unwrap();
        passed += usize::from(response.status() == StatusCode::NOT_FOUND);
    }
    passed
}

#[test]
fn an_address_is_what_a_known_proxy_says_and_nobody_else() {
    let few = Limits { address_per_second: 1, burst_seconds: 5, ..many() };
    let known = Limits { behind_proxy: true, proxies: vec!["127.0.0.0/8".parse().unwrap()], ..few.clone() };
    with_limits(known, |site| async move {
        // What the caller puts first is not what the proxy puts last.
        let spoofed = passed(&site, |number| format!("10.0.0.{number}, 203.0.113.7")).await;
        assert!((5..15).contains(&spoofed), "{spoofed}");
        assert_eq!(passed(&site, |number| format!("198.51.100.{number}")).await, 30);
    });
    for limits in [few.clone(), Limits { behind_proxy: true, ..few }] {
        with_limits(limits, |site| async move {
            let spoofed = passed(&site, |number| format!("198.51.100.{number}")).await;
            assert!((5..15).contains(&spoofed), "{spoofed}");
        });
    }
}

#[test]
fn what_is_too_long_is_a_problem_that_says_so() {
    with_limits(many(), |site| async move {
        let key = site.user("ada").await;
        let long = "word ".repeat(21_000);
        let question = json!({ "context": "harbour", "expanded_query": long, "max_tokens": 500 });
        let response = site.post(&key, "/api/memories/recall", &question).await;
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let problem_of: Value = response.json().await.unwrap();
        assert!(problem_of["detail"].as_str().unwrap().starts_with("expanded_query"), "{problem_of}");
        let made = Site::ok(site.post(&key, "/api/memories", &json!({ "content": "short" })).await).await;
        let path = format!("/api/memories/{}", made["uuid"].as_str().unwrap());
        let huge = json!({ "content": "a".repeat(5 << 20) });
        problem(site.post(&key, "/api/memories", &huge).await, StatusCode::PAYLOAD_TOO_LARGE, "too_large").await;
        problem(site.put(&key, &path, "*", &huge).await, StatusCode::PAYLOAD_TOO_LARGE, "too_large").await;
        problem(site.post(&key, "/v1/sync/push", &huge).await, StatusCode::PAYLOAD_TOO_LARGE, "too_large").await;
        let mut stream = connect(site.address, "127.0.0.1").await;
        let (most, head) = (16 << 20, "POST /api/memories/import HTTP/1.1\r\nHost: x\r\nConnection: close");
        let head = format!("{head}\r\nAuthorization: Bearer {key}\r\nContent-Length: {}\r\n\r\n", most + 9);
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&vec![b'a'; most + 9]).await.unwrap();
        let answer = until_closed(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 413") && answer.contains("application/problem+json"), "{answer}");
    });
}
