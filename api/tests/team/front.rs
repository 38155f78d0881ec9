//! A proxy in front of the server that answers some requests itself, or changes what passes through.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// A request as the proxy sees it.
pub(crate) struct Asked {
    /// Method and path.
    pub(crate) line: String,
    pub(crate) body: String,
}

type Rule = Box<dyn FnMut(&Asked) -> Option<String> + Send>;

/// What the proxy does, and which requests it saw.
struct Work {
    rule: Rule,
    rewrite: Option<fn(&mut Value)>,
    seen: Vec<String>,
}

/// A running proxy. It ends with the test's process.
pub(crate) struct Front {
    pub(crate) url: String,
    work: Arc<Mutex<Work>>,
}

impl Front {
    /// Forwards everything to a server.
    pub(crate) fn start(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let work = Arc::new(Mutex::new(Work { rule: Box::new(|_| None), rewrite: None, seen: Vec::new() }));
        let (to, seen) = (to.trim_start_matches("http://").to_owned(), Arc::clone(&work));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (to, seen) = (to.clone(), Arc::clone(&seen));
                thread::spawn(move || drop(serve(&client, &to, &seen)));
            }
        });
        Self { url, work }
    }

    /// Answers the requests for which the rule returns a response.
    pub(crate) fn answer(&self, rule: impl FnMut(&Asked) -> Option<String> + Send + 'static) {
        self.work.lock().unwrap().rule = Box::new(rule);
    }

    /// Changes the JSON of requests and responses.
    pub(crate) fn rewrite(&self, rewrite: fn(&mut Value)) {
        self.work.lock().unwrap().rewrite = Some(rewrite);
    }

    /// Methods and paths of the requests.
    pub(crate) fn seen(&self) -> Vec<String> {
        self.work.lock().unwrap().seen.clone()
    }
}

/// A response with a status, headers and a body.
pub(crate) fn response(status: u16, headers: &[&str], body: &str) -> String {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("HTTP/1.1 {status} x\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

/// One request of a connection: the connection ends with its answer.
fn serve(mut client: &TcpStream, to: &str, work: &Mutex<Work>) -> std::io::Result<()> {
    let mut reader = BufReader::new(client);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        // The length is written anew: the body may change.
        if !line.to_lowercase().starts_with("content-length:") {
            head += &line;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let line = head.lines().next().unwrap_or_default().to_owned();
    let asked = Asked { line, body: String::from_utf8_lossy(&body).into_owned() };
    let (own, rewrite) = {
        let mut work = work.lock().unwrap();
        work.seen.push(asked.line.clone());
        ((work.rule)(&asked), work.rewrite)
    };
    if let Some(own) = own {
        return client.write_all(own.as_bytes());
    }
    let change = |body: &[u8]| match (rewrite, serde_json::from_slice::<Value>(body)) {
        (Some(rewrite), Ok(mut value)) => {
            rewrite(&mut value);
            value.to_string().into_bytes()
        }
        _ => body.to_vec(),
    };
    let body = change(&body);
    let mut server = TcpStream::connect(to)?;
    // A response of HTTP/1.0 ends with its connection.
    let head = head.replacen("HTTP/1.1", "HTTP/1.0", 1);
    server.write_all(format!("{head}content-length: {}\r\n\r\n", body.len()).as_bytes())?;
    server.write_all(&body)?;
    let mut answer = Vec::new();
    server.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    let (head, body) = answer.split_at(end);
    let body = change(body);
    let kept = String::from_utf8_lossy(head);
    let kept = kept.lines().filter(|line| !line.is_empty() && !line.to_lowercase().starts_with("content-length:"));
    let head: String = kept.map(|line| format!("{line}\r\n")).collect();
    client.write_all(format!("{head}content-length: {}\r\nconnection: close\r\n\r\n", body.len()).as_bytes())?;
    client.write_all(&body)
}
