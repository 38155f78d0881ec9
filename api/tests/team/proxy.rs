//! A bad network: a port of this machine that leads to another, and cuts, stalls and swallows what goes through.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Duration;

/// What the network does to a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Weather {
    /// Everything goes through.
    Fair = 0,
    /// Answers are cut off after some bytes: what was asked was done.
    Cut = 1,
    /// Connections are taken, and nothing comes of them.
    Hole = 2,
    /// Answers are replaced by those of a failing server or of another proxy: what was asked may have been done.
    Errors = 3,
}

/// What is answered then: statuses that say nothing of what was sent.
const ERRORS: [(&str, &str, &str); 4] = [
    (
        "500 Internal Server Error",
        "application/problem+json",
        r#"{"status":500,"code":"internal","detail":"injected"}"#,
    ),
    ("408 Request Timeout", "application/problem+json", r#"{"status":408,"code":"incomplete","detail":"injected"}"#),
    ("404 Not Found", "text/html", "<html>no such page</html>"),
    ("502 Bad Gateway", "text/html", "<html>try again</html>"),
];

fn error(to: &mut &TcpStream) -> std::io::Result<()> {
    let (status, kind, body) = ERRORS[fastrand::usize(..ERRORS.len())];
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    to.write_all(format!("{head}{body}").as_bytes())
}

/// A running proxy. It ends with the test's process.
pub(crate) struct Proxy {
    pub(crate) address: String,
    weather: Arc<AtomicU8>,
}

impl Proxy {
    pub(crate) fn start(to: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let weather = Arc::new(AtomicU8::new(0));
        let (to, seen) = (to.to_owned(), Arc::clone(&weather));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (to, seen) = (to.clone(), Arc::clone(&seen));
                thread::spawn(move || carry(client, &to, &seen));
            }
        });
        Self { address, weather }
    }

    pub(crate) fn is(&self, weather: Weather) -> bool {
        self.weather.load(Ordering::SeqCst) == weather as u8
    }

    pub(crate) fn set(&self, weather: Weather) {
        self.weather.store(weather as u8, Ordering::SeqCst);
    }
}

fn carry(client: TcpStream, to: &str, weather: &Arc<AtomicU8>) {
    if weather.load(Ordering::SeqCst) == Weather::Errors as u8 && fastrand::u8(..6) == 0 {
        // The server never hears of it.
        let _ = (&client).read(&mut [0; 4096]);
        drop(error(&mut &client));
        let _ = client.shutdown(Shutdown::Both);
        return;
    }
    let Ok(server) = TcpStream::connect(to) else { return };
    let (up, down) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    thread::spawn(move || drop(copy(&up, &down, &AtomicU8::new(0))));
    drop(copy(&server, &client, weather));
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

fn copy(mut from: &TcpStream, mut to: &TcpStream, weather: &AtomicU8) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return to.shutdown(Shutdown::Write);
        }
        let is = weather.load(Ordering::SeqCst);
        if is == Weather::Hole as u8 {
            thread::sleep(Duration::from_millis(200));
            continue;
        }
        if is == Weather::Cut as u8 && fastrand::u8(..3) == 0 {
            to.write_all(&buffer[..count / 2])?;
            return Ok(());
        }
        if is == Weather::Errors as u8 && fastrand::u8(..6) == 0 {
            return error(&mut to);
        }
        to.write_all(&buffer[..count])?;
    }
}
