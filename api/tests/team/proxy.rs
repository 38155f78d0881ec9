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
        to.write_all(&buffer[..count])?;
    }
}
