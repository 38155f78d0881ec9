//! MCP over HTTP: for whoever has the key, on this machine, from a page of this machine.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::json;

use crate::support::{Running, World};

/// A server, its address, and the key that its second line names.
fn serve(world: &World) -> (Running, String, String) {
    let mut command = world.command(World::binary());
    let mut child = Running(command.args(["mcp", "--http", "127.0.0.1:0"]).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines();
    let line = lines.next().unwrap().unwrap();
    let address = line.trim().trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    let told = lines.next().unwrap().unwrap();
    let path = told.trim_start_matches("clients send the key in ").split(" as ").next().unwrap().to_owned();
    let key = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}: {told}"));
    assert!(!told.contains(&key), "the key itself is said to nobody");
    (child, address, key)
}

/// The status line of an answer to `initialize`.
fn post(address: &str, headers: &str) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params":
        { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } })
    .to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    String::from_utf8_lossy(&status).into_owned()
}

#[test]
fn loopback_is_served_to_whoever_has_the_key_and_strangers_are_refused() {
    let world = World::new();
    let refused = world.run(&["mcp", "--http", "0.0.0.0:0"]);
    assert!(refused.code == Some(2) && refused.stderr.contains("not a loopback"), "{refused:?}");
    let (_server, address, key) = serve(&world);
    let with = |headers: &str| post(&address, &format!("Authorization: Bearer {key}\r\n{headers}"));
    assert_eq!(with(&format!("Host: {address}\r\n")), "HTTP/1.1 200");
    assert_eq!(with(&format!("Host: {address}\r\nOrigin: http://localhost:3000\r\n")), "HTTP/1.1 200");
    assert_eq!(with(&format!("Host: {address}\r\nOrigin: https://evil.example\r\n")), "HTTP/1.1 403");
    assert_eq!(with("Host: evil.example\r\n"), "HTTP/1.1 403");
    for wrong in
        ["", "Authorization: Bearer\r\n", "Authorization: Bearer 0123\r\n", &format!("Authorization: {key}\r\n")]
    {
        assert_eq!(post(&address, &format!("Host: {address}\r\n{wrong}")), "HTTP/1.1 401", "{wrong}");
    }
    let method = |line: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    for line in ["GET /mcp", "DELETE /mcp", "OPTIONS /mcp", "GET /", "POST /mcp/"] {
        let answer = method(line);
        assert!(answer.starts_with("HTTP/1.1 401"), "{line}: {answer}");
        assert!(answer.to_lowercase().contains("www-authenticate: bearer"), "{line}: {answer}");
    }
}

#[test]
fn the_key_stays_the_same_and_is_for_the_owner_alone() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let world = World::new();
    let (first, _, key) = serve(&world);
    drop(first);
    let (_second, _, again) = serve(&world);
    assert_eq!(key, again, "clients are set up once");
    let path = world.home().join("mcp-http.key");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    if path.metadata().unwrap().uid() != 0 {
        return;
    }
    // As root one can be somebody else, who gets to the directory and no further.
    for dir in [world.path(""), world.home()] {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut other = world.command(std::path::Path::new("/bin/cat"));
    let read = other.arg(&path).uid(65_534).gid(65_534).output().unwrap();
    assert!(!read.status.success() && read.stdout.is_empty(), "{read:?}");
}
