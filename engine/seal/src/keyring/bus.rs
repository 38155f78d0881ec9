//! The session's bus: a socket, who one is, and a call at a time.

use std::io::{self, Read as _, Write as _};
use std::time::Instant;

/// Only a name: no bus is looked for where there are no such sockets.
#[cfg(not(unix))]
use std::net::TcpStream as Stream;
#[cfg(unix)]
use std::os::unix::net::UnixStream as Stream;

use zeroize::Zeroizing;

use super::wire::{Answer, Call, HEAD, Path, Reader, length};
use super::{KeyringError, PATIENCE};

/// The longest line while one says who one is.
const MOST_OF_A_LINE: usize = 1024;

/// A place where a bus may listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A file.
    File(String),
    /// A name that Linux knows without a file.
    #[cfg(target_os = "linux")]
    Name(String),
}

/// The places of an address that can be reached from here, such as `unix:path=/run/user/1000/bus`.
pub(super) fn places(address: &str) -> Vec<Place> {
    let place = |one: &str| {
        if cfg!(not(unix)) {
            return None;
        }
        let pairs = one.trim().strip_prefix("unix:")?.split(',').filter_map(|pair| pair.split_once('='));
        pairs.filter_map(|(key, value)| Some((key, unescaped(value)?))).find_map(|(key, value)| match key {
            "path" => Some(Place::File(value)),
            #[cfg(target_os = "linux")]
            "abstract" => Some(Place::Name(value)),
            _ => None,
        })
    };
    address.split(';').filter_map(place).collect()
}

/// A value of an address, of which some characters are written as `%2f`.
fn unescaped(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            bytes.push(u8::try_from(16 * digit()? + digit()?).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(unix)]
fn connected(place: &Place) -> io::Result<Stream> {
    match place {
        Place::File(path) => Stream::connect(path),
        #[cfg(target_os = "linux")]
        Place::Name(name) => {
            use std::os::linux::net::SocketAddrExt as _;
            Stream::connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(name)?)
        }
    }
}

#[cfg(not(unix))]
fn connected(_: &Place) -> io::Result<Stream> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A connection to the bus, until a given moment.
pub(super) struct Bus {
    stream: Stream,
    until: Instant,
    serial: u32,
}

impl Bus {
    pub(super) fn connect(address: &str, until: Instant) -> Result<Self, KeyringError> {
        let mut why = "the session's bus has no address".to_owned();
        for place in places(address) {
            match connected(&place) {
                Ok(stream) => {
                    let mut bus = Self { stream, until, serial: 0 };
                    bus.introduce()?;
                    let path = Path::of("/org/freedesktop/DBus");
                    let hello = Call::of("org.freedesktop.DBus", &path, "org.freedesktop.DBus", "Hello");
                    bus.ask(hello, |_| Some(()))?;
                    return Ok(bus);
                }
                Err(error) => why = format!("the session's bus cannot be reached: {error}"),
            }
        }
        Err(KeyringError::Absent { why })
    }

    /// Calls a method and reads what it answers.
    pub(super) fn ask<T>(
        &mut self,
        call: Call,
        read: impl FnOnce(&mut Reader<'_>) -> Option<T>,
    ) -> Result<T, KeyringError> {
        self.serial += 1;
        self.send(&call.message(self.serial))?;
        loop {
            let message = self.message()?;
            let answer = Answer::read(&message).ok_or(KeyringError::BadAnswer)?;
            if answer.to == Some(self.serial) {
                return match answer.outcome {
                    Ok(mut values) => read(&mut values).ok_or(KeyringError::BadAnswer),
                    Err(name) => Err(refused(name)),
                };
            }
        }
    }

    /// Says who one is; the bus looks at the socket whether it is true.
    fn introduce(&mut self) -> Result<(), KeyringError> {
        self.send(b"\0AUTH EXTERNAL\r\n")?;
        let mut line = self.line()?;
        if line == "DATA" {
            self.send(b"DATA\r\n")?;
            line = self.line()?;
        }
        if !line.starts_with("OK") {
            return Err(KeyringError::Absent { why: "the session's bus is another user's".into() });
        }
        self.send(b"BEGIN\r\n")
    }

    fn line(&mut self) -> Result<String, KeyringError> {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let mut byte = [0];
            self.fill(&mut byte)?;
            line.extend_from_slice(&byte);
            if line.len() > MOST_OF_A_LINE {
                return Err(KeyringError::BadAnswer);
            }
        }
        String::from_utf8(line).map(|line| line.trim_end().to_owned()).map_err(|_| KeyringError::BadAnswer)
    }

    fn message(&mut self) -> Result<Zeroizing<Vec<u8>>, KeyringError> {
        let mut head = [0; HEAD];
        self.fill(&mut head)?;
        let whole = length(&head).ok_or(KeyringError::BadAnswer)?;
        let mut message = Zeroizing::new(vec![0; whole]);
        let (begin, rest) = message.split_at_mut_checked(HEAD).ok_or(KeyringError::BadAnswer)?;
        begin.copy_from_slice(&head);
        self.fill(rest)?;
        Ok(message)
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), KeyringError> {
        self.stream.set_write_timeout(Some(self.rest()?)).map_err(failed)?;
        self.stream.write_all(bytes).map_err(failed)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), KeyringError> {
        self.stream.set_read_timeout(Some(self.rest()?)).map_err(failed)?;
        self.stream.read_exact(bytes).map_err(failed)
    }

    fn rest(&self) -> Result<std::time::Duration, KeyringError> {
        let rest = self.until.saturating_duration_since(Instant::now());
        if rest.is_zero() { Err(KeyringError::Silent { after: PATIENCE }) } else { Ok(rest) }
    }
}

fn failed(error: io::Error) -> KeyringError {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => KeyringError::Silent { after: PATIENCE },
        _ => KeyringError::Absent { why: format!("the session's bus is gone: {error}") },
    }
}

/// What an error of the bus means, by its name.
fn refused(name: String) -> KeyringError {
    match name.strip_prefix("org.freedesktop.") {
        Some("Secret.Error.IsLocked") => KeyringError::Locked,
        Some("DBus.Error.ServiceUnknown" | "DBus.Error.NameHasNoOwner") => {
            KeyringError::Absent { why: "nobody on the session's bus keeps secrets".into() }
        }
        Some(rest) if rest.starts_with("DBus.Error.Spawn") => {
            KeyringError::Absent { why: "the service that keeps secrets cannot be started".into() }
        }
        Some("DBus.Error.NoReply" | "DBus.Error.Timeout") => KeyringError::Silent { after: PATIENCE },
        _ => KeyringError::Refused { name },
    }
}
