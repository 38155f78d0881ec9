//! A listener that answers what a test wants, and remembers what it was asked.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tessera_vault::{Auth, Config, Vault};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use zeroize::Zeroizing;

/// What happens to a request.
#[derive(Clone)]
pub(crate) enum Canned {
    /// It is answered with a status, headers and a body.
    Answer(u16, &'static str, String),
    /// The connection is closed.
    Closed,
    /// Nothing is ever said.
    Silence,
}

impl Canned {
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::Answer(status, "", body.to_owned())
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    /// The method and the path.
    pub(crate) line: String,
    /// The headers, in small letters.
    pub(crate) headers: String,
    pub(crate) body: String,
}

/// A listener and what it was asked.
pub(crate) struct Listener {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Listener {
    /// Answers each request by its number and what it is.
    pub(crate) async fn start(answer: impl Fn(usize, &Asked) -> Canned + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (asked.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, seen.clone(), answer.clone()));
            }
        });
        Self { address, asked }
    }

    /// Answers the first requests so, and all others as the last.
    pub(crate) async fn in_turn(answers: Vec<Canned>) -> Self {
        Self::start(move |number, _| answers.get(number).or(answers.last()).unwrap().clone()).await
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The client of it, which waits for no more than this.
    pub(crate) fn vault(&self, token: &str, whole: Duration) -> Vault {
        let mut config = Config::new(&self.address, Auth::Token(Zeroizing::new(token.into())));
        config.whole = whole;
        Vault::new(config).unwrap()
    }
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<Asked>>>,
    answer: Arc<impl Fn(usize, &Asked) -> Canned + Send + Sync>,
) {
    let Some(asked) = request(&mut stream).await else { return };
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(asked.clone());
        seen.len() - 1
    };
    match answer(number, &asked) {
        Canned::Closed => {}
        Canned::Silence => tokio::time::sleep(Duration::from_mins(1)).await,
        Canned::Answer(status, headers, body) => {
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status} So\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n");
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    }
}

async fn request(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let (line, headers) = head.split_once("\r\n")?;
            let headers = headers.to_lowercase();
            let length = headers.lines().find_map(|header| header.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                let line = line.trim_end_matches(" HTTP/1.1").to_owned();
                return Some(Asked { line, headers, body: body.to_owned() });
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
