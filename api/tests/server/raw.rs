//! Requests as nobody's client sends them: two in one, without end, packed.

use std::time::Duration;

use serde_json::json;
use tessera_api::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::site::{Site, with_limits, with_site};

/// `{"content":"words that were packed"}`, by gzip.
const PACKED: [u8; 56] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 171, 86, 74, 206, 207, 43, 73, 205, 43, 81, 178, 82, 42, 207, 47, 74, 41, 86, 40,
    201, 72, 44, 81, 40, 79, 45, 74, 85, 40, 72, 76, 206, 78, 77, 81, 170, 5, 0, 154, 206, 176, 161, 36, 0, 0, 0,
];

/// All that is answered to these bytes until the connection is closed.
async fn answer(site: &Site, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(site.address).await.unwrap();
    let (mut reader, mut writer) = stream.split();
    let mut answered = Vec::new();
    let taken = async { timeout(Duration::from_secs(20), reader.read_to_end(&mut answered)).await };
    // It may be closed before all of it was taken.
    let (taken, _) = tokio::join!(taken, writer.write_all(bytes));
    // What was reset is closed.
    let _ = taken.expect("the connection is closed");
    String::from_utf8_lossy(&answered).into_owned()
}

fn status(answered: &str) -> &str {
    answered.split(' ').nth(1).unwrap_or("closed")
}

#[test]
fn of_a_request_that_hides_another_nothing_is_answered_as_that_other() {
    let limits = Limits {
        header_timeout: Duration::from_millis(500),
        body_pause: Duration::from_millis(500),
        ..Limits::default()
    };
    with_limits(limits, |site| async move {
        let key = site.user("ada").await;
        let hidden = "GET /api/auth-check HTTP/1.1\r\nHost: x\r\nX: y\r\n\r\n";
        let chunk = format!("{:x}\r\n{hidden}\r\n0\r\n\r\n", hidden.len());
        let long = hidden.len();
        let whole = format!("0\r\n\r\n{hidden}");
        for (head, body) in [
            (format!("Content-Length: {long}\r\nContent-Length: 0\r\n"), hidden.to_owned()),
            (format!("Content-Length: 0\r\nContent-Length: {long}\r\n"), hidden.to_owned()),
            (format!("Content-Length: 0, {long}\r\n"), hidden.to_owned()),
            (format!("Content-Length: +{long}\r\n"), hidden.to_owned()),
            (format!("Content-Length : {long}\r\n"), hidden.to_owned()),
            (format!("Content-Length: 0x{long:x}\r\n"), hidden.to_owned()),
            ("Content-Length: 99999999999999999999\r\n".to_owned(), hidden.to_owned()),
            ("Content-Length: -1\r\n".to_owned(), hidden.to_owned()),
            (format!("Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", whole.len()), whole.clone()),
            (format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", whole.len()), whole.clone()),
            ("Transfer-Encoding: chunked, identity\r\n".to_owned(), chunk.clone()),
            ("Transfer-Encoding: xchunked\r\n".to_owned(), chunk.clone()),
            ("Transfer-Encoding : chunked\r\n".to_owned(), chunk.clone()),
            ("Transfer-Encoding:\u{b}chunked\r\n".to_owned(), chunk.clone()),
            ("X: a\r\n Transfer-Encoding: chunked\r\n".to_owned(), chunk.clone()),
            ("Transfer-Encoding: chunked\r\n".to_owned(), format!("fffffffffffffffff\r\n{hidden}")),
            ("Transfer-Encoding: chunked\r\n".to_owned(), format!("-1\r\n{hidden}")),
            ("Transfer-Encoding: chunked\r\n".to_owned(), format!("1\r\nxy\r\n0\r\n\r\n{hidden}")),
        ] {
            let request =
                format!("POST /api/memories HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n{head}\r\n{body}");
            let answered = answer(&site, request.as_bytes()).await;
            assert!(answered.matches("HTTP/1.1 ").count() <= 1, "{head:?}: {answered}");
            assert!(
                ["400", "408", "411", "415", "422", "501", "closed"].contains(&status(&answered)),
                "{head:?}: {answered}"
            );
        }
    });
}

#[test]
fn a_head_without_end_is_refused_when_it_is_too_long() {
    with_site(|site| async move {
        let flood = |what: String| format!("GET /health HTTP/1.1\r\nHost: x\r\n{what}");
        for (request, statuses) in [
            (flood("X: y\r\n".repeat(10_000)), ["431", "431"]),
            (flood(format!("X: {}", "y".repeat(1 << 20))), ["431", "431"]),
            (flood(format!("{}: y\r\n", "x".repeat(1 << 20))), ["431", "431"]),
            (format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(1 << 20)), ["414", "431"]),
            ("x".repeat(1 << 20), ["400", "431"]),
            ("\r\n".repeat(1 << 19) + "GARBAGE\r\n\r\n", ["400", "431"]),
        ] {
            let answered = answer(&site, request.as_bytes()).await;
            let known = statuses.contains(&status(&answered)) || answered.is_empty();
            assert!(known, "{request:.60}: {answered}");
        }
        assert_eq!(site.get("", "/health").await.status(), 200);
    });
}

#[test]
fn nothing_packed_is_unpacked_and_nothing_is_packed() {
    with_site(|site| async move {
        let key = site.user("ada").await;
        for (path, kind) in [
            ("/api/memories", "gzip"),
            ("/api/memories/import", "gzip"),
            ("/api/memories/recall", "gzip"),
            ("/v1/sync/push", "deflate"),
        ] {
            let request = site.client.post(format!("http://{}{path}", site.address)).bearer_auth(&key);
            let request = request.header("content-encoding", kind).header("content-type", "application/json");
            let answered = request.body(PACKED.to_vec()).send().await.unwrap();
            assert_eq!(answered.status(), 415, "{path}");
            assert_eq!(answered.headers()["content-type"], "application/problem+json");
        }
        Site::ok(site.post(&key, "/api/memories", &json!({ "content": "words that stand as they are" })).await).await;
        let request = site.client.get(format!("http://{}/api/memories/export", site.address)).bearer_auth(&key);
        let answered = request.header("accept-encoding", "gzip, deflate, br, zstd").send().await.unwrap();
        assert!(answered.headers().get("content-encoding").is_none(), "{:?}", answered.headers());
        let text = answered.text().await.unwrap();
        assert!(text.contains("as they are") && !text.contains("packed"), "{text}");
    });
}
