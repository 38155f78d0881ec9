//! Who may connect: so many at one time, and of one address only some of them; whoever takes nothing of an answer for
//! too long is cut off.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_io_timeout::TimeoutStream;

use crate::address::{Proxy, network};
use crate::limits::Limits;

/// Files that a server needs beside its connections: the database's, its own, and some to spare.
const OTHER_FILES: usize = 64;

/// Lets connections in, and counts them.
pub(crate) struct Door {
    most: usize,
    most_of_address: usize,
    write_timeout: Duration,
    /// Those of whom many people come.
    proxies: Option<Arc<[Proxy]>>,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    all: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// One connection among those that are held.
struct HeldOne {
    held: Arc<Mutex<Held>>,
    address: Option<IpAddr>,
}

impl Drop for HeldOne {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all -= 1;
        if let Some(address) = self.address
            && let Some(count) = held.by_address.get_mut(&address)
        {
            *count -= 1;
            if *count == 0 {
                held.by_address.remove(&address);
            }
        }
    }
}

impl Door {
    /// A door for as many as the limits allow, and the system has files for.
    pub(crate) fn new(limits: &Limits) -> Self {
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        let files = files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
        let most = limits.connections.min(files.saturating_sub(OTHER_FILES)).max(2);
        if most < limits.connections {
            tracing::info!(connections = most, "the limit of open files allows fewer connections than asked for");
        }
        Self {
            most,
            most_of_address: limits.address_connections.min(most / 2).max(1),
            write_timeout: limits.write_timeout,
            // Behind a proxy that was not named, every connection may be one.
            proxies: (!limits.behind_proxy || !limits.proxies.is_empty()).then(|| limits.proxies.as_slice().into()),
            held: Arc::default(),
        }
    }

    /// The connection, where there is room for it.
    pub(crate) fn let_in(&self, stream: TcpStream, peer: SocketAddr) -> Option<Connection> {
        let Some(held) = self.admit(peer.ip()) else {
            metrics::counter!("tessera_connections_refused_total").increment(1);
            return None;
        };
        // It is gone already.
        stream.set_nodelay(true).ok()?;
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.write_timeout));
        Some(Connection { stream: Box::pin(stream), _held: held })
    }

    fn admit(&self, peer: IpAddr) -> Option<HeldOne> {
        let peer = peer.to_canonical();
        let is_counted = self.proxies.as_ref().is_some_and(|proxies| !Proxy::is_among(peer, proxies));
        let address = is_counted.then(|| network(peer));
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.all >= self.most {
            return None;
        }
        if let Some(address) = address {
            let count = held.by_address.entry(address).or_default();
            if *count >= self.most_of_address {
                return None;
            }
            *count += 1;
        }
        held.all += 1;
        Some(HeldOne { held: Arc::clone(&self.held), address })
    }
}

/// A connection that is counted, and ends when its reader takes nothing.
pub(crate) struct Connection {
    stream: Pin<Box<TimeoutStream<TcpStream>>>,
    _held: HeldOne,
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_read(context, to)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.as_mut().poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream.as_mut().poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_does_not_take_all_places_and_a_proxy_may() {
        let proxies = vec!["10.0.0.0/8".parse().unwrap()];
        let door = Door::new(&Limits { connections: 8, address_connections: 3, proxies, ..Limits::default() });
        let from = |address: &str| door.admit(address.parse().unwrap());
        let held: Vec<_> = (0..5).filter_map(|_| from("192.0.2.1")).collect();
        assert_eq!(held.len(), 3);
        let proxied: Vec<_> = (0..9).filter_map(|_| from("10.0.0.1")).collect();
        assert_eq!((proxied.len(), from("192.0.2.2").is_none()), (5, true));
        drop(held);
        assert!(from("192.0.2.2").is_some());
        drop(proxied);
        let held = door.held.lock().unwrap();
        assert_eq!((held.all, held.by_address.len()), (0, 0));
    }
}
